"""Fits and predictions on a GPU: ``python -m benchmarks.gpu --out results/gpu``. It needs PyTorch with a CUDA device.

Each row is the median of up to three runs after one that warms up, next to the share of the rate of a large float64 product, and
has a profile at the end. Beside them are the rivals that are installed, to the held-out error of our model. ``--tests`` runs the
tests of arrays on devices instead, on the GPU if there is one. ``--device cpu --scale 0.001`` runs small versions of all rows
without a GPU, to see that they work; their times say nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import packages_distributions, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

TESTS = (
    "tests/test_device.py",
    "tests/basis/test_on_device.py",
    "tests/moments/test_on_device.py",
    "tests/states/test_device_block.py",
    "tests/methods/latent/test_on_sums.py",
    "tests/methods/elimination/test_removals.py",
    "tests/contracts/test_designs.py",
    "tests/designs/test_device.py",
    "tests/designs/test_device_moves.py",
    "tests/designs/test_device_sums.py",
    "tests/designs/test_feeding.py",
    "tests/estimators/test_on_device.py",
    "tests/model_selection/test_widths_on_device.py",
    "tests/benchmarks/test_gpu.py",
)
PACKAGES = ("skarce", "numpy", "scipy", "sklearn", "torch", "cupy", "array_api_strict", "gpytorch", "falkon", "cuml")
PARTS = ("sums", "single", "generated", "predict", "widths", "classes", "pays", "rivals")
NEEDS_CUDA = (
    "this benchmark needs a CUDA device, but {}. Run it on a machine with a GPU. `--tests` runs the tests anywhere, and "
    "`--device cpu --scale 0.001` tries the rows without a GPU."
)


def main() -> None:
    arguments = parse_arguments()
    os.environ["SCIPY_ARRAY_API"] = "1"  # before SciPy is imported: scikit-learn asks for it
    if arguments.tests:
        sys.exit(run_tests(arguments.out, arguments.device))
    check_device(arguments.device)
    from benchmarks.gpu_rivals import rivals
    from benchmarks.gpu_work import WORKS, Machine

    machine = Machine(arguments.device, arguments.scale)
    record: dict[str, Any] = {
        "machine": about(arguments.device),
        "rate": machine.product_rate(),
        "rows": [],
        "profiles": machine.profiles,
    }
    works = {**WORKS, "rivals": rivals}
    for name in arguments.parts:
        for row in works[name](machine):
            record["rows"].append(row)
            print(line_of(row), flush=True)
        save(arguments.out, record)
    print("\n\n".join(machine.profiles.values()))


def check_device(device: str) -> None:
    """Say clearly what is missing, and stop."""
    try:
        import torch
    except ImportError:
        sys.exit(NEEDS_CUDA.format("PyTorch is not installed"))
    if device.startswith("cuda") and not torch.cuda.is_available():
        sys.exit(NEEDS_CUDA.format(f"PyTorch {torch.__version__} sees none"))


def about(device: str) -> dict[str, str]:
    """Return the device, the date, the commit, and the versions of all packages that take part."""
    found = {
        "device": name_of(device),
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit(),
        "python": platform.python_version(),
    }
    return found | versions()


def versions() -> dict[str, str]:
    """Return the versions of the packages that are installed, none of which is imported."""
    makers = packages_distributions()  # the packages of CuPy have names such as cupy-cuda13x
    return {name: version(makers.get(name, [name])[0]) for name in PACKAGES if find_spec(name)}


def name_of(device: str) -> str:
    if device.startswith("cuda") and find_spec("torch"):
        import torch

        if torch.cuda.is_available():
            return str(torch.cuda.get_device_name())
    return platform.processor() or platform.machine()


def commit() -> str:
    """Return the commit that is checked out, and whether files have changed since."""

    def git(*words: str) -> str:
        try:
            return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            return ""

    changed = " with changes" if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!results") else ""
    return (git("rev-parse", "HEAD") or "unknown") + changed


def head_of(machine: dict[str, str]) -> list[str]:
    return [f"{name}: {value}" for name, value in machine.items()]


def line_of(row: dict[str, Any]) -> str:
    """Return a row of the table: what, seconds, the limit, and the share of the product rate."""
    limit = "" if row.get("at_most") is None else f"  at most {row['at_most']:g} s"
    share = "" if row.get("share") is None else f"  {100 * row['share']:.0f} % of the product rate"
    more = "".join(
        f"  {name} {value:.4g}" for name, value in row.items() if name in ("error", "coverage", "functions") and value is not None
    )
    more += "  stopped there" if row.get("stopped") else ""
    return f"{row['what']:<78} {row['seconds']:9.4f} s{limit}{share}{more}"


def save(out: Path | None, record: dict[str, Any]) -> None:
    if out is None:
        return
    out.mkdir(parents=True, exist_ok=True)
    (out / "gpu.json").write_text(json.dumps(record, indent=1) + "\n")
    head = head_of(record["machine"])
    rate = f"float64 product: {record['rate'] / 1e12:.1f} TFLOP/s"
    lines = [*head, rate, "", *(line_of(row) for row in record["rows"]), *(f"\n{text}" for text in record["profiles"].values())]
    (out / "gpu.txt").write_text("\n".join(lines) + "\n")


def run_tests(out: Path | None, device: str) -> int:
    """Run the tests of arrays on devices, and keep what they print."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *TESTS]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "tests.txt").write_text("\n".join([*head_of(about(device)), "", done.stdout]))
    return done.returncode


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="folder for gpu.txt and gpu.json, or tests.txt")
    parser.add_argument("--tests", action="store_true", help="run the tests of arrays on devices instead")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), help="only these parts (default: all)")
    parser.add_argument("--device", default="cuda", help="the device, as PyTorch names it")
    parser.add_argument("--scale", type=float, default=1.0, help="factor on the numbers of rows")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""Do two versions of the library find the same models? Fit everything with each, store the answers, and compare the two files.

python -m benchmarks.agreement store before.npz           # in the environment of one version
python -m benchmarks.agreement store after.npz            # in that of the other
python -m benchmarks.agreement compare before.npz after.npz

Only the public interface is used, so that the insides may change. Everything runs on one core with fixed seeds: two runs of one
version on one machine agree to the last digit. Real tables come from the folder that SKARCE_DATA names; without it they are
left out. Differences are relative to the largest size of a quantity, for each output by itself.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from benchmarks.agreement.cases import CASES, REAL
from benchmarks.agreement.problems import Case

TOLERANCE = 1e-9
NUMBERS = ("criterion", "intercept", "prediction", "latent", "std", "noise_variance")  # compared relative to their scale
EXACT = ("active", "outcome", "label", "error")  # compared as they are
AT_QUERIES = ("prediction", "latent", "std")  # these have a row for each query
SHOWN = ("active", "outcome")  # columns of the table, beside those of the numbers
COLUMN = 16

Answer = dict[str, NDArray[Any]]
Answers = dict[str, Answer]


def store(path: Path) -> int:
    """Run every case on one core and write the answers; the exit status."""
    cases = dict(CASES)
    if not os.environ.get("SKARCE_DATA"):
        print(f"skipped: {len(REAL)} cases with real tables, because SKARCE_DATA does not name a folder that has them")
        cases = {name: case for name, case in CASES.items() if name not in REAL}
    os.environ["LOKY_MAX_CPU_COUNT"] = "1"  # the library asks joblib for the number of cores
    answers: Answers = {}
    started = time.perf_counter()
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, case in cases.items():
            begun = time.perf_counter()
            answers[name] = attempt(case)
            print(f"{name:{longest(cases)}}  {time.perf_counter() - begun:6.2f} s  {in_brief(answers[name])}", flush=True)
    arrays: dict[str, Any] = {f"{name}::{field}": value for name in answers for field, value in answers[name].items()}
    np.savez_compressed(path, **arrays)
    print(f"{len(answers)} cases in {time.perf_counter() - started:.0f} s, {n_errors(answers)} raised; written to {path}")
    return 0


def attempt(case: Case) -> Answer:
    """What a case finds, or the error that it raises."""
    try:
        return ask(*case())
    except Exception as error:
        return {"error": np.array(f"{type(error).__name__}: {' '.join(str(error).split())}")}


def ask(model: Any, queries: Any, std: str) -> Answer:
    """All that is compared."""
    found = getattr(model, "best_estimator_", model)  # of a search over parameters
    values = {
        "criterion": model.criterion_,
        "active": found.active_,
        "intercept": found.intercept_,
        "outcome": found.outcome_.name,
    }
    if hasattr(model, "predict_proba"):
        values["label"], values["prediction"] = model.predict(queries), model.predict_proba(queries)
        values["latent"], values["std"] = found.latent(queries)
    else:
        values["prediction"], values["std"] = model.predict(queries, return_std=True, std=std)
        values["noise_variance"] = found.noise_variance_
    return {field: np.asarray(value) for field, value in values.items()}


def in_brief(answer: Answer) -> str:
    if "error" in answer:
        return str(answer["error"])
    return f"{len(answer['active']):4d} functions  criterion {float(answer['criterion']):14.6g}  {answer['outcome']}"


# Comparing --------------------------------------------------------------------------------------------------------------


def compare(first: Path, second: Path, tolerance: float) -> int:
    """Print how far two files are apart; the exit status is 1 where that is too far."""
    one, other = load(first), load(second)
    names = list(dict.fromkeys([*one, *other]))
    print(f"{'case':{longest(names)}}" + in_columns((*NUMBERS, *SHOWN)))
    n_differing, largest = 0, 0.0
    for name in names:
        if name in one and name in other:
            a, b = one[name], other[name]
            apart = {field: difference(a, b, field) for field in NUMBERS if field in a or field in b}
            unequal = [field for field in EXACT if not is_equal(a.get(field), b.get(field))]
            differs = bool(unequal) or any(value > tolerance for value in apart.values())
            largest = max(largest, *apart.values(), 0.0)
            cells = row(a, b, apart, unequal)
        else:
            differs, cells = True, f"  only in {first if name in one else second}"
        n_differing += differs
        print(f"{name:{longest(names)}}{cells}{'  DIFFERS' if differs else ''}")
    print(
        f"{len(names)} cases: {len(names) - n_differing} agree to {tolerance:g}, {n_differing} differ; largest relative difference "
        f"{largest:.1e}; errors: {n_errors(one)} in {first}, {n_errors(other)} in {second}"
    )
    return int(n_differing > 0)


def load(path: Path) -> Answers:
    answers: Answers = {}
    with np.load(path) as file:
        for key in file.files:
            name, _, field = key.rpartition("::")
            answers.setdefault(name, {})[field] = file[key]
    return answers


def difference(one: Answer, other: Answer, field: str) -> float:
    """The largest difference of any output, relative to its scale; infinite where the two cannot be compared."""
    if field not in one or field not in other or one[field].shape != other[field].shape:
        return np.inf
    a, b = by_output(one, field), by_output(other, field)
    is_same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):  # what remains of infinities and of no numbers is no number
        relative = np.abs(a - b) / np.maximum(scale(one, field), scale(other, field))
    return float(np.max(np.where(is_same, 0.0, np.where(np.isnan(relative), np.inf, relative)), initial=0.0))


def by_output(answer: Answer, field: str) -> NDArray[Any]:
    """A column for each output or class."""
    value = answer[field]
    return value.reshape(len(value), -1) if field in AT_QUERIES else np.atleast_2d(value)


def scale(answer: Answer, field: str) -> NDArray[Any]:
    """The largest size for each output; of an intercept, which may be near zero, that of the function it is a part of."""
    if field == "intercept":
        return np.maximum(np.abs(by_output(answer, field)), scale(answer, "latent" if "latent" in answer else "prediction"))
    return np.max(np.abs(by_output(answer, field)), axis=0)


def is_equal(a: NDArray[Any] | None, b: NDArray[Any] | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


def row(one: Answer, other: Answer, apart: dict[str, float], unequal: list[str]) -> str:
    """The differences in columns, or what was raised."""
    errors = [f"{place} raises {answer['error']}" for place, answer in (("first", one), ("second", other)) if "error" in answer]
    if errors:
        return f"  {'; '.join(errors)}"
    numbers = ["" if field not in apart else f"{apart[field]:.1e}" if apart[field] else "0" for field in NUMBERS]
    words = ["not equal" if field in unequal else "equal" for field in SHOWN]
    return in_columns([*numbers, *words]) + ("  labels not equal" if "label" in unequal else "")


def in_columns(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>{COLUMN}}" for cell in cells)


def longest(names: Iterable[str]) -> int:
    return max((len(name) for name in names), default=0)


def n_errors(answers: Answers) -> int:
    return sum("error" in answer for answer in answers.values())


# Command line -----------------------------------------------------------------------------------------------------------


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    storing = commands.add_parser("store", help="fit everything with the installed version, and write what it finds")
    storing.add_argument("file", type=new_file, help="where to write, a name that ends in .npz")
    comparing = commands.add_parser("compare", help="print how far two files are apart; exit status 1 where they differ")
    comparing.add_argument("first", type=old_file)
    comparing.add_argument("second", type=old_file)
    comparing.add_argument(
        "--tolerance", type=float, default=TOLERANCE, help="the relative difference allowed (default: %(default)g)"
    )
    arguments = parser.parse_args()
    if arguments.command == "store":
        return store(arguments.file)
    return compare(arguments.first, arguments.second, arguments.tolerance)


def new_file(text: str) -> Path:
    path = Path(text)
    if path.suffix != ".npz" or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} must end in .npz, in a folder that exists")
    return path


def old_file(text: str) -> Path:
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text!r}: write it with the command store")
    return Path(text)


if __name__ == "__main__":
    sys.exit(main())

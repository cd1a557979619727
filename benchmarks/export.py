"""What a prediction costs outside of Python: time on this machine, instructions and flash on microcontrollers.

``python -m benchmarks.export [--out FOLDER]``. A relevance vector machine, a support vector machine and a Gaussian process are
fitted to Friedman's first problem with 10 inputs and 500 rows. Ours becomes C in float, in whole numbers, and without the std. The
support vector machine becomes C by m2cgen, and a neural network by emlearn (which has no support vector machines), if they are
installed. One prediction is timed on this machine, and its instructions are counted under QEMU if the compiler and the emulator for
ARM are installed. Bytes of models in Python are those of the arrays that a prediction needs, in single precision.
``pip install "skarce[export-bench]"`` has the packages; results are only stored with all of them. ``python -m
benchmarks.export_onnx`` times ONNX models of the same fits.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.table import Table
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.svm import SVR

from benchmarks.__main__ import machine
from benchmarks.dependent_rows import report
from benchmarks.embedded.board import BOARDS, KNOWN_INSTRUCTIONS, built, flash_bytes, missing_tools, printed
from benchmarks.export_models import N_ROWS, drawn, fitted_models
from benchmarks.export_rivals import Contender, error, of_emlearn, of_m2cgen
from benchmarks.rivals import require_rivals
from skarce import RelevanceVectorRegressor
from skarce.export import fit_within, to_c
from skarce.export.c.fixed_numbers import FORMATS

N_CALLS = 200_000
SINGLE = 4  # bytes of a number in single precision


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.export", description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="folder for export.txt and export.json")
    arguments = parser.parse_args()
    require_rivals(("m2cgen", "emlearn"), "export-bench", arguments.out)
    X, y, test = drawn()
    ours, svr, process = fitted_models(X, y)
    rows = [in_python(name, model, X, test) for name, model in (("RVM", ours), ("SVR", svr), ("Gaussian process", process))]
    rows += [measured(contender) for contender in contenders(ours, svr, X, y, test)]
    report("export", {"machine": machine(), "models": rows}, table_of(rows), arguments.out)


def in_python(name: str, model: Any, X: Any, test: tuple[Any, Any]) -> dict[str, Any]:
    """A prediction of one row in Python, with its std if there is one."""
    row, options = X[:1], {} if isinstance(model, SVR) else {"return_std": True}
    call = lambda: model.predict(row, **options)  # noqa: E731
    return {
        "model": f"{name} in Python" + ("" if options else ", no std"),
        "rmse": error(model, test),
        "functions": n_functions(model),
        "bytes": SINGLE * n_numbers(model),
        "microseconds": 1e6 * fastest(call, 200),
    }


def n_functions(model: Any) -> int:
    if isinstance(model, SVR):
        return len(model.support_)
    return len(model.X_train_) if isinstance(model, GaussianProcessRegressor) else len(model.active_)


def n_numbers(model: Any) -> int:
    """The numbers that a prediction needs: centers and weights, and the factor of the covariance for the std."""
    n, n_inputs = n_functions(model), model.n_features_in_
    return n * (n_inputs + 1) + (0 if isinstance(model, SVR) else n * (n + 1) // 2)


def fastest(call: Callable[[], Any], n_calls: int) -> float:
    times = []
    for _ in range(5):
        started = time.perf_counter()
        for _ in range(n_calls):
            call()
        times.append((time.perf_counter() - started) / n_calls)
    return min(times)


def contenders(ours: Any, svr: Any, X: Any, y: Any, test: tuple[Any, Any]) -> list[Contender]:
    floats = ", ".join(f"{value:.9g}f" for value in X[0])
    found = []
    small = fit_within(RelevanceVectorRegressor(), X, y, max_bytes=900).model
    cases = [
        ("RVM in C, with std", ours, "float", True),
        ("RVM in C, no std", ours, "float", False),
        ("RVM in C, q31, with std", ours, "q31", True),
        ("RVM in 900 bytes, with std", small, "float", True),
        ("the same, q15", small, "q15", True),
    ]
    for name, model, real, std in cases:
        with tempfile.TemporaryDirectory() as folder:
            exported = to_c(model, Path(folder) / "model.h", real=real, std=std, X=X)
        row = f"static const model_real row[] = {{ {floats} }};"
        if real in FORMATS:
            scales = ", ".join(f"(model_real)({value:.9g} * MODEL_SCALE_X{place})" for place, value in enumerate(X[0]))
            row = f"static const model_real row[] = {{ {scales} }};"
        call = "model_real mean; model_predict(row, &mean); sink = mean;"
        if std:
            call = "model_real mean, std; model_predict(row, &mean, &std); sink = mean + std;"
        sink = "static volatile model_real sink;"
        size, source = exported.size.table_bytes, f"{exported.text}\n{sink}"
        found.append(Contender(name, source, call, row, error(model, test), len(model.active_), size))
    return found + of_m2cgen(svr, ours, X, y, test) + of_emlearn(X, y, test)


def measured(contender: Contender) -> dict[str, Any]:
    row: dict[str, Any] = {
        "model": contender.name,
        "rmse": contender.rmse,
        "functions": contender.n_functions,
        "bytes": contender.table_bytes,
    }
    with tempfile.TemporaryDirectory() as folder:
        row["microseconds"] = microseconds(contender, Path(folder))
        if not missing_tools():
            for board in BOARDS:
                row[f"{board.core} instructions"], row[f"{board.core} flash"] = on_board(contender, board, Path(folder))
    return row


def microseconds(contender: Contender, folder: Path) -> float:
    """Time one prediction in a loop, compiled for this machine."""
    (folder / "main.c").write_text(
        f"#include <stdio.h>\n#include <time.h>\n{contender.source}\n{contender.row}\n"
        f"int main(void)\n{{\n    int i, n = {N_CALLS};\n    clock_t start = clock();\n"
        f"    for (i = 0; i < n; ++i) {{ {contender.call} }}\n"
        '    printf("%.9g", 1e6 * (double)(clock() - start) / CLOCKS_PER_SEC / n);\n    return 0;\n}\n'
    )
    folders = [f"-I{path}" for path in contender.folders]
    subprocess.run(["gcc", "-std=c99", "-O2", *folders, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    times = [float(subprocess.run(["./main"], cwd=folder, capture_output=True, text=True, check=True).stdout) for _ in range(3)]
    return min(times)


def on_board(contender: Contender, board: Any, folder: Path) -> tuple[int, int]:
    """Count the instructions of a prediction by a clock whose ticks are counted in instructions, and the flash of the program."""
    source = folder / f"{board.machine}.c"
    source.write_text(
        f'#include "board.h"\n{contender.source}\n{contender.row}\n'
        f"int main(void)\n{{\n    print_hex(ticks_of_known_loop());\n    clock_start();\n    {{ {contender.call} }}\n"
        "    print_hex(clock_ticks());\n    return 0;\n}\n"
    )
    program = built(source, board, is_ours=contender.table_bytes is not None, folders=contender.folders)
    known, ticks = (int(word, 16) for word in printed(program, board).split())
    return round(ticks * KNOWN_INSTRUCTIONS / known), flash_bytes(program)


def table_of(rows: list[dict[str, Any]]) -> Table:
    table = Table(title=f"Friedman 1, {N_ROWS} rows, 10 inputs: one prediction", title_justify="left")
    on_boards = [f"{board.core} {what}" for board in BOARDS for what in ("instructions", "flash")]
    columns = ["rmse", "functions", "bytes", "microseconds", *on_boards]
    columns = [column for column in columns if any(column in row for row in rows)]
    table.add_column("model", no_wrap=True)
    for column in columns:
        table.add_column(column.replace("microseconds", "us").replace("instructions", "instr."), justify="right")
    for row in rows:
        table.add_row(row["model"], *(_cell(row.get(column)) for column in columns))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


if __name__ == "__main__":
    main()

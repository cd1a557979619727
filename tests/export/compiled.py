"""Headers compiled by a real compiler, and what they predict."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

WARNINGS = ("-pedantic", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror")
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
OPTIMIZED = ("-O1",)
LANGUAGES = {"c": ("-std=c99", "-x", "c"), "c++": ("-std=c++11", "-x", "c++")}


@dataclass(frozen=True)
class Program:
    """A header, its name, the rows that it is run at, and how it is called."""

    name: str
    text: str
    rows: Any
    n_outputs: int
    has_std: bool = True
    is_classes: bool = False
    of_classes: str = "predict_proba"

    @property
    def call(self) -> str:
        if self.is_classes:
            return f"{self.name}_{self.of_classes}(x, found);"
        ends = f"found, found + {self.n_outputs // 2}" if self.has_std else "found"
        return f"{self.name}_predict(x, {ends});"

    def main_part(self) -> str:
        real, n_inputs = f"{self.name}_real", self.rows.shape[1]
        cells = ", ".join("NOT_A_NUMBER" if np.isnan(cell) else repr(float(cell)) for cell in np.ravel(self.rows))
        return f"""
static const double {self.name}_rows[] = {{ {cells} }};
static void run_{self.name}(void)
{{
    {real} x[{n_inputs}], found[{self.n_outputs}];
    int i, j;
    for (i = 0; i < {len(self.rows)}; ++i) {{
        for (j = 0; j < {n_inputs}; ++j) x[j] = ({real}){self.name}_rows[i * {n_inputs} + j];
        {self.call}
        for (j = 0; j < {self.n_outputs}; ++j) printf("%.17g ", (double)found[j]);
    }}
    printf("%.17g\\n", (double){self.name}_selftest());
}}
"""


def written(programs: list[Program], folder: Path) -> Path:
    """Write headers and one program that runs them all."""
    for program in programs:
        (folder / f"{program.name}.h").write_text(program.text)
    includes = "\n".join(f'#include "{program.name}.h"' for program in programs)
    calls = "\n".join(f"    run_{program.name}();" for program in programs)
    parts = "".join(program.main_part() for program in programs)
    source = folder / "main.c"
    start = "#include <stdio.h>\n#include <math.h>\n#define NOT_A_NUMBER ((double)NAN)\n"
    source.write_text(f"{start}{includes}\n{parts}\nint main(void)\n{{\n{calls}\n    return 0;\n}}\n")
    return source


def compiled(source: Path, compiler: str, language: str, *options: str, libraries: tuple[str, ...] = ()) -> Path:
    """Compile without a warning, or fail."""
    program = source.with_suffix(".out")
    command = [compiler, *LANGUAGES[language], *WARNINGS, *options, str(source), "-o", str(program), *libraries]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:4000]
    return program


def run(program: Path) -> str:
    """Run a program to its end, and return what it prints."""
    done = subprocess.run([str(program)], capture_output=True, text=True, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    assert done.returncode == 0, done.stderr[:4000]
    return done.stdout


def outputs(program: Path, programs: list[Program]) -> dict[str, tuple[Any, float]]:
    """Run, and return for each header its predictions and what its self-test says."""
    found = {}
    for one, line in zip(programs, run(program).splitlines(), strict=True):
        *values, selftest = map(float, line.split())
        found[one.name] = (np.reshape(values, (len(one.rows), one.n_outputs)), selftest)
    return found


def has(tool: str) -> bool:
    return shutil.which(tool) is not None


@cache
def can_sanitize(compiler: str) -> bool:
    """Return whether a compiler finds what its sanitizers link."""
    command = [compiler, "-x", "c", *SANITIZERS, "-", "-o", os.devnull]
    return subprocess.run(command, input="int main(void) { return 0; }", capture_output=True, text=True).returncode == 0


def need(compiler: str, options: tuple[str, ...] = ()) -> None:
    """Skip the test if there is no such compiler, or if it has no sanitizers and they are asked for."""
    if not has(compiler):
        pytest.skip(f"needs {compiler}")
    if set(SANITIZERS) <= set(options) and not can_sanitize(compiler):
        pytest.skip(f"needs the sanitizers of {compiler}")

"""Cases of model files: a model of any kind is saved, its file is edited, and commands read it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.fuzz.commands import judged, judged_prediction, little_memory, no_code_is_run
from benchmarks.fuzz.faults import NOT_RUNNABLE, Fault
from benchmarks.fuzz.names import import_lines, namespace
from benchmarks.fuzz.problems import pick
from benchmarks.fuzz.table_twists import FRAME
from benchmarks.fuzz.watch import run_lines
from skarce.comparison import METHODS, TASKS

TARGETS = {
    "regression": ("",),
    "classification": ("frame['y'] = np.where(frame['a'] > 0, 'yes', 'no')", "frame['y'] = frame['b'] % 3"),
    "counts": ("frame['y'] = rng.poisson(np.exp(frame['a']))",),
}
KINDS = [(task.name, name) for task in TASKS.values() for name, method in METHODS[task].items() if not method.is_rival]
VALUES = (
    "None",
    "True",
    "False",
    "0",
    "-1",
    "2",
    "10**6",
    "2**62",
    "10**30",
    "0.5",
    "1e300",
    "-1e300",
    "1e-320",
    "float('nan')",
    "float('inf')",
    "''",
    "'x'",
    "'rbf'",
    "'linear'",
    "'precomputed'",
    "'CONVERGED'",
    "'a\\nb'",
    "'[red]'",
    "'\\x00'",
    "'\\ud800'",
    "'x' * 5000",
    "[]",
    "{}",
    "[1]",
    "{'a': 1}",
)
TYPES = (
    "'os', 'system', 'FunctionNode'",
    "'builtins', 'eval', 'TypeNode'",
    "'subprocess', 'Popen', 'ObjectNode'",
    "'builtins', 'int'",
    "'numpy', 'float64'",
    "'builtins', 'list', 'ListNode'",
    "'builtins', 'dict', 'DictNode'",
    "'builtins', 'tuple', 'TupleNode'",
    "'sklearn.linear_model._base', 'LinearRegression'",
    "'sklearn.preprocessing._data', 'MinMaxScaler'",
    "'skarce.basis.kernel_basis', 'KernelBasis'",
    "'skarce.posteriors.posterior', 'Posterior'",
    "'skarce.estimators.vbls', 'VBLSRegressor'",
    "'skarce.cli.model_file', 'SavedModel'",
    "'skarce.searches.forward', 'Forward'",
    "'nowhere', 'Nothing'",
)
ARRAYS = (
    "a[:-1]",
    "a.ravel()",
    "a[None]",
    "a.T",
    "a.astype(np.float32)",
    "a.astype(str)",
    "a.astype(complex)",
    "a.astype(bool)",
    "np.zeros(0)",
    "0 * a",
    "-a",
    "a * 1e300",
    "a * 1e-300",
    "a * np.nan",
    "a + np.inf",
    "3.0",
    "np.zeros((2, 2, 2))",
    "np.repeat(a, 2, axis=0)",
    "a[::-1]",
    "a.astype('>f8')",
    "a + 10**6",
)
COMMANDS = (
    "'explain', 'model.skops'",
    "'predict', 'model.skops', 'train.csv', '--out', 'predictions.csv'",
    "'predict', 'model.skops', 'train.csv', '--std', 'augmented', '--out', 'predictions.csv'",
)


@dataclass(frozen=True)
class ModelCase:
    """A saved model, edits of its file as source code, and the command that reads it."""

    task: str
    method: str
    target: str = ""
    edits: tuple[str, ...] = ()
    command: str = COMMANDS[0]
    part: ClassVar[str] = "models"

    @property
    def title(self) -> str:
        return f"model of {self.method}"

    def setup(self) -> list[str]:
        """The lines that save a model and edit its file."""
        fit = (
            f"command('fit', 'train.csv', '--target', 'y', '--task', {self.task!r}, '--method', {self.method!r}, '--max-time', '2')"
        )
        made = [*FRAME, *([self.target] if self.target else []), "frame.to_csv('train.csv', index=False)", fit]
        return [*made, "data = Path('model.skops').read_bytes()", *self.edits, "Path('model.skops').write_bytes(data)"]

    def snippet(self) -> str:
        source = "\n".join([*self.setup(), f"code = command({self.command})"])
        return "\n".join([*import_lines(source), source])

    def run(self) -> list[Fault]:
        """Run the command in a folder of its own. What reads a model must not run code, nor need much memory."""
        with tempfile.TemporaryDirectory(prefix="fuzz") as folder, chdir(folder):
            names = namespace(self.snippet())
            if run_lines("\n".join(self.setup()), names).error is not None:
                return [NOT_RUNNABLE]
            found: list[Fault] = []
            name = f"skarce {self.command.split(chr(39))[1]}"
            with no_code_is_run(found), little_memory(found, name):
                seen = run_lines(f"code = command({self.command})", names)
            found += judged(seen, names.get("code"), (name.removeprefix("skarce "),))
            if not found and names["code"] == 0 and Path("predictions.csv").exists():
                found += judged_prediction(Path("train.csv"), Path("predictions.csv"))
            return found

    def simpler(self) -> Iterator[ModelCase]:
        """Cases with one edit less, or with the simplest model."""
        yield from (replace(self, edits=self.edits[:place] + self.edits[place + 1 :]) for place in range(len(self.edits)))
        if (self.task, self.method) != KINDS[0]:
            yield replace(self, task=KINDS[0][0], method=KINDS[0][1], target="")
        if self.command != COMMANDS[0]:
            yield replace(self, command=COMMANDS[0])


def draw_model(rng: Any) -> ModelCase:
    """A random model with a few random edits of its file."""
    task, method = pick(rng, KINDS)
    edits = tuple(_draw_edit(rng) for _ in range(1 + (rng.random() < 0.25)))
    return ModelCase(task, method, pick(rng, TARGETS[task]), edits, pick(rng, COMMANDS))


def _draw_edit(rng: Any) -> str:
    """One edit as source code. Edits of the archive come first, because damaged bytes end early."""
    kind, number, other = int(rng.integers(20)), int(rng.integers(2000)), int(rng.integers(2000))
    edits = {
        0: f"data = flipped(data, {number}, {other})",
        1: f"data = data[: len(data) * {number} // 2000]",
        2: f"data = data[:{number}] + data[{number + 1 + other % 100} :]",
        3: pick(
            rng,
            ("data = b''", "data = data + b'x' * 100", "data = deep(100_000)", "data = with_bomb(data, 600)", "data = data[::-1]"),
        ),
        4: f"data = with_part(data, {number}, {pick(rng, ('b``', 'b`x`', 'b`{}`', 'b`[]`', 'b`null`')).replace('`', chr(39))})",
        5: f"data = with_flipped_part(data, {number}, {other})",
        6: f"data = with_type(data, {number}, {pick(rng, TYPES)})",
        7: f"data = with_type(data, {number}, {pick(rng, TYPES)})",
        8: f"data = with_entry(data, {number}, {other % 7}, {pick(rng, VALUES)})",
        9: f"data = without_entry(data, {number}, {other % 7})",
        10: f"data = with_copy(data, {number}, {other})",
        11: f"data = without_attribute(data, {number}, {other})",
        12: f"data = without_attribute(data, {number}, {other})",
    }
    if kind in edits:
        return edits[kind]
    if kind < 16:
        return f"data = with_array(data, {number}, lambda a: {pick(rng, ARRAYS)})"
    return f"data = with_value(data, {number}, {pick(rng, VALUES)})"

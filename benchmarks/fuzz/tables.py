"""Cases of the command line: a table that is damaged line by line, a command, and options."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.fuzz.commands import judged, judged_prediction, judged_table, little_memory
from benchmarks.fuzz.faults import NOT_RUNNABLE, Fault
from benchmarks.fuzz.names import import_lines, namespace
from benchmarks.fuzz.problems import pick
from benchmarks.fuzz.table_twists import (
    CSV,
    FILE_TWISTS,
    FORMATS,
    FRAME,
    HOMES,
    ODD_COMMANDS,
    ODD_FORMATS,
    OPTIONS,
    STREAMS,
    TARGETS,
    draw_byte_twist,
    draw_frame_twist,
)
from benchmarks.fuzz.watch import run_lines


@dataclass(frozen=True)
class TableCase:
    """A table as source code, and a command on it."""

    command: str
    target: str = "y"
    name: str = "table.csv"
    form: str = CSV
    twists: tuple[str, ...] = ()  # of the frame
    byte_twists: tuple[str, ...] = ()
    file_twist: str = ""
    options: tuple[str, ...] = ()
    stream: str = ""
    part: ClassVar[str] = "tables"

    @property
    def title(self) -> str:
        return f"skarce {self.command}"

    @property
    def arguments(self) -> tuple[str, ...]:
        given = tuple(word for option in self.options for word in option.split(" "))
        if self.command in OPTIONS and self.command != "reproduce":
            targeted = ("--target", self.target) if self.command in ("compare", "fit") else ()
            data = (
                ("model.skops",)
                if self.command == "explain"
                else ("model.skops", self.name)
                if self.command == "predict"
                else (self.name,)
            )
            written = ("--out", "predictions.csv") if self.command == "predict" and "--out" not in given else ()
            return self.command, *data, *targeted, *written, *given
        return (*(word for word in self.command.split(" ") if word), *given)

    def setup(self) -> list[str]:
        """The lines that write the table, and the model if the command needs one."""
        lines = [f"table = {self.name!r}", *FRAME]
        if self.command in ("predict", "explain"):
            lines += ["frame.to_csv('train.csv', index=False)", "command('fit', 'train.csv', '--target', 'y')"]
        lines += [*self.twists, self.form, *self.byte_twists, "Path(table).write_bytes(data)"]
        return [*lines, self.file_twist] if self.file_twist else lines

    def last_line(self) -> str:
        words = [repr(word) for word in self.arguments] + ([self.stream] if self.stream else [])
        return f"code = command({', '.join(words)})"

    def snippet(self) -> str:
        source = "\n".join([*self.setup(), self.last_line()])
        return "\n".join([*import_lines(source), source])

    def run(self) -> list[Fault]:
        """Run the command in a folder of its own."""
        with tempfile.TemporaryDirectory(prefix="fuzz", ignore_cleanup_errors=True) as folder, chdir(folder):
            names = namespace(self.snippet())
            if run_lines("\n".join(self.setup()), names).error is not None:
                return [NOT_RUNNABLE]
            found: list[Fault] = []
            with little_memory(found, self.title):
                seen = run_lines(self.last_line(), names)
            found += judged(seen, names.get("code"), self.arguments)
            return found or list(self._judged_files(names.get("code")))

    def _judged_files(self, code: Any) -> Iterator[Fault]:
        """What must hold for the files after a command."""
        if any(name.endswith(".part") for name in os.listdir()):
            yield Fault("a draft is left behind", self.title, ", ".join(os.listdir()))
        if code == 0 and self.command == "predict" and "predictions.csv" in self.arguments and not self.stream:
            yield from judged_prediction(Path(self.name), Path("predictions.csv"))
        if code == 0 and self.command in ("fit", "predict", "compare"):
            yield from judged_table(Path(self.name), self.command)
        if code and self.command == "fit" and not self.stream and Path("model.skops").exists():
            yield Fault("a failed command writes its file", self.title)

    def simpler(self) -> Iterator[TableCase]:
        """Cases with one oddity less."""
        for name in ("twists", "byte_twists", "options"):
            values = getattr(self, name)
            yield from (replace(self, **{name: values[:place] + values[place + 1 :]}) for place in range(len(values)))
        if self.stream:
            yield replace(self, stream="")
        if self.file_twist:
            yield replace(self, file_twist="")
        if (self.name, self.form) != ("table.csv", CSV):
            yield replace(self, name="table.csv", form=CSV)
        if self.target != "y":
            yield replace(self, target="y")


def draw_table(rng: Any) -> TableCase:
    """A random command on a random table."""
    if rng.random() < 0.03:
        return TableCase(pick(rng, ODD_COMMANDS))
    command = pick(rng, HOMES)
    is_odd = rng.random() < 0.12
    name, form = pick(rng, list((ODD_FORMATS if is_odd else FORMATS).items()))
    case = TableCase(
        command,
        pick(rng, TARGETS),
        name,
        form,
        _some(rng, 0.55, draw_frame_twist),
        _some(rng, 0.5, draw_byte_twist),
        pick(rng, FILE_TWISTS) if rng.random() < 0.06 else "",
        _some(rng, 0.6, lambda rng: pick(rng, OPTIONS[command])),
        pick(rng, STREAMS) if rng.random() < 0.06 else "",
    )
    if command == "compare":  # all methods would take too long
        return replace(case, options=("--methods ols,frvm", "--cv 2", *case.options))
    return case if command != "reproduce" else replace(case, options=(pick(rng, OPTIONS["reproduce"]),))


def _some(rng: Any, chance: float, drawn: Callable[[Any], str]) -> tuple[str, ...]:
    """None, one, or sometimes two lines."""
    return tuple(drawn(rng) for _ in range(int(rng.random() < chance) + int(rng.random() < 0.1 * chance)))

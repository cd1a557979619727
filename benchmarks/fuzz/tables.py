"""Cases of the command line: a table that is damaged line by line, a command, and options."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from benchmarks.fuzz.commands import judged, judged_prediction, judged_table, little_memory
from benchmarks.fuzz.faults import Fault
from benchmarks.fuzz.names import import_lines, namespace
from benchmarks.fuzz.problems import pick
from benchmarks.fuzz.watch import run_lines
from skarce.comparison import METHODS, TASKS, WIDTH_RULES

FRAME = (
    "rng = np.random.default_rng(0)",
    "frame = pd.DataFrame({'a': rng.normal(size=24), 'b': rng.integers(9, size=24), 'c': rng.choice(['u', 'v'], 24)})",
    "frame['y'] = frame['a'] + 0.1 * frame['b']",
)
FRAME_TWISTS = (
    "frame['y'] = np.where(frame['a'] > 0, 'yes', 'no')",
    "frame['y'] = rng.poisson(np.exp(frame['a']))",
    "frame['y'] = frame['a'] > 0",
    "frame['y'] = 1.0",
    "frame['y'] = frame['y'] * 1e300",
    "frame['y'] = frame['y'] * 1e-300",
    "frame['y'] = pd.Timestamp('2020-01-01') + pd.to_timedelta(np.arange(24), unit='D')",
    "frame['y'] = [[1.0, 2.0]] * 24",
    "frame['y'] = [{'k': 1}] * 24",
    "frame['y'] = np.arange(24).astype(str)",
    "frame['y'] = pd.Categorical(rng.choice(['p', 'q', 'r'], 24))",
    "frame['y'] = frame['y'].astype('Float64')",
    "frame['y'] = frame['y'] + 1j",
    "frame['y'] = pd.to_timedelta(np.arange(24), unit='h')",
    "frame.loc[3, 'y'] = np.nan",
    "frame.loc[3, 'a'] = np.inf",
    "frame.loc[3, 'c'] = None",
    "frame['a'] = frame['a'] * 1e200",
    "frame['a'] = frame['a'] * 1e-320",
    "frame['a'] = 3.0",
    "frame['a'] = 10**400",
    "frame['d'] = pd.Timestamp('2020-01-01')",
    "frame['d'] = np.nan",
    "frame['d'] = [b'x'] * 24",
    "frame['d'] = [[1, 2]] * 24",
    "frame['c'] = [f'name {i}' for i in range(24)]",
    "frame['c'] = 'ü\\n\\t'",
    "frame['c'] = ''",
    "frame['c'] = 'x' * 5000",
    "frame['c'] = '[bold]' + frame['c'] + '[/]'",
    "frame = frame[['y']]",
    "frame = frame[:0]",
    "frame = frame[:1]",
    "frame = frame[:2]",
    "frame = frame[['a', 'y']]",
    "frame = pd.concat([frame, frame['a'].rename('a')], axis=1)",
    "frame = pd.concat([frame, pd.DataFrame(rng.normal(size=(24, 300))).add_prefix('x')], axis=1)",
    "frame = frame.rename(columns={'a': 'x' * 3000})",
    "frame = frame.rename(columns={'a': ''})",
    "frame = frame.rename(columns={'a': 'line\\nbreak'})",
    "frame = frame.rename(columns={'a': 'y_mean'})",
    "frame = frame.rename(columns={'a': '[red]'})",
    "frame = frame.rename(columns={'a': 'ä€'})",
    "frame = frame.rename(columns={'a': 7})",
)
CSV, GZIP, PARQUET = (
    "data = frame.to_csv(index=False).encode()",
    "data = gzip.compress(frame.to_csv(index=False).encode())",
    "data = frame.to_parquet()",
)
FORMATS = {"table.csv": CSV, "table.csv.gz": GZIP, "table.parquet": PARQUET}
ODD_FORMATS = {
    "table.tsv": "data = frame.to_csv(index=False, sep='\\t').encode()",
    "table.json": "data = frame.to_json(default_handler=str).encode()",
    "table": CSV,
    "table with blanks.csv": CSV,
    "täble.csv": CSV,
    "[table].csv": CSV,
    "line\nbreak.csv": CSV,
    "n" * 240 + ".csv": CSV,
    "table.CSV": CSV,
    "table.pq": CSV,
    "table.parquet": CSV,
    "table.csv.gz": CSV,
    "table.csv": PARQUET,
}
BYTE_TWISTS = (
    "data = data.replace(b'\\n', b'\\r\\n')",
    "data = data.replace(b'\\n', b'\\r')",
    "data = data.replace(b'\\n', b',\\n')",
    "data = data.replace(b'\\n', b',9\\n').replace(b',9\\n', b'\\n', 1)",
    "data = data.replace(b'\\n', b'\\n\\n')",
    "data = data.replace(b',', b';')",
    "data = data.replace(b',', b', ')",
    "data = data.replace(b',', b'\\t')",
    "data = data.replace(b'0.', b'\"0.', 1)",
    "data = data.replace(b'-', b'\\xff')",
    "data = data.replace(b'a', b'\\x00', 1)",
    "data = data.replace(b'u', b'\\x00')",
    "data = b'\\xef\\xbb\\xbf' + data",
    "data = data.decode('utf-8', 'replace').encode('utf-16')",
    "data = data.decode('utf-8', 'replace').encode('latin-1', 'replace') + b'\\xe4'",
    "data = data[: len(data) // 2]",
    "data = data[:-1]",
    "data = data[:3]",
    "data = b''",
    "data = b'\\n\\n\\n'",
    "data = b'a,b\\n'",
    "data = b'y\\n1\\n2\\n3\\n'",
    "data = data[::-1]",
    "data = data + data",
    "data = data + b'1,2\\n'",
    "data = data + b'1,2,3,4,5,6\\n'",
    "data = data + b'\"'",
    "data = data.partition(b'\\n')[2]",
    "data = b'# comment\\n' + data",
    "data = data.replace(b'.', b',')",
    "data = data.replace(b'1', b'1_000')",
    "data = data.replace(b'1', b'NA', 1)",
    "data = data.replace(b'1', b'1e999', 1)",
    "data = bytes(rng.integers(256, size=500, dtype=np.uint8))",
    "data = bytearray(data); data[len(data) // 3] ^= 64; data = bytes(data)",
    "data = data + b'x' * 200_000",
)
FILE_TWISTS = (
    "Path(table).unlink(); os.mkdir(table)",
    "Path(table).unlink()",
    "Path(table).unlink(); os.symlink(table, table)",
    "Path(table).unlink(); os.symlink('/dev/null', table)",
    "os.chmod(table, 0)",
    "Path(table).unlink(); os.mkfifo(table); threading.Thread(target=Path(table).write_bytes, args=(data,), daemon=True).start()",
)
OPTIONS = {
    "compare": (
        "--methods frvm",
        "--methods ridge,ols",
        "--methods frvm,nothing",
        "--methods ,",
        "--cv 2",
        "--cv 30",
        "--cv 1",
        "--repeats 2",
        "--repeats 0",
        "--seed 7",
        "--seed -1",
        "--seed 99999999999",
        "--json out.json",
        "--json missing/out.json",
        "--json /dev/full",
        "--json .",
        "--task counts",
        "--task classification",
        "--task regression",
        *(f"--widths {rule}" for rule in WIDTH_RULES),
    ),
    "fit": (
        *(f"--method {name}" for task in TASKS.values() for name, method in METHODS[task].items() if not method.is_rival),
        "--method svr",
        "--method nothing",
        "--gamma 0.5",
        "--gamma 0",
        "--gamma nan",
        "--gamma inf",
        "--gamma 1e300",
        "--gamma 1e-300",
        "--centers 3",
        "--centers 0",
        "--centers 999999",
        "--n-basis 2",
        "--n-basis 10000",
        "--max-time 0.1",
        "--max-time 1e-9",
        "--max-time nan",
        "--max-time inf",
        "--out other.skops",
        "--out missing/model.skops",
        "--out /dev/full",
        "--out .",
        f"--out {'n' * 250}",
        "--task counts",
        "--task classification",
        "--task regression",
        "--task nothing",
        *(f"--widths {rule}" for rule in WIDTH_RULES),
    ),
    "predict": (
        "--std augmented",
        "--std none",
        "--out missing/p.csv",
        "--out p.csv.gz",
        "--out /dev/full",
        "--out .",
        "--out p.parquet",
        "--out model.skops",
    ),
    "explain": ("--all", "--none"),
    "reproduce": (
        "nothing",
        "fgcv --only nothing",
        "fgcv --budget -1",
        "fgcv --jobs 0",
        "fgcv --repeats 0",
        "--quick",
        "fgcv --out table.csv --quick",
        "fgcv --seed x",
    ),
}
ODD_COMMANDS = (
    "",
    "help",
    "--help",
    "--version",
    "fit --help",
    "compare --nothing",
    "fit",
    "predict",
    "explain",
    "fit nowhere.csv --target y",
    "explain nowhere.skops",
)
TARGETS = ("y", "y", "y", "y", "y", "y", "a", "c", "Y", "nothing", "", "y_mean", "x" * 2000)
STREAMS = ("stdout='/dev/full'", "encoding='ascii'")
HOMES = ("compare", "fit", "fit", "predict", "predict", "explain", "reproduce")


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
                return []
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
        if code and self.command == "fit" and Path("model.skops").exists():
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
        _some(rng, 0.55, FRAME_TWISTS),
        _some(rng, 0.5, BYTE_TWISTS),
        pick(rng, FILE_TWISTS) if rng.random() < 0.06 else "",
        _some(rng, 0.6, OPTIONS[command]),
        pick(rng, STREAMS) if rng.random() < 0.06 else "",
    )
    if command == "compare":  # all methods would take too long
        return replace(case, options=("--methods ols,frvm", "--cv 2", *case.options))
    return case if command != "reproduce" else replace(case, options=(pick(rng, OPTIONS["reproduce"]),))


def _some(rng: Any, chance: float, lines: tuple[str, ...]) -> tuple[str, ...]:
    """None, one, or sometimes two of the lines."""
    return tuple(pick(rng, lines) for _ in range(int(rng.random() < chance) + int(rng.random() < 0.1 * chance)))

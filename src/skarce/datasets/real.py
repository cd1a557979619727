"""Real tables by name, from the folder that SKARCE_DATA names or from OpenML.

The folder holds files such as ``boston.csv`` or ``boston.csv.gz``, with a header and the target last. A table that is not in the
folder is fetched from OpenML; scikit-learn keeps a copy on disk.
"""

from __future__ import annotations

import csv
import gzip
import os
import socket
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from skarce._typing import Floats

FOLDER_VARIABLE = "SKARCE_DATA"
OPENML_TIMEOUT = 30.0  # seconds to wait for an answer
CODES = {"Sex": ("M", "F", "I")}  # text becomes one column of zeros and ones per code, in this order
CLASSES = {"type": ("No", "Yes")}  # text becomes 0, 1 and so on
Columns = Mapping[str, Sequence[Any]]


class DataNotFoundError(LookupError):
    """A table that cannot be found, or has the wrong rows or columns; the message lists the places that were searched."""

    def __str__(self) -> str:
        return str(self.args[0])


class DataSet(NamedTuple):
    """Inputs as numbers, targets in their own units, the names of the inputs, and the source of the table."""

    X: Floats
    y: Floats
    input_names: tuple[str, ...]
    source: str


class OnOpenML(NamedTuple):
    """A table on OpenML, and the name of its target there."""

    name: str
    version: int
    target: str


@dataclass(frozen=True)
class Source:
    """The rows and columns that a table must have; the last column is the target."""

    name: str
    n_rows: int
    columns: tuple[str, ...]
    on_openml: OnOpenML | None = None

    def files(self, folder: Path) -> list[Path]:
        """The files in a folder that may hold the table."""
        return [folder / f"{self.name}.csv", folder / f"{self.name}.csv.gz"]


_BOSTON = "CRIM ZN INDUS CHAS NOX RM AGE DIS RAD TAX PTRATIO B LSTAT MEDV"
_ABALONE = "Sex Length Diameter Height Whole_weight Shucked_weight Viscera_weight Shell_weight Rings"
_CPU_ACT = (
    "lread lwrite scall sread swrite fork exec rchar wchar pgout ppgout pgfree pgscan atch pgin ppgin pflt vflt runqsz freemem "
    "freeswap usr"
)
_KIN = "theta1 theta2 theta3 theta4 theta5 theta6 theta7 theta8 y"
_PIMA = "npreg glu bp skin bmi ped age type"
_PUMA = "theta1 theta2 theta3 thetad1 thetad2 thetad3 tau1 tau2 thetadd3"


def _source(name: str, n_rows: int, columns: str, on_openml: OnOpenML | None = None) -> Source:
    return Source(name, n_rows, tuple(columns.split()), on_openml)


_ALL = (
    _source("boston", 506, _BOSTON, OnOpenML("boston", 1, "MEDV")),
    _source("abalone", 4177, _ABALONE, OnOpenML("abalone", 1, "Class_number_of_rings")),
    _source("cpu_act", 8192, _CPU_ACT, OnOpenML("cpu_act", 1, "usr")),
    _source("kin8nm", 8192, _KIN, OnOpenML("kin8nm", 1, "y")),
    *(_source(f"kin8{kind}", 8192, _KIN) for kind in ("nh", "fm", "fh")),
    _source("puma8nh", 8192, _PUMA, OnOpenML("puma8NH", 1, "thetadd3")),
    *(_source(f"puma8{kind}", 8192, _PUMA) for kind in ("nm", "fm", "fh")),
    _source("chwirut1", 214, "x y"),
    _source("synth_tr", 250, "xs ys yc"),
    _source("synth_te", 1000, "xs ys yc"),
    _source("banana", 5300, "At1 At2 Class"),
    _source("pima_tr", 200, _PIMA),
    _source("pima_te", 332, _PIMA),
)
SOURCES = {source.name: source for source in _ALL}


def load(name: str) -> DataSet:
    """The table of this name, with text encoded as zeros and ones, and classes as numbers.

    Parameters
    ----------
    name : one of `SOURCES`

    Returns
    -------
    DataSet
        ``X`` of shape (n_samples, n_inputs), ``y`` of shape (n_samples,), ``input_names`` and ``source``.
    """
    if name not in SOURCES:
        raise DataNotFoundError(f"unknown data set {name!r}; choose from {', '.join(SOURCES)}.")
    return _load(SOURCES[name], data_folder())


def data_folder() -> Path | None:
    """The folder that SKARCE_DATA names, or None if it is not set."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return None
    if not Path(folder).is_dir():
        raise DataNotFoundError(f"{FOLDER_VARIABLE} names {folder}, which is not a folder.")
    return Path(folder)


@lru_cache(maxsize=16)
def _load(source: Source, folder: Path | None) -> DataSet:
    path = next((path for path in source.files(folder) if path.is_file()), None) if folder else None
    columns = _from_openml(source, folder) if path is None else _read_csv(path)
    place = _openml_name(source) if path is None else path.name
    return _encoded(_checked(columns, source, place), place)


def _read_csv(path: Path) -> Columns:
    """The columns of a CSV file, gzipped or not."""
    try:
        with gzip.open(path, "rt", newline="") if path.suffix == ".gz" else path.open(newline="") as lines:
            header, *rows = csv.reader(lines)
            return dict(zip(header, zip(*rows, strict=True), strict=True))
    except (OSError, ValueError, csv.Error) as error:
        raise DataNotFoundError(f"{path} cannot be read as CSV with a header: {error}.") from None


def _from_openml(source: Source, folder: Path | None) -> Columns:
    """The columns of the table on OpenML, with the target renamed."""
    if source.on_openml is None:
        raise DataNotFoundError(f"{_absent(source, folder)}, and it is not on OpenML; {_remedy(source)}.")
    try:
        frame = _fetch(source.on_openml)
    except ImportError:
        raise DataNotFoundError(
            f"{_absent(source, folder)}, and fetching it from OpenML needs pandas; {_remedy(source)}."
        ) from None
    except (OSError, ValueError) as error:
        why = " ".join(str(error).split()) or type(error).__name__
        problem = f"{_absent(source, folder)}, and {_openml_name(source)} could not be fetched ({why})"
        raise DataNotFoundError(f"{problem}; {_remedy(source)}.") from None
    return {source.columns[-1] if name == source.on_openml.target else name: frame[name].tolist() for name in frame.columns}


def _fetch(table: OnOpenML) -> Any:
    """The data frame; a second call reads scikit-learn's copy on disk."""
    from sklearn.datasets import fetch_openml

    with _socket_timeout(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fetch_openml(table.name, version=table.version, as_frame=True, parser="liac-arff", n_retries=1).frame


@contextmanager
def _socket_timeout() -> Iterator[None]:
    """Give up after a while if the network does not answer, instead of waiting forever."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(OPENML_TIMEOUT)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)


def _absent(source: Source, folder: Path | None) -> str:
    where = f"{FOLDER_VARIABLE} is not set" if folder is None else f"{folder} has no {source.name}.csv or {source.name}.csv.gz"
    return f"data set {source.name!r} was not found: {where}"


def _remedy(source: Source) -> str:
    return f"set {FOLDER_VARIABLE} to a folder with {source.name}.csv (header, target last)"


def _openml_name(source: Source) -> str:
    assert source.on_openml is not None
    return f"OpenML {source.on_openml.name!r} version {source.on_openml.version}"


def _checked(columns: Columns, source: Source, place: str) -> Columns:
    """The columns in their proper order, or an error that says how the table differs."""
    if set(columns) != set(source.columns):
        raise DataNotFoundError(f"{place} has columns {', '.join(columns)}; expected {', '.join(source.columns)}.")
    n_rows = len(columns[source.columns[-1]])
    if n_rows != source.n_rows:
        raise DataNotFoundError(f"{place} has {n_rows} rows; expected {source.n_rows}.")
    return {name: columns[name] for name in source.columns}


def _encoded(columns: Columns, place: str) -> DataSet:
    names, blocks = [], []
    for name, values in columns.items():
        block = _numbers(name, values, place)
        names += [name] if block.shape[1] == 1 else [f"{name}={code}" for code in CODES[name]]
        blocks.append(block)
    table = np.hstack(blocks)
    table.setflags(write=False)  # the table is cached, so nobody may change it
    return DataSet(table[:, :-1], table[:, -1], tuple(names[:-1]), place)


def _numbers(name: str, values: Sequence[Any], place: str) -> Floats:
    """One column of numbers or classes, or one column of zeros and ones per code."""
    codes = CODES.get(name)
    if codes and set(values) <= set(codes):
        return np.array([[value == code for code in codes] for value in values], dtype=np.float64)
    classes = CLASSES.get(name)
    if classes and set(values) <= set(classes):
        return np.array([[classes.index(value)] for value in values], dtype=np.float64)
    try:
        numbers = np.array([float(value) for value in values])
    except (TypeError, ValueError) as error:
        raise DataNotFoundError(f"column {name!r} of {place} must hold numbers: {error}.") from None
    if not np.isfinite(numbers).all():
        raise DataNotFoundError(f"column {name!r} of {place} has missing or infinite values.")
    return numbers[:, None]

"""The tables of the board and their roles. Settings of skarce are tuned on TUNE tables only; families of tables are not divided."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.accuracy import generated
from benchmarks.accuracy.generated import N_TEST, Draw, Parts
from skarce import datasets

TUNE, REPORT = "TUNE", "REPORT"
ROLES = {REPORT: "never looked at while settings were chosen", TUNE: "used to choose settings"}
LEAST_TEST_SHARE = 1.0 / 3.0  # of a short table


@dataclass(frozen=True)
class Table:
    """A table, its role, and how training and test rows are drawn from a random generator."""

    name: str
    role: str
    draw: Draw
    is_generated: bool = False

    def parts(self, split: int, n_train: int, seed: int) -> Parts:
        """Training and test rows of a split. Inputs are standardized by the training rows. The method plays no part in it."""
        rng = np.random.default_rng([seed, crc32(self.name.encode()), split])
        X, y, X_test, y_test = self.draw(rng, n_train)
        scaler = StandardScaler().fit(X)
        return scaler.transform(X), y, scaler.transform(X_test), y_test


def _real(name: str) -> Draw:
    def draw(rng: np.random.Generator, n_train: int) -> Parts:
        X, y = datasets.load(name)[:2]
        order = rng.permutation(len(y))
        n_train = min(n_train, len(y) - round(LEAST_TEST_SHARE * len(y)))
        chosen = order[: n_train + N_TEST]
        return generated.cut((X[chosen], y[chosen]), n_train)

    return draw


def _family(name: str, role: str) -> list[Table]:
    return [Table(f"{name}{kind}", role, _real(f"{name}{kind}")) for kind in ("fh", "fm", "nh", "nm")]


_ALL = (
    *(Table(name, TUNE, _real(name)) for name in ("boston", "cpu_act")),
    *_family("puma8", TUNE),
    Table("friedman1", TUNE, generated.friedman(1), is_generated=True),
    Table("friedman2", TUNE, generated.friedman(2), is_generated=True),
    *(Table(name, REPORT, _real(name)) for name in ("abalone", "chwirut1")),
    *_family("kin8", REPORT),
    Table("friedman3", REPORT, generated.friedman(3), is_generated=True),
    Table("additive", REPORT, generated.additive, is_generated=True),
    Table("grid", REPORT, generated.grid, is_generated=True),
    Table("step", REPORT, generated.step, is_generated=True),
    Table("heavy-tails", REPORT, generated.heavy_tails, is_generated=True),
    Table("traps", REPORT, generated.trapped(with_leak=True), is_generated=True),
    Table("traps-no-leak", REPORT, generated.trapped(with_leak=False), is_generated=True),
)
TABLES = {table.name: table for table in _ALL}


def absent(names: Iterable[str]) -> dict[str, str]:
    """The real tables among these that cannot be found, and why."""
    found = {}
    for name in names:
        if not TABLES[name].is_generated:
            try:
                datasets.load(name)
            except datasets.DataNotFoundError as error:
                found[name] = str(error)
    return found

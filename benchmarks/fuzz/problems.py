"""Random data sets as source code: a base, then twists, each of them one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

EXPONENTS = (-300, -200, -170, -160, -155, -100, -30, -8, 8, 30, 100, 155, 160, 200, 300)

# How y comes from X and rng. All have a signal that a model should find.
BASES = {
    "numbers": (
        "y = np.sin(X[:, 0]) + X[:, -1] + 0.1 * rng.normal(size=len(X))",
        "y = X @ np.ones(X.shape[1]) + 0.01 * rng.normal(size=len(X))",
    ),
    "classes": (
        "y = (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)",
        "y = np.where(np.sin(2 * X[:, 0]) > 0, 'yes', 'no')",
        "y = np.digitize(X[:, 0], [-0.5, 0.5])",
    ),
    "counts": ("y = rng.poisson(np.exp(0.5 * X[:, 0]))",),
}

LONG_TEXTS = "y = np.array([letter + 'x' * 2000 for letter in 'abc'])[np.arange(len(X)) % 3]"
STRUCTURE = (
    "X[:, 0] = 1.0",
    "X[:, -1] = X[:, 0]",
    "X[len(X) // 2 :] = X[: len(X) - len(X) // 2]",
    "X[:] = X[0]",
    "X[:] = 1.0",
    "X[:] = 0.0",
    "X = np.round(X)",
    "X = np.eye(4)[rng.integers(4, size=len(X))]",
    "X = X + 1e8",
    "X = X * 10.0 ** rng.integers(-6, 7, size=X.shape[1])",
    "X[0] = 1e6",
    "X[:, 0] = 1e-310",
    "X = X - X.mean(axis=0)",
    "X[0] = 0.0",
    "X = X * (rng.random(X.shape) < 0.2)",
)
X_SCALES = tuple(f"X = X * 1e{exponent}" for exponent in EXPONENTS)
Y_SCALES = tuple(f"y = y * 1e{exponent}" for exponent in EXPONENTS)
TARGETS = {
    "numbers": (
        "y = X[:, 0].copy()",
        "y = X @ np.arange(1.0, X.shape[1] + 1)",
        "y = rng.normal(size=len(X))",
        "y = np.zeros(len(X))",
        "y = np.full(len(X), 3.7)",
        "y[0] = 1e12",
        "y = rng.standard_cauchy(len(X))",
        "y = y + 1e10",
        "y = np.column_stack([y, -y])",
        "y = np.column_stack([y, np.zeros(len(y)), rng.normal(size=len(y))])",
        "y = y[:, None]",
        "y = np.round(y)",
        "y = y > 0",
        LONG_TEXTS,
    ),
    "classes": (
        "y = rng.integers(2, size=len(X))",
        "y = rng.integers(5, size=len(X))",
        "y = np.arange(len(X))",
        "y = np.zeros(len(X))",
        "y = y == y[0]",
        "y = np.where(y == y[0], 1.5, 2.5)",
        "y = np.where(y == y[0], -1e300, 1e300)",
        "y = np.array([str(label) for label in y], dtype=object)",
        "y = np.array([b'a', b'b'])[rng.integers(2, size=len(X))]",
        "y = y.copy(); y[1:] = y[0]; y[-1:] = y[-1:][::-1]",
        "y = np.arange(len(X)) == 0",
        "y = np.array([None, 'a'], dtype=object)[rng.integers(2, size=len(X))]",
        "y = np.array([1, 'a'], dtype=object)[rng.integers(2, size=len(X))]",
        "y = pd.Categorical(y)",
        "y = X[:, 0] > 0",
        "y = y[:, None]",
    ),
    "counts": (
        "y = np.zeros(len(X))",
        "y = rng.poisson(1.0, size=len(X))",
        "y = y * 10**6",
        "y = y * 1e15",
        "y = y * 1e300",
        "y = y + 0.5",
        "y = -y",
        "y = np.arange(len(X)) == 0",
        "y = y.astype(np.uint8)",
        "y = (y * 1e-200)",
    ),
}
WEIGHTS = (
    "w = np.ones(len(X))",
    "w = rng.integers(0, 3, size=len(X))",
    "w = rng.random(len(X))",
    "w = np.full(len(X), 1 / len(X))",
    "w = np.zeros(len(X))",
    "w = np.arange(len(X)) == 0",
    "w = 10.0 ** rng.integers(-10, 10, size=len(X))",
    "w = np.full(len(X), 1e-310)",
    "w = np.full(len(X), 1e-200)",
    "w = np.full(len(X), 1e12)",
    "w = np.full(len(X), 1e200)",
    "w = np.full(len(X), 1e308)",
    "w = 3.0",
)
BAD_WEIGHTS = (
    "w = -np.ones(len(X))",
    "w = np.full(len(X), np.nan)",
    "w = np.full(len(X), np.inf)",
    "w = np.ones(len(X) + 1)",
    "w = ['heavy'] * len(X)",
    "w = np.ones((len(X), 2))",
)
KINDS_OF_NUMBERS = (
    "X = X.astype(np.float32)",
    "X = np.round(X).astype(int)",
    "X = X > 0",
    "X = X.astype(np.float16)",
    "X = X.astype(object)",
    "X = X.astype(np.longdouble)",
    "y = y.astype(np.float32)",
    "y = y.astype(object)",
)
LAYOUTS = (
    "X = np.asfortranarray(X)",
    "X.flags.writeable = False",
    "X = np.repeat(X, 2, axis=1)[:, ::2]",
    "X, y = X[::-1], y[::-1]",
    "X, y = X.tolist(), y.tolist()",
    "X = pd.DataFrame(X).add_prefix('x')",
    "X, y = pd.DataFrame(X), pd.Series(y, index=np.arange(len(y))[::-1])",
    "X = np.asarray(X).astype('>f8')",
    "X = np.ma.masked_array(X)",
    "X = scipy.sparse.csr_array(X)",
    "X = scipy.sparse.csc_array(X)",
    "X = scipy.sparse.coo_array(X)",
)
# Data that every estimator must refuse, unless a transformer takes them first.
REFUSED = (
    "X = X.astype(float); X[0, 0] = np.nan",
    "X = X.astype(float); X[-1, -1] = np.inf",
    "y = y.astype(float); y[0] = np.nan",
    "y = y.astype(float); y[-1] = -np.inf",
    "X = X.astype(str); X[0, 0] = 'one'",
    "X = X[:0]; y = y[:0]",
    "X = X[:, :0]",
    "y = y[:-1]",
    "X = X[:, 0]",
    "X = X[None]",
    "X = X * 1j",
    "y = None",
    "X = None",
    "X = X.astype(object); X[0, 0] = None",
    "X = X.astype(object); X[0, 0] = {}",
    "y = scipy.sparse.csr_matrix(np.asarray(y, dtype=float)[:, None])",
    "y = y[:, None, None]",
)


@dataclass(frozen=True)
class Problem:
    """Data as source code: sizes, the line that makes y, and further lines that change X, y or the weights w."""

    base: str
    n_rows: int
    n_columns: int
    seed: int = 0
    twists: tuple[str, ...] = ()

    @property
    def has_weights(self) -> bool:
        return any(twist.startswith("w =") for twist in self.twists)

    def must_be_refused(self, names: str = "Xyw") -> bool:
        """Whether X, y or w, or those of them that are named, are bad."""
        return any(twist in (*REFUSED, *BAD_WEIGHTS, LONG_TEXTS) for twist in self.twists if twist[0] in names)

    def lines(self) -> list[str]:
        """The source code that makes X, y and, if there are weights, w."""
        start = f"rng = np.random.default_rng({self.seed})", f"X = rng.normal(size=({self.n_rows}, {self.n_columns}))"
        return [*start, self.base, *self.twists]


def dense(X: Any) -> Any:
    """X as an array, also if it is sparse."""
    return X.toarray() if issparse(X) else np.asarray(X)


def draw_problem(rng: Any, task: str) -> Problem:
    """A random problem for one of the tasks: numbers, classes or counts."""
    n_rows, n_columns = _draw_sizes(rng)
    parts = [
        (0.25, STRUCTURE),
        (0.15, X_SCALES),
        (0.35, TARGETS[task]),
        (0.15, Y_SCALES if task == "numbers" else ()),
        (0.2, WEIGHTS),
        (0.02, BAD_WEIGHTS),
        (0.08, KINDS_OF_NUMBERS),
        (0.12, LAYOUTS),
        (0.05, REFUSED),
    ]
    twists = tuple(pick(rng, lines) for chance, lines in parts if lines and rng.random() < chance)
    return Problem(pick(rng, BASES[task]), n_rows, n_columns, int(rng.integers(100)), twists)


def pick(rng: Any, choices: Any) -> Any:
    """One of the choices; the list itself may hold anything."""
    return choices[int(rng.integers(len(choices)))]


def _draw_sizes(rng: Any) -> tuple[int, int]:
    kind = rng.random()
    if kind < 0.15:
        return int(rng.integers(1, 6)), int(rng.integers(1, 4))
    if kind < 0.25:
        return int(rng.integers(5, 30)), int(rng.integers(30, 300))
    if kind < 0.28:  # so many candidates that searches keep pools of them
        return int(rng.integers(10, 50)), int(rng.integers(500, 1500))
    if kind < 0.32:
        return int(rng.integers(100, 400)), int(rng.integers(1, 4))
    return int(rng.integers(6, 60)), int(rng.integers(1, 6))

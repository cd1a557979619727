"""Distributions of inputs, and their orthonormal polynomials by three-term recurrences."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from skarce._parameters import as_number
from skarce._text import quoted
from skarce._typing import Floats

ROUNDING = 1e-6  # how far outside of its support a value may lie, as a share of loc and scale: single precision rounds this much


def _legendre(n: Floats) -> tuple[Floats, Floats]:
    return np.zeros_like(n), n**2 / (4.0 * n**2 - 1.0)


def _hermite(n: Floats) -> tuple[Floats, Floats]:
    return np.zeros_like(n), n


def _laguerre(n: Floats, a: float = 1.0) -> tuple[Floats, Floats]:
    return 2.0 * n + a, n * (n + a - 1.0)


def _jacobi(n: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    twice = 2.0 * n + a + b - 2.0  # at least a + b > 0 for n > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        centers = (a - b) * (a + b - 2.0) / (twice * (twice + 2.0))
        # For n = 1 the factors n + a + b - 2 and twice - 1 are the same, and may be zero.
        ratio = np.where(n == 1.0, 1.0, (n + a + b - 2.0) / (twice - 1.0))
        squares = 4.0 * n * (n + a - 1.0) * (n + b - 1.0) * ratio / (twice**2 * (twice + 1.0))
    centers[0] = (a - b) / (a + b)
    return centers, squares


class Family(NamedTuple):
    """A kind of distribution, and the recurrence of its polynomials.

    `recurrence` returns a_n and b_n of the monic polynomials, p_(n+1) = (z - a_n) p_n - b_n p_(n-1), for z in standard position.
    """

    letter: str
    in_scipy: Any
    shapes: tuple[str, ...]
    is_interval: bool
    recurrence: Callable[..., tuple[Floats, Floats]]


FAMILIES = {
    "uniform": Family("P", stats.uniform, (), True, _legendre),
    "normal": Family("He", stats.norm, (), False, _hermite),
    "exponential": Family("L", stats.expon, (), False, _laguerre),
    "gamma": Family("L", stats.gamma, ("a",), False, _laguerre),
    "beta": Family("J", stats.beta, ("a", "b"), True, _jacobi),
}
STANDARD = {"uniform": (-1.0, 2.0), "normal": (0.0, 1.0), "exponential": (0.0, 1.0)}  # loc and scale of the names alone
SUPPORTED = (
    f"one of the names {list(STANDARD)}; a frozen uniform, norm, expon, gamma or beta of scipy.stats, such as "
    'scipy.stats.uniform(loc=0, scale=1); or a dict such as {"name": "beta", "a": 2.0, "b": 5.0, "loc": 0.0, "scale": 1.0}'
)


@dataclass(frozen=True)
class InputDistribution:
    """The distribution of one input: its kind, its shape, and where it lies, by the conventions of scipy.stats."""

    name: str
    shapes: tuple[float, ...]
    loc: float
    scale: float

    @property
    def family(self) -> Family:
        return FAMILIES[self.name]

    @property
    def support(self) -> tuple[float, float]:
        if self.name == "normal":
            return -np.inf, np.inf
        return self.loc, self.loc + self.scale if self.family.is_interval else np.inf

    def as_dict(self) -> dict[str, Any]:
        """Return the distribution as names and numbers, which any file can hold."""
        return {
            "name": self.name,
            **dict(zip(self.family.shapes, self.shapes, strict=True)),
            "loc": self.loc,
            "scale": self.scale,
        }

    def is_outside(self, values: Floats) -> Any:
        """Tell which values are outside of the support, by more than rounding."""
        lower, upper = self.support
        slack = ROUNDING * max(self.scale, abs(self.loc))
        return (values < lower - slack) | (values > upper + slack)

    def polynomials(self, values: Floats, degree: int) -> Floats:
        """Return the orthonormal polynomials of degree 0 to `degree`, with positive leading coefficients.

        The result has shape (degree + 1, n_values).
        """
        z = (values - self.loc) / self.scale
        if self.family.is_interval:
            z = 2.0 * z - 1.0
        centers, squares = self.family.recurrence(np.arange(degree + 1, dtype=np.float64), *self.shapes)
        roots = np.sqrt(squares[1:])  # the norm of the monic polynomial of degree n is the product of the first n of them
        found = np.ones((degree + 1, len(values)))
        for n in range(degree):
            found[n + 1] = (z - centers[n]) * found[n]
            if n > 0:
                found[n + 1] -= roots[n - 1] * found[n - 1]
            found[n + 1] /= roots[n]
        return found


def input_distributions(distributions: Any, n_inputs: int) -> list[InputDistribution]:
    """Return one distribution for each input, of one for all or of a list."""
    if not _is_list(distributions):
        return [_distribution(distributions, "distributions")] * n_inputs
    if len(distributions) != n_inputs:
        raise ValueError(
            f"distributions must be one for all inputs, or a list with one for each of the {n_inputs} inputs, got a list of "
            f"{len(distributions)}."
        )
    return [_distribution(one, f"distributions[{place}]") for place, one in enumerate(distributions)]


def in_plain_words(distributions: Any) -> Any:
    """Return distributions with dicts in place of frozen ones. What is not supported stays as it is."""
    if _is_list(distributions):
        return [in_plain_words(one) for one in distributions]
    try:
        return distributions if isinstance(distributions, (str, Mapping)) else _distribution(distributions, "").as_dict()
    except ValueError:
        return distributions


def _is_list(distributions: Any) -> bool:
    return isinstance(distributions, (list, tuple, np.ndarray))


def _distribution(given: Any, label: str) -> InputDistribution:
    """Return the distribution that a name, a frozen distribution or a dict stands for."""
    if isinstance(given, str) and given in STANDARD:
        return InputDistribution(given, (), *STANDARD[given])
    name, numbers = _of_dict(given) if isinstance(given, Mapping) else _of_frozen(given)
    if name is None:
        raise ValueError(f"{label} must be {SUPPORTED}. Got {quoted(given)}.")
    expected = (*FAMILIES[name].shapes, "loc", "scale")
    if set(numbers) != set(expected):
        raise ValueError(
            f"{label} is {name}, which has the numbers {', '.join(expected)}, got {', '.join(map(str, numbers)) or 'none'}."
        )
    *shapes, loc, scale = (as_number(numbers[key]) for key in expected)
    if not (np.isfinite([*shapes, loc, scale]).all() and min(*shapes, scale, np.inf) > 0.0):
        raise ValueError(f"{label} needs finite numbers, and a scale and shapes above 0, got {quoted(dict(numbers))}.")
    return InputDistribution(name, tuple(shapes), loc, scale)


def _of_dict(given: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    name = given.get("name")
    known = isinstance(name, str) and name in FAMILIES
    return name if known else None, {key: value for key, value in given.items() if key != "name"}


def _of_frozen(given: Any) -> tuple[str | None, dict[str, Any]]:
    """Return name and numbers of a frozen distribution of scipy.stats; no name if it is none, or not supported."""
    kind = getattr(given, "dist", None)
    for name, family in FAMILIES.items():
        if type(kind) is type(family.in_scipy):
            numbers = dict(zip((*family.shapes, "loc", "scale"), given.args, strict=False))
            return name, {"loc": 0.0, "scale": 1.0, **numbers, **given.kwds}
    return None, {}

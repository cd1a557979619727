"""Which products of polynomials enter: all degrees in each input up to a total degree, with few inputs in a term."""

from __future__ import annotations

from math import comb

import numpy as np

from skarce._memory import require
from skarce._text import quoted
from skarce._typing import Floats, Indices

MOST_TERMS = 200_000
MOST_COUNTED = 10**15  # a larger number of terms is not counted to the end
REMEDY = "Use a lower degree, a smaller interaction_order such as 2, or a smaller q_norm such as 0.5"
ROUNDING = 1e-10  # relative: a term at the limit belongs to the set, however powers are rounded


def multi_indices(n_inputs: int, degree: int, interaction_order: int | None = None, q_norm: float = 1.0) -> Indices:
    """Return the degrees of each input in each term, without the constant term.

    A term belongs to the set if (sum a_i^q)^(1/q) is at most `degree`, and at most `interaction_order` of its degrees a_i are
    positive. Terms of low total degree come first, and among these those with high degrees in the first inputs.

    Raises a ValueError if there are more than `MOST_TERMS`.

    Examples
    --------
    >>> multi_indices(2, 2).tolist()
    [[1, 0], [0, 1], [2, 0], [1, 1], [0, 2]]
    >>> multi_indices(2, 2, q_norm=0.5).tolist()
    [[1, 0], [0, 1], [2, 0], [0, 2]]
    """
    order = min(n_inputs, degree, interaction_order or n_inputs)
    _check_number(n_inputs, degree, order, q_norm)
    parts = []
    n_terms = 0
    for n_active in range(1, order + 1):
        degrees = _positive_degrees(n_active, degree, q_norm, (MOST_TERMS - n_terms) // comb(n_inputs, n_active))
        if degrees is None:
            raise _too_many(f"more than {MOST_TERMS:,}", n_inputs, degree, order, q_norm)
        n_terms += len(degrees) * comb(n_inputs, n_active)
        require(n_terms, n_inputs, f"the list of {n_terms:,} terms", REMEDY)
        if len(degrees) == 0:
            break
        parts.append(_placed(degrees, n_inputs))
    terms = np.concatenate(parts)
    return terms[np.lexsort((*-terms.T[::-1], terms.sum(axis=1)))]


def _check_number(n_inputs: int, degree: int, order: int, q_norm: float) -> None:
    """Raise a ValueError if there are too many terms. For q = 1 their number has a formula; else terms in one input are counted."""
    n_terms, n_active = n_inputs * degree, 1
    while q_norm == 1.0 and n_active < order and n_terms <= MOST_COUNTED:
        n_active += 1
        n_terms += comb(n_inputs, n_active) * comb(degree, n_active)
    if n_terms > MOST_TERMS:
        is_exact = q_norm == 1.0 and n_active == order and n_terms <= MOST_COUNTED
        number = f"{n_terms:,}" if is_exact else f"at least {min(n_terms, MOST_COUNTED):,}"
        raise _too_many(number, n_inputs, degree, order, q_norm)


def _too_many(number: str, n_inputs: int, degree: int, order: int, q_norm: float) -> ValueError:
    return ValueError(
        f"{n_inputs} inputs with degree={quoted(degree)}, interaction_order={order} and q_norm={q_norm:g} have {number} terms, but "
        f"at most {MOST_TERMS:,} are possible. {REMEDY}."
    )


def _positive_degrees(n_active: int, degree: int, q_norm: float, most: int) -> Indices | None:
    """Return all tuples of `n_active` positive degrees in the set, or None if there are more than `most`."""
    limit = float(degree) ** q_norm * (1.0 + ROUNDING)
    powers: Floats = np.arange(1, degree + 1, dtype=np.float64) ** q_norm
    degrees, used = np.empty((1, 0), dtype=np.intp), np.zeros(1)
    for n_open in range(n_active - 1, -1, -1):  # each of the degrees that are still open adds at least 1
        largest = np.searchsorted(powers, limit - n_open - used, side="right")
        if largest.sum() > most:  # each of these beginnings can be completed
            return None
        row = np.repeat(np.arange(len(used)), largest)
        last = np.arange(len(row)) - np.repeat(np.cumsum(largest) - largest, largest)  # 0, 1, ... for each row
        degrees, used = np.column_stack([degrees[row], last + 1]), used[row] + powers[last]
    return degrees


def _placed(degrees: Indices, n_inputs: int) -> Indices:
    """Return terms with these positive degrees at all choices of inputs."""
    n_active = degrees.shape[1]
    inputs = _combinations(n_inputs, n_active)
    terms = np.zeros((len(inputs), len(degrees), n_inputs), dtype=np.intp)
    for place in range(n_active):
        terms[np.arange(len(inputs))[:, None], np.arange(len(degrees)), inputs[:, place, None]] = degrees[:, place]
    return terms.reshape(-1, n_inputs)


def _combinations(n: int, k: int) -> Indices:
    """Return all ascending choices of k out of n, shape (n_choices, k)."""
    choices = np.arange(n)[:, None]
    for _ in range(k - 1):
        row, following = np.nonzero(choices[:, -1:] < np.arange(n))
        choices = np.column_stack([choices[row], following])
    return choices

"""Ridge regression in orthonormal coordinates, against textbook formulas with sixty digits."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

from skarce.states.active_set import ActiveSet
from skarce.states.coordinates import RowCoordinates
from skarce.states.ridge_fit import RidgeFit, cover_of, covered
from tests.problems import kernel_moments


def exactly(matrix):
    return [[Fraction(float(value)) for value in row] for row in np.atleast_2d(matrix)]


def solved(matrix, right):
    """H^-1 right with sixty digits, by elimination; H is positive definite, so no row has to be exchanged."""
    rows = [
        [Decimal(v.numerator) / Decimal(v.denominator) for v in [*left, *beside]]
        for left, beside in zip(matrix, right, strict=True)
    ]
    n = len(rows)
    for i in range(n):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(n):
            if k != i:
                factor = rows[k][i]
                rows[k] = [value - factor * pivot for value, pivot in zip(rows[k], rows[i], strict=True)]
    return [row[n:] for row in rows]


def dense_answers(phi, t, active, ridges):
    """leftover, alignment, remainder and overlap of all candidates, residual, and weights, with sixty digits."""
    with localcontext() as context:
        context.prec = 60
        both = exactly(np.column_stack([phi, t]).T)  # one row for each candidate, and the target
        gram = [[sum(a * b for a, b in zip(left, right, strict=True)) for right in both] for left in (both[j] for j in active)]
        matrix = [
            [gram[i][j] + (Fraction(float(ridges[i])) if i == k else 0) for k, j in enumerate(active)] for i in range(len(active))
        ]
        inward = solved(matrix, gram)
        inside = [[Decimal(float(value)) for value in both[j]] for j in active]
        left = []
        for m, column in enumerate(both):
            fitted = [sum(y[m] * row[i] for y, row in zip(inward, inside, strict=True)) for i in range(len(t))]
            left.append([Decimal(float(value)) - fit for value, fit in zip(column, fitted, strict=True)])
        dot = lambda a, b: float(sum(x * y for x, y in zip(a, b, strict=True)))  # noqa: E731
        plain = [[Decimal(float(value)) for value in column] for column in both]
        answers = [
            [dot(plain[m], left[m]) for m in range(len(both) - 1)],
            [dot(plain[-1], left[m]) for m in range(len(both) - 1)],
            [dot(left[m], left[m]) for m in range(len(both) - 1)],
            [dot(left[-1], left[m]) for m in range(len(both) - 1)],
        ]
        return *map(np.array, answers), dot(left[-1], left[-1]), np.array([float(row[-1]) for row in inward])


def problem(gamma, relative_ridge, weights=None, fit_intercept=True):
    moments, phi, t = kernel_moments(gamma, n=24, weights=weights, fit_intercept=fit_intercept)
    active = np.array([0, 3, 5, 8, 11, 14, 19, 22])
    return moments, phi, t, active, relative_ridge * moments.gram.diagonal[active] * np.geomspace(0.1, 10.0, 8)


COUNTS = np.random.default_rng(3).integers(1, 4, 24).astype(float)


@pytest.mark.parametrize("weights", [None, COUNTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("gamma", "relative_ridge"), [(1.0, 0.1), (0.05, 1e-8), (0.01, 1e-11)])
def test_digits_are_kept_if_functions_are_nearly_dependent(gamma, relative_ridge, fit_intercept, weights):
    moments, phi, t, active, ridges = problem(gamma, relative_ridge, weights, fit_intercept)
    expected = dense_answers(phi, t, active, ridges)
    frame = RowCoordinates.of(moments).spanning(active)
    fit = RidgeFit.of(frame, active, ridges)
    outside = np.setdiff1d(np.arange(24), active)
    condition = np.linalg.cond(fit.lower) ** 2
    for name, found, right in zip(("leftover", "alignment", "remainder", "overlap"), covered(fit, frame), expected, strict=False):
        # What is left of a candidate is known up to the rounding of the candidate itself, not of its square.
        close = np.abs(found - right)[outside] / np.abs(right[outside]).max()
        assert close.max() < 1e-13 * max(np.sqrt(condition), 1e3), name
    np.testing.assert_allclose(fit.residual, expected[4], rtol=max(1e-11, 1e-16 * np.sqrt(condition)))
    np.testing.assert_allclose(fit.weights, expected[5], rtol=1e-11 * np.sqrt(condition), atol=1e-12 * np.abs(expected[5]).max())
    np.testing.assert_allclose(fit.penalty, ridges @ fit.weights**2)
    H = phi[:, active].T @ phi[:, active] + np.diag(ridges)
    np.testing.assert_allclose(fit.lower @ fit.lower.T, H, atol=1e-13 * np.abs(H).max())
    assert (fit.lower.diagonal() > 0.0).all()
    np.testing.assert_allclose(fit.lower @ cover_of(fit, frame), phi[:, active].T @ phi, atol=1e-12 * np.abs(H).max())


def test_an_ill_conditioned_state_takes_its_digits_from_the_rows():
    moments, phi, t, active, ridges = problem(0.01, 1e-11)
    _, _, remainder, overlap, residual, weights = dense_answers(phi, t, active, ridges)
    state, blind = (ActiveSet(m, active, ridges, squares=True) for m in (moments, moments.without_rows()))
    assert state.is_ill_conditioned
    outside = np.setdiff1d(np.arange(24), active)
    np.testing.assert_allclose(state.remainder[outside], remainder[outside], rtol=1e-8)
    np.testing.assert_allclose(state.overlap[outside], overlap[outside], atol=1e-6 * np.abs(overlap).max())
    np.testing.assert_allclose(state.residual, residual, rtol=1e-8)
    np.testing.assert_allclose(state.weights, weights, rtol=1e-4)
    assert np.abs(blind.remainder[outside] / remainder[outside] - 1.0).max() > 1e-6  # which is why the rows are asked
    state.add(int(outside[0]), float(ridges[0]))
    grown = np.append(active, outside[0])
    after = dense_answers(phi, t, grown, np.append(ridges, ridges[0]))
    np.testing.assert_allclose(state.leftover[outside[1:]], after[0][outside[1:]], atol=1e-4 * after[0][outside].max())
    np.testing.assert_allclose(state.weights, after[5], rtol=1e-2)

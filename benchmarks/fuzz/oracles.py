"""What must hold for every fitted model and every answer of it. Each check gives pairs of what is wrong, and the values seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from skarce import Outcome

Wrong = Iterator[tuple[str, str]]

FITTED_NUMBERS = ("coef_", "coef_std_", "dual_coef_", "intercept_", "noise_variance_", "relevance_")
LONGER, SECONDS_MORE = 1.1, 0.5  # max_time may be exceeded by a tenth, or by half a second
SIGNAL = 0.5  # the least R2 or accuracy of a model that has converged on a clear signal


def check_fit(model: Any, seconds: float) -> Wrong:
    """Check the numbers and limits of a fitted estimator. Things without these attributes pass."""
    model = getattr(model, "best_estimator_", model)
    yield from check_numbers(model)
    yield from check_limits(model)
    limit = getattr(model, "max_time", None)
    if limit is not None and limit >= 0.0 and seconds > max(LONGER * limit, limit + SECONDS_MORE):
        yield "max_time exceeded", f"{seconds:.2f} s with max_time={limit}"


def check_numbers(model: Any) -> Wrong:
    """Check that the fitted numbers are finite."""
    for name in FITTED_NUMBERS:
        values = np.asarray(getattr(model, name, 0.0), dtype=float)
        if not np.isfinite(values).all():
            yield f"{name} is not finite", _some(values)


def check_limits(model: Any) -> Wrong:
    """Check that max_iter and max_active were kept for every target or class."""
    posteriors = getattr(model, "posterior_", [])
    posteriors = posteriors if isinstance(posteriors, list) else [posteriors]
    for name, largest in (("max_iter", _most_steps(model)), ("max_active", max((len(p.active) for p in posteriors), default=0))):
        limit = getattr(model, name, None)
        if limit is not None and largest > limit:
            yield f"{name} exceeded", f"{largest} with {name}={limit}"


def check_signal(model: Any, score: float) -> Wrong:
    """Check that a model that says it has converged on a clear signal has found it."""
    outcome = getattr(getattr(model, "best_estimator_", model), "outcome_", None)
    if outcome in (Outcome.CONVERGED, Outcome.NOTHING_HELPS, Outcome.CONSTANT_TARGET) and not score > SIGNAL:
        yield "signal missed", f"score {score:.3g} with outcome {outcome.name}"


def check_finite(values: Any, name: str) -> Wrong:
    """Check that an answer is finite, and that there is one."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        yield f"{name} is not finite", _some(values)


def check_rates(values: Any, name: str) -> Wrong:
    """Check the mean or standard deviation of counts. It may be infinite, as the exponential of a number may be, but not NaN."""
    values = np.asarray(values, dtype=float)
    if np.isnan(values).any() or (values < 0.0).any():
        yield f"{name} of counts is wrong", _some(values)


def check_std(values: Any) -> Wrong:
    """Check that standard deviations are finite and not negative."""
    yield from check_finite(values, "std")
    if (np.asarray(values) < 0.0).any():
        yield "std is negative", _some(np.asarray(values))


def check_covariance(values: Any, std: Any) -> Wrong:
    """Check that a covariance is finite, and that its diagonal is the squared std."""
    smallest = 1e4 * np.finfo(np.asarray(values).dtype).tiny  # a smaller variance has lost digits, or all of them
    values, std = np.asarray(values, dtype=float), np.asarray(std, dtype=float)
    yield from check_finite(values, "covariance")
    with np.errstate(all="ignore"):
        roots = np.sqrt(np.diagonal(values, axis1=0, axis2=1)).T
        is_same = np.isclose(roots, std, rtol=1e-4, atol=0.0) | (std**2 < smallest)
    if not is_same.all():
        yield "the diagonal of a covariance is not the squared std", f"{_some(roots)}, not {_some(std)}"


def check_probabilities(values: Any) -> Wrong:
    """Check that probabilities are between 0 and 1 and have the sum 1."""
    yield from check_finite(values, "probability")
    if ((values < 0.0) | (values > 1.0)).any() or (np.abs(values.sum(axis=1) - 1.0) > 1e-6).any():
        yield "probabilities are wrong", _some(np.asarray(values))


def check_same(values: Any, expected: Any, tolerance: float, what: str) -> Wrong:
    """Check that two predictions agree up to a share of the spread of the expected ones."""
    values, expected = np.asarray(values), np.asarray(expected)
    if expected.dtype.kind not in "fiu":
        if (values != expected).any():
            yield f"{what} changes the prediction", f"{(values != expected).sum()} labels differ"
        return
    size = np.abs(expected).max(initial=0.0)
    with np.errstate(all="ignore"):
        difference = np.abs(values / size - expected / size).max(initial=0.0) if 0.0 < size < np.inf else 0.0
    if not difference <= tolerance:
        yield f"{what} changes the prediction", f"by {difference:.2g} of the largest"


def _most_steps(model: Any) -> int:
    posteriors = getattr(model, "posterior_", None)
    if isinstance(posteriors, list):
        return max(posterior.n_iter for posterior in posteriors)
    return getattr(model, "n_iter_", 0)


def _some(values: Any) -> str:
    values = np.ravel(values)
    wrong = values[~np.isfinite(values)] if values.dtype.kind == "f" else values
    shown = (wrong if len(wrong) else values)[:3]
    return f"{', '.join(f'{value:.4g}' for value in shown)} ({len(wrong)} of {len(values)})"

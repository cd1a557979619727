"""Checks of parameters: what a user gave is of the right kind and in range, or a ValueError says which parameter is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skarce._scales import LEAST_WEIGHT, MOST_WEIGHT
from skarce._text import quoted


def as_number(value: Any) -> float:
    """Return a real number as a float, and NaN for everything else. No comparison with NaN is true.

    Booleans are not numbers, and whole numbers that no float can hold are too large for all parameters.

    Examples
    --------
    >>> as_number(3), as_number(10**400), as_number("3"), as_number(True)
    (3.0, nan, nan, nan)
    """
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return float("nan")
    try:
        return float(value)
    except OverflowError:
        return float("nan")


def is_count(value: Any, least: int = 1) -> bool:
    """Tell whether a value is a whole number of at least `least`."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and int(value) >= least


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Raise a ValueError unless the value is a whole number of at least `least`, and at most `most` if that is given."""
    if not is_count(value, least) or (most is not None and value > most):
        allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be a whole number {allowed}, got {quoted(value)}.")


def check_choice(name: str, value: Any, known: Collection[str]) -> None:
    """Raise a ValueError unless the value is one of the known names."""
    if not (isinstance(value, str) and value in known):
        raise ValueError(f"{name} must be one of {list(known)}, got {quoted(value)}.")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {quoted(value)}.")


def check_calibration(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is "auto", True, False, a splitter, or an iterable of splits."""
    is_text = isinstance(value, (str, bytes))
    is_splitter = hasattr(value, "split") and not is_text and not isinstance(value, (type, np.ndarray))
    is_iterable = isinstance(value, Iterable) and not is_text and not isinstance(value, (Mapping, np.ndarray))
    is_known = isinstance(value, (bool, np.bool_)) or (isinstance(value, str) and value == "auto")
    if not (is_known or is_splitter or is_iterable):
        raise ValueError(
            f'{name} must be "auto", True, False, a splitter such as KFold(), or an iterable of (train, test) indices, got '
            f"{quoted(value)}."
        )


def check_coverage(coverage: Any) -> float:
    """Return the share of new targets that an interval is to cover. Raise a ValueError unless it is between 0 and 1."""
    if not 0.0 < as_number(coverage) < 1.0:
        raise ValueError(f"coverage must be a number above 0 and below 1, got {quoted(coverage)}.")
    return float(coverage)


def check_effective_samples(value: Any) -> None:
    """Raise a ValueError unless the value is None, "auto", a share between 0 and 1, or a number of at least 2, all in range."""
    number = as_number(value)
    is_known = value is None or (isinstance(value, str) and value == "auto")
    if not (is_known or LEAST_WEIGHT <= number < 1.0 or 2.0 <= number <= MOST_WEIGHT):
        raise ValueError(
            'effective_samples must be None, "auto", a number of observations of at least 2, or a share of them above 0 and below '
            f"1 (in the range {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}), got {quoted(value)}."
        )


def check_dict(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is None, or a dict with names as its keys."""
    if value is not None and not (isinstance(value, dict) and all(isinstance(key, str) for key in value)):
        raise ValueError(f"{name} must be None or a dict of options with their names, got {quoted(value)}.")


def check_not_negative(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is a number of at least 0. It may be infinite."""
    if not as_number(value) >= 0.0:
        raise ValueError(f"{name} must be at least 0.0, got {quoted(value)}.")


def check_finite_share(name: str, value: Any) -> None:
    """Raise a ValueError unless the value is a finite number of at least 0."""
    if not 0.0 <= as_number(value) < np.inf:
        raise ValueError(f"{name} must be a finite number of at least 0, got {quoted(value)}.")


def check_verbose(verbose: Any) -> None:
    """Raise a ValueError unless `verbose` is a whole number or a boolean."""
    if not isinstance(verbose, (int, np.integer, np.bool_)):
        raise ValueError(f"verbose must be a whole number, got {quoted(verbose)}.")


def generator_of(random_state: Any) -> np.random.RandomState:
    """Return the generator that scikit-learn makes of `random_state`. Raise a ValueError if it makes none."""
    try:
        return check_random_state(random_state)
    except (ValueError, TypeError):
        raise ValueError(
            "random_state must be None, a whole number from 0 to 2**32 - 1, or a numpy.random.RandomState; got "
            f"{quoted(random_state)}."
        ) from None


def seeded(random_state: Any) -> np.random.RandomState:
    """Return a generator with a fixed seed if random_state is None, so that the same data give the same model."""
    return generator_of(0 if random_state is None else random_state)


def check_budget(n_basis: Any, max_active: int | None) -> None:
    """Raise a ValueError unless `n_basis` is None, or a count that is at most `max_active`."""
    if n_basis is None:
        return
    check_count("n_basis", n_basis)
    if max_active is not None and n_basis > max_active:
        raise ValueError(f"n_basis={quoted(n_basis)} asks for more functions than max_active={max_active} allows.")


def check_forgetting(forgetting: Any) -> float:
    """Check the factor by which the rows before a batch still count, and return it as a float."""
    if not 0.0 < as_number(forgetting) <= 1.0:
        raise ValueError(f"forgetting must be above 0 and at most 1 (nothing is forgotten), got {quoted(forgetting)}.")
    return float(forgetting)


def check_weight_variance(variance: Any) -> float | None:
    """Return the prior variance of the weights if it is given, and None if it is learned."""
    if isinstance(variance, str) and variance == "learned":
        return None
    if not 0.0 < as_number(variance) < np.inf:
        raise ValueError(f'weight_variance must be "learned" or a positive and finite number; got {quoted(variance)}.')
    return float(variance)


def check_significance(significance: Any, solver: str, prior: Any) -> None:
    """Raise a ValueError for an unknown rule of significance, or for a model that the rule cannot be applied to."""
    if significance is None:
        return
    if not (0.0 < as_number(significance) < 1.0 or (isinstance(significance, str) and significance == "bound")):
        raise ValueError(f'significance must be None, a level between 0 and 1, or "bound"; got {quoted(significance)}.')
    if solver != "direct" or (isinstance(prior, str) and prior != "ard"):
        raise ValueError(
            'significance removes candidates from a model with solver="direct" and prior="ard" or group labels; got '
            f"solver={quoted(solver)}, prior={quoted(prior)}."
        )

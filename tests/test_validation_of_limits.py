"""Wrong limits are named by every estimator in the same words."""

import numpy as np
import pytest

from skarce import BackwardEliminationRegressor, RelevanceVectorClassifier, RelevanceVectorRegressor


@pytest.mark.parametrize("make", [RelevanceVectorRegressor, BackwardEliminationRegressor, RelevanceVectorClassifier])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("tol", value) for value in ("x", None, [0.1], True, -1.0, np.nan)),
        *(("max_time", value) for value in ("x", -1.0, False)),
        *(("max_iter", value) for value in (0, 1.5, True)),
        *(("max_active", value) for value in (0, "x")),
        ("fit_intercept", "no"),
        ("verbose", "x"),
    ],
)
def test_wrong_limits_are_named(make, name, wrong):
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
    with pytest.raises(ValueError, match=rf"{name} must be .*, got "):
        make(**{name: wrong}).fit(X, y)

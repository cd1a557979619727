"""What outcomes advise."""

import inspect

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import JeffreysPriorRegressor, KernelBasis, OrthogonalLeastSquaresRegressor, Outcome, RelevanceVectorRegressor
from skarce._text import one_line
from skarce.states.outcome import HALF_USED_BY_INPUTS

DOUBTFUL = (Outcome.HALF_USED, Outcome.ILL_CONDITIONED)


def test_advice_does_not_name_what_is_the_default():
    parameters = inspect.signature(RelevanceVectorRegressor).parameters
    defaults = [f"{name}={default.default!r}" for name, default in parameters.items()]
    for outcome in DOUBTFUL:
        assert [text for text in defaults if text in outcome.value] == []
        assert "learned" not in outcome.value  # the default kernel is


@pytest.mark.parametrize("advised", ["basis='passthrough'", "VBLSRegressor", "fewer centers", "max_active", "smaller gamma"])
def test_a_model_that_uses_most_rows_is_told_what_else_there_is(advised):
    assert advised in Outcome.HALF_USED.value


def test_the_advice_fits_into_one_line_of_the_command_line():
    for outcome in DOUBTFUL:
        assert one_line(outcome.value) == outcome.value


def test_a_kernel_is_to_become_narrower_only_if_the_user_has_chosen_it():
    assert "if you have set it" in Outcome.ILL_CONDITIONED.value
    assert "centers" in inspect.signature(KernelBasis).parameters


def test_a_model_of_the_inputs_is_not_told_to_try_them():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 60)), rng.normal(size=40)
    model = JeffreysPriorRegressor("passthrough", calibrate_std=False)
    assert model._advice(Outcome.HALF_USED) == HALF_USED_BY_INPUTS
    assert JeffreysPriorRegressor("rbf")._advice(Outcome.HALF_USED) == Outcome.HALF_USED.value
    for advised in ("passthrough", "centers", "kernel", "gamma"):
        assert advised not in HALF_USED_BY_INPUTS
    with pytest.warns(ConvergenceWarning) as caught:
        OrthogonalLeastSquaresRegressor("passthrough", patience=60, size_prior=None, calibrate_std=False).fit(
            X, X @ rng.normal(size=60) + y
        )
    assert HALF_USED_BY_INPUTS in [str(warning.message) for warning in caught]

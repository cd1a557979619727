"""What outcomes advise."""

import inspect

import pytest

from skarce import KernelBasis, Outcome, RelevanceVectorRegressor
from skarce._text import one_line

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

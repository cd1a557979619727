from math import comb

import numpy as np
import pytest

from skarce.criteria.size_prior import NOISE_GAIN, charge_for, charge_for_next, log_number_of_sets


@pytest.mark.parametrize(("n_candidates", "size"), [(7, 0), (7, 3), (7, 7), (220, 5), (500, 250)])
def test_the_number_of_sets_is_the_binomial_coefficient(n_candidates, size):
    assert log_number_of_sets(n_candidates, size) == pytest.approx(np.log(float(comb(n_candidates, size))), abs=1e-9)


def test_charges_for_single_functions_add_up_while_they_are_positive():
    total = sum(charge_for_next(200, size) for size in range(40))
    assert total == pytest.approx(charge_for(200, 40))


def test_no_function_is_paid_for_entering():
    assert min(charge_for_next(50, size) for size in range(50)) == 0.0


def test_noise_gains_as_much_as_each_function_pays():
    """One function for each row: the evidence with precisions 1/t^2 minus that of noise alone, averaged over normal targets."""
    t = np.random.default_rng(0).normal(size=200_000)
    own_variances, one_variance = -0.5 * (np.log(t**2) + 1.0), -0.5 * (np.log(np.mean(t**2)) + t**2 / np.mean(t**2))
    assert np.mean(own_variances - one_variance) == pytest.approx(NOISE_GAIN, abs=0.01)

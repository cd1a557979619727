"""The bound of the logistic function, and how uncertain rows are."""

import numpy as np
import pytest
from scipy.special import log_expit

from skarce.methods.variational_classes.jaakkola_jordan import Fitted
from skarce.methods.variational_classes.model import Variational, curvature_of_bound
from tests.methods.variational_classes.test_jaakkola_jordan import problem


@pytest.mark.parametrize("xi", [0.0, 1e-6, 1e-3, 0.5, 4.0, 50.0])
def test_the_logistic_function_is_above_its_bound(xi):
    x = np.linspace(-60.0, 60.0, 2001)
    bound = log_expit(xi) + (x - xi) / 2.0 - curvature_of_bound(np.array(xi)) * (x**2 - xi**2)
    assert (log_expit(x) >= bound - 1e-12).all()
    for touched in (xi, -xi):
        value = log_expit(xi) + (touched - xi) / 2.0
        assert log_expit(touched) == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("n_columns", [1, 5, 40])
def test_rows_are_as_uncertain_as_a_dense_inverse_says(n_columns):
    columns, labels = problem(3, 60, n_columns)
    design = np.column_stack([np.ones(60), columns])
    model = Variational.start(labels, design, np.arange(n_columns), np.arange(n_columns), fit_intercept=True)
    fitted = Fitted(model)
    curved = 2.0 * labels.weights * curvature_of_bound(model.xi)
    inverse = np.linalg.inv((design * curved[:, None]).T @ design + np.diag(model.alpha))
    expected = (design @ fitted.weights) ** 2 + np.einsum("ij,jk,ik->i", design, inverse, design)
    np.testing.assert_allclose(fitted.best_xi**2, expected, rtol=1e-9)
    np.testing.assert_array_equal(model.columns, columns)

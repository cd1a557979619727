"""Any units give the same model, or a clear error: never an empty model that says that it converged, NaN, or a NumPy warning."""

import re
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import FunctionTransformer

import skarce
from skarce import (
    EvidenceRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    ProcessBasis,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
)
from skarce.designs import RowBlocks
from tests.estimator_lists import LATENT, REGRESSORS

EXPONENTS = (-300, -170, -155, -148, -105, -62, -58, -20, 20, 57, 62, 105, 148, 160, 300)
SQUARED, CANDIDATE = 150, 60  # exponents of the two ranges
KERNELS = ("rbf", "laplacian", "matern32", "matern52", "polynomial", "linear", "sigmoid", "cosine")
NAMES_ITS_SIZE = r"(has a largest absolute value of|has a value of) \d.*in the range (1e-60 to 1e\+60|1e-151 to 1e\+151)"


@pytest.fixture(autouse=True)
def numpy_warnings_are_errors():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    return X, X @ [2.0, -1.0, 0.0] + rng.normal(0.0, 0.1, 40)


def targets_for(estimator, y):
    """Return numbers, classes or counts with a clear signal."""
    if isinstance(estimator, skarce.RelevanceVectorPoissonRegressor):
        return np.rint(np.exp(1.0 + 0.5 * y))
    return y if estimator.__sklearn_tags__().estimator_type == "regressor" else (y > 0.0).astype(int)


def predicted(model, X, y):
    fitted = clone(model).fit(X, y)
    assert len(fitted.active_), fitted.outcome_
    return fitted.predict_proba(X) if hasattr(fitted, "predict_proba") else fitted.predict(X)


def is_refused(model, X, y, expected):
    """Fit to data in other units, and compare with what is expected. Return whether the data were refused, by a clear message."""
    try:
        found = predicted(model, X, y)
    except ValueError as error:
        refusal = str(error)
        return bool(re.search(NAMES_ITS_SIZE, refusal)) or refusal
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-8 * np.abs(expected).max())
    return False


@pytest.mark.parametrize("basis", ["passthrough", "rbf"])
@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_regressors_in_any_units(kind, basis, data):
    X, y = data
    expected = predicted(kind(basis), X, y)
    for exponent in EXPONENTS:
        factor = 10.0**exponent
        model = scaled = kind(basis)
        if kind is JeffreysPriorRegressor and basis == "passthrough":  # its ridge has the units of phi'phi
            scaled = kind(basis, initial_ridge=float(np.clip(0.01 * 10.0 ** (2.0 * np.clip(exponent, -70, 70)), 1e-150, 1e150)))
        limit = CANDIDATE if basis == "passthrough" else SQUARED
        assert is_refused(scaled, X * factor, y, expected) == (abs(exponent) > limit)
        assert is_refused(model, X, y * factor, expected * factor) == (abs(exponent) > SQUARED)


@pytest.mark.parametrize("basis", ["passthrough", "rbf"])
@pytest.mark.parametrize("kind", LATENT, ids=lambda kind: kind.__name__)
def test_classifiers_and_counts_in_any_units(kind, basis, data):
    X, y = data
    model = kind(basis, calibrate_proba=False)  # in other units, rows are in other folds
    targets = targets_for(model, y)
    expected = predicted(model, X, targets)
    for exponent in EXPONENTS:
        limit = CANDIDATE if basis == "passthrough" else SQUARED
        assert is_refused(model, X * 10.0**exponent, targets, expected) == (abs(exponent) > limit)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_in_any_units(kernel, data):
    X, y = data
    model = RelevanceVectorRegressor(KernelBasis(kernel))
    expected = predicted(model, X, y)
    for exponent in EXPONENTS:
        # The linear kernel has the units of the squared inputs, so its range is half as wide as that of candidates.
        limit = CANDIDATE / 2 if kernel == "linear" else SQUARED
        assert is_refused(model, X * 10.0**exponent, y, expected) == (abs(exponent) > limit)


@pytest.mark.parametrize(
    "basis", [KernelBasis(gamma="evidence"), KernelBasis(gamma="ard"), KernelBasis(gamma="median"), ProcessBasis()]
)
def test_learned_widths_in_any_units(basis, data):
    X, y = data
    model = EvidenceRegressor(basis)
    expected = predicted(model, X, y)
    for power in (-490, -190, 190, 490):
        np.testing.assert_allclose(predicted(model, X * 2.0**power, y), expected, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(predicted(model, X, y * 2.0**power) / 2.0**power, expected, rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
        predicted(model, X * 1e170, y)


def test_targets_that_hardly_differ_from_an_offset_are_refused_in_one_line():
    """Their size is in range, but what is left of them without the offset is not. Widths are learned before that is seen."""
    X = np.array([[0.1], [-0.1]])
    with pytest.raises(ValueError, match=r"the target of size .* their ratio must be in the range"):
        RelevanceVectorRegressor().fit(X, 1e-150 * (1.0 + 1e-10 * X[:, 0]))


def test_inputs_that_hardly_differ_from_an_offset_are_named():
    """Their size is in range, but the inverse squared width of kernels on what is left without the offset is not a number."""
    X = 1e-147 * (1.0 + 1e-8 * np.array([[0.3], [-1.0], [0.5]]))
    for model, y in ((RelevanceVectorRegressor(), [1.0, 2.0, 4.0]), (RelevanceVectorPoissonRegressor(), [1, 2, 4])):
        with pytest.raises(ValueError, match=r"column 0 of X varies by .*e-156 about 1e-147.*StandardScaler"):
            model.fit(X, y)


def test_powers_of_two_give_the_same_model_to_the_last_digits(data):
    X, y = data
    fitted = RelevanceVectorRegressor("passthrough").fit(X, y)
    for power in (-490, -190, 190, 490):
        other = RelevanceVectorRegressor("passthrough").fit(X, y * 2.0**power)
        np.testing.assert_allclose(other.coef_ / 2.0**power, fitted.coef_, rtol=1e-13)
        np.testing.assert_allclose(other.noise_variance_ / 4.0**power, fitted.noise_variance_, rtol=1e-13)
        assert np.isfinite(other.weight_precision_).all()


def test_one_column_out_of_range_is_named(data):
    X, y = data
    with pytest.raises(ValueError, match=r"column 1 of X has a largest absolute value of .*e-170.*multiply the column by 1e170"):
        RelevanceVectorRegressor("passthrough").fit(X * [1.0, 1e-170, 1.0], y)
    with pytest.raises(ValueError, match=r"column 1 of y has a largest absolute value of .*e\+190, .*Multiply y by 1e-191"):
        RelevanceVectorRegressor("passthrough").fit(X, np.column_stack([y, y * 1e190]))


def test_inputs_that_are_zero_or_constant_are_in_range(data):
    X, y = data
    model = RelevanceVectorRegressor("passthrough").fit(np.column_stack([X, np.zeros(40), np.full(40, 1e50)]), y)
    assert set(model.active_) <= {0, 1, 2}


def test_a_transformer_with_columns_out_of_range_is_refused(data):
    X, y = data
    for factor in (1e-170, 1e160):
        basis = FunctionTransformer(lambda X, factor=factor: X * np.array([1.0, factor, 1.0]))
        with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
            RelevanceVectorRegressor(basis).fit(X, y)


@pytest.mark.parametrize("parameters", [{"degree": 300}, {"coef0": 1e100}, {"coef0": 0.0, "gamma": 1e-200}])
def test_kernels_out_of_range_are_refused(parameters, data):
    with pytest.raises(ValueError, match=r"in the range 1e-60 to 1e\+60"):
        RelevanceVectorRegressor(KernelBasis("polynomial", **parameters)).fit(*data)


@pytest.mark.parametrize("moments", ["whole", "columns"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_single_precision_with_large_or_small_inputs(moments, fit_intercept, data):
    X, y = data
    for basis in ("passthrough", KernelBasis("linear"), "rbf"):
        model = RelevanceVectorRegressor(basis, moments=moments, fit_intercept=fit_intercept)
        expected = predicted(model, X.astype(np.float32), y)
        for factor in (1e-25, 1e25):
            found = predicted(model, (X * factor).astype(np.float32), y)
            np.testing.assert_allclose(found, expected, rtol=1e-2, atol=1e-2)


def test_blocks_and_batches_out_of_range_are_refused(data):
    X, y = data
    for factor in (1e-170, 1e170):
        with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
            RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_arrays(X * factor, y, block_rows=10))
        with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
            RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_arrays(X, y * factor, block_rows=10))
        with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
            RelevanceVectorRegressor("passthrough").partial_fit(X * factor, y)
    model = RelevanceVectorRegressor("passthrough").partial_fit(X, y)
    with pytest.raises(ValueError, match=NAMES_ITS_SIZE):
        model.partial_fit(X * 1e200, y)


# Weights ----------------------------------------------------------------------------------------------------------------


def test_weights_out_of_range_are_refused(data):
    for factor in (1e200, 1e-310):
        for model in (
            RelevanceVectorRegressor("rbf"),
            skarce.RelevanceVectorClassifier("rbf"),
            skarce.RelevanceVectorPoissonRegressor("rbf"),
        ):
            with pytest.raises(ValueError, match=r"the largest sample weight is .*in the range 1e-15 to 1e\+15.*Multiply"):
                model.fit(data[0], targets_for(model, data[1]), np.full(40, factor))


def test_a_negligible_weight_is_zero(data):
    X, y = data
    weights = np.ones(40)
    weights[3] = 0.0
    expected = RelevanceVectorRegressor("rbf").fit(X, y, weights).predict(X, return_std=True, std="augmented")
    for tiny in (5e-324, 1e-300, 1e-40):
        weights[3] = tiny
        found = RelevanceVectorRegressor("rbf").fit(X, y, weights).predict(X, return_std=True, std="augmented")
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_too_little_data_has_a_finite_criterion(kind, data):
    with pytest.warns(UserWarning, match="Sample weights are counts"):
        model = kind("passthrough").fit(*data, np.full(40, 1e-6))
    assert model.outcome_ is skarce.Outcome.TOO_LITTLE_DATA
    assert np.isfinite(model.criterion_)


# Parameters -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "model",
    [
        EvidenceRegressor("rbf", weight_variance=1e-300),
        EvidenceRegressor(KernelBasis(gamma="ard"), weight_variance=1e-300),
        skarce.BackwardEliminationRegressor("rbf", weight_variance=1e300),
        RelevanceVectorRegressor("rbf", noise_variance=1e-300),
        skarce.LaplacePriorRegressor("rbf", penalty=1e300),
        skarce.LocalRidgeRegressor("rbf", initial_ridge=1e-300),
        JeffreysPriorRegressor("rbf", initial_ridge=1e-300),
        skarce.RegularizedForwardRegressor("rbf", ridge=1e300),
    ],
    ids=repr,
)
def test_parameters_far_from_the_data_are_refused(model, data):
    with pytest.raises(ValueError, match=r"must be in the range 1e-150 to 1e\+150"):
        model.fit(*data)


def test_a_start_that_hides_every_candidate_is_refused(data):
    X, y = data
    with pytest.raises(ValueError, match=r"initial_ridge=0.01 hides every candidate: .* choose initial_ridge="):
        JeffreysPriorRegressor("passthrough").fit(X * 1e-30, y)


def test_a_gamma_whose_distances_overflow_is_refused(data):
    with pytest.raises(ValueError, match=r"gamma=1e\+300 is too large for these inputs"):
        RelevanceVectorRegressor(KernelBasis(gamma=1e300)).fit(*data)


# Queries ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("std", ["plain", "augmented"])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern32", "matern52"])
def test_distance_kernels_are_zero_far_away(kernel, std, data):
    X, y = data
    model = RelevanceVectorRegressor(KernelBasis(kernel)).fit(X, y)
    expected_mean, expected_std = model.predict(np.full((1, 3), 1e6), return_std=True, std=std)
    for far in (1e100, 1e154, 1e300, 1.7e308):
        queries = far * np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 1.0]])
        mean, deviation = model.predict(queries, return_std=True, std=std)
        np.testing.assert_allclose(mean, expected_mean[0])
        np.testing.assert_allclose(deviation, expected_std[0])


def test_an_input_of_gamma_zero_never_matters(data):
    X, y = data
    model = RelevanceVectorRegressor(KernelBasis(gamma=[1.0, 1.0, 0.0])).fit(X, y)
    far = np.column_stack([X[:, :2], np.full(40, 1.7e308)])
    np.testing.assert_allclose(model.predict(far), model.predict(X), rtol=1e-9)


@pytest.mark.parametrize("kernel", ["polynomial", "linear"])
@pytest.mark.parametrize("kind", [RelevanceVectorRegressor, *LATENT], ids=lambda kind: kind.__name__)
def test_predictions_that_overflow_are_refused(kind, kernel, data):
    X, y = data
    model = kind(KernelBasis(kernel))
    model.fit(X, targets_for(model, y))
    with pytest.raises(ValueError, match=r"the prediction of row 1 of X is too large .*\(1 of 2 rows\)"):
        model.predict(np.array([[0.0, 1.0, 0.0], [1.7e308, -1.7e308, 0.0]]))


def test_augmented_std_of_a_kernel_that_vanishes_at_the_query(data):
    X, y = data
    model = RelevanceVectorRegressor(KernelBasis("linear")).fit(X, y * 1e13)
    plain, augmented = (model.predict(np.zeros((1, 3)), return_std=True, std=std)[1] for std in ("plain", "augmented"))
    assert np.isfinite(augmented).all()
    assert (augmented >= plain).all()

"""Every estimator on a device: it is the model of NumPy, and its answers are where the question was."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skarce
from skarce import (
    EvidenceRegressor,
    KernelBasis,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
)
from skarce._device import to_host
from skarce.designs import RowBlocks
from tests.designs.test_device import basis, noisy, problem, separated
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch
from tests.estimator_lists import LATENT, REGRESSORS

pytestmark = needs_dispatch
ON_SUMS = (PrimalSVMClassifier, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor)  # of those with latent functions
NEED_ROWS = tuple(estimator for estimator in LATENT if estimator not in ON_SUMS)
# These follow rounding: with kernels that overlap, other last digits of the sums lead to another model that is about as good.
SENSITIVE = (skarce.FastGCVRegressor, skarce.LocalRidgeRegressor, RelevanceVectorRegressor, skarce.SparseRegressor)


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    with dispatched(monkeypatch):
        yield


def parts(answer):
    return answer if isinstance(answer, tuple) else (answer,)


def assert_on_device(device, answer, expected, rtol=1e-9, atol=1e-9):
    """The answer is on the device, and that of NumPy."""
    for found, exact in zip(parts(answer), parts(expected), strict=True):
        assert device.holds(found)
        assert to_host(found).dtype == exact.dtype
        np.testing.assert_allclose(to_host(found), exact, rtol=rtol, atol=atol)


def test_polynomials_of_inputs_are_made_where_the_rows_are(device):
    X, y, weights = problem()
    model = EvidenceRegressor(make_pipeline(StandardScaler(), PolynomialFeatures(2, include_bias=False)), calibrate_std=False)
    found = clone(model).fit(device(X), device(y), device(weights))
    expected = model.fit(X, y, weights)
    assert_on_device(device, found.predict(device(X), return_std=True), expected.predict(X, return_std=True))
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: one.__name__)
def test_regressors_are_those_of_numpy(device, estimator):
    X, y, weights = problem()
    model = estimator(basis(), calibrate_std=False)
    found = clone(model).fit(device(X), device(y), device(weights))
    expected = model.fit(X, y, weights)
    if estimator in SENSITIVE:
        assert found.criterion_ == pytest.approx(expected.criterion_, rel=1e-3)
        np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=0.1)  # the noise
    else:
        np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-6 * np.std(y))
    for ask in (lambda rows: found.predict(rows), lambda rows: found.predict(rows, return_std=True), found.predict_interval):
        assert_on_device(device, ask(device(X)), ask(X))


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=lambda one: one.__name__)
def test_regressors_choose_the_functions_of_numpy_if_they_are_clear(device, estimator, weighted):
    """No kernel resembles another one, so other last digits lead to no other model."""
    kernels, X, y = separated()
    weights = np.random.default_rng(3).integers(0, 3, len(X)).astype(float) if weighted else None
    model = estimator(kernels, calibrate_std=False)
    found = clone(model).fit(device(X), device(y), device(weights))
    expected = model.fit(X, y, weights)
    np.testing.assert_array_equal(np.sort(found.active_), np.sort(expected.active_))
    assert found.criterion_ == pytest.approx(expected.criterion_, rel=1e-9)
    for one, other in zip(found.predict(X, return_std=True), expected.predict(X, return_std=True), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6 * np.std(y))


@pytest.mark.parametrize("estimator", ON_SUMS, ids=lambda one: one.__name__)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_latent_functions_are_those_of_numpy_in_memory(device, estimator, weighted):
    """In memory, the search is on the rows themselves. The mode is the same, to the tolerance of the search."""
    kernels, X, y = separated()
    weights = np.random.default_rng(5).integers(1, 3, len(X)).astype(float) if weighted else None
    targets = (noisy(y) > 1.0).astype(int) if estimator is not RelevanceVectorPoissonRegressor else np.round(np.exp(y / 4.0))
    options = {"max_active": 9} if estimator is PrimalSVMClassifier else {"tol": 1e-9}
    model = estimator(kernels, calibrate_proba=False, **options)
    found = clone(model).fit(device(X), device(targets), device(weights))
    expected = model.fit(X, targets, weights)
    np.testing.assert_array_equal(np.sort(found.active_), np.sort(expected.active_))
    ask = "predict" if estimator is RelevanceVectorPoissonRegressor else "decision_function"
    answer, exact = getattr(found, ask)(X), getattr(expected, ask)(X)
    np.testing.assert_allclose(answer, exact, rtol=0.0, atol=1e-4 * np.std(exact))  # the search ends near the mode


@pytest.mark.parametrize("estimator", NEED_ROWS, ids=lambda one: one.__name__)
def test_methods_that_need_rows_say_so_and_predict(device, estimator):
    X, y, _ = problem(200)
    labels = (noisy(y) > 0.0).astype(int)
    with pytest.raises(ValueError, match="needs them in memory"):
        estimator(basis()).fit(device(X), device(labels))
    model = estimator(basis()).fit(X, labels)
    assert_on_device(device, model.predict(device(X)), model.predict(X))
    assert_on_device(device, model.decision_function(device(X)), model.decision_function(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("temperature", [1.0, 1.7])
def test_probabilities_stay_on_the_device(device, n_classes, temperature):
    X, y, _ = problem()
    labels = np.searchsorted([0.0, 1.5][: n_classes - 1], noisy(y))
    model = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(X, labels)
    model.temperature_ = temperature
    for name in ("predict", "predict_proba", "predict_log_proba", "decision_function", "latent"):
        assert_on_device(device, getattr(model, name)(device(X)), getattr(model, name)(X))
    assert_on_device(device, model.decision_function(device(X), return_std=True), model.decision_function(X, return_std=True))


def test_labels_that_are_text_are_numpy(device):
    X, y, _ = problem()
    model = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(X, np.where(noisy(y) > 0.0, "above", "below"))
    np.testing.assert_array_equal(model.predict(device(X)), model.predict(X))


def test_counts_stay_on_the_device(device):
    X, y, _ = problem()
    model = RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False)
    model.fit(X, np.random.default_rng(0).poisson(np.exp(y)))
    assert_on_device(device, model.predict(device(X), return_std=True), model.predict(X, return_std=True))
    assert_on_device(device, model.predict_interval(device(X)), model.predict_interval(X))


def test_single_precision_is_answered_in_single_precision(device):
    X, y, _ = problem()
    model = EvidenceRegressor(basis()).fit(X, y)
    single = X.astype(np.float32)
    expected = model.predict(single, return_std=True)
    assert expected[0].dtype == np.float32
    assert_on_device(device, model.predict(device(single), return_std=True), expected, rtol=1e-6)


def test_several_targets_and_many_parts(device, monkeypatch):
    monkeypatch.setattr("skarce._device.HOST_BYTES", 8 * 36 * 70)
    monkeypatch.setattr("skarce._device.DEVICE_BYTES", 8 * 36 * 70)
    X, y, _ = problem()
    model = RelevanceVectorRegressor(basis(), calibrate_std=False).fit(X, np.column_stack([y, 1e3 * X[:, 0]]))
    assert_on_device(device, model.predict(device(X), return_std=True), model.predict(X, return_std=True), rtol=1e-8)
    assert_on_device(device, model.predict_interval(device(X)), model.predict_interval(X), rtol=1e-8)


def test_a_constant_target_gives_an_intercept(device):
    X, _, _ = problem()
    model = RelevanceVectorRegressor(basis()).fit(device(X), device(np.full(len(X), 3.0)))
    assert len(model.active_) == 0
    assert_on_device(device, model.predict(device(X), return_std=True), (np.full(len(X), 3.0), np.zeros(len(X))))


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X: X[:, :1], "X has 1 features, but EvidenceRegressor is expecting 2"),
        (lambda X: X[:, 0], "X must have rows and columns"),
        (lambda X: X[:0], "a minimum of 1 is required"),
        (lambda X: np.where(X > 2.0, np.nan, X), "X must hold finite numbers, got NaN or infinity in row"),
    ],
)
def test_wrong_queries_are_named(device, spoil, message):
    X, y, _ = problem()
    model = EvidenceRegressor(basis()).fit(X, y)
    with pytest.raises(ValueError, match=message):
        model.predict(device(spoil(X)))


def test_what_works_on_the_host_only_says_so(device):
    X, y, _ = problem(50)
    model = EvidenceRegressor(basis()).fit(X, y)
    for ask in (
        lambda: model.predict(device(X), return_std=True, std="augmented"),
        lambda: model.predict(device(X), return_cov=True),
        lambda: model.sample_y(device(X)),
    ):
        with pytest.raises(TypeError, match="in the memory of the host, but X is a"):
            ask()


def test_predictions_that_overflow_are_named(device):
    X, y, _ = problem()
    model = EvidenceRegressor("passthrough").fit(X, y)
    with pytest.raises(ValueError, match="the prediction of row 1 of X is too large"):
        model.predict(device(np.array([[1.0, 1.0], [1e308, 1e308]])), return_std=True)


@pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # of StandardScaler on array-api-strict
def test_pipelines_and_scores_stay_on_the_device(device):
    X, y, _ = problem()
    model = make_pipeline(StandardScaler(), EvidenceRegressor(KernelBasis(gamma=0.5, centers=30, random_state=0)))
    found = clone(model).fit(device(X), device(y))
    assert_on_device(device, found.predict(device(X)), model.fit(X, y).predict(X), rtol=1e-6)
    assert found.score(device(X), device(y)) == pytest.approx(model.score(X, y), abs=1e-6)


def test_blocks_of_rows_and_a_device_agree_in_their_folds(device):
    X, y, _ = problem()
    found = RelevanceVectorRegressor("auto").fit(device(X), device(y))
    expected = RelevanceVectorRegressor("auto").fit(RowBlocks.from_arrays(X, y))
    np.testing.assert_array_equal(found.basis_.gamma_, expected.basis_.gamma_)
    assert found.std_scale_ == pytest.approx(expected.std_scale_, rel=0.05)

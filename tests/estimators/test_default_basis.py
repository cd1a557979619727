"""The default basis in every estimator, on tables as users have them."""

import numpy as np
import pytest
from sklearn.base import clone

from skarce import (
    FastGCVRegressor,
    KernelBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSClassifier,
)
from skarce.basis.learners import remembering
from skarce.basis.widths import FLATNESS
from skarce.model_selection import learn_widths
from tests.estimator_lists import LATENT, REGRESSORS

EVERY = [estimator for estimator in (*REGRESSORS, *LATENT) if estimator().basis == "auto"]


@pytest.fixture(scope="module", autouse=True)
def shared_widths():
    """All regressors see the same tables, so widths need to be learned once for each."""
    with remembering():
        yield


@pytest.fixture(params=EVERY, ids=lambda estimator: estimator.__name__)
def estimator(request):
    return request.param


def target(estimator, values):
    """Numbers as this estimator takes them: as they are, as two classes, or as counts."""
    if estimator.__name__.endswith("Classifier"):
        return values > np.median(values)
    return np.round(np.exp(values)) if estimator is RelevanceVectorPoissonRegressor else values


def assert_sound(model, X):
    assert np.isfinite(model.predict(X).astype(float)).all()
    assert model.basis == "auto"
    assert model.basis_.kernel_ in ("rbf", "matern52", "matern32")


def table(n_rows, n_inputs, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_inputs))
    return X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n_rows)


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_rows", [1, 2, 5])
def test_few_rows(estimator, n_rows):
    X, y = table(n_rows, 2)
    labels_or_numbers = target(estimator, y)
    if len(np.unique(labels_or_numbers)) == 1 and labels_or_numbers.dtype == bool:
        pytest.skip("one class")
    assert_sound(estimator().fit(X, labels_or_numbers), X)


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Left-out rows are:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("n_inputs", [101, 1000])
def test_many_inputs_share_one_width(estimator, n_inputs):
    X, y = table(60, n_inputs)
    model = estimator().fit(X, target(estimator, y))
    assert_sound(model, X)
    assert np.ndim(model.basis_.gamma_) == 0


def test_constant_and_one_hot_columns(estimator):
    X, y = table(90, 2)
    group = np.arange(90) % 3
    X = np.column_stack([X, np.full(90, 7.0), group[:, None] == np.arange(3)])
    model = estimator().fit(X, target(estimator, y + group))
    assert_sound(model, X)
    assert model.score(X, target(estimator, y + group)) > 0.7
    assert model.basis_.gamma_[2] == 0.0


def test_units_of_the_inputs_do_not_matter(estimator):
    X, y = table(80, 3)
    units = np.array([1e-6, 1.0, 1e9])
    plain, scaled = (estimator().fit(inputs, target(estimator, y)) for inputs in (X, X * units))
    np.testing.assert_allclose(scaled.basis_.gamma_ * units**2, plain.basis_.gamma_, rtol=1e-2, atol=1e-4)
    assert scaled.score(X * units, target(estimator, y)) == pytest.approx(plain.score(X, target(estimator, y)), abs=0.02)


def test_rows_of_weight_zero_do_not_matter(estimator):
    X, y = table(80, 2)
    weights = np.r_[np.ones(50), np.zeros(30)]
    y[50:] = np.arange(30) % 2 * 5.0
    counted = estimator().fit(X, target(estimator, y), sample_weight=weights)
    alone = estimator().fit(X[:50], target(estimator, y)[:50])
    np.testing.assert_array_equal(counted.basis_.gamma_, alone.basis_.gamma_)
    np.testing.assert_allclose(counted.predict(X).astype(float), alone.predict(X).astype(float), rtol=1e-6)


@pytest.mark.parametrize("estimator", [one for one in EVERY if one in REGRESSORS], ids=lambda one: one.__name__)
def test_equal_targets_and_two_outputs(estimator):
    X, y = table(60, 2)
    flat = estimator().fit(X, np.full(60, 3.0))
    np.testing.assert_allclose(flat.predict(X), 3.0)
    both = estimator().fit(X, np.column_stack([y, np.full(60, 3.0)]))
    assert both.predict(X).shape == (60, 2)
    assert np.corrcoef(both.predict(X)[:, 0], y)[0, 1] > 0.9


@pytest.mark.filterwarnings("ignore:Some active functions are so nearly dependent:sklearn.exceptions.ConvergenceWarning")
def test_the_same_data_give_the_same_model(estimator):
    X, y = table(120, 2)
    with remembering():  # so that the second one learns by itself
        first = estimator().fit(X, target(estimator, y))
    with remembering():
        second = clone(first).fit(X, target(estimator, y))
    np.testing.assert_array_equal(first.basis_.gamma_, second.basis_.gamma_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.parametrize("estimator", [RelevanceVectorClassifier, VBLSClassifier])
def test_names_of_classes_do_not_matter(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    for n_classes in (2, 3):
        codes = np.minimum((np.abs(X[:, 0]) * 2).astype(int), n_classes - 1)
        plain = estimator().fit(X, codes)
        renamed = estimator().fit(X, np.array([900.0, -5.0, 1e5])[codes])
        np.testing.assert_allclose(renamed.basis_.gamma_, plain.basis_.gamma_, rtol=1e-2, atol=1e-4)
        assert np.mean(renamed.classes_.argsort() >= 0) == 1.0
        assert plain.score(X, codes) > 0.85
        assert renamed.score(X, np.array([900.0, -5.0, 1e5])[codes]) > 0.85


def test_landmarks_stand_for_many_rows():
    X, y = table(2500, 2)
    model = RelevanceVectorRegressor().fit(X, y)
    assert len(model.relevance_) == 1000
    assert model.score(X, y) > 0.95


def test_rows_of_later_batches_are_not_known():
    assert not hasattr(FastGCVRegressor(), "partial_fit")
    assert hasattr(FastGCVRegressor().set_params(basis__centers=5), "partial_fit")


def test_learned_kernels_predict_better_than_the_quick_rule():
    X, y = table(200, 8)
    X_new, y_new = table(500, 8, seed=1)
    learned, quick = (RelevanceVectorRegressor(basis).fit(X, y).score(X_new, y_new) for basis in ("auto", "rbf"))
    assert 1.0 - learned < 0.5 * (1.0 - quick)


@pytest.mark.parametrize(("n_classes", "options"), [(2, {"likelihood": "bernoulli"}), (3, {"noise_share": 1.0})])
def test_two_classes_learn_by_the_evidence_of_labels_and_more_by_its_expansion(n_classes, options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.normal(size=90), [-0.4, 0.4][: n_classes - 1])
    signs = 2.0 * (y[:, None] == np.arange(n_classes)[int(n_classes == 2) :]) - 1.0
    learned = learn_widths(X, signs, kernel="auto", covariance="kernel", flatness=FLATNESS, **options)
    model = RelevanceVectorClassifier(calibrate_proba=False).fit(X, y)
    np.testing.assert_array_equal(model.basis_.gamma_, learned.gamma)
    as_numbers = KernelBasis("auto", gamma="learned", width_params={"likelihood": "gaussian", "noise_share": 1.0})
    other = RelevanceVectorClassifier(as_numbers, calibrate_proba=False).fit(X, y)
    assert np.array_equal(other.basis_.gamma_, learned.gamma) == (n_classes == 3)

"""Streams of labels and counts: one batch is a fit, many are nearly one, and a batch is absorbed whole or not at all."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, VBLSClassifier
from skarce.basis.candidates import ColumnsEvaluation
from skarce.designs import LatentStream, Rows
from skarce.likelihoods import Bernoulli, Poisson

N = 600
CENTERS = np.random.default_rng(9).normal(size=(25, 3))
BASES = {
    "passthrough": "passthrough",
    "kernels": KernelBasis(gamma=0.2, centers=CENTERS),
    "transformer": PolynomialFeatures(2, include_bias=False),
}
KINDS = ["two classes", "three classes", "counts", "two classes by a bound", "three classes by a bound"]
BOUND = " by a bound"


def drawn(kind, n=N, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    latent = 1.2 * X[:, 0] - 0.8 * X[:, 1] + 0.4
    if kind == "counts":
        return X, rng.poisson(np.exp(0.5 * latent))
    noisy = latent + rng.logistic(size=n)
    return X, np.array(["a", "b", "c"])[np.digitize(noisy, [0.0] if kind.startswith("two classes") else [-0.7, 0.7])]


def made(kind, basis="passthrough", **params):
    if kind == "counts":
        return RelevanceVectorPoissonRegressor(basis, calibrate_proba=False, **params)
    return (VBLSClassifier if kind.endswith(BOUND) else RelevanceVectorClassifier)(basis, calibrate_proba=False, **params)


def absorbed(model, X, y, sizes, classes):
    known = {} if classes is None else {"classes": classes}
    for start in range(0, len(X), sizes):
        model.partial_fit(X[start : start + sizes], y[start : start + sizes], **known)
    return model


def classes_of(kind, y):
    return None if kind == "counts" else np.unique(y)


def loss(model, X, y):
    return -model.score(X, y) if isinstance(model, RelevanceVectorPoissonRegressor) else log_loss(y, model.predict_proba(X))


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("is_em", [False, True])
@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("kind", KINDS)
def test_one_batch_is_a_fit(kind, basis, is_em, fit_intercept):
    X, y = drawn(kind, 200)
    model = made(kind, basis, fit_intercept=fit_intercept, **({"solver": "em"} if is_em else {}))
    streamed, fitted = absorbed(clone(model), X, y, 200, classes_of(kind, y)), model.fit(X, y)
    np.testing.assert_array_equal(streamed.active_, fitted.active_)
    np.testing.assert_allclose(streamed.latent(X), fitted.latent(X), rtol=1e-6, atol=1e-6)
    assert streamed.criterion_ == pytest.approx(fitted.criterion_, rel=1e-8)
    assert streamed.n_effective_ == fitted.n_effective_ == 200


@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize("kind", KINDS)
def test_many_batches_are_nearly_a_fit(kind, basis):
    X, y = drawn(kind)
    new, answers = drawn(kind, 2000, seed=1)
    fitted, best = made(kind, basis).fit(X, y), {}
    for sizes in (20, 100):
        for order in (slice(None), slice(None, None, -1)):
            streamed = absorbed(made(kind, basis), X[order], y[order], sizes, classes_of(kind, y))
            best[sizes, str(order)] = loss(streamed, new, answers)
            assert streamed.n_effective_ == N
    assert max(best.values()) < loss(fitted, new, answers) + 0.02
    assert max(best.values()) - min(best.values()) < 0.02


@pytest.mark.parametrize("kind", KINDS)
def test_the_uncertainty_is_that_of_all_rows(kind):
    X, y = drawn(kind)
    fitted, streamed = made(kind).fit(X, y), absorbed(made(kind), X, y, 60, classes_of(kind, y))
    ratios = streamed.latent(X)[1] / fitted.latent(X)[1]
    assert np.quantile(np.abs(ratios - 1.0), 0.95) < 0.15  # a few rows depend on weights that have nearly faded


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_goes_on_after_a_fit_and_a_pickle(kind):
    X, y = drawn(kind)
    fitted = made(kind).fit(X[:300], y[:300])
    begun = absorbed(made(kind), X[:300], y[:300], 300, classes_of(kind, y))
    for model in (fitted, pickle.loads(pickle.dumps(fitted)), begun, pickle.loads(pickle.dumps(begun))):
        model.partial_fit(X[300:], y[300:])
    np.testing.assert_allclose(fitted.latent(X), begun.latent(X), rtol=1e-8, atol=1e-8)
    assert fitted.n_effective_ == N


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_begins_anew(kind):
    X, y = drawn(kind)
    streamed = absorbed(made(kind), X, y, 300, classes_of(kind, y)).fit(X[:200], y[:200])
    np.testing.assert_array_equal(streamed.latent(X), made(kind).fit(X[:200], y[:200]).latent(X))


@pytest.mark.parametrize("likelihood", [Bernoulli(), Poisson()])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_past_is_the_expansion_of_its_log_likelihood(likelihood, fit_intercept):
    """Against numerical derivatives of the log likelihood of two batches, each about the mode of its time."""
    kind = "two classes" if isinstance(likelihood, Bernoulli) else "counts"
    X, y = drawn(kind, 80)
    targets = (y == "b").astype(float)[:, None] if kind == "two classes" else y.astype(float)[:, None]
    weights = np.random.default_rng(2).integers(1, 4, 80).astype(float)
    model = made(kind, fit_intercept=fit_intercept).fit(X, y, sample_weight=weights)
    stream, expected, at = LatentStream(_Inputs(), 1, fit_intercept=fit_intercept), 0.0, np.r_[0.3, -0.2, 0.5, 0.1]
    at[0] *= fit_intercept
    for rows in (slice(0, 50), slice(50, 80)):
        batch = Rows(X[rows], targets[rows], weights[rows])
        stream = stream.with_batch(batch).latent_stream(likelihood, [model.posterior_])
        latent = model.latent(X[rows])[0]
        move = at[0] + X[rows] @ at[1:] - latent
        h = 1e-4
        values = [weights[rows] * likelihood.log_density(targets[rows, 0], latent + step) for step in (-h, 0.0, h)]
        slopes, curvatures = (values[2] - values[0]) / (2 * h), (values[2] - 2 * values[1] + values[0]) / h**2
        expected += np.sum(values[1] + slopes * move + 0.5 * curvatures * move**2)
    past = stream.problems(likelihood)[0].design._past_rows()

    def quadratic(theta):
        return -0.5 * np.sum((past.targets - past.constant * theta[0] - past.candidates @ theta[1:]) ** 2)

    center = np.zeros(4)
    at_center = sum(
        np.sum(weights[rows] * _expanded(likelihood, targets[rows, 0], model.latent(X[rows])[0]))
        for rows in (slice(0, 50), slice(50, 80))
    )
    assert quadratic(at) - quadratic(center) == pytest.approx(expected - at_center, rel=1e-4)


def _expanded(likelihood, targets, latent):
    """The expansion about `latent`, at zero."""
    slopes = likelihood.slopes(targets, latent)
    return likelihood.log_density(targets, latent) - slopes.first * latent - 0.5 * slopes.curvature * latent**2


class _Inputs:
    """Three inputs as they are."""

    n_candidates = 3

    def on(self, X):
        return ColumnsEvaluation(X)


def test_a_batch_may_miss_classes_and_events():
    X, y = drawn("three classes")
    model = made("three classes").partial_fit(X[:100], y[:100], classes=["c", "a", "b"])
    for start in range(100, N, 50):
        for label in "cab":
            rows = start + np.flatnonzero(y[start : start + 50] == label)
            model.partial_fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.classes_, ["a", "b", "c"])
    assert loss(model, X, y) < loss(made("three classes").fit(X, y), X, y) + 0.02
    X, counts = drawn("counts")
    model = made("counts").partial_fit(X, counts)
    before = model.predict(X).mean()
    assert model.partial_fit(X[:50], np.zeros(50)).predict(X).mean() < before


def test_weights_and_shares_count_in_batches():
    X, y = drawn("two classes", 120)
    half = [made("two classes", **params) for params in ({"effective_samples": 0.5}, {"weights": "relative"}, {})]
    half[0].partial_fit(X, y, classes=["a", "b"])
    half[1].set_params(effective_samples=0.5).partial_fit(X, y, classes=["a", "b"], sample_weight=np.full(120, 1e-6))
    half[2].partial_fit(X, y, classes=["a", "b"], sample_weight=np.full(120, 0.5))
    for model in half:
        np.testing.assert_allclose(model.latent(X), half[2].latent(X), rtol=1e-9)
        assert model.n_effective_ == pytest.approx(60)


def test_an_error_leaves_the_model_as_it_was():
    X, y = drawn("two classes")
    model = made("two classes").partial_fit(X[:300], y[:300], classes=["a", "b"])
    before, state = model.latent(X), vars(model)
    wrong = [
        ((X[300:, :2], y[300:]), {}, "3 features"),
        ((X[300:], np.full(300, "z")), {}, "classes are"),
        ((X[300:], y[300:]), {"classes": ["a", "c"]}, "not the same as in earlier calls"),
        ((X[300:], y[300:]), {"sample_weight": np.full(300, -1.0)}, "Negative values|negative"),
    ]
    for data, known, message in wrong:
        with pytest.raises(ValueError, match=message):
            model.partial_fit(*data, **known)
        assert vars(model) is state
    model.set_params(fit_intercept=False)
    with pytest.raises(ValueError, match="earlier batches had True"):
        model.partial_fit(X[300:], y[300:])
    model.set_params(fit_intercept=True)
    np.testing.assert_array_equal(model.latent(X), before)
    again = made("two classes").partial_fit(X[:300], y[:300], classes=["a", "b"]).partial_fit(X[300:], y[300:])
    np.testing.assert_array_equal(model.partial_fit(X[300:], y[300:]).latent(X), again.latent(X))


def test_what_cannot_be_streamed():
    X, y = drawn("two classes", 60)
    for basis in ("auto", "rbf", KernelBasis()):
        assert not hasattr(made("two classes", basis), "partial_fit")
        assert not hasattr(made("counts", basis), "partial_fit")
    assert not hasattr(VBLSClassifier(), "partial_fit")
    with pytest.raises(AttributeError, match="partial_fit"):
        VBLSClassifier("passthrough", factorized=True).partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        made("two classes").partial_fit(X, y)
    with pytest.raises(ValueError, match="at least two classes"):
        made("two classes").partial_fit(X, y, classes=["a"])
    with pytest.raises(ValueError, match=r"class_weight='balanced' needs all rows, .* dict"):
        made("two classes", class_weight="balanced").partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="centers=61 asks for that many landmarks"):
        made("two classes", KernelBasis(gamma=1.0, centers=61)).partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="calibrate_proba=True fits the model again"):
        made("two classes").set_params(calibrate_proba=True).partial_fit(X, y, classes=["a", "b"])
    with pytest.raises(ValueError, match="nothing was counted"):
        made("counts").partial_fit(X, np.zeros(60))


@parametrize_with_checks(
    [RelevanceVectorClassifier("passthrough"), RelevanceVectorPoissonRegressor("passthrough"), VBLSClassifier("passthrough")]
)
def test_scikit_learn(estimator, check):
    if "partial_fit" in str(check):
        check(estimator)

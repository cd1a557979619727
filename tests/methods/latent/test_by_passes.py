"""Latent functions by passes over blocks: the expansion against the rows, and certificates at the answer."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.optimize import approx_fprime
from scipy.special import expit
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from skarce import KernelBasis, Outcome, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, VBLSClassifier
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign, Rows
from skarce.likelihoods import Bernoulli, Poisson
from skarce.methods.latent import SparseLatent
from skarce.methods.latent.by_passes import ByPasses, Expansion, ExpansionPass, Sketch, Target
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.on_sums import SumsPool
from skarce.methods.latent.scan import scan
from skarce.states.budget import Budget
from skarce.states.journal import Journal

N = 900
RNG = np.random.default_rng(5)
X = RNG.normal(size=(N, 2))
LATENT = 2.0 * np.sin(2.0 * X[:, 0]) + X[:, 1]
LABELS = (LATENT + RNG.logistic(size=N) > 0).astype(float)
THREE = np.digitize(LATENT + RNG.logistic(size=N), [-1.0, 1.0])
COUNTS = RNG.poisson(np.exp(0.5 * LATENT)).astype(float)
WEIGHTS = RNG.integers(0, 4, N).astype(float)
KERNELS = KernelBasis(gamma=0.7, centers=X[:30])
pytestmark = pytest.mark.usefixtures("rows_in_passes")
CASES = {
    "two classes": (RelevanceVectorClassifier, LABELS),
    "three classes": (RelevanceVectorClassifier, THREE),
    "counts": (RelevanceVectorPoissonRegressor, COUNTS),
}


@pytest.fixture(params=CASES)
def case(request):
    return CASES[request.param]


@pytest.fixture
def few_sampled(monkeypatch):
    """The first model comes from 150 rows, so that passes have something to do."""
    whole = RowBlocks.sample
    monkeypatch.setattr(RowBlocks, "sample", lambda self, seed, **options: whole(self, seed, n_rows=150, **options))


def targets_of(y):
    return (y[:, None] == np.arange(3)).astype(float) if len(np.unique(y)) == 3 and y is THREE else y[:, None]


def on_rows(model, y, weights, likelihood, fit_intercept):
    """The Laplace approximations on the rows themselves, at the functions and precisions of a model, and all candidates."""
    basis = clone(KERNELS).fit(X)
    design = InMemoryDesign(basis, Rows(X, targets_of(y), weights), fit_intercept=fit_intercept)
    evaluation, _ = design.evaluation()
    found = []
    for posterior, problem in zip(model._posteriors(), design.problems(likelihood), strict=True):
        empty = Laplace.empty(problem.observations, fit_intercept=fit_intercept)
        columns = np.ascontiguousarray(evaluation.columns(posterior.active))
        found.append(empty.with_added(columns, posterior.weight_precision, posterior.active))
    return evaluation, found


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("tol", [1e-3, 1e-9])
@pytest.mark.usefixtures("few_sampled")
def test_the_answer_is_a_maximum_of_the_evidence_of_all_rows(case, weights, fit_intercept, tol):
    """The score is that of the rows, the weights are its mode, its slopes vanish, and no candidate would raise it by much."""
    estimator, y = case
    likelihood = Poisson() if estimator is RelevanceVectorPoissonRegressor else Bernoulli()
    model = estimator(KERNELS, fit_intercept=fit_intercept, calibrate_proba=False, tol=tol).fit(
        RowBlocks.from_arrays(X, y, weights, block_rows=200)
    )
    assert model.outcome_ is Outcome.CONVERGED
    evaluation, found = on_rows(model, y, weights, likelihood, fit_intercept)
    assert model.criterion_ == pytest.approx(sum(one.score for one in found), abs=1e-7)
    for one, posterior in zip(found, model._posteriors(), strict=True):
        assert np.abs(one.gradient).max() < 1e-5
        np.testing.assert_allclose(one.weights[one.learned], posterior.mean, atol=1e-7 * np.abs(posterior.mean).max())
        gains = scan(evaluation, [one])[0].gains()
        gains[one.indices] = 0.0
        assert gains.max() < max(2.0 * tol, 1e-5)


def functions_of(model):
    return [posterior.active.tolist() for posterior in model._posteriors()]


@pytest.mark.parametrize(("tol", "slack"), [(1e-3, 0.05), (1e-9, 1e-5)])
def test_a_model_of_all_rows_is_confirmed(case, tol, slack):
    """The sample holds all rows, so passes begin at the model in memory, and stay there, to what `tol` leaves open.

    They end at the maximum with these functions, as a search in memory with a small `tol` does.
    """
    estimator, y = case
    for basis in ("passthrough", KERNELS, PolynomialFeatures(2, include_bias=False)):
        model = estimator(basis, calibrate_proba=False, tol=tol)
        expected, found = clone(model).fit(X, y), clone(model).fit(RowBlocks.from_arrays(X, y, block_rows=250))
        np.testing.assert_array_equal(found.active_, expected.active_)
        assert found.criterion_ == pytest.approx(expected.criterion_, abs=tol)
        np.testing.assert_allclose(found.latent(X)[0], expected.latent(X)[0], atol=slack)
        exact = clone(model).set_params(tol=1e-11).fit(X, y)
        are_same = functions_of(found) == functions_of(exact)
        assert are_same or (tol == 1e-3 and y is THREE)  # where functions differ that gain less than that
        np.testing.assert_allclose(found.latent(X)[0], exact.latent(X)[0], atol=1e-5 if are_same else slack)


CENTERS = np.linspace(0.0, 10.0, 6)[:, None]
PLACES = RNG.integers(0, 9, N)  # six clusters that share hardly a kernel, and rows without any
APART = np.where((PLACES < 6)[:, None], CENTERS[PLACES % 6], 20.0) + 0.15 * RNG.normal(size=(N, 1))
HEIGHTS = np.exp(-8.0 * (APART - CENTERS.T) ** 2) @ [2.0, -2.0, 1.5, -1.5, 2.0, -1.0]
APART_CASES = {
    "two classes": (RelevanceVectorClassifier, (HEIGHTS + RNG.logistic(size=N) > 0).astype(float)),
    "three classes": (RelevanceVectorClassifier, np.digitize(HEIGHTS + RNG.logistic(size=N), [-1.0, 1.0])),
    "counts": (RelevanceVectorPoissonRegressor, RNG.poisson(np.exp(0.5 * HEIGHTS)).astype(float)),
}


@pytest.mark.parametrize(("tol", "slack"), [(1e-3, 1e-2), (1e-9, 1e-6)])
@pytest.mark.parametrize("has_few", [False, True], ids=["all sampled", "few sampled"])
@pytest.mark.parametrize("name", APART_CASES)
def test_nothing_is_lost_where_kernels_are_apart(request, name, has_few, tol, slack):
    """The functions of memory, the criterion within `tol`, and predictions as near as memory comes to its maximum: about its root.

    They are those of a fit in memory with a small `tol`.
    """
    if has_few:
        request.getfixturevalue("few_sampled")
    estimator, y = APART_CASES[name]
    model = estimator(KernelBasis(gamma=8.0, centers=CENTERS), calibrate_proba=False, tol=tol)
    expected, exact = clone(model).fit(APART, y), clone(model).set_params(tol=1e-11).fit(APART, y)
    lazy = da.from_array(APART, chunks=(250, 1)), da.from_array(y, chunks=250)
    with dask.config.set(scheduler="synchronous"):
        both = clone(model).fit(RowBlocks.from_arrays(APART, y, block_rows=200)), clone(model).fit(*lazy)
    for found in both:
        np.testing.assert_array_equal(found.active_, expected.active_)
        assert found.criterion_ == pytest.approx(expected.criterion_, abs=tol)
        for latent, close in ((expected.latent(APART), slack), (exact.latent(APART), 1e-6)):
            np.testing.assert_allclose(found.latent(APART)[0], latent[0], rtol=0.0, atol=close * latent[0].std())
            np.testing.assert_allclose(found.latent(APART)[1], latent[1], rtol=0.0, atol=close * latent[0].std())


@pytest.mark.parametrize("likelihood", [Bernoulli(), Poisson()])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_an_expansion_has_the_derivatives_of_the_log_likelihood(likelihood, fit_intercept):
    basis, y = clone(KERNELS).fit(X), LABELS if isinstance(likelihood, Bernoulli) else COUNTS
    means = basis.transform(X).mean(axis=0) * fit_intercept
    functions = basis.transform(X) - means
    functions = np.column_stack([np.ones(N), functions]) if fit_intercept else functions
    active, n = np.array([3, 7, 20]), functions.shape[1]
    places = np.concatenate([[0], 1 + active]) if fit_intercept else active
    at = np.zeros(n)
    at[places] = RNG.normal(size=len(places)) * 0.5
    root = np.tril(RNG.normal(size=(len(places), len(places))))
    sketch = Sketch(active, at[places], 0.3, root)
    work = ExpansionPass(basis, np.arange(30), likelihood, means, np.ones(30), fit_intercept, [0], [sketch])
    parts = [work(Rows(X[rows], y[rows, None], WEIGHTS[rows]))[0] for rows in (slice(0, 400), slice(400, 401), slice(401, N))]
    found = Expansion.total(parts)

    def value(theta):
        return float(WEIGHTS @ likelihood.log_density(y, 0.3 + functions @ theta))

    def slopes(theta):
        return functions.T @ (WEIGHTS * likelihood.slopes(y, 0.3 + functions @ theta).first)

    assert found.value == pytest.approx(value(at), rel=1e-12)
    np.testing.assert_allclose(found.slopes, approx_fprime(at, value, 1e-6), rtol=1e-3, atol=2e-3)
    np.testing.assert_allclose(
        found.curvature, -np.array([approx_fprime(at, lambda t, j=j: slopes(t)[j], 1e-6) for j in range(n)]), rtol=1e-3, atol=2e-3
    )
    leverages = ((functions[:, places] @ root.T) ** 2).sum(axis=1)
    third = likelihood.slopes(y, 0.3 + functions @ at).third
    np.testing.assert_allclose(found.pull, functions.T @ (WEIGHTS * third * leverages), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("likelihood", [Bernoulli(), Poisson()])
def test_sums_have_the_evidence_and_its_slopes_where_they_were_expanded(likelihood, fit_intercept):
    """A model at its mode: its score, the slopes by all precisions, and what every candidate is worth, are those of the rows."""
    y = LABELS if isinstance(likelihood, Bernoulli) else COUNTS
    estimator = RelevanceVectorClassifier if y is LABELS else RelevanceVectorPoissonRegressor
    model = estimator(KERNELS, fit_intercept=fit_intercept, calibrate_proba=False, max_active=6).fit(X, y)
    evaluation, (exact,) = on_rows(model, y, None, likelihood, fit_intercept)
    rows, basis = Rows(X[:100], y[:100, None]), clone(KERNELS).fit(X)
    design = RowBlocksDesign(basis, RowBlocks.from_arrays(X, y), rows, N, fit_intercept=fit_intercept)
    search = ByPasses(SparseLatent(), design.problems(likelihood), Budget())
    search._take_passes = lambda targets, passes: None
    search._fit = lambda target: None
    search.run()
    assert design.observations(0, likelihood).level == pytest.approx(exact.observations.level)  # of all rows, not of the sample
    sketch = Sketch(exact.indices, exact.weights, exact.observations.level, exact.root)
    target = Target(sketch, exact.precisions[exact.learned], Journal())
    (expansion,) = design.total(search._pass([0], [target]), lambda parts: parts[0])
    found = search._start(sketch, target.precisions, expansion)
    assert found.score == pytest.approx(exact.score, rel=1e-10)
    np.testing.assert_allclose(found.gradient, exact.gradient, atol=1e-6)
    by_sums, (by_rows,) = SumsPool(found.sums, np.arange(30)).scanned(found), scan(evaluation, [exact])
    for name in ("sparsity", "quality", "pull", "rate"):
        values = getattr(by_rows, name)
        np.testing.assert_allclose(getattr(by_sums, name), values, atol=1e-6 * np.abs(values).max())


def test_a_step_that_is_too_long_is_halved():
    sketch = Sketch(np.array([1, 4]), np.array([0.5, 1.0, -2.0]), 0.0, None)
    target = Target(sketch, np.array([1.0, 2.0]), Journal())
    assert not target.went_too_far(-1e9)  # there was no step yet
    old = Sketch(np.array([1, 2]), np.array([0.0, 3.0, 6.0]), 0.0, None)
    target._before = old, np.array([5.0, 6.0]), -100.0

    class Promising:
        log_likelihood = -50.0

    target.model = Promising()
    assert not target.went_too_far(-60.0)
    assert not target.went_too_far(-100.5)
    assert target.went_too_far(-200.0)
    target.go_back_half()
    np.testing.assert_array_equal(target.sketch.active, [1, 2, 4])
    np.testing.assert_allclose(target.sketch.weights, [0.25, 2.0, 3.0, -1.0])
    np.testing.assert_allclose(target.precisions, [1.0, 6.0, 2.0])


@pytest.mark.usefixtures("few_sampled")
def test_a_rare_event_far_from_the_sample_is_fitted():
    """Rates that the sample does not show: Newton's steps from there must not run away."""
    inputs = np.linspace(0.0, 1.0, N)[:, None]
    counts = np.where(inputs[:, 0] > 0.997, 500.0, np.arange(N) % 10 == 0)
    model = RelevanceVectorPoissonRegressor(KernelBasis(gamma=1e3, centers=np.linspace(0, 1, 25)[:, None]), calibrate_proba=False)
    fitted = model.fit(RowBlocks.from_arrays(inputs, counts, block_rows=100))
    assert fitted.predict(inputs).sum() == pytest.approx(counts.sum(), rel=0.05)


@pytest.mark.usefixtures("few_sampled")
@pytest.mark.parametrize("estimator", [RelevanceVectorPoissonRegressor, RelevanceVectorClassifier])
@pytest.mark.parametrize("kind", ["rare", "never"])
def test_events_that_the_sample_lacks(estimator, kind):
    """Rows with events have hardly any weight, so a weighted sample has none of them. All rows together have, or none at all."""
    is_event = np.arange(N) % 300 == 7
    weights = np.where(is_event, 1.0, 200.0)
    y = is_event.astype(float) if kind == "rare" else np.zeros(N)
    rows = RowBlocks.from_arrays(X, y, weights, block_rows=250)
    assert not rows.sample(0, has_labels=True).y.astype(float).any()
    model = estimator(KERNELS, calibrate_proba=False)
    if kind == "never":
        with pytest.raises(ValueError, match=r"0 in every row|at least two classes"):
            model.fit(rows)
        return
    fitted = model.fit(rows)
    link = np.exp if estimator is RelevanceVectorPoissonRegressor else expit
    rates = link(fitted.latent(X)[0]).ravel()
    assert weights @ rates == pytest.approx(weights @ y, rel=0.2)


# What users pass -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def synchronous():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.usefixtures("synchronous")
@pytest.mark.parametrize("class_weight", [None, "balanced", {"no": 1.0, "yes": 3.0}])
def test_dask_data_with_text_as_labels(class_weight):
    labels = np.where(LABELS > 0, "yes", "no")
    frame = dd.from_pandas(pd.DataFrame(X, columns=["p", "q"]).assign(label=labels, w=WEIGHTS), npartitions=4)
    model = RelevanceVectorClassifier("passthrough", class_weight=class_weight, calibrate_proba=False, tol=1e-9)
    found = clone(model).fit(frame[["p", "q"]], frame["label"], frame["w"])
    expected = clone(model).fit(X, labels, WEIGHTS)
    np.testing.assert_array_equal(found.classes_, ["no", "yes"])
    np.testing.assert_array_equal(found.feature_names_in_, ["p", "q"])
    lazy = found.predict_proba(frame[["p", "q"]])
    np.testing.assert_allclose(lazy.compute(), expected.predict_proba(X), atol=1e-6)
    assert found.n_effective_ == pytest.approx(expected.n_effective_)


@pytest.mark.usefixtures("synchronous")
def test_dask_data_of_every_kind(case):
    estimator, y = case
    lazy = da.from_array(X, chunks=(250, 1)), da.from_array(y, chunks=250)
    model = estimator(KERNELS, calibrate_proba=False)
    blocks = RowBlocks.from_arrays(X, y, block_rows=250)
    np.testing.assert_allclose(clone(model).fit(*lazy).latent(X)[0], clone(model).fit(blocks).latent(X)[0], atol=1e-6)


@pytest.mark.usefixtures("synchronous")
def test_what_cannot_be_fitted_says_so():
    inputs = da.from_array(X, chunks=(300, 2))
    model = RelevanceVectorClassifier("passthrough").fit(X, LABELS)
    before = model.latent(X)
    missing = np.where(np.arange(N) == 605, None, np.where(LABELS > 0, "yes", "no")).astype(object)
    cases = [
        (model, da.from_array(missing, chunks=300), "y of partition 2 has 1 missing labels, the first in row 5"),
        (model, da.ones(N, chunks=300), "at least two classes"),
        (
            RelevanceVectorPoissonRegressor("passthrough"),
            da.from_array(np.where(np.arange(N) == 700, -1.0, COUNTS), chunks=300),
            "at least 0",
        ),
        (VBLSClassifier("passthrough"), da.from_array(LABELS, chunks=300), "needs them in memory"),
        (RelevanceVectorClassifier("passthrough", calibrate_proba=True), da.from_array(LABELS, chunks=300), "not kept in memory"),
    ]
    for estimator, targets, message in cases:
        with pytest.raises(ValueError, match=message):
            estimator.fit(inputs, targets)
    np.testing.assert_array_equal(model.latent(X), before)


@pytest.mark.usefixtures("few_sampled")
def test_limits_are_kept():
    blocks = RowBlocks.from_arrays(X, LABELS, block_rows=250)
    model = RelevanceVectorClassifier(KERNELS, max_active=3, calibrate_proba=False).fit(blocks)
    assert len(model.active_) == 3
    assert model.outcome_ is Outcome.SIZE_LIMIT
    with pytest.warns(UserWarning, match="time limit"):
        model = RelevanceVectorClassifier(KERNELS, max_time=0.0, calibrate_proba=False).fit(blocks)
    assert model.score(X, LABELS) > 0.5

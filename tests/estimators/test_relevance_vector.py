"""The scikit-learn face."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectFromModel
from sklearn.metrics import pairwise, r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import skarce.searches.best_action
from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    SparseRegressor,
    StepwiseRegressor,
    VBLSRegressor,
)
from skarce.criteria import GCV, IndividualEvidence
from skarce.designs import RowBlocks
from skarce.searches import GreedyBatches, PlusTakeAway
from tests.oracles import contrasts, log_evidence, rbf

ESTIMATORS = [
    RelevanceVectorRegressor(),
    RelevanceVectorRegressor(solver="sequential"),
    RelevanceVectorRegressor(solver="em"),
    RelevanceVectorRegressor("passthrough"),
    RelevanceVectorRegressor(fit_intercept=False),
    RelevanceVectorRegressor(moments="columns"),
    SparseRegressor(),
    FastGCVRegressor(),
    FastGCVRegressor(solver="sequential", fit_intercept=False),
    FastGCVRegressor("passthrough", noise_update="paper"),
    FastGCVRegressor(moments="columns"),
    LocalRidgeRegressor(),
    SparseRegressor(criterion=GCV(), search=GreedyBatches()),
    OrthogonalLeastSquaresRegressor(),
    OrthogonalLeastSquaresRegressor("passthrough", stop="bic"),
    OrthogonalLeastSquaresRegressor(n_basis=3, moments="columns"),
    RegularizedForwardRegressor(),
    RegularizedForwardRegressor(moments="columns", fit_intercept=False),
    RegularizedForwardRegressor(penalize="orthogonal"),
    RegularizedForwardRegressor("passthrough", ridge=0.1),
    EvidenceRegressor(),
    EvidenceRegressor("passthrough", fit_intercept=False),
    EvidenceRegressor(weight_variance=1.0, moments="columns"),
    BackwardEliminationRegressor(),
    BackwardEliminationRegressor("passthrough", fit_intercept=False),
    BackwardEliminationRegressor(weight_variance=1.0, moments="columns", keep_path=True),
    BackwardEliminationRegressor(direction="forward", stop="step", tol=0.01),
    EvidenceSearchRegressor(),
    EvidenceSearchRegressor("passthrough", search=PlusTakeAway(2, 1)),
    EvidenceSearchRegressor(search="floating", reestimate="paper"),
    EvidenceSearchRegressor(search="floating", fit_intercept=False),
    EvidenceSearchRegressor(search="oscillating", moments="columns"),
    EvidenceSearchRegressor(search="backward"),
    EvidenceSearchRegressor(search="best-action"),
    LaplacePriorRegressor(),
    LaplacePriorRegressor("passthrough", penalty=0.1, moments="columns"),
    LaplacePriorRegressor(degrees_of_freedom="active", fit_intercept=False),
    LaplacePriorRegressor(finish=False),
    JeffreysPriorRegressor(),
    JeffreysPriorRegressor("passthrough", fit_intercept=False),
    VBLSRegressor(),
    VBLSRegressor("rbf"),
    VBLSRegressor(solver="em", max_iter=500),
    VBLSRegressor(prior="shared"),
    VBLSRegressor("rbf", prior="shared", solver="em", fit_intercept=False),
    VBLSRegressor(prior="shared", factorized=True, moments="whole"),
    VBLSRegressor(prior="none", posterior="student-t"),
    VBLSRegressor(significance="bound", fit_intercept=False),
    VBLSRegressor(noise="student-t"),
    StepwiseRegressor(),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)


@parametrize_with_checks([RelevanceVectorRegressor(KernelBasis(gamma="evidence"))])
def test_scikit_learn_checks_with_learned_widths(estimator, check):
    if "sample_weight_equivalence" in str(check):
        pytest.skip("widths are learned to the tolerance of their optimiser, and the check asks for seven digits")
    check(estimator)


def basis_checks_that_cannot_hold(basis):
    reason = "columns follow the order of the rows, and the check shuffles the rows"
    return {"check_sample_weight_equivalence_on_dense_data": reason}


@parametrize_with_checks([KernelBasis(), KernelBasis(gamma="ard")], expected_failed_checks=basis_checks_that_cannot_hold)
def test_scikit_learn_checks_of_the_basis(estimator, check):
    check(estimator)


@pytest.fixture(params=["fast", "sequential", "em"])
def solver(request):
    return request.param


EVERY_METHOD = {
    "frvm": RelevanceVectorRegressor,
    "frvm, sequential": partial(RelevanceVectorRegressor, solver="sequential"),
    "rvm": partial(RelevanceVectorRegressor, solver="em"),
    "fgcv": FastGCVRegressor,
    "fgcv, sequential": partial(FastGCVRegressor, solver="sequential"),
    "fgcv, printed noise update": partial(FastGCVRegressor, noise_update="paper"),
    "orr": LocalRidgeRegressor,
    "ols": OrthogonalLeastSquaresRegressor,
    "rfs": RegularizedForwardRegressor,
    "rfs, orthogonal": partial(RegularizedForwardRegressor, penalize="orthogonal"),
    "abf": EvidenceRegressor,
    "gps-be": BackwardEliminationRegressor,
    "gps-be, forward": partial(BackwardEliminationRegressor, direction="forward"),
    "ssge-forward": EvidenceSearchRegressor,
    "ssge-pta": partial(EvidenceSearchRegressor, search="plus-take-away"),
    "ssge-floating": partial(EvidenceSearchRegressor, search="floating", reestimate="paper"),
    "ssge-oscillating": partial(EvidenceSearchRegressor, search="oscillating"),
    "ssge, backward": partial(EvidenceSearchRegressor, search="backward"),
    "ssge, best action": partial(EvidenceSearchRegressor, search="best-action"),
    "skr": LaplacePriorRegressor,
    "skr, active": partial(LaplacePriorRegressor, degrees_of_freedom="active"),
    "skr, not finished": partial(LaplacePriorRegressor, finish=False),
    "as": JeffreysPriorRegressor,
    "vbls-rvm": lambda basis="rbf", **parameters: VBLSRegressor(basis, **parameters),
    "vbls-rvm, deletion": lambda basis="rbf", **parameters: VBLSRegressor(basis, significance="bound", **parameters),
}


@pytest.fixture(params=EVERY_METHOD)
def make(request):
    return EVERY_METHOD[request.param]


@pytest.fixture
def sinc(rng):
    X = rng.uniform(-10, 10, (120, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 120)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_fitted_attributes_are_what_they_say(sinc, solver, fit_intercept):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), solver=solver, fit_intercept=fit_intercept).fit(X, y)
    phi = rbf(X, X, 0.3)[:, model.active_]
    assert (np.diff(model.active_) > 0).all()
    np.testing.assert_array_equal(model.relevance_vectors_, X[model.active_])
    np.testing.assert_allclose(model.predict(X), phi @ model.coef_ + model.intercept_)
    np.testing.assert_allclose(
        model.criterion_, log_evidence(phi, y, model.weight_precision_, model.noise_variance_, intercept=fit_intercept), rtol=1e-8
    )
    for factor in (0.99, 1.01):
        assert model.criterion_ > log_evidence(
            phi, y, model.weight_precision_ * factor, model.noise_variance_ / factor, intercept=fit_intercept
        )
        assert model.criterion_ > log_evidence(
            phi, y, model.weight_precision_ / factor, model.noise_variance_ * factor, intercept=fit_intercept
        )
    assert model.criterion_sense_ == 1
    assert model.outcome_ is Outcome.CONVERGED
    assert model.trace_["n_active"][-1] == len(model.active_)
    np.testing.assert_allclose(model.trace_["criterion"][-1], model.criterion_, rtol=1e-6)
    assert model.n_iter_ == len(model.trace_)
    assert model.relevance_.shape == (120,)
    assert (model.relevance_[model.active_] > 0).all()
    assert np.count_nonzero(model.relevance_) == len(model.active_)
    assert fit_intercept or model.intercept_ == 0.0


def test_relevance_is_one_minus_alpha_sigma(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor().fit(X, y)
    expected = 1.0 - model.weight_precision_ * np.diag(model.posterior_.covariance)
    np.testing.assert_allclose(model.relevance_[model.active_], expected, rtol=1e-8)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_std_is_that_of_the_dense_posterior_predictive(sinc, fit_intercept):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), fit_intercept=fit_intercept).fit(X, y)
    new = np.array([[0.3], [4.0], [30.0]])
    design, query = (rbf(A, X[model.active_], 0.3) for A in (X, new))
    precisions = model.weight_precision_
    if fit_intercept:  # the constant as one more column with (next to) no prior
        design, query = (np.column_stack([A, np.ones(len(A))]) for A in (design, query))
        precisions = np.append(precisions, 1e-9)
    covariance = np.linalg.inv(design.T @ design / model.noise_variance_ + np.diag(precisions))
    expected = np.sqrt(model.noise_variance_ + np.einsum("ni,ij,nj->n", query, covariance, query))
    mean, std = model.predict(new, return_std=True)
    np.testing.assert_allclose(std, expected, rtol=1e-6)
    np.testing.assert_allclose(mean, query @ covariance @ design.T @ y / model.noise_variance_, rtol=1e-6, atol=1e-9)
    if fit_intercept:
        assert std[2] > np.sqrt(model.noise_variance_) * (1 + 1e-4)


def test_augmented_std_is_that_of_a_model_with_one_more_function(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    new = np.array([[0.3], [4.0], [14.0], [40.0]])
    active = rbf(X, X[model.active_], 0.3)
    signal = ((active - active.mean(axis=0)) @ model.coef_).var()
    expected = []
    for x in new:
        extra = np.vstack([X[model.active_], x])
        design = np.column_stack([rbf(X, extra, 0.3), np.ones(len(X))])
        query = np.append(rbf(x[None], extra, 0.3)[0], 1.0)
        precisions = np.concatenate([model.weight_precision_, [1.0 / signal, 1e-10]])
        covariance = np.linalg.inv(design.T @ design / model.noise_variance_ + np.diag(precisions))
        expected.append(np.sqrt(model.noise_variance_ + query @ covariance @ query))
    mean, std = model.predict(new, return_std=True, std="augmented")
    np.testing.assert_allclose(std, expected, rtol=1e-5)
    np.testing.assert_array_equal(mean, model.predict(new))
    _, plain = model.predict(new, return_std=True)
    assert std[3] > 2 * plain[3]
    assert (std >= plain).all()


def test_augmented_std_of_many_rows_is_close_to_that_of_all(rng):
    X = rng.uniform(-5, 5, (4000, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 4000)
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=100, random_state=0)).fit(X, y)
    assert len(model._augmentation_rows[0]) == 1000
    _, std = model.predict([[0.0], [50.0]], return_std=True, std="augmented")
    assert std[0] == pytest.approx(0.2, rel=0.1)
    assert std[1] == pytest.approx(y.std(), rel=0.1)


@pytest.mark.parametrize("n_rows", [120, 300])
def test_intervals_cover(n_rows):
    """95 % intervals on fresh data over many draws."""
    inside = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-6, 6, (n_rows + 200, 1))
        y = np.sin(X[:, 0]) + rng.normal(0, 0.3, n_rows + 200)
        model = RelevanceVectorRegressor(KernelBasis(gamma=0.5)).fit(X[:n_rows], y[:n_rows])
        mean, std = model.predict(X[n_rows:], return_std=True)
        inside.append(np.abs(y[n_rows:] - mean) < 1.96 * std)
    assert 0.93 < np.mean(inside) < 0.97


def test_two_outputs_are_two_fits_on_one_basis(rng):
    X = rng.uniform(-4, 4, (150, 2))
    Y = np.column_stack([np.sin(X[:, 0]), 100 * np.cos(X[:, 1])]) + rng.normal(0, [0.1, 10.0], (150, 2))
    model = RelevanceVectorRegressor().fit(X, Y)
    single = [RelevanceVectorRegressor().fit(X, Y[:, k]) for k in range(2)]
    mean, std = model.predict(X[:9], return_std=True)
    assert mean.shape == std.shape == (9, 2)
    assert model.coef_.shape == model.weight_precision_.shape == (2, len(model.active_))
    assert set(model.active_) == set(single[0].active_) | set(single[1].active_)
    assert np.isinf(model.weight_precision_[model.coef_ == 0]).all()
    for k in range(2):
        expected_mean, expected_std = single[k].predict(X[:9], return_std=True)
        np.testing.assert_allclose(mean[:, k], expected_mean, rtol=1e-5)
        np.testing.assert_allclose(std[:, k], expected_std, rtol=1e-5)
        np.testing.assert_allclose(model.noise_variance_[k], single[k].noise_variance_, rtol=1e-5)
    assert model.criterion_ == pytest.approx(sum(s.criterion_ for s in single))
    assert set(model.trace_["output"]) == {0, 1}
    augmented = model.predict(X[:9], return_std=True, std="augmented")[1]
    assert (augmented >= std).all()


@pytest.mark.parametrize("factor", [1e7, 1e-7, 1e9, 1e-150, 1e150])
def test_units_of_the_target_do_not_matter(sinc, solver, factor):
    X, y = sinc
    model, scaled = (RelevanceVectorRegressor(solver=solver).fit(X, t) for t in (y, y * factor))
    np.testing.assert_array_equal(scaled.active_, model.active_)
    np.testing.assert_allclose(scaled.coef_ / factor, model.coef_, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(scaled.noise_variance_) / factor, np.sqrt(model.noise_variance_), rtol=1e-6)
    _, std = scaled.predict(X[:3], return_std=True)
    np.testing.assert_allclose(std / factor, model.predict(X[:3], return_std=True)[1], rtol=1e-6)


def test_an_offset_of_the_target_does_not_matter(sinc):
    X, y = sinc
    model, moved = RelevanceVectorRegressor().fit(X, y), RelevanceVectorRegressor().fit(X, y + 1e6)
    np.testing.assert_array_equal(moved.active_, model.active_)
    assert moved.intercept_ - model.intercept_ == pytest.approx(1e6)


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(rng, solver, moments):
    X = rng.uniform(-4, 4, (70, 2))
    y = np.sin(X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 70)
    weights = rng.integers(0, 4, 70)
    weighted = RelevanceVectorRegressor(solver=solver, moments=moments).fit(X, y, sample_weight=weights)
    repeated = RelevanceVectorRegressor(solver=solver, moments=moments).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.active_, repeated.active_)
    np.testing.assert_allclose(weighted.noise_variance_, repeated.noise_variance_, rtol=1e-6)
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)
    for kind in ("plain", "augmented"):
        means, stds = zip(*(m.predict(X, return_std=True, std=kind) for m in (weighted, repeated)), strict=True)
        np.testing.assert_allclose(means[0], means[1], rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(stds[0], stds[1], rtol=1e-5)


def test_fixed_noise_is_kept(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(noise_variance=0.02).fit(X, y)
    assert model.noise_variance_ == pytest.approx(0.02)
    phi = model.basis_.transform(X)
    np.testing.assert_allclose(model.criterion_, log_evidence(phi, y, model.weight_precision_, 0.02, intercept=True), rtol=1e-8)


def test_precomputed_kernel_predicts_and_cross_validates(sinc):
    X, y = sinc
    K = pairwise.rbf_kernel(X, gamma=0.3)
    model = RelevanceVectorRegressor(KernelBasis("precomputed")).fit(K, y)
    plain = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    np.testing.assert_array_equal(model.active_, plain.active_)
    new = np.linspace(-3, 3, 7)[:, None]
    np.testing.assert_allclose(model.predict(pairwise.rbf_kernel(new, X, gamma=0.3)), plain.predict(new), rtol=1e-6)
    scores = cross_val_score(model, K, y, cv=3)
    np.testing.assert_allclose(scores, cross_val_score(plain, X, y, cv=3), rtol=1e-6)
    assert not hasattr(model, "relevance_vectors_")
    with pytest.raises(ValueError, match="std='plain'"):
        model.predict(K, return_std=True, std="augmented")


def test_pandas_names_are_kept(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    y = frame["a"] * 2 + rng.normal(size=60) * 0.1
    model = RelevanceVectorRegressor("passthrough").fit(frame, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[["c", "b", "a"]])
    assert "a" in model.basis_.get_feature_names_out(frame.columns)


def test_column_transformer_as_basis_takes_text(rng):
    frame = pd.DataFrame({"x": rng.uniform(-3, 3, 200), "kind": rng.choice(["left", "right"], 200)})
    y = np.sin(frame["x"]) + 2.0 * (frame["kind"] == "left") + rng.normal(0, 0.1, 200)
    basis = ColumnTransformer([("kernel", KernelBasis(gamma=1.0), ["x"]), ("kind", OneHotEncoder(), ["kind"])])
    model = RelevanceVectorRegressor(basis).fit(frame, y)
    mean, std = model.predict(frame, return_std=True)
    assert r2_score(y, mean) > 0.97
    assert len(model.active_) < 20
    names = model.basis_.get_feature_names_out()
    assert any("kind" in name for name in names)
    assert std == pytest.approx(0.1, rel=0.3)


def test_polynomial_features_as_basis(rng):
    X = rng.normal(size=(150, 6))
    y = 2 * X[:, 0] * X[:, 3] - X[:, 5] ** 2 + rng.normal(0, 0.1, 150)
    model = RelevanceVectorRegressor(PolynomialFeatures(2, include_bias=False)).fit(X, y)
    strong = [n for n, c in zip(model.basis_.get_feature_names_out(), model.coef_, strict=True) if abs(c) > 0.5]
    assert sorted(strong) == ["x0 x3", "x5^2"]


def test_grid_search_reaches_the_basis(sinc):
    X, y = sinc
    search = GridSearchCV(RelevanceVectorRegressor(KernelBasis()), {"basis__gamma": [0.001, 0.3, 300.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.3}


def test_grid_search_reaches_the_kernels_behind_the_name(sinc):
    X, y = sinc
    search = GridSearchCV(RelevanceVectorRegressor(), {"basis__gamma": [0.001, 0.3, 300.0]}, cv=3).fit(X, y)
    assert search.best_params_ == {"basis__gamma": 0.3}
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        RelevanceVectorRegressor().set_params(basis__width=1.0)


def test_names_of_inputs_that_are_passed_through(rng):
    X = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    model = RelevanceVectorRegressor("passthrough").fit(X, X["b"] + 0.1 * rng.normal(size=60))
    assert "b" in model.basis_.get_feature_names_out()
    model.fit(X.to_numpy(), X["b"].to_numpy())
    assert "x1" in model.basis_.get_feature_names_out()


def test_weights_that_add_up_to_one_are_not_taken_silently(sinc):
    X, y = sinc
    with pytest.warns(UserWarning, match="120 rows are worth 1 observations"):
        model = RelevanceVectorRegressor().fit(X, y, sample_weight=np.full(120, 1 / 120))
    assert model.outcome_ is Outcome.TOO_LITTLE_DATA
    assert str(model.outcome_).startswith("There is no more than one observation")


def test_select_from_model(rng):
    X = pd.DataFrame(rng.normal(size=(100, 8)), columns=list("abcdefgh"))
    y = X["c"] - 3 * X["g"] + rng.normal(0, 0.1, 100)
    selector = SelectFromModel(RelevanceVectorRegressor("passthrough"), importance_getter="relevance_", threshold=0.9).fit(X, y)
    assert list(selector.get_feature_names_out()) == ["c", "g"]


def test_pickle_and_clone(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor(KernelBasis(gamma=0.3), tol=1e-4).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.predict(X, return_std=True)[1], model.predict(X, return_std=True)[1])
    assert copy.outcome_ is model.outcome_
    with pytest.raises(NotFittedError):
        clone(model).predict(X)


def test_row_blocks_give_the_model_of_the_rows(rng):
    X = rng.uniform(-4, 4, (3000, 2))
    y = np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.2, 3000)
    basis = KernelBasis(gamma=0.5, centers=X[:15])
    streamed = RelevanceVectorRegressor(basis).fit(RowBlocks.from_arrays(X, y, block_rows=501))
    by_column = RelevanceVectorRegressor(basis, moments="columns").fit(RowBlocks.from_arrays(X, y, block_rows=501))
    at_once = RelevanceVectorRegressor(basis).fit(X, y)
    np.testing.assert_array_equal(streamed.active_, at_once.active_)
    np.testing.assert_allclose(streamed.predict(X[:50]), at_once.predict(X[:50]), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(streamed.criterion_, at_once.criterion_, rtol=1e-9)
    # By column the steps are not the compiled ones, so the same optimum is reached from another side.
    np.testing.assert_array_equal(by_column.active_, at_once.active_)
    assert by_column.criterion_ == pytest.approx(at_once.criterion_, abs=1e-2)


def test_row_blocks_give_the_same_model_every_time(rng):
    X = rng.normal(size=(25_000, 1))
    blocks = RowBlocks.from_arrays(X, np.sin(X[:, 0]))
    models = [RelevanceVectorRegressor(KernelBasis(centers=10, random_state=0)).fit(blocks) for _ in range(2)]
    np.testing.assert_array_equal(models[0].coef_, models[1].coef_)


def test_row_blocks_explain_what_they_need(rng):
    X, y = rng.normal(size=(20_500, 1)), rng.normal(size=20_500)
    with pytest.raises(ValueError, match=r"KernelBasis\(centers=500\)"):
        RelevanceVectorRegressor().fit(RowBlocks.from_arrays(X, y))
    blocks = RowBlocks.from_arrays(X, y)
    model = RelevanceVectorRegressor(KernelBasis(centers=5, random_state=0)).fit(blocks)
    with pytest.raises(TypeError, match="for the X of each row block"):
        model.predict(blocks)
    with pytest.raises(ValueError, match="come from the blocks"):
        RelevanceVectorRegressor().fit(RowBlocks.from_arrays(X, y), y)


def test_generic_regressor_composes(sinc):
    X, y = sinc
    fast = SparseRegressor("rbf", IndividualEvidence(), GreedyBatches()).fit(X, y)
    named = RelevanceVectorRegressor().fit(X, y)
    np.testing.assert_array_equal(fast.active_, named.active_)
    np.testing.assert_allclose(fast.predict(X), named.predict(X))
    SparseRegressor("rbf", IndividualEvidence(noise_variance=0.01)).fit(X, y)


# Budget and interruptions ---------------------------------------------------------------------------------------------------


def test_a_cap_on_steps_warns_with_advice(sinc, solver):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = RelevanceVectorRegressor(solver=solver, max_iter=2).fit(X, y)
    assert model.outcome_ is Outcome.STEP_LIMIT
    assert np.isfinite(model.predict(X)).all()


def test_max_time_returns_the_best_model_so_far(solver):
    X, y = make_friedman1(600, noise=1.0, random_state=0)
    with pytest.warns(ConvergenceWarning, match="best model so far"):
        model = RelevanceVectorRegressor(solver=solver, max_time=1e-4).fit(X, y)
    assert model.outcome_ is Outcome.TIME_LIMIT
    assert np.isfinite(model.predict(X)).all()


def test_em_says_when_all_candidates_are_too_many(rng):
    X = rng.normal(size=(600, 2))
    with config_context(working_memory=8), pytest.raises(ValueError, match="starts from all 600 candidates"):
        RelevanceVectorRegressor(solver="em").fit(X, X[:, 0])


def test_max_active_is_a_cap(sinc, solver):
    X, y = sinc
    model = RelevanceVectorRegressor(solver=solver, max_active=3).fit(X, y)
    assert len(model.active_) <= 3
    assert model.outcome_ in (Outcome.SIZE_LIMIT, Outcome.CONVERGED)
    assert r2_score(y, model.predict(X)) > 0.5


def test_interrupt_is_raised_and_nothing_is_lost(sinc, monkeypatch):
    X, y = sinc
    model = RelevanceVectorRegressor().fit(X, y)
    before = {name: getattr(model, name) for name in ("active_", "coef_", "posterior_", "basis_", "n_features_in_")}

    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(skarce.searches.best_action.BestAction, "stretch", interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X + 1.0, y)
    assert all(getattr(model, name) is value for name, value in before.items())
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"solver": "quick"}, "solver must be one of"),
        ({"noise_variance": -1.0}, "noise_variance must be positive"),
        ({"tol": -1.0}, "tol must be at least"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"max_active": 2.5}, "max_active must be a whole number"),
        ({"moments": "most"}, "moments must be one of"),
        ({"basis": "rbv"}, "basis must be one of"),
        ({"basis": "matern52"}, r"write KernelBasis\('matern52'\)"),
    ],
)
def test_wrong_parameters_are_named(sinc, parameters, message):
    with pytest.raises(ValueError, match=message):
        RelevanceVectorRegressor(**parameters).fit(*sinc)


def test_a_basis_that_is_none_is_named(sinc):
    with pytest.raises(TypeError, match=r"must be one of .* or have fit and transform, got int"):
        RelevanceVectorRegressor(3).fit(*sinc)


# Inputs that break others ---------------------------------------------------------------------------------------------------


def assert_sound(model, X):
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std >= 0).all()
    assert isinstance(model.outcome_, Outcome)


def test_duplicate_rows(rng, make):
    X = np.repeat(rng.uniform(-3, 3, (20, 1)), 6, axis=0)
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 120)
    model = make().fit(X, y)
    assert_sound(model, X)
    assert len(model.relevance_) == 20


def test_duplicate_zero_and_constant_columns(rng, make):
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X, np.zeros(50), np.full(50, 1e8), X[:, 0] * (1 + 1e-13)])
    y = X[:, 0] - X[:, 1] + rng.normal(0, 0.1, 50)
    model = make("passthrough").fit(X, y)
    assert_sound(model, X)
    assert not set(model.active_) & {6, 7}
    assert r2_score(y, model.predict(X)) > 0.98


def test_one_row_and_two_rows(make):
    for n in (1, 2):
        X, y = np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float) + 3
        model = make().fit(X, y)
        assert_sound(model, X)
    assert RelevanceVectorRegressor().fit([[1.0]], [3.0]).predict([[9.0]])[0] == 3.0


def test_more_candidates_than_rows(rng, make):
    X = rng.normal(size=(40, 400))
    y = X[:, 3] * 2 + rng.normal(0, 0.1, 40)
    model = make("passthrough").fit(X, y)
    assert_sound(model, X)
    assert 3 in model.active_


def test_constant_target_gives_its_mean(rng, make):
    X = rng.normal(size=(30, 2))
    for value in (5.0, 0.0, 0.1, 1e150, -1e-150):
        model = make().fit(X, np.full(30, value))
        assert model.outcome_ is Outcome.CONSTANT_TARGET
        assert len(model.active_) == 0
        np.testing.assert_allclose(model.predict(X), value)
        assert_sound(model, X)


def test_pure_noise_gives_a_small_model(make):
    sizes = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        model = make(KernelBasis(gamma=0.2)).fit(X, rng.normal(size=100))
        assert_sound(model, X)
        # A dense model has all functions or none, and is small when the data determine few of them; where an iteration
        # that drops functions was not finished, their number says nothing.
        is_dense = isinstance(model, EvidenceRegressor) or not getattr(model, "finish", True)
        sizes.append(model.relevance_.sum() if is_dense else len(model.active_))
    assert np.mean(sizes) < 5


def test_target_orthogonal_to_everything(make):
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    model = make("passthrough").fit(X, [1.0, 1.0, -1.0, -1.0])
    assert model.outcome_ is Outcome.NOTHING_HELPS
    assert_sound(model, X)


def test_noise_free_targets(rng, make):
    X = rng.uniform(-5, 5, (80, 1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        exact = make("passthrough").fit(X, 3 * X[:, 0] + 1)
        kernel = make().fit(X, np.sin(X[:, 0]))
    # The least L1 penalty of the path shrinks by 1e-4; all others have next to none where there is no noise.
    shrinks = 1e-4 if isinstance(exact, LaplacePriorRegressor) else 0.0
    assert exact.coef_[0] == pytest.approx(3.0, rel=1e-6 + shrinks)
    assert exact.noise_variance_ < (1e-11 + 10.0 * shrinks**2) * X.var()
    assert_sound(kernel, X)


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e-3, 1e3, 1e9])
def test_kernels_of_any_width_end_in_a_sound_model(rng, make, gamma):
    X = rng.uniform(-3, 3, (60, 2))
    y = X[:, 0] + rng.normal(0, 0.1, 60)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        model = make(KernelBasis(gamma=gamma), max_iter=2000).fit(X, y)
    assert_sound(model, X)


def test_nearly_exact_fits_and_ill_conditioned_bases_never_raise(make):
    """Random problems of the kinds that once ended in a failed factorisation or the logarithm of a negative number."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, gamma = int(rng.integers(5, 60)), float(10 ** rng.uniform(-5, 3))
        X = rng.normal(size=(n, int(rng.integers(1, 3))))
        y = [np.sin(X[:, 0]), X[:, 0] * 1e6 + 1e9, np.sign(X[:, 0]), rng.normal(size=n)][seed % 4]
        kernel = ["rbf", "matern52", "polynomial", "sigmoid"][seed % 5 % 4]
        model = make(KernelBasis(kernel, gamma=gamma), max_iter=300, moments=["whole", "columns"][seed % 2])
        if "noise_variance" in model.get_params():
            model.set_params(noise_variance=None if seed % 3 else float(10 ** rng.uniform(-6, 2)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=ConvergenceWarning)
            for dtype in (np.float64, np.float32):
                assert_sound(model.fit(X.astype(dtype), y), X.astype(dtype))


def test_inputs_so_large_that_squares_overflow_are_named(rng):
    with pytest.raises(ValueError, match="Scale the inputs"):
        RelevanceVectorRegressor().fit(rng.normal(size=(20, 2)) * 1e200, rng.normal(size=20))
    model = RelevanceVectorRegressor().fit(rng.normal(size=(20, 2)) * 1e150, rng.normal(size=20))
    assert np.isfinite(model.predict(np.zeros((1, 2)))).all()


def test_input_of_the_wrong_kind_is_named(sinc):
    X, y = sinc
    with pytest.raises(ValueError, match="NaN"):
        RelevanceVectorRegressor().fit(np.where(X > 9, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        RelevanceVectorRegressor().fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"non-zero|zero for every row"):
        RelevanceVectorRegressor().fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="std must be 'plain' or 'augmented'"):
        RelevanceVectorRegressor().fit(X, y).predict(X, return_std=True, std="full")


# Real data ------------------------------------------------------------------------------------------------------------------


def test_diabetes_is_no_worse_than_ridge():
    X, y = load_diabetes(return_X_y=True)
    scores = cross_val_score(make_pipeline(StandardScaler(), RelevanceVectorRegressor()), X, y, cv=5)
    assert scores.mean() > 0.45


def test_boston_housing(data_folder):
    table = pd.read_csv(data_folder / "boston.csv")
    X, y = table.drop(columns="MEDV"), table["MEDV"]
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor())
    shuffled = np.random.default_rng(0).permutation(len(table))
    assert cross_val_score(model, X.iloc[shuffled], y.iloc[shuffled], cv=5).mean() > 0.8


def test_contrasts_of_the_oracle_are_orthonormal():
    basis = contrasts(7)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)

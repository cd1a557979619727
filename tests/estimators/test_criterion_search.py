"""Search by the model's own criterion, against fits by hand."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import loguniform
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import (
    BackwardEliminationRegressor,
    CriterionSearch,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    RelevanceVectorRegressor,
)
from skarce.designs import InMemoryDesign
from tests.oracles import rbf

GAMMAS = [0.003, 0.1, 3.0]

METHODS = {
    "frvm": RelevanceVectorRegressor("rbf"),
    "fgcv": FastGCVRegressor("rbf"),
    "skr": LaplacePriorRegressor("rbf"),
    "as": JeffreysPriorRegressor("rbf"),
    "ssge": EvidenceSearchRegressor("rbf"),
    "abf": EvidenceRegressor("rbf"),
    "ols": OrthogonalLeastSquaresRegressor("rbf"),
}


@parametrize_with_checks(
    [
        CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3, 1e-2]}),
        CriterionSearch(RelevanceVectorRegressor("passthrough"), {"tol": [1e-3, 1e-2]}),  # takes sparse matrices
    ]
)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def test_it_finds_what_fits_by_hand_find(sinc, method):
    X, y = sinc
    search = CriterionSearch(method, {"basis__gamma": GAMMAS}, inflation=1.0).fit(X, y)
    by_hand = [clone(method).set_params(basis=KernelBasis(gamma=gamma)).fit(X, y) for gamma in GAMMAS]
    criteria = np.array([model.criterion_ for model in by_hand])
    np.testing.assert_array_equal(search.results_["criterion"], criteria)
    best = criteria.argmax() if by_hand[0].criterion_sense_ > 0 else criteria.argmin()
    assert search.best_index_ == best
    assert search.best_params_ == {"basis__gamma": GAMMAS[best]}
    assert search.criterion_ == by_hand[best].criterion_
    assert search.criterion_sense_ == by_hand[best].criterion_sense_
    assert list(search.results_["n_active"]) == [len(model.active_) for model in by_hand]
    assert search.results_["rank"][best] == 1
    assert sorted(search.results_["rank"]) == [1, 2, 3]
    for ours, theirs in zip(search.predict(X, return_std=True), by_hand[best].predict(X, return_std=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert search.score(X, y) == by_hand[best].score(X, y)
    assert not hasattr(method, "active_")


def test_candidates_of_one_basis_share_its_moments(sinc, monkeypatch):
    X, y = sinc
    asked, plain = [], InMemoryDesign.moments
    monkeypatch.setattr(InMemoryDesign, "moments", lambda self, *args: asked.append(self) or plain(self, *args))
    grid = {"basis__gamma": GAMMAS, "penalty": [1e-3, 0.1, 1.0, 10.0], "degrees_of_freedom": ["hat"]}
    search = CriterionSearch(LaplacePriorRegressor("rbf"), grid, inflation=1.0).fit(X, y)
    assert len(asked) == 3
    for params, criterion in zip(search.results_["params"], search.results_["criterion"], strict=True):
        assert LaplacePriorRegressor("rbf").set_params(**params).fit(X, y).criterion_ == pytest.approx(criterion, rel=1e-10)
    asked.clear()
    CriterionSearch(LaplacePriorRegressor("rbf"), {"fit_intercept": [True, False], "penalty": [0.1, 1.0]}).fit(X, y)
    assert len(asked) == 2


def test_an_estimator_with_a_fit_of_its_own_is_fitted_by_it(sinc):
    class Counted(LaplacePriorRegressor):
        fits = 0

        def fit(self, X, y=None, sample_weight=None):
            Counted.fits += 1
            return super().fit(X, y, sample_weight)

    CriterionSearch(Counted(), {"penalty": [0.1, 1.0, 10.0]}).fit(*sinc)
    assert Counted.fits == 3


def test_shared_moments_tell_every_model_what_was_seen(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=["a", "b", "c"])
    search = CriterionSearch(LaplacePriorRegressor("passthrough"), {"penalty": [0.01, 5.0]}).fit(frame, frame["b"])
    assert list(search.feature_names_in_) == ["a", "b", "c"]
    assert search.n_features_in_ == 3
    assert list(search.best_estimator_.feature_names_in_) == ["a", "b", "c"]


def test_processes_give_the_same(sinc):
    X, y = sinc
    grid = {"basis__gamma": GAMMAS, "tol": [1e-3, 1e-1]}
    alone, together = (CriterionSearch(FastGCVRegressor("rbf"), grid, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_allclose(together.results_["criterion"], alone.results_["criterion"], rtol=1e-9)
    assert together.best_params_ == alone.best_params_
    assert together.results_["params"] == alone.results_["params"]


def test_inflation_counts_degrees_of_freedom_more(sinc):
    X, y = sinc
    gammas = [0.1, 0.5, 3.0]  # kernels that are much wider leave six digits
    for fit_intercept in (True, False):
        model = FastGCVRegressor("rbf", fit_intercept=fit_intercept)
        search = CriterionSearch(model, {"basis__gamma": gammas}, inflation=2.5).fit(X, y)
        expected = []
        for gamma in gammas:
            fitted = FastGCVRegressor(KernelBasis(gamma=gamma), fit_intercept=fit_intercept).fit(X, y)
            phi = rbf(X, X[fitted.active_], gamma)
            phi = phi - phi.mean(axis=0) if fit_intercept else phi
            ridges = fitted.weight_precision_ * fitted.noise_variance_
            used = (np.linalg.qr(np.vstack([phi, np.diag(np.sqrt(ridges))]))[0][:120] ** 2).sum()  # the trace of the hat matrix
            left = 120 - fit_intercept - 2.5 * used
            expected.append(120 * ((y - fitted.predict(X)) ** 2).sum() / left**2 if left > 0 else np.inf)
        np.testing.assert_allclose(search.results_["compared"], expected, rtol=1e-6)
        assert search.best_index_ == np.argmin(expected)
        assert search.criterion_ == search.results_["criterion"][search.best_index_]


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_inflation_mends_the_choice_of_kernels_that_are_too_narrow(rng):
    X = rng.uniform(-5, 5, (150, 2))
    y = np.sin(X[:, 0]) + 0.5 * rng.normal(size=150)
    fresh = rng.uniform(-5, 5, (500, 2))
    grid = {"basis__gamma": [0.01, 0.1, 10.0, 100.0]}
    plain, charged = (CriterionSearch(FastGCVRegressor("rbf"), grid, inflation=c).fit(X, y) for c in (1.0, 2.0))
    errors = [np.mean((m.predict(fresh) - np.sin(fresh[:, 0])) ** 2) for m in (plain, charged)]
    assert errors[1] < 0.5 * errors[0]


def test_inflation_leaves_the_evidence_alone(sinc):
    search = CriterionSearch(RelevanceVectorRegressor("rbf"), {"basis__gamma": GAMMAS}, inflation=3.0).fit(*sinc)
    np.testing.assert_array_equal(search.results_["compared"], search.results_["criterion"])


def test_two_outputs_are_judged_by_the_sum(rng):
    X = rng.uniform(-4, 4, (80, 1))
    Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 0])]) + rng.normal(0, 0.1, (80, 2))
    search = CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": [0.1, 1.0]}, inflation=2.0).fit(X, Y)
    singles = [CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": [0.1, 1.0]}, inflation=2.0).fit(X, y) for y in Y.T]
    np.testing.assert_allclose(search.results_["compared"], sum(single.results_["compared"] for single in singles), rtol=1e-5)


def test_draws_from_distributions_are_seeded(sinc):
    X, y = sinc
    draws = {"basis__gamma": loguniform(1e-3, 10)}
    searches = [
        CriterionSearch(FastGCVRegressor("rbf"), param_distributions=draws, n_iter=4, random_state=seed).fit(X, y)
        for seed in (0, 0, 1)
    ]
    assert searches[0].results_["params"] == searches[1].results_["params"] != searches[2].results_["params"]
    assert len(searches[0].results_["criterion"]) == 4


def test_equals_have_the_same_rank_as_in_a_grid_search(sinc):
    grid = {"basis__gamma": [3.0, 0.1, 0.1, 0.003], "verbose": [0, False]}
    search = CriterionSearch(FastGCVRegressor("rbf"), grid).fit(*sinc)
    values = search.results_["compared"]
    np.testing.assert_array_equal(search.results_["rank"], [1 + (values < value).sum() for value in values])
    assert sorted(search.results_["rank"])[:4] == [1, 1, 1, 1]
    assert search.best_index_ == 2


def test_a_constant_target_gives_the_first_candidate(rng):
    X = rng.normal(size=(30, 2))
    search = CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS}).fit(X, np.full(30, 2.0))
    assert search.best_index_ == 0
    np.testing.assert_allclose(search.predict(X), 2.0)


def test_rows_that_are_counted_several_times_are_no_more_degrees_of_freedom():
    """Weights of three, or every row three times, let narrow kernels interpolate: the choice is that of single rows."""
    X, y = make_friedman1(120, noise=1.0, random_state=0)
    grid = {"basis__gamma": [0.03, 0.3, 3.0, 30.0]}
    for estimator in (OrthogonalLeastSquaresRegressor("rbf"), FastGCVRegressor("rbf")):
        once = CriterionSearch(estimator, grid).fit(X, y)
        weighted = CriterionSearch(estimator, grid).fit(X, y, sample_weight=np.full(120, 3.0))
        repeated = CriterionSearch(estimator, grid).fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
        assert weighted.best_params_["basis__gamma"] <= 2 * once.best_params_["basis__gamma"]
        np.testing.assert_allclose(weighted.results_["compared"], repeated.results_["compared"], rtol=1e-5)


def test_evidence_with_a_given_and_a_learned_variance_compares():
    X, y = make_friedman1(80, noise=1.0, random_state=0)
    search = CriterionSearch(BackwardEliminationRegressor(KernelBasis(gamma=0.1)), {"weight_variance": ["learned", 1.0]}).fit(X, y)
    fits = [BackwardEliminationRegressor(KernelBasis(gamma=0.1), weight_variance=v).fit(X, y).criterion_ for v in ("learned", 1.0)]
    np.testing.assert_allclose(search.results_["criterion"], fits)

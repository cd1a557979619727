"""The search by a criterion as an estimator: tables, pipelines, metadata, what is printed, what is refused."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from packaging.version import Version
from sklearn import config_context
from sklearn.base import clone, is_regressor
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning, NotFittedError, UnsetMetadataPassedError
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import (
    CriterionSearch,
    FastGCVRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    OrthogonalLeastSquaresRegressor,
    RelevanceVectorRegressor,
    SparseRegressor,
    VBLSRegressor,
)
from skarce.criteria import GCV, IndividualEvidence, SharedEvidence
from skarce.designs import RowBlocks
from tests.estimators.test_criterion_search import GAMMAS


def test_results_make_a_table(sinc):
    grid = [{"basis__gamma": [0.1, 1.0]}, {"basis": [KernelBasis("matern52")], "tol": [1e-2]}]
    search = CriterionSearch(FastGCVRegressor("rbf"), grid).fit(*sinc)
    table = pd.DataFrame(search.results_)
    assert len(table) == 3
    assert {"params", "param_basis__gamma", "param_basis", "param_tol", "criterion", "rank", "n_active", "fit_time"} <= set(table)
    assert list(search.results_["param_basis__gamma"].mask) == [False, False, True]
    assert set(search.results_["outcome"]) == {"CONVERGED"}
    assert not hasattr(grid[1]["basis"][0], "centers_")


def test_a_pipeline_is_judged_by_its_last_step(sinc):
    X, y = sinc
    search = CriterionSearch(make_pipeline(StandardScaler(), FastGCVRegressor("rbf")), {"fastgcvregressor__basis__gamma": GAMMAS})
    search.fit(X, y)
    inside = make_pipeline(StandardScaler(), CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS})).fit(X, y)
    np.testing.assert_allclose(search.results_["criterion"], inside[-1].results_["criterion"])
    np.testing.assert_allclose(search.predict(X), inside.predict(X))


def test_weights_and_row_blocks_are_passed_on(rng):
    X = rng.uniform(-4, 4, (200, 1))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.2, 200)
    weights = rng.integers(1, 3, 200)
    model = LaplacePriorRegressor(KernelBasis(gamma=0.5, centers=X[:20]))
    for grid in ({"penalty": [0.01, 1.0]}, {"basis__gamma": [0.1, 1.0]}):
        weighted = CriterionSearch(model, grid).fit(X, y, sample_weight=weights)
        repeated = CriterionSearch(model, grid).fit(np.repeat(X, weights, 0), np.repeat(y, weights))
        np.testing.assert_allclose(weighted.results_["criterion"], repeated.results_["criterion"], rtol=1e-8)
        streamed = CriterionSearch(model, grid).fit(RowBlocks.from_arrays(X, y, block_rows=33))
        at_once = CriterionSearch(model, grid).fit(X, y)
        np.testing.assert_allclose(streamed.results_["criterion"], at_once.results_["criterion"], rtol=1e-8)


def test_progress_is_printed(sinc, capsys):
    CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS}, verbose=1).fit(*sinc)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("3/3  criterion")
    assert "basis__gamma=3.0" in lines[2]


def test_only_the_best_model_warns(sinc):
    X, y = sinc
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search = CriterionSearch(RelevanceVectorRegressor("rbf"), {"max_iter": [2, 1000]}).fit(X, y)
    assert list(search.results_["outcome"]) == ["STEP_LIMIT", "CONVERGED"]
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        CriterionSearch(RelevanceVectorRegressor("rbf"), {"max_iter": [2]}).fit(X, y)


@pytest.mark.parametrize("inflation", [1.0, 3.0])
def test_a_search_without_anything_to_compare_says_so(rng, inflation):
    X = rng.normal(size=(30, 2))
    y = rng.normal(size=30)
    model = LaplacePriorRegressor(KernelBasis(gamma=100.0), penalty=0.3)
    search = CriterionSearch(model, {"tol": [1e-6, 1e-5]}, inflation=inflation)
    if inflation == 1.0:
        search.fit(X, y)
        assert np.isfinite(search.results_["compared"]).all()
        return
    with pytest.warns(
        ConvergenceWarning, match=r"cannot compare its 2 candidates and keeps number 0: with inflation=3 .* Lower inflation"
    ):
        search.fit(X, y)
    assert np.isinf(search.results_["compared"]).all()
    assert list(search.results_["rank"]) == [1, 1]
    with pytest.warns(ConvergenceWarning, match="no criterion is a finite number"):
        CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3, 1e-2]}, inflation=inflation).fit(
            X[:2], y[:2], sample_weight=[1.0, 0.0]
        )


def test_candidates_of_two_kinds_are_refused(sinc):
    mixed = [
        CriterionSearch(LaplacePriorRegressor("rbf"), {"degrees_of_freedom": ["hat", "active"]}),
        CriterionSearch(SparseRegressor("rbf"), {"criterion": [SharedEvidence(), IndividualEvidence()]}),
        CriterionSearch(Pipeline([("model", None)]), {"model": [FastGCVRegressor("rbf"), OrthogonalLeastSquaresRegressor("rbf")]}),
        CriterionSearch(VBLSRegressor("rbf"), {"prior": ["none", "ard"]}),
    ]
    names = ["'hat'.*'active'", "SharedEvidence.*IndividualEvidence", "FastGCV.*OrthogonalLeastSquares", "WithoutPrior.*Bound"]
    for search, expected in zip(mixed, names, strict=True):
        with pytest.raises(ValueError, match=f"do not compare: .*{expected}"):
            search.fit(*sinc)
    CriterionSearch(SparseRegressor("rbf"), {"criterion": [None, IndividualEvidence()]}).fit(*sinc)
    CriterionSearch(VBLSRegressor("rbf", noise="student-t"), {"degrees_of_freedom": [3.0, 10.0]}).fit(*sinc)


def test_what_is_compared_is_printed(sinc, capsys):
    search = CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS}, verbose=1).fit(*sinc)
    lines = capsys.readouterr().err.splitlines()
    assert [float(line.split("compared")[1].split()[0]) for line in lines] == pytest.approx(search.results_["compared"], rel=1e-6)
    CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS}, verbose=1, inflation=1.0).fit(*sinc)
    assert "compared" not in capsys.readouterr().err


def test_weights_reach_the_step_of_a_pipeline(sinc, rng):
    X, y = sinc
    weights = rng.integers(1, 4, 120)
    pipeline = make_pipeline(StandardScaler(), FastGCVRegressor("rbf"))
    grid = {"fastgcvregressor__basis__gamma": [0.5, 5.0]}
    search = CriterionSearch(pipeline, grid).fit(X, y, fastgcvregressor__sample_weight=weights)
    by_hand = clone(pipeline).set_params(**search.best_params_).fit(X, y, fastgcvregressor__sample_weight=weights)
    np.testing.assert_allclose(search.predict(X), by_hand.predict(X))
    assert search.criterion_ == by_hand[-1].criterion_ != CriterionSearch(pipeline, grid).fit(X, y).criterion_
    inside = make_pipeline(StandardScaler(), CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": [0.5, 5.0]}))
    inside.fit(X, y, criterionsearch__sample_weight=weights)
    np.testing.assert_allclose(inside.predict(X), search.predict(X))


def test_metadata_is_routed_to_the_estimator_that_asked_for_it(sinc, rng):
    X, y = sinc
    weights = rng.integers(1, 4, 120)
    grid = {"basis__gamma": [0.1, 1.0]}
    expected = CriterionSearch(FastGCVRegressor("rbf"), grid).fit(X, y, sample_weight=weights).predict(X)
    with config_context(enable_metadata_routing=True):
        asking = CriterionSearch(
            FastGCVRegressor("rbf").set_fit_request(sample_weight=True).set_score_request(sample_weight=False), grid
        )
        np.testing.assert_array_equal(asking.fit(X, y, sample_weight=weights).predict(X), expected)
        folds = cross_validate(asking, X, y, params={"sample_weight": weights}, cv=2)
        assert np.isfinite(folds["test_score"]).all()
        piped = make_pipeline(StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False), asking)
        np.testing.assert_allclose(piped.fit(X, y, sample_weight=weights).predict(X), expected)
        scaler = StandardScaler(with_mean=False, with_std=False).set_fit_request(sample_weight=False)
        searched = make_pipeline(scaler, FastGCVRegressor("rbf").set_fit_request(sample_weight=True))
        names = {"fastgcvregressor__basis__gamma": grid["basis__gamma"]}
        for n_jobs in (None, 2):  # processes have to be told that routing is on
            search = CriterionSearch(searched, names, n_jobs=n_jobs).fit(X, y, sample_weight=weights)
            np.testing.assert_allclose(search.predict(X), expected)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            CriterionSearch(FastGCVRegressor("rbf"), grid).fit(X, y, sample_weight=weights)


def test_criteria_that_do_not_compare_are_refused(sinc):
    search = CriterionSearch(SparseRegressor("rbf"), {"criterion": [GCV(), IndividualEvidence()]})
    with pytest.raises(ValueError, match="do not compare"):
        search.fit(*sinc)
    same_basis = CriterionSearch(SparseRegressor("rbf"), {"criterion": [GCV(), IndividualEvidence()], "basis__gamma": [0.1, 1.0]})
    with pytest.raises(ValueError, match="do not compare"):
        same_basis.fit(*sinc)


def test_what_cannot_be_searched_is_named(sinc):
    X, y = sinc
    with pytest.raises(TypeError, match="Ridge has no criterion_"):
        CriterionSearch(Ridge(), {"alpha": [1.0]}).fit(X, y)
    for wrong in ({}, {"param_grid": {"tol": [1]}, "param_distributions": {"tol": [1]}}):
        with pytest.raises(ValueError, match="either param_grid or param_distributions"):
            CriterionSearch(FastGCVRegressor("rbf"), **wrong).fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'width'"):
        CriterionSearch(FastGCVRegressor("rbf"), {"width": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="tol must be at least") as caught:
        CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3, -1.0]}).fit(X, y)
    assert "candidate 1" in caught.value.__notes__[0]
    for wrong in (0.5, np.inf, "much", None):
        with pytest.raises(ValueError, match="inflation must be a finite number of at least 1"):
            CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3]}, inflation=wrong).fit(X, y)
    for wrong in (0, "x", 1.5, True):
        with pytest.raises(ValueError, match=r"n_jobs must be None .*, a number of processes, or -1"):
            CriterionSearch(FastGCVRegressor("rbf"), {"tol": [1e-3]}, n_jobs=wrong).fit(X, y)
    for wrong in (0, -1, "x", 2.5, None):
        with pytest.raises(ValueError, match="n_iter, the number of draws, must be a whole number of at least 1"):
            CriterionSearch(FastGCVRegressor("rbf"), param_distributions={"tol": [1e-3]}, n_iter=wrong).fit(X, y)


def test_the_face_is_that_of_the_estimator(sinc):
    X, y = sinc
    search = CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": GAMMAS})
    assert is_regressor(search)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "n_features_in_")
    with pytest.raises(NotFittedError):
        search.predict(X)
    copy = pickle.loads(pickle.dumps(search.fit(X, y)))
    np.testing.assert_array_equal(copy.predict(X), search.predict(X))
    assert search.set_params(estimator__tol=0.1).estimator.tol == 0.1


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_score_follows_the_routing_of_metadata():
    X, y = make_friedman1(100, noise=1.0, random_state=0)
    weights = np.r_[np.ones(50), np.full(50, 3.0)]
    with config_context(enable_metadata_routing=True):
        inner = FastGCVRegressor("rbf").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        search = CriterionSearch(inner, {"basis__gamma": [0.003, 0.01]}).fit(X, y, sample_weight=weights)
        expected = r2_score(y, search.predict(X), sample_weight=weights)
        assert search.score(X, y, sample_weight=weights) == pytest.approx(expected, rel=1e-12)
        assert search.score(X, y) != pytest.approx(expected, rel=1e-3)


@pytest.mark.skipif(
    Version(sklearn.__version__) < Version("1.8"),
    reason="before 1.8, scikit-learn gives no weights to the score of what routes them on",
)
@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_scores_of_folds_follow_the_routing_of_metadata():
    X, y = make_friedman1(100, noise=1.0, random_state=0)
    weights = np.r_[np.ones(50), np.full(50, 3.0)]
    with config_context(enable_metadata_routing=True):
        inner = FastGCVRegressor("rbf").set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        by_folds = GridSearchCV(CriterionSearch(inner, {"tol": [1e-3]}), {"inflation": [1.0]}).fit(X, y, sample_weight=weights)
        plain = GridSearchCV(inner, {"tol": [1e-3]}).fit(X, y, sample_weight=weights)
        assert by_folds.best_score_ == pytest.approx(plain.best_score_, rel=1e-9)

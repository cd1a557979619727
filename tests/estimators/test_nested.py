"""One fit, many models: each equals a fresh fit of its functions."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import Pipeline

from skarce import (
    BackwardEliminationRegressor,
    EvidenceSearchRegressor,
    KernelBasis,
    KernelMatchingPursuitRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    SparseRegressor,
)
from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, PenalizedError, SharedGCV
from skarce.datasets.training import make_preprocessing
from skarce.searches import Backward, Floating, Forward, PlusTakeAway
from tests.oracles import penalized_error, rbf

BASIS = KernelBasis(gamma=0.3)
NESTED = {
    "gps-be": BackwardEliminationRegressor(BASIS),
    "gps-be, forward": BackwardEliminationRegressor(BASIS, direction="forward"),
    "gps-be, paper": BackwardEliminationRegressor(BASIS, weight_variance=1.0, fit_intercept=False),
    "ols": OrthogonalLeastSquaresRegressor(BASIS),
    "ols, bic": OrthogonalLeastSquaresRegressor(BASIS, stop="bic", fit_intercept=False),
    "rfs": RegularizedForwardRegressor(BASIS),
    "rfs, orthogonal": RegularizedForwardRegressor(BASIS, penalize="orthogonal"),
    "rfs, fixed": RegularizedForwardRegressor(BASIS, ridge=0.1),
    "ssge-forward": EvidenceSearchRegressor(BASIS),
    "ssge, paper": EvidenceSearchRegressor(BASIS, reestimate="paper"),
    "ssge, backward": EvidenceSearchRegressor(BASIS, search="backward"),
    "evidence, forward": SparseRegressor(BASIS, IndividualEvidence(), Forward()),
    "gcv, forward": SparseRegressor(BASIS, GCV(), Forward()),
    "gcv, backward": SparseRegressor(BASIS, SharedGCV(), Backward()),
    "gcv, one out": SparseRegressor(BASIS, SharedGCV(), PlusTakeAway(0, 1)),
}
nested = pytest.mark.parametrize("name", NESTED)


@pytest.fixture(scope="module")
def sinc():
    rng = np.random.default_rng(0)
    X = rng.uniform(-10, 10, (70, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 70)


def fitted(name, X, y, **parameters):
    """A model with the std of its posterior: a factor from left-out rows is that of the fitted size."""
    return clone(NESTED[name]).set_params(calibrate_std=False, **parameters).fit(X, y)


def with_budget(model, size):
    """The same estimator, asked for that number of functions from the start."""
    again = clone(model)
    if isinstance(model, SparseRegressor):
        search = type(model.search)(**{**vars(model.search), "n_basis": size})
        return again.set_params(search=search)
    return again.set_params(n_basis=size)


@nested
def test_models_on_the_way_are_those_of_a_fit_with_that_budget(sinc, name):
    X, y = sinc
    model = fitted(name, X, y)
    assert len(model.active_) > 3
    for size in (len(model.active_) - 1, 3, 1):
        path = model.with_n_basis(size)
        fresh = with_budget(model, size).fit(X, y)
        np.testing.assert_array_equal(path.active_, fresh.active_)
        np.testing.assert_allclose(path._weights, fresh._weights, rtol=1e-6)
        np.testing.assert_allclose(path.weight_precision_, fresh.weight_precision_, rtol=1e-6)
        np.testing.assert_allclose(path.predict(X, return_std=True), fresh.predict(X, return_std=True), rtol=1e-6, atol=1e-9)
        assert path.criterion_ == pytest.approx(fresh.criterion_, rel=1e-7)
        np.testing.assert_allclose(path.relevance_, fresh.relevance_, rtol=1e-5, atol=1e-9)
        np.testing.assert_array_equal(path.relevance_vectors_, X[path.active_])
        assert path.outcome_ is Outcome.GOAL_REACHED
        np.testing.assert_array_equal(path.trace_, model.trace_)
        assert repr(path) == repr(fresh)
        np.testing.assert_array_equal(clone(path).fit(X, y).active_, path.active_)


@nested
def test_a_model_of_no_functions_is_one_of_them(sinc, name):
    X, y = sinc
    model = fitted(name, X, y)
    if model.posterior_.path.least == 0:
        empty = model.with_n_basis(0)
        np.testing.assert_allclose(empty.predict(X), y.mean() if model.fit_intercept else 0.0, atol=1e-12)
        assert repr(empty) == repr(model)


def test_what_ended_the_search_is_named_if_a_larger_model_is_wanted(sinc):
    X, y = sinc
    ended = {
        "max_iter": BackwardEliminationRegressor(BASIS, direction="forward", keep_path=True, max_iter=3),
        "max_active": OrthogonalLeastSquaresRegressor(BASIS, keep_path=True, max_active=3),
        "n_basis": OrthogonalLeastSquaresRegressor(BASIS, keep_path=True, n_basis=3),
    }
    for limit, model in ended.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        with pytest.raises(ValueError, match=limit):
            model.with_n_basis(9)
    with pytest.raises(ValueError, match="There are 70 candidates"):
        ended["n_basis"].with_n_basis(71)
    with pytest.raises(ValueError, match="keep_path must be True or False, got 'yes'"):
        BackwardEliminationRegressor(BASIS, keep_path="yes").fit(X, y)


def test_a_model_above_the_cap_asks_for_a_higher_cap(sinc):
    X, y = sinc
    model = BackwardEliminationRegressor(BASIS, keep_path=True, max_active=5).fit(X, y).with_n_basis(8)
    assert model.get_params()["max_active"] == 8
    assert len(clone(model).fit(X, y).active_) == 8


@nested
def test_larger_models_need_the_path_kept(sinc, name):
    X, y = sinc
    model, keeping = fitted(name, X, y), fitted(name, X, y, keep_path=True)
    size = len(model.active_)
    np.testing.assert_array_equal(keeping.active_, model.active_)
    with pytest.raises(ValueError, match=f"not of {size + 1}. Fit with keep_path=True"):
        model.with_n_basis(size + 1)
    largest = int(max(keeping.trace_["n_active"]))
    if largest > size:
        larger, fresh = keeping.with_n_basis(size + 1), with_budget(model, size + 1).fit(X, y)
        np.testing.assert_array_equal(larger.active_, fresh.active_)
        np.testing.assert_allclose(larger.predict(X, return_std=True), fresh.predict(X, return_std=True), rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match="There are 70 candidates"):
        keeping.with_n_basis(71)


@nested
def test_its_own_size_and_tolerance_give_the_model_itself(sinc, name):
    X, y = sinc
    model = fitted(name, X, y)
    for same in (model.with_n_basis(len(model.active_)), model.with_tol(model.tol)):
        assert same is not model
        np.testing.assert_array_equal(same.active_, model.active_)
        np.testing.assert_array_equal(same.predict(X), model.predict(X))
        assert same.criterion_ == model.criterion_
        assert same.outcome_ is model.outcome_


@nested
@pytest.mark.parametrize("factor", [3.0, 30.0])
def test_another_tolerance_chooses_the_model_it_would_have_chosen(sinc, name, factor):
    X, y = sinc
    model = fitted(name, X, y, keep_path=True)
    tol = model.tol * factor
    fresh = clone(model).set_params(tol=tol).fit(X, y)
    path = model.with_tol(tol)
    np.testing.assert_array_equal(path.active_, fresh.active_)
    np.testing.assert_allclose(path.predict(X), fresh.predict(X), rtol=1e-6, atol=1e-9)
    assert repr(path) == repr(fresh)


def test_a_smaller_tolerance_within_the_path(sinc):
    X, y = sinc
    model = BackwardEliminationRegressor(BASIS, keep_path=True).fit(X, y)
    fresh = BackwardEliminationRegressor(BASIS, tol=0.001).fit(X, y)
    assert len(fresh.active_) > len(model.active_)
    np.testing.assert_array_equal(model.with_tol(0.001).active_, fresh.active_)
    assert len(model.with_tol(0.0).active_) == 70
    with pytest.raises(ValueError, match="keep_path=True"):
        BackwardEliminationRegressor(BASIS).fit(X, y).with_tol(0.001)
    forward = BackwardEliminationRegressor(BASIS, direction="forward").fit(X, y)
    with pytest.raises(ValueError, match="keep_path=True"):
        forward.with_tol(0.001)


@pytest.mark.parametrize("search", [Forward(), Backward(), PlusTakeAway(0, 1)])
def test_the_tolerance_of_the_penalized_error_is_that_of_the_criterion(sinc, search):
    X, y = sinc
    model = SparseRegressor(BASIS, PenalizedError(tol=0.05), search).fit(X, y)
    np.testing.assert_array_equal(model.with_tol(0.05).active_, model.active_)
    for tol in (0.1, 0.3, 1.0, 5.0):
        fresh = SparseRegressor(BASIS, PenalizedError(tol=tol), search).fit(X, y)
        assert len(fresh.active_) < len(model.active_)
        np.testing.assert_array_equal(model.with_tol(tol).active_, fresh.active_)
    with pytest.raises(ValueError, match=r"fit again with PenalizedError\(tol=0.01\)"):
        model.with_tol(0.01)


def test_every_model_of_an_elimination_is_the_dense_solution_of_its_functions(sinc):
    X, y = sinc
    model = BackwardEliminationRegressor(BASIS, keep_path=True).fit(X, y)
    ridge = model.weight_precision_[0] * model.noise_variance_
    left = set(range(70))
    for row in model.trace_[:-1]:
        left.remove(int(row["index"]))
        one = model.with_n_basis(len(left))
        assert set(one.active_) == left
        phi = rbf(X, X[one.active_], 0.3)
        assert one.noise_variance_ == pytest.approx(penalized_error(phi, y, ridge, intercept=True) / 69, rel=1e-7)
        centered = phi - phi.mean(axis=0)
        w = np.linalg.solve(centered.T @ centered + ridge * np.eye(len(left)), centered.T @ (y - y.mean()))
        np.testing.assert_allclose(one.predict(X), centered @ w + y.mean(), atol=1e-8)


def test_models_of_models(sinc):
    X, y = sinc
    model = OrthogonalLeastSquaresRegressor(BASIS, n_basis=12).fit(X, y)
    small = model.with_n_basis(4)
    back = small.with_n_basis(12)
    np.testing.assert_array_equal(back.active_, model.active_)
    np.testing.assert_allclose(back.predict(X), model.predict(X), rtol=1e-8, atol=1e-10)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.with_n_basis(4).predict(X), small.predict(X))


def test_streams_of_two_models_go_on_apart(sinc):
    X, y = sinc
    basis = KernelBasis(gamma=0.3, centers=X[:30])
    both, first = (BackwardEliminationRegressor(basis).fit(X[:n], y[:n]) for n in (70, 40))
    smaller = first.with_n_basis(4)
    for model in (smaller, first):
        model.partial_fit(X[40:], y[40:])
    smaller.partial_fit(X, y)
    np.testing.assert_array_equal(first.active_, both.active_)
    np.testing.assert_allclose(first.predict(X), both.predict(X), rtol=1e-6, atol=1e-9)
    first.partial_fit(X, y)
    np.testing.assert_allclose(first.with_n_basis(4).predict(X), smaller.with_n_basis(4).predict(X), rtol=1e-6, atol=1e-9)


def test_saved_models_keep_their_path(sinc, tmp_path):
    model_file, pandas = pytest.importorskip("skarce.cli.model_file"), pytest.importorskip("pandas")
    X, y = sinc
    for name in ("gps-be", "ols", "rfs, orthogonal", "ssge, paper"):
        model = fitted(name, X, y)
        scaled = make_preprocessing({"x": "number"}).fit(pandas.DataFrame(X, columns=["x"]))
        saved = model_file.SavedModel(Pipeline([("preprocessing", scaled), ("model", model)]), "y", {"x": "number"}, "0")
        model_file.save(saved, tmp_path / "model.skops")
        again = model_file.load(tmp_path / "model.skops").regressor
        np.testing.assert_array_equal(again.with_n_basis(3).predict(X), model.with_n_basis(3).predict(X))


def test_the_fit_itself_is_left_alone(sinc):
    X, y = sinc
    model = RegularizedForwardRegressor(BASIS, keep_path=True).fit(X, y)
    before = model.predict(X, return_std=True)
    model.with_n_basis(2).predict(X)
    np.testing.assert_array_equal(model.predict(X, return_std=True), before)
    augmented = model.with_n_basis(2).predict([[0.0], [40.0]], return_std=True, std="augmented")[1]
    assert augmented[1] > augmented[0]


def test_names_of_columns_are_kept(rng):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(rng.normal(size=(60, 5)), columns=list("abcde"))
    y = table["b"] * 3 + table["e"] + rng.normal(0, 0.1, 60)
    model = OrthogonalLeastSquaresRegressor("passthrough", n_basis=3).fit(table, y)
    assert model.with_n_basis(1).basis_.get_feature_names_out().tolist() == ["b"]
    assert sorted(model.with_n_basis(2).basis_.get_feature_names_out()) == ["b", "e"]
    assert model.with_n_basis(2).predict(table).shape == (60,)


def test_start_and_members_that_stay(sinc):
    X, y = sinc
    forward = EvidenceSearchRegressor(BASIS, always_in=[5, 9]).fit(X, y)
    assert set(forward.with_n_basis(2).active_) == {5, 9}
    assert {5, 9} < set(forward.with_n_basis(4).active_)
    with pytest.raises(ValueError, match="models of 2 to"):
        forward.with_n_basis(1)
    backward = EvidenceSearchRegressor(BASIS, search="backward", always_in=[5, 9]).fit(X, y)
    assert set(backward.with_n_basis(2).active_) == {5, 9}


@pytest.mark.parametrize("search", ["floating", "oscillating", "plus-take-away", "best-action"])
def test_searches_that_go_to_and_fro_have_no_path(sinc, search):
    model = EvidenceSearchRegressor(BASIS, search=search).fit(*sinc)
    for ask in (lambda: model.with_n_basis(2), lambda: model.with_tol(0.1)):
        with pytest.raises(ValueError, match="are not nested"):
            ask()
    with pytest.raises(ValueError, match="are not nested"):
        SparseRegressor(BASIS, ExplainedVariance(), Floating()).fit(*sinc).with_n_basis(1)


def test_wrong_sizes_and_tolerances_are_named(sinc):
    model = OrthogonalLeastSquaresRegressor(BASIS)
    with pytest.raises(NotFittedError):
        model.with_n_basis(3)
    model.fit(*sinc)
    for wrong in (-1, 2.0, True, "3"):
        with pytest.raises(ValueError, match="n_basis must be a whole number"):
            model.with_n_basis(wrong)
    for wrong in (-0.1, np.nan, "x", True):
        with pytest.raises(ValueError, match="tol must be a number"):
            model.with_tol(wrong)


def test_several_targets(rng):
    X = rng.uniform(-4, 4, (80, 2))
    Y = np.column_stack([np.sin(X[:, 0]), np.cos(X[:, 1]), np.full(80, 3.0)]) + rng.normal(0, [0.1, 0.1, 0.0], (80, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = OrthogonalLeastSquaresRegressor("rbf", n_basis=9).fit(X, Y)
    small = model.with_n_basis(4)
    assert (np.count_nonzero(small.dual_coef_, axis=1) == [4, 4, 0]).all()
    for k in range(2):
        single = OrthogonalLeastSquaresRegressor("rbf", n_basis=4).fit(X, Y[:, k])
        np.testing.assert_allclose(small.predict(X)[:, k], single.predict(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(small.predict(X)[:, 2], 3.0)


def test_messages_name_the_remedy_that_helps(sinc):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match="step limit"):
        model = BackwardEliminationRegressor(BASIS, max_iter=5).fit(X, y)
    with pytest.raises(ValueError, match=r"of 65 to 65 functions, not of 10. max_iter ended the search"):
        model.with_n_basis(10)
    forward = EvidenceSearchRegressor(BASIS, always_in=[5, 9]).fit(X, y)
    with pytest.raises(ValueError, match="The search saw no smaller one"):
        forward.with_n_basis(1)


def test_a_constant_target_has_one_model(sinc):
    model = BackwardEliminationRegressor(BASIS).fit(sinc[0], np.full(70, 3.0))
    same = model.with_n_basis(0)
    assert same is not model
    np.testing.assert_array_equal(same.predict(sinc[0]), model.predict(sinc[0]))
    for ask in (lambda: model.with_n_basis(2), lambda: model.with_tol(0.1)):
        with pytest.raises(ValueError, match=r"no model with functions\. The target does not vary"):
            ask()


@pytest.mark.parametrize("choice", [{"loss": "huber"}, {"variant": "basic"}])
def test_pursuits_without_a_path_say_so(sinc, choice):
    X, y = sinc
    model = KernelMatchingPursuitRegressor(BASIS, calibrate_std=False, **choice).fit(X, y)
    name, value = next(iter(choice.items()))
    with pytest.raises(ValueError, match=f'{name}="{value}" keeps no models of other sizes. Fit again with the n_basis'):
        model.with_n_basis(1)

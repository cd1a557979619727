"""The regressor that searches by the evidence with one precision."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from skarce import EvidenceRegressor, EvidenceSearchRegressor, KernelBasis, Outcome, SparseRegressor
from skarce.criteria import SharedEvidence
from skarce.searches import Floating, Forward, PlusTakeAway
from tests.oracles import log_evidence, rbf, shared_evidence

NAMES = ["forward", "plus-take-away", "floating", "oscillating", "backward", "best-action"]


@pytest.fixture
def sinc(rng):
    X = rng.uniform(-10, 10, (80, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 80)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("search", NAMES)
def test_fitted_attributes_are_what_they_say(sinc, search, reestimate, fit_intercept):
    X, y = sinc
    y = 50 * y + 7 * fit_intercept
    model = EvidenceSearchRegressor(KernelBasis(gamma=0.3), search=search, reestimate=reestimate, fit_intercept=fit_intercept).fit(
        X, y
    )
    phi = rbf(X, X, 0.3)[:, model.active_]
    alpha, beta = model.weight_precision_[0], 1 / model.noise_variance_
    assert (model.weight_precision_ == alpha).all()
    expected = shared_evidence(phi, y, alpha, beta, intercept=fit_intercept)
    np.testing.assert_allclose(model.criterion_, expected, rtol=1e-8)
    as_large = model.trace_["n_active"] == len(model.active_)
    np.testing.assert_allclose(model.trace_["criterion"][as_large].max(), model.criterion_, atol=1e-3)
    np.testing.assert_allclose(model.predict(X), phi @ model.dual_coef_ + model.intercept_)
    assert model.criterion_sense_ == 1
    assert set(model.trace_["action"]) <= {"add", "delete", "undo"}
    assert not model.outcome_.is_early
    assert 2 < len(model.active_) < 40
    assert model.score(X, y) > 0.85
    if reestimate == "tight":
        best = log_evidence(phi, y, np.full(len(phi.T), alpha), 1 / beta, intercept=fit_intercept)
        for a, b in ((1.02, 1), (0.98, 1), (1, 1.02), (1, 0.98)):
            assert best > log_evidence(phi, y, np.full(len(phi.T), alpha * a), b / beta, intercept=fit_intercept)


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("search", NAMES)
@pytest.mark.parametrize("factor", [1e7, 1e-150, 0.3])
def test_units_of_the_target_do_not_matter(sinc, search, reestimate, factor):
    X, y = sinc
    model, scaled = (EvidenceSearchRegressor("rbf", search=search, reestimate=reestimate).fit(X, t) for t in (y, y * factor))
    np.testing.assert_array_equal(scaled.active_, model.active_)
    np.testing.assert_allclose(scaled.dual_coef_ / factor, model.dual_coef_, rtol=1e-5)
    np.testing.assert_allclose(np.sqrt(scaled.noise_variance_) / factor, np.sqrt(model.noise_variance_), rtol=1e-6)
    np.testing.assert_allclose(scaled.criterion_, model.criterion_ - 79 * np.log(factor), rtol=1e-8)


def test_names_are_the_objects_of_the_paper(sinc):
    X, y = sinc
    objects = {"forward": Forward(16, 0.0, share=0.3), "plus-take-away": PlusTakeAway(2, 1), "floating": Floating()}
    for name, search in objects.items():
        named, given = (EvidenceSearchRegressor("rbf", search=s, start="empty").fit(X, y) for s in (name, search))
        np.testing.assert_array_equal(named.trace_, given.trace_)
    generic = SparseRegressor("rbf", SharedEvidence(), Floating()).fit(X, y)
    np.testing.assert_array_equal(generic.active_, named.active_)
    np.testing.assert_allclose(generic.dual_coef_, named.dual_coef_)


def test_weight_two_is_the_row_twice(rng, sinc):
    X, y = sinc
    weights = rng.integers(0, 3, 80)
    weighted = EvidenceSearchRegressor("rbf", search="floating").fit(X, y, sample_weight=weights)
    repeated = EvidenceSearchRegressor("rbf", search="floating").fit(np.repeat(X, weights, 0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.active_, repeated.active_)
    np.testing.assert_allclose(weighted.criterion_, repeated.criterion_, rtol=1e-8)


def test_two_outputs_are_two_fits(sinc, rng):
    X, y = sinc
    Y = np.column_stack([y, np.cos(X[:, 0]) + rng.normal(0, 0.1, 80)])
    both, single = EvidenceSearchRegressor("rbf").fit(X, Y), [EvidenceSearchRegressor("rbf").fit(X, t) for t in Y.T]
    assert set(both.active_) == set(single[0].active_) | set(single[1].active_)
    assert both.criterion_ == pytest.approx(sum(s.criterion_ for s in single))


@pytest.mark.parametrize("search", ["forward", "plus-take-away", "floating", "oscillating", "backward"])
def test_members_and_size_go_to_the_search(sinc, search):
    X, y = sinc
    model = EvidenceSearchRegressor("rbf", search=search, n_basis=6, always_in=[3, 50]).fit(X, y)
    assert len(model.active_) == 6
    assert {3, 50} <= set(model.active_)
    assert model.outcome_ is Outcome.GOAL_REACHED
    assert EvidenceSearchRegressor("rbf", search=search, initial=[1, 2, 3]).fit(X, y).trace_["n_active"][0] in (2, 4)
    copy = clone(model).fit(X, y)
    np.testing.assert_array_equal(copy.active_, model.active_)


def test_limits_return_the_best_model_so_far(sinc):
    X, y = sinc
    with pytest.warns(ConvergenceWarning, match="Raise max_iter"):
        model = EvidenceSearchRegressor("rbf", search="floating", max_iter=12).fit(X, y)
    assert (model.outcome_, model.n_iter_) == (Outcome.STEP_LIMIT, 12)
    np.testing.assert_allclose(model.criterion_, model.trace_["criterion"].max(), atol=1e-3)
    with pytest.warns(ConvergenceWarning, match="best model so far"):
        model = EvidenceSearchRegressor("rbf", search="oscillating", max_time=0.0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()
    assert len(EvidenceSearchRegressor("rbf", max_active=4).fit(X, y).active_) == 4


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"search": "sideways"}, "search must be one of .*'plus-take-away'.* got 'sideways'"),
        ({"search": 3}, "search must be one of"),
        ({"search": Floating}, r"Floating is a class. Write Floating\(\)"),
        ({"search": Floating(n_basis=3), "n_basis": 5}, r"n_basis is given twice, here and in Floating\(...\)"),
        ({"reestimate": "loose"}, "reestimate must be one of"),
        ({"n_basis": 0}, "n_basis must be"),
        ({"n_basis": 5, "max_active": 3}, "n_basis=5 asks for more functions than max_active=3"),
        ({"search": "best-action", "always_in": [1]}, "BestAction does not take always_in"),
        ({"initial": [80]}, "initial must be indices of candidates from 0 to 79"),
        ({"search": "floating", "initial": [1, 2, 3, 4, 5], "max_active": 2}, "5 candidates, more than max_active=2 allows"),
        ({"always_in": [0.5]}, "always_in must be indices of candidates, which are whole numbers; got .*0.5"),
    ],
)
def test_wrong_parameters_are_named(sinc, parameters, message):
    with pytest.raises(ValueError, match=message):
        EvidenceSearchRegressor("rbf", **parameters).fit(*sinc)


@pytest.mark.parametrize("search", ["plus-take-away", "floating", "oscillating", "backward"])
def test_the_outcome_is_advice_that_holds(sinc, search):
    """The best of all models on the way, as it says, whether the search went past it or came to its end.

    What a swing passes on its way is not compared, only models of the same size.
    """
    model = EvidenceSearchRegressor("rbf", search=search).fit(*sinc)
    assert model.outcome_ is Outcome.NONE_BETTER_FOUND
    assert "best of all models" in str(model.outcome_)
    trace = model.trace_
    compared = trace["n_active"] == len(model.active_) if search == "oscillating" else np.ones(len(trace), bool)
    assert model.criterion_ >= trace["criterion"][compared].max() - 1e-3


def test_the_criterion_is_the_log_density_and_two_terms_more(sinc):
    """As docs/sharp-bits.md has it: -1/2 log(gamma/2) - 1/2 log((n - gamma)/2), beside the same model with all functions."""
    X, y = sinc
    landmarks = KernelBasis(centers=X[:12], gamma=0.3)
    searched = EvidenceSearchRegressor(landmarks, search="forward", n_basis=12).fit(X, y)
    dense = EvidenceRegressor(landmarks).fit(X, y)
    gamma = searched.relevance_.sum()
    more = -0.5 * np.log(gamma / 2) - 0.5 * np.log((79 - gamma) / 2)
    np.testing.assert_allclose(searched.criterion_ - dense.criterion_, more, rtol=1e-6)


@pytest.fixture
def smooth():
    """A smooth function with little noise, on kernels so wide that no single one helps a linear model."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.7, 1.7, (300, 4))
    y = np.sin(1.8 * X[:, 0]) + 0.35 * X[:, 1] ** 2 + np.cos(0.7 * X[:, 2] * X[:, 3]) + 0.02 * rng.normal(size=300)
    return X[:200], y[:200], X[200:], y[200:]


@pytest.mark.parametrize("search", ["forward", "floating", "best-action"])
def test_a_search_that_stopped_too_early_starts_again(smooth, search):
    X, y, X_new, y_new = smooth
    early, again = (EvidenceSearchRegressor(KernelBasis(gamma=0.03), search=search, start=s).fit(X, y) for s in ("empty", "auto"))
    assert again.criterion_ >= early.criterion_
    assert again.score(X_new, y_new) > 0.97
    if search == "best-action":
        assert again.criterion_ > early.criterion_ + 50.0
        assert early.score(X_new, y_new) < 0.8


def test_a_second_start_is_not_taken_if_the_start_or_the_paper_is_asked_for(smooth):
    X, y, *_ = smooth
    for given in ({"reestimate": "paper"}, {"n_basis": 5}, {"initial": [3]}, {"always_in": [3]}):
        auto, empty = (
            EvidenceSearchRegressor(KernelBasis(gamma=0.03), start=start, **given).fit(X, y) for start in ("auto", "empty")
        )
        np.testing.assert_array_equal(auto.trace_, empty.trace_)


def test_an_unknown_start_is_refused(sinc):
    with pytest.raises(ValueError, match="start must be one of"):
        EvidenceSearchRegressor(start="full").fit(*sinc)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_rows_that_are_counted_very_often_leave_no_energy_below_zero():
    """An update of the energy that loses all digits must not take its logarithm; warnings of NumPy are errors here."""
    rng = np.random.default_rng(26)
    X = rng.normal(size=(5, 1))
    y = np.sin(X[:, 0]) + X[:, 0] + 0.1 * rng.normal(size=5)
    model = SparseRegressor(search=Floating()).fit(X, y, sample_weight=np.full(5, 1e12))
    assert np.isfinite(model.predict(X)).all()

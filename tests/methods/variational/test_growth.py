"""Variational models that grow from nothing, and the choice between them and those from all candidates."""

from math import comb, log

import numpy as np
import pytest
from sklearn.linear_model import LassoCV

from skarce import VBLSRegressor
from skarce.basis import fit_basis
from skarce.designs import InMemoryDesign, Rows
from skarce.methods.variational.direct import iterate, resume, run_direct
from skarce.methods.variational.growth import grow, run_from_both_ends, worth
from skarce.states.budget import Budget
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

LIMITS = Budget(tol=1e-8)


def sparse_problem(seed, n=80, d=30, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    return X, X[:, :4] @ [2.0, -1.0, 0.6, 0.4] + noise * rng.normal(size=n)


def moments_of(X, y):
    design = InMemoryDesign(fit_basis(None, X, y, None), Rows(X, y[:, None]), fit_intercept=True)
    return design.moments("whole")[0]


@pytest.mark.parametrize("seed", range(6))
def test_no_candidate_outside_would_make_the_grown_model_worth_more(seed):
    """Each of them, one by one, with the ridge of its own largest bound: nothing of how the search chooses is used."""
    moments, labels, journal = moments_of(*sparse_problem(seed)), np.arange(30), Journal(LIMITS)
    model = grow(moments, journal, labels)
    assert len(model) >= 2
    added = journal.trace()["index"][journal.trace()["action"] == "add"]
    np.testing.assert_array_equal(np.sort(added), model.candidates)
    for candidate in np.setdiff1d(labels, model.candidates):
        active = np.sort(np.append(model.candidates, candidate))
        for share in (1e-3, 1e-2, 0.1):  # from weak to strong priors of the newcomer
            ridges = np.where(active == candidate, share * moments.gram.diagonal[active], 0.0)
            ridges[active != candidate] = model.ridges
            larger = resume(moments, labels, Fit(active, ridges, Outcome.CONVERGED))
            iterate(larger, Journal(LIMITS))
            assert worth(larger) <= worth(model) + 1e-6


def test_worth_is_the_bound_less_the_number_of_sets_of_that_size():
    moments, labels = moments_of(*sparse_problem(0)), np.arange(30)
    for model in (run_direct(moments, Journal(LIMITS), labels), grow(moments, Journal(LIMITS), labels)):
        assert worth(model) == pytest.approx(model.bound - log(comb(30, len(model))), rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_the_model_that_is_worth_more_is_taken_with_its_own_trace(seed):
    n, d = ((80, 30), (40, 60), (400, 20))[seed % 3]
    moments, labels, journal = moments_of(*sparse_problem(seed, n, d)), np.arange(d), Journal(LIMITS)
    journal.note("before", 7, -1e9, 0)
    both = run_from_both_ends(moments, journal, labels)
    separate = {name: Journal(LIMITS) for name in ("all", "none")}
    models = {"all": run_direct(moments, separate["all"], labels), "none": grow(moments, separate["none"], labels)}
    better = max(models, key=lambda name: worth(models[name]))
    np.testing.assert_array_equal(both.candidates, models[better].candidates)
    assert both.bound == models[better].bound
    np.testing.assert_array_equal(journal.trace()[1:], separate[better].trace())
    assert journal.trace()[0]["action"] == "before"
    assert journal.n_steps == 1 + sum(part.n_steps for part in separate.values())
    assert journal.n_rows == len(journal.trace())
    assert np.diff(journal.trace()["criterion"]).min() > -1e-8


def test_the_bound_never_falls_though_sets_of_nearly_all_candidates_are_few():
    """The prior of the set is larger for five of five than for four of five: alone it would let the bound fall."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 5))
        journal = Journal(LIMITS)
        grow(moments_of(X, X[:, :4] @ [3.0, 2.0, -2.0, 4.0] + rng.normal(size=60)), journal, np.arange(5))
        assert np.diff(journal.trace()["criterion"]).min() > -1e-9


def test_noise_among_more_inputs_than_rows_is_taken_for_noise():
    kept, covered = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(560, 100)), rng.normal(size=560)
        model = VBLSRegressor().fit(X[:60], y[:60])
        mean, std = model.predict(X[60:], return_std=True)
        kept.append(len(model.active_))
        covered.append(np.mean(np.abs(y[60:] - mean) < 1.96 * std))
    assert np.mean(kept) < 1.0
    assert np.mean(covered) > 0.9


def test_wide_and_noisy_problems_beside_the_lasso():
    ratios = {"all": [], "both": []}
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(1200, 400))
        signal = X[:, :6] @ [3.0, -2.0, 2.0, 1.5, -1.0, 1.0]
        y = signal[:200] + signal.std() * rng.normal(size=200)
        rival = np.mean((LassoCV().fit(X[:200], y).predict(X[200:]) - signal[200:]) ** 2)
        for start, shares in ratios.items():
            shares.append(np.mean((VBLSRegressor(start=start).fit(X[:200], y).predict(X[200:]) - signal[200:]) ** 2) / rival)
    assert np.mean(ratios["both"]) < 1.3
    assert np.mean(ratios["both"]) < 0.5 * np.mean(ratios["all"])


def test_groups_and_kernels_begin_with_all():
    X, y = sparse_problem(1)
    for parameters in ({"prior": np.arange(30) // 3}, {"basis": "rbf"}):
        auto, from_all = (VBLSRegressor(start=start, **parameters).fit(X, y) for start in ("auto", "all"))
        np.testing.assert_array_equal(auto.active_, from_all.active_)
    both = VBLSRegressor("rbf", start="both").fit(X, y)
    assert both.criterion_ - log(comb(80, len(both.active_))) >= from_all.criterion_ - log(comb(80, len(from_all.active_)))
    with pytest.raises(ValueError, match="start must be one of"):
        VBLSRegressor(start="middle").fit(X, y)

"""Forward selection as a search: what it keeps, when it stops, and that it does so with every criterion."""

import time
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from skarce import KernelBasis, OrthogonalLeastSquaresRegressor, RegularizedForwardRegressor
from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, OrthogonalGCV, SharedGCV
from skarce.searches import BestAction, Forward, GreedyBatches
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import random_problem
from tests.problems import moments_of

CRITERIA = {
    "individual evidence": IndividualEvidence(),
    "GCV": GCV(),
    "explained variance": ExplainedVariance(),
    "explained variance, BIC": ExplainedVariance("bic"),
    "shared GCV": SharedGCV(),
    "shared GCV, fixed": SharedGCV(2.0),
    "orthogonal GCV": OrthogonalGCV(),
    "orthogonal GCV, fixed": OrthogonalGCV(2.0),
}


@dataclass(frozen=True)
class Scripted(ExplainedVariance):
    """Explained variance that scores sets by a list: the size of the set is all that counts."""

    scores: tuple[float, ...] = ()

    def worth(self, state):
        return self.scores[len(state)]


def run(criterion, search, limits=None, *, seed=0, n=40, m=12):
    moments, journal = moments_of(*random_problem(seed, n, m)), Journal(limits)
    return search.run(criterion, moments, journal), journal.trace()


@pytest.mark.parametrize(
    ("scores", "patience", "size", "n_tried"),
    [
        ((0, 1, 2, 3, 3, 3, 9, 9, 9), 2, 3, 5),  # two in a row are too many
        ((0, 1, 2, 3, 3, 3, 9, 9, 9), 3, 6, 9),  # a longer breath gets over the hill
        ((0, -1, -2, 9), 2, 0, 2),  # nothing helps
        ((0, -1, 5, 4, 6, 5, 5), 2, 4, 6),  # failures that are not in a row do not add up
        ((0, 1, 1 + 1e-9, 1 + 2e-9, 9), 2, 3, 3),  # hardly better is kept, but does not count
        ((0, 1, np.inf, 2, 3), 2, 2, 2),  # enough is enough
    ],
)
def test_the_best_model_on_the_way_is_kept(scores, patience, size, n_tried):
    scores = (*scores, *[scores[-1]] * 13)
    found, trace = run(Scripted(scores=scores), Forward(patience))
    assert (len(found.active), len(trace)) == (size, n_tried)
    np.testing.assert_array_equal(found.active, trace["index"][:size])
    np.testing.assert_array_equal(trace["n_active"], np.arange(1, n_tried + 1))
    assert set(trace["action"]) <= {"add"}
    assert found.outcome is (Outcome.GOAL_REACHED if np.inf in scores else Outcome.NO_ADDITION_HELPS)


def test_an_improvement_counts_from_the_threshold_on():
    """The threshold is for n/2 = 20 samples: 0.1 of it is 2."""
    steps = (0.0, 1.9, 3.8, 5.7, 7.6, *[7.6] * 8)
    patient, hasty = (run(Scripted(scores=steps), Forward(p, threshold=0.1))[0] for p in (2, 1))
    assert (len(patient.active), len(hasty.active)) == (4, 1)
    assert len(run(Scripted(scores=steps), Forward(1, threshold=0.09))[0].active) == 4
    assert len(run(Scripted(scores=steps), Forward(1, threshold=0.0), Budget(tol=1.95))[0].active) == 1


@pytest.mark.parametrize("name", CRITERIA)
def test_every_criterion_runs_and_scores_are_those_of_the_sets(name):
    criterion = CRITERIA[name]
    found, trace = run(criterion, Forward())
    assert 2 <= len(found.active) <= len(trace)
    assert found.outcome is Outcome.NO_ADDITION_HELPS
    assert len(found.ridges) == len(found.active)
    if name != "explained variance, BIC":
        assert len(found.active) == trace["criterion"].argmax() + 1
    assert len(set(found.active.tolist())) == len(found.active)


@pytest.mark.parametrize("name", CRITERIA)
def test_exactly_n_basis(name):
    free = len(run(CRITERIA[name], Forward())[0].active)
    for k in (1, free):
        found, trace = run(CRITERIA[name], Forward(n_basis=k))
        assert len(found.active) == len(trace) == k
        assert found.outcome is Outcome.GOAL_REACHED


@pytest.mark.parametrize("name", ["explained variance", "shared GCV", "orthogonal GCV", "orthogonal GCV, fixed"])
def test_n_basis_goes_beyond_what_the_score_likes_and_up_to_what_there_is(name):
    free = len(run(CRITERIA[name], Forward())[0].active)
    assert free < 9
    assert len(run(CRITERIA[name], Forward(n_basis=10))[0].active) == 10
    phi, t = random_problem(0, 40, 12)
    phi[:, 7] = phi[:, 1] + phi[:, 2]
    phi[:, 8] = 0.0
    phi[:, 9] = phi[:, 4]
    found = Forward(n_basis=12).run(CRITERIA[name], moments_of(phi, t), Journal())
    if name != "shared GCV":  # under a ridge a copy is one more function
        assert len(found.active) == 9
    assert 8 not in found.active
    assert found.outcome is Outcome.TOO_FEW_CANDIDATES


def test_evidence_has_no_ridge_for_functions_that_do_not_help():
    found, _ = run(IndividualEvidence(), Forward(n_basis=12))
    assert found.outcome is Outcome.TOO_FEW_CANDIDATES
    assert 2 <= len(found.active) < 12


@pytest.mark.parametrize("name", CRITERIA)
def test_limits(name):
    criterion = CRITERIA[name]
    found, _ = run(criterion, Forward(), Budget(max_active=2))
    assert (len(found.active), found.outcome) == (2, Outcome.SIZE_LIMIT)
    found, trace = run(criterion, Forward(), Budget(max_steps=2))
    assert (len(found.active), len(trace), found.outcome) == (2, 2, Outcome.STEP_LIMIT)
    found, _ = run(criterion, Forward(), Budget(deadline=time.monotonic() - 1.0))
    assert (len(found.active), found.outcome) == (0, Outcome.TIME_LIMIT)


def test_a_cap_that_was_not_the_reason_is_not_blamed():
    found, _ = run(Scripted(scores=(0, 5, 1, 1, 1)), Forward(3), Budget(max_active=3))
    assert (len(found.active), found.outcome) == (1, Outcome.NO_ADDITION_HELPS)


@pytest.mark.parametrize("name", CRITERIA)
def test_whole_and_by_column_are_the_same_search(name):
    phi, t = random_problem(3, 50, 20)
    (whole, column) = (Forward().run(CRITERIA[name], moments_of(phi, t, kind), Journal()) for kind in ("whole", "columns"))
    np.testing.assert_array_equal(whole.active, column.active)
    np.testing.assert_allclose(whole.ridges, column.ridges, rtol=1e-6)


def test_a_search_can_start_from_a_set():
    phi, t = random_problem(0)
    found = Forward().run(ExplainedVariance(), moments_of(phi, t), Journal(), (np.array([5, 7]), np.zeros(2)))
    assert found.active[:2].tolist() == [5, 7]
    assert len(found.active) > 2


def test_joint_steps_and_orders_that_make_no_sense_are_refused():
    moments = moments_of(*random_problem(0))
    with pytest.raises(TypeError, match=r"SharedGCV has no ridge for each weight: use Forward"):
        GreedyBatches(few=-1).run(SharedGCV(), moments, Journal())
    with pytest.raises(TypeError, match=r"depends on the order of entry: use Forward"):
        BestAction().run(OrthogonalGCV(), moments, Journal())


@pytest.mark.parametrize("parameters", [{"patience": 0}, {"threshold": -1.0}, {"threshold": np.nan}, {"n_basis": 0}])
def test_parameters_that_make_no_sense_are_named(parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=f"{name} must be"):
        Forward(**parameters)


def test_verbose_prints_steps(capsys):
    Forward().run(ExplainedVariance(), moments_of(*random_problem(0)), Journal(Budget(verbose=2)))
    assert "step      1       add" in capsys.readouterr().err


ESTIMATORS = {
    "ols": OrthogonalLeastSquaresRegressor("rbf"),
    "ols, variance": OrthogonalLeastSquaresRegressor("rbf", stop="variance"),
    "rfs": RegularizedForwardRegressor("rbf"),
    "rfs, orthogonal": RegularizedForwardRegressor("rbf", penalize="orthogonal"),
    "rfs, no ridge": RegularizedForwardRegressor("rbf", ridge=0.0),
    "rfs, orthogonal, no ridge": RegularizedForwardRegressor("rbf", ridge=0.0, penalize="orthogonal"),
}


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The model has fewer functions than n_basis:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Left-out rows are:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:Targets are far:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_nearly_exact_fits_and_ill_conditioned_bases_never_raise(name):
    """Random problems of the kinds that end in dependent candidates, interpolations and differences without digits."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, gamma = int(rng.integers(5, 60)), float(10 ** rng.uniform(-5, 3))
        X = rng.normal(size=(n, int(rng.integers(1, 3))))
        y = [np.sin(X[:, 0]), X[:, 0] * 1e6 + 1e9, np.sign(X[:, 0]), rng.normal(size=n)][seed % 4]
        kernel = ["rbf", "matern52", "polynomial", "sigmoid"][seed % 5 % 4]
        for dtype in (np.float64, np.float32):
            model = clone(ESTIMATORS[name]).set_params(
                basis=KernelBasis(kernel, gamma=gamma), moments=["whole", "columns"][seed % 2]
            )
            mean, std = (
                model.set_params(n_basis=[None, 3, n + 5][seed % 3])
                .fit(X.astype(dtype), y)
                .predict(X.astype(dtype), return_std=True)
            )
            assert np.isfinite(mean).all()
            assert np.isfinite(std).all()
            assert np.isfinite(model.criterion_)
            assert np.isfinite(model.trace_["criterion"]).all()
            assert (model.weight_precision_ >= 0.0).all()

"""A start from functions that span the others, and the second look at models that may have stopped too early."""

import numpy as np
import pytest

from skarce import FastGCVRegressor, KernelBasis, RelevanceVectorRegressor
from skarce.criteria import GCV, IndividualEvidence, SharedGCV
from skarce.criteria.one_precision import EvidenceFit
from skarce.searches import spanning_start
from skarce.searches.spanning_sets import FAR_BEHIND
from skarce.searches.spanning_start import APART, FEW, LARGEST_SHARE, Spanned, better_start
from skarce.states.budget import Budget
from tests.oracles import profiled_log_evidence, stable_gcv
from tests.problems import kernel_moments, moments_of

WIDE, NARROW = 0.02, 50.0
ESTIMATORS = {"evidence": RelevanceVectorRegressor, "gcv": FastGCVRegressor}


@pytest.fixture
def smooth():
    """A smooth function with little noise, which kernels of width 0.03 can follow only if many of them work together."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.7, 1.7, (300, 4))
    y = np.sin(1.8 * X[:, 0]) + 0.35 * X[:, 1] ** 2 + np.cos(0.7 * X[:, 2] * X[:, 3]) + 0.02 * rng.normal(size=300)
    return X[:200], y[:200], X[200:], y[200:]


def dense_score(criterion, phi, t, active, ridges):
    """The score by textbook formulas, up to a constant: the log evidence, or -n/2 log V."""
    n = len(t) - 1
    if isinstance(criterion, IndividualEvidence):
        return profiled_log_evidence(phi[:, active], t, ridges, intercept=True)
    return -0.5 * n * np.log(stable_gcv(phi[:, active], t, ridges, n))


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()], ids=["evidence", "gcv"])
def test_a_better_start_is_better_and_is_refused_by_a_better_model(criterion):
    moments, _, _ = kernel_moments(WIDE, n=80)
    empty = criterion.score(criterion.new_state(moments), moments.n_samples)
    active, ridges = better_start(criterion, moments, empty, Budget())
    worth = criterion.score(criterion.new_state(moments, active, ridges), moments.n_samples)
    assert worth > empty + 10.0
    assert len(active) == len(ridges) == len(set(active.tolist()))
    assert better_start(criterion, moments, worth, Budget()) is None


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()], ids=["evidence", "gcv"])
def test_the_ridge_is_the_best_one_for_all_functions(criterion):
    """No other ridge is better for all candidates at once, by dense formulas on the rows."""
    moments, phi, t = kernel_moments(0.5, n=50, noise=0.3)
    _, ridges = Spanned.of(moments, 1000, 0).start(criterion.one_ridge(), None)
    every = np.arange(phi.shape[1])
    scores = [dense_score(criterion, phi, t, every, np.full(len(every), ridges[0] * f)) for f in (0.5, 1.0, 2.0)]
    assert scores[1] > max(scores[0], scores[2])


def test_a_start_that_needs_many_functions_says_nothing(monkeypatch):
    moments, _, _ = kernel_moments(NARROW, n=60, noise=0.01)
    start = Spanned.of(moments, 1000, 0).start(IndividualEvidence().one_ridge(), None)
    assert len(start[0]) > LARGEST_SHARE * moments.n_samples
    monkeypatch.setattr(spanning_start, "_look_alike", lambda heights: True)
    assert better_start(IndividualEvidence(), moments, -np.inf, Budget()) is None


@pytest.mark.parametrize("gamma", np.geomspace(WIDE, NARROW, 9))
def test_functions_look_alike_if_a_few_span_the_others(gamma):
    """By projections of the candidates on the span of those that were chosen."""
    moments, phi, _ = kernel_moments(gamma, n=60)
    left = phi - phi.mean(axis=0)
    largest = (left**2).sum(axis=0).max()
    for _ in range(FEW):
        chosen = left[:, (left**2).sum(axis=0).argmax()]
        left = left - np.outer(chosen, chosen @ left) / (chosen @ chosen)
    every = np.arange(60)
    _, heights = spanning_start._pivots(moments.gram.block(every, every))
    is_alike = spanning_start._look_alike(heights)
    assert is_alike == ((left**2).sum(axis=0).max() <= APART * largest)
    assert is_alike or gamma > WIDE
    if not is_alike:
        assert better_start(IndividualEvidence(), moments, -np.inf, Budget()) is None


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()], ids=["evidence", "gcv"])
def test_a_model_that_is_far_ahead_is_not_compared_at_the_best_ridge(criterion, monkeypatch):
    moments, _, _ = kernel_moments(WIDE, n=80)
    active, ridges = better_start(criterion, moments, -np.inf, Budget())
    worth = criterion.score(criterion.new_state(moments, active, ridges), moments.n_samples)
    asked = []
    monkeypatch.setattr(Spanned, "by", lambda *args: asked.append(args))
    assert better_start(criterion, moments, worth + 2.0 * FAR_BEHIND, Budget()) is None
    assert not asked
    assert better_start(criterion, moments, worth - FAR_BEHIND, Budget()) is None
    assert asked


def test_limits_on_the_size_and_on_the_condition_hold():
    moments, _, _ = kernel_moments(WIDE, n=80)
    assert len(better_start(IndividualEvidence(), moments, -np.inf, Budget(max_active=3))[0]) <= 3
    rule = GCV().one_ridge()
    spanned = Spanned.of(moments, 1000, 0)
    condition = spanned.directions.eigenvalues.max() / spanned.start(rule, None)[1][0]
    assert spanned.start(rule, None, 1.01 * condition) is not None
    assert spanned.start(rule, None, 0.99 * condition) is None


def test_a_criterion_without_own_ridges_has_no_better_start():
    moments, _, _ = kernel_moments(WIDE)
    assert better_start(SharedGCV(), moments, -np.inf, Budget()) is None


@pytest.mark.parametrize("moments", ["whole", "columns"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_small_models_on_wide_kernels_are_not_worse_than_one_ridge(smooth, name, moments):
    """The certificate: own ridges are at least as good as one ridge for functions that span the others."""
    X, y, X_new, y_new = smooth
    basis = KernelBasis(gamma=0.03)
    model, paper = (
        ESTIMATORS[name](basis, solver=solver, moments=moments, calibrate_std=False).fit(X, y) for solver in ("fast", "sequential")
    )
    gain = model.criterion_sense_ * (model.criterion_ - paper.criterion_)
    assert gain > (100.0 if name == "evidence" else 0.5 * paper.criterion_)
    assert model.score(X_new, y_new) > 0.97 > paper.score(X_new, y_new)
    phi = basis.fit(X).transform(X)
    phi, t = phi - phi.mean(axis=0), y - y.mean()
    active, ridges = Spanned.of(moments_of(phi, t), 1000, 0).start(EvidenceFit, None)
    if name == "evidence":
        assert model.criterion_ > profiled_log_evidence(phi[:, active], t, ridges, intercept=True)
    else:
        assert model.criterion_ < len(t) * stable_gcv(phi[:, active], t, ridges, len(t) - 1)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_inputs_and_the_sequential_solver_get_no_second_look(name):
    make = ESTIMATORS[name]
    assert make(KernelBasis(gamma=0.1))._method().second_look
    assert make("rbf")._method().second_look
    for other in (make("passthrough"), make(KernelBasis(gamma="ard")), make(KernelBasis(gamma=0.1), solver="sequential")):
        assert not other._method().second_look

"""Every formula of generalized cross validation against N x N matrices."""

import numpy as np
import pytest

from skarce.criteria import GCV
from skarce.searches import BestAction
from skarce.states.active_block import ActiveBlock
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.state import resolved_energy
from tests.oracles import gcv, random_problem
from tests.problems import moments_of

ACTIVE, RIDGES = np.array([0, 2, 5, 9]), np.array([0.7, 30.0, 4.0, 200.0])
LOWEST = 3.0


@pytest.fixture(params=range(4))
def problem(request):
    return random_problem(request.param)


@pytest.fixture(params=[0.0, LOWEST], ids=["no floor", "floor"])
def criterion(request):
    return GCV(request.param)


def dense(phi, t, active, ridges):
    """What the score should be, up to a constant."""
    return -0.5 * len(t) * np.log(gcv(phi[:, active], t, ridges))


def test_value_of_the_score_is_v(problem):
    phi, t = problem
    for factor in (1.0, 0.25):
        state = ActiveSet(moments_of(phi, t).scaled(factor), ACTIVE, RIDGES, squares=True)
        expected = gcv(phi[:, ACTIVE], t, RIDGES)
        np.testing.assert_allclose(GCV().value(GCV().score(state, len(t)), len(t), len(t), factor), expected, rtol=1e-9)
        np.testing.assert_allclose(state.residual / state.freedom**2 * len(t) / factor**2, expected, rtol=1e-9)
        np.testing.assert_allclose(GCV().noise_at(state, len(t)), state.residual / state.freedom, rtol=1e-9)


def test_gain_of_each_addition_is_that_of_two_dense_models(problem, criterion):
    phi, t = problem
    state = ActiveSet(moments_of(phi, t), ACTIVE, RIDGES, squares=True)
    ranking, before = criterion.ranking(state), dense(phi, t, ACTIVE, RIDGES)
    gains = {}
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        ridge, gain = criterion.addition(state, int(m))
        assert (ranking[m] > 1.0) == (gain > 0.0)
        if gain > 0.0:
            after = dense(phi, t, [*ACTIVE, m], np.append(RIDGES, ridge))
            np.testing.assert_allclose(gain, after - before, rtol=1e-6, atol=1e-8)
            gains[m] = gain
    assert gains
    assert sorted(gains, key=gains.get) == sorted(gains, key=lambda m: ranking[m])
    assert (ranking[ACTIVE] == 0.0).all()


def test_closed_form_is_the_best_of_a_fine_scan(problem, criterion):
    phi, t = problem
    state = ActiveSet(moments_of(phi, t), ACTIVE, RIDGES, squares=True)
    ranking, before = criterion.ranking(state), dense(phi, t, ACTIVE, RIDGES)
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        ridge, gain = criterion.addition(state, int(m))
        scan = np.maximum(np.geomspace(1e-10, 1e10, 300) * (phi[:, m] ** 2).sum(), criterion.lowest_ridge)
        best = max(dense(phi, t, [*ACTIVE, m], np.append(RIDGES, r)) for r in scan) - before
        assert gain >= best - 1e-6
        assert ridge >= criterion.lowest_ridge
        if ranking[m] <= 1.0:
            assert best < 1e-6


def test_relevance_is_exact(problem):
    """A candidate ranks above 1 exactly if a very large ridge is better than none at all (FGCV errata 2.2)."""
    phi, t = problem
    state = ActiveSet(moments_of(phi, t), ACTIVE, RIDGES, squares=True)
    ranking, before = GCV().ranking(state), dense(phi, t, ACTIVE, RIDGES)
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        if abs(ranking[m] - 1.0) > 1e-3:
            slightly = dense(phi, t, [*ACTIVE, m], np.append(RIDGES, 1e5 * (phi[:, m] ** 2).sum()))
            assert (ranking[m] > 1.0) == (slightly > before)


def test_changes_of_active_functions(problem, criterion):
    phi, t = problem
    ridges = np.maximum(RIDGES, criterion.lowest_ridge)
    state = ActiveSet(moments_of(phi, t), ACTIVE, ridges, squares=True)
    changes, before = criterion.changes(state, len(t)), dense(phi, t, ACTIVE, ridges)
    superfluous = criterion.superfluous(state, len(t))
    removal = criterion.removal_gains(state, np.arange(4), len(t))
    for j in range(4):
        rest, others = np.delete(ACTIVE, j), np.delete(ridges, j)
        without = dense(phi, t, rest, others)
        np.testing.assert_allclose(removal[j], without - before, rtol=1e-6, atol=1e-8)
        grid = np.maximum(np.geomspace(1e-8, 1e9, 300), criterion.lowest_ridge)
        scan = [dense(phi, t, [*rest, ACTIVE[j]], np.append(others, r)) for r in grid]
        assert changes.gains[j] >= max(*scan, without) - before - 1e-6
        assert superfluous[j] == np.isinf(changes.ridges[j])
        after = without
        if not superfluous[j]:
            assert changes.ridges[j] >= criterion.lowest_ridge
            after = dense(phi, t, [*rest, ACTIVE[j]], np.append(others, changes.ridges[j]))
        np.testing.assert_allclose(changes.gains[j], after - before, rtol=1e-6, atol=1e-8)


def test_active_functions_keep_their_digits_at_tiny_ridges(problem):
    """Where the printed coefficients have no digit left (zeta / psi of 1e-11), removal is still exact."""
    phi, t = problem
    ridges = 1e-11 * (phi[:, ACTIVE] ** 2).sum(axis=0)
    state = ActiveSet(moments_of(phi, t), ACTIVE, ridges, squares=True)
    before = dense(phi, t, ACTIVE, ridges * (1 + 1e-4))  # next to no ridge: any other tiny one gives the same V
    for j, gain in enumerate(GCV().removal_gains(state, np.arange(4), len(t))):
        without = dense(phi, t, np.delete(ACTIVE, j), np.delete(ridges, j))
        np.testing.assert_allclose(gain, without - before, rtol=1e-4, atol=1e-4)


def test_first_function_in_closed_form(problem):
    phi, t = problem
    state = ActiveSet(moments_of(phi, t), squares=True)
    for m in range(phi.shape[1]):
        p, o, tt, n = phi[:, m] @ phi[:, m], phi[:, m] @ t, t @ t, len(t)
        ridge, gain = GCV().addition(state, m)
        if n * o**2 > tt * p:
            np.testing.assert_allclose(ridge, max(p * (tt * p - o**2) / (n * o**2 - tt * p), 1e-12 * p), rtol=1e-6)
            assert gain > 0.0
        else:
            assert (ridge, gain) == (np.inf, 0.0)


def test_gradient_and_hessian_against_differences(problem):
    phi, t = problem
    moments = moments_of(phi, t)

    def block(logarithms):
        projections = moments.projections[ACTIVE]
        return ActiveBlock(moments.gram.block(ACTIVE, ACTIVE), projections, resolved_energy(moments), np.exp(logarithms))

    point, step = np.log(RIDGES), 1e-4
    gradient, curvature, scale = GCV().derivatives(block(point), len(t))
    for i, e in enumerate(step * np.eye(4)):
        slope = (dense(phi, t, ACTIVE, np.exp(point + e)) - dense(phi, t, ACTIVE, np.exp(point - e))) / (2 * step)
        np.testing.assert_allclose(gradient[i], slope, rtol=1e-5, atol=1e-7)
        slopes = [GCV().derivatives(block(point + s * e), len(t))[0] for s in (1, -1)]
        np.testing.assert_allclose(-curvature[i], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5, atol=1e-6)
    assert (scale > 0.0).all()


@pytest.mark.parametrize("seed", range(6))
def test_compiled_steps_are_those_of_numpy(seed, criterion):
    phi, t = random_problem(seed, n=60, m=50)
    records = []
    for compiled in (True, False):
        journal = Journal(Budget(tol=1e-4))
        found = BestAction(compiled=compiled).run(criterion, moments_of(phi, t), journal)
        records.append((journal.trace().tolist(), dict(zip(found.active.tolist(), found.ridges, strict=True))))
    (steps, ridges), (expected_steps, expected_ridges) = records
    assert [s[:2] for s in steps] == [s[:2] for s in expected_steps]
    assert {s[0] for s in steps} >= {"add", "change"}
    np.testing.assert_allclose([s[2] for s in steps], [s[2] for s in expected_steps], rtol=1e-7)
    assert ridges.keys() == expected_ridges.keys()
    for candidate in ridges:
        np.testing.assert_allclose(ridges[candidate], expected_ridges[candidate], rtol=1e-4, atol=1e-9)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_every_step_of_the_trace_is_the_dense_v(seed, compiled):
    """Replayed with N x N matrices: each action at its candidate lowers V to what the trace says."""
    phi, t = random_problem(seed, n=40, m=30)
    moments = moments_of(phi, t)
    for max_steps in range(1, 25):
        journal = Journal(Budget(tol=1e-5, max_steps=max_steps))
        found = BestAction(compiled=compiled).run(GCV(), moments, journal)
        expected = dense(phi, t, found.active, found.ridges) + 0.5 * len(t) * np.log(len(t))
        np.testing.assert_allclose(journal.score, expected, rtol=1e-8)
    assert (np.diff(journal.trace()["criterion"]) > 0.0).all()

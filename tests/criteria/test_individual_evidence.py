"""Every formula of the criterion against dense log evidences."""

import numpy as np
import pytest

from skarce.criteria import IndividualEvidence
from skarce.searches import BestAction
from skarce.states.active_block import ActiveBlock
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.state import resolved_energy
from tests.oracles import log_evidence, profiled_log_evidence, random_problem
from tests.problems import moments_of

ACTIVE, RIDGES = np.array([0, 2, 5, 9]), np.array([0.7, 30.0, 4.0, 200.0])


@pytest.fixture(params=[None, 0.8], ids=["profiled", "fixed noise"])
def noise(request):
    return request.param


@pytest.fixture(params=range(3))
def problem(request):
    return random_problem(request.param)


def dense(phi, t, active, ridges, noise):
    """The dense log evidence of a set, the noise at its optimum or fixed."""
    if noise is None:
        return profiled_log_evidence(phi[:, active], t, ridges)
    return log_evidence(phi[:, active], t, ridges / noise, noise)


def test_value_of_the_score_is_the_log_density(problem, noise):
    phi, t = problem
    state = ActiveSet(moments_of(phi, t), ACTIVE, RIDGES)
    for factor in (1.0, 0.25):
        criterion = IndividualEvidence(noise).scaled(factor)
        scaled = ActiveSet(state.moments.scaled(factor), ACTIVE, RIDGES)
        score = criterion.score(scaled, len(t))
        np.testing.assert_allclose(criterion.value(score, len(t), len(t), factor), dense(phi, t, ACTIVE, RIDGES, noise), rtol=1e-9)


def test_gain_of_each_addition_is_the_difference_of_two_log_evidences(problem, noise):
    phi, t = problem
    criterion, state = IndividualEvidence(noise), ActiveSet(moments_of(phi, t), ACTIVE, RIDGES)
    ranking, before = criterion.ranking(state), dense(phi, t, ACTIVE, RIDGES, noise)
    gains = {}
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        ridge, gain = criterion.addition(state, int(m))
        assert (ranking[m] > 1.0) == (gain > 0.0)
        if gain > 0.0:
            after = dense(phi, t, [*ACTIVE, m], np.append(RIDGES, ridge), noise)
            np.testing.assert_allclose(gain, after - before, rtol=1e-6, atol=1e-9)
            gains[m] = gain
    assert sorted(gains, key=gains.get) == sorted(gains, key=lambda m: ranking[m])
    assert (ranking[ACTIVE] == 0.0).all()


def test_closed_form_is_the_best_of_a_fine_scan(problem, noise):
    phi, t = problem
    criterion, state = IndividualEvidence(noise), ActiveSet(moments_of(phi, t), ACTIVE, RIDGES)
    ranking = criterion.ranking(state)
    for m in np.setdiff1d(np.arange(phi.shape[1]), ACTIVE):
        ridge, gain = criterion.addition(state, int(m))
        scan = np.geomspace(1e-6, 1e9, 400) * (phi[:, m] ** 2).sum()
        values = [dense(phi, t, [*ACTIVE, m], np.append(RIDGES, r), noise) for r in scan]
        best = max(values) - dense(phi, t, ACTIVE, RIDGES, noise)
        assert gain >= best - 1e-7
        if ranking[m] <= 1.0:
            assert best < 1e-6
        else:
            assert scan[0] <= ridge <= scan[-1]


def test_changes_of_active_functions(problem, noise):
    phi, t = problem
    criterion, state = IndividualEvidence(noise), ActiveSet(moments_of(phi, t), ACTIVE, RIDGES)
    changes, before = criterion.changes(state, len(t)), dense(phi, t, ACTIVE, RIDGES, noise)
    superfluous = criterion.superfluous(state, len(t))
    removal = criterion.removal_gains(state, np.arange(4), len(t))
    for j in range(4):
        rest, others = np.delete(ACTIVE, j), np.delete(RIDGES, j)
        without = dense(phi, t, rest, others, noise)
        np.testing.assert_allclose(removal[j], without - before, rtol=1e-6, atol=1e-9)
        scan = [dense(phi, t, [*rest, ACTIVE[j]], np.append(others, r), noise) for r in np.geomspace(1e-6, 1e9, 300)]
        assert changes.gains[j] >= max(*scan, without) - before - 1e-7
        assert superfluous[j] == np.isinf(changes.ridges[j])
        if superfluous[j]:
            np.testing.assert_allclose(changes.gains[j], without - before, rtol=1e-6, atol=1e-9)
        else:
            after = dense(phi, t, [*rest, ACTIVE[j]], np.append(others, changes.ridges[j]), noise)
            np.testing.assert_allclose(changes.gains[j], after - before, rtol=1e-6, atol=1e-9)


def test_gradient_and_hessian_against_differences(problem, noise):
    phi, t = problem
    criterion, moments = IndividualEvidence(noise), moments_of(phi, t)

    def block(logarithms):
        projections = moments.projections[ACTIVE]
        return ActiveBlock(moments.gram.block(ACTIVE, ACTIVE), projections, resolved_energy(moments), np.exp(logarithms))

    def score(logarithms):
        b = block(logarithms)
        return criterion.score(b, len(t))

    point, step = np.log(RIDGES), 1e-4
    gradient, curvature, scale = criterion.derivatives(block(point), len(t))
    for i, e in enumerate(step * np.eye(4)):
        np.testing.assert_allclose(gradient[i], (score(point + e) - score(point - e)) / (2 * step), rtol=1e-5, atol=1e-7)
        slopes = [criterion.derivatives(block(point + s * e), len(t))[0] for s in (1, -1)]
        np.testing.assert_allclose(-curvature[i], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5, atol=1e-6)
    assert (scale > 0.0).all()


@pytest.mark.parametrize("seed", range(4))
def test_compiled_steps_are_those_of_numpy(seed, noise):
    phi, t = random_problem(seed, n=60, m=80)
    moments, criterion = moments_of(phi, t), IndividualEvidence(noise)
    records = []
    for compiled in (True, False):
        journal = Journal(Budget(tol=1e-6))
        found = BestAction(compiled=compiled).run(criterion, moments, journal)
        records.append((journal.trace().tolist(), dict(zip(found.active.tolist(), found.ridges, strict=True))))
    (steps, ridges), (expected_steps, expected_ridges) = records
    assert [s[:2] for s in steps] == [s[:2] for s in expected_steps]
    assert {s[0] for s in steps} >= {"add", "change"}
    np.testing.assert_allclose([s[2] for s in steps], [s[2] for s in expected_steps], rtol=1e-9)
    assert [s[3] for s in steps] == [s[3] for s in expected_steps]
    assert ridges.keys() == expected_ridges.keys()
    for candidate in ridges:
        np.testing.assert_allclose(ridges[candidate], expected_ridges[candidate], rtol=1e-5)


def test_noise_that_makes_no_sense_is_refused():
    for noise in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="noise_variance must be positive"):
            IndividualEvidence(noise)

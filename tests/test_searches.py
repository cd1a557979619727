"""Whatever the schedule: at the end no single change improves the criterion, and the running score is the true one."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_friedman2

from skarce import KernelBasis
from skarce.criteria import GCV, IndividualEvidence
from skarce.designs import InMemoryDesign
from skarce.methods.relevance_em import run_em
from skarce.searches import BestAction, GreedyBatches, Pools
from skarce.searches.checkpoint import Checkpoint
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import profiled_log_evidence, random_problem, stable_gcv
from tests.test_active_set import moments_of

SCHEDULES = {
    "best action, compiled": lambda c, m, j: BestAction().run(c, m, j),
    "best action, NumPy": lambda c, m, j: BestAction(compiled=False).run(c, m, j),
    "greedy batches": lambda c, m, j: GreedyBatches().run(c, m, j),
    "greedy batches from the first function": lambda c, m, j: GreedyBatches(few=-1).run(c, m, j),
    "greedy batches in pools": lambda c, m, j: GreedyBatches(pools=Pools(20, 10)).run(c, m, j),
    "expectation maximisation": run_em,
}


@pytest.fixture(params=SCHEDULES)
def run(request):
    return SCHEDULES[request.param]


def friedman(kind, n, gamma=0.1):
    X, y = (make_friedman1(n, noise=1.0, random_state=0)) if kind == 1 else make_friedman2(n, noise=125, random_state=0)
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    basis = KernelBasis(gamma=gamma).fit(X)
    phi = basis.transform(X)
    return InMemoryDesign(basis, X, y[:, None]), phi - phi.mean(axis=0), y


def largest_gain(phi, t, active, ridges, n):
    """The best single change of a set, from N x N matrices and a scan over the ridge of every column."""
    inside = phi[:, active]
    shape = np.linalg.inv(np.eye(len(t)) + (inside / ridges) @ inside.T)
    steps = []
    for m in range(phi.shape[1]):
        P, present = shape, 0.0
        if m in active:
            j = int(np.flatnonzero(active == m)[0])
            rest, others = np.delete(active, j), np.delete(ridges, j)
            P = np.linalg.inv(np.eye(len(t)) + (phi[:, rest] / others) @ phi[:, rest].T)
        psi, o, a = phi[:, m] @ P @ phi[:, m], phi[:, m] @ P @ t, t @ P @ t
        if psi < 1e-9 * (phi[:, m] ** 2).sum():
            continue

        def gain(ridge, psi=psi, o=o, a=a):
            return -0.5 * n * np.log(1 - o**2 / (a * (psi + ridge))) - 0.5 * np.log((psi + ridge) / ridge)

        if m in active:
            present = gain(ridges[j])
        steps.append(max(0.0, gain(psi * np.geomspace(1e-9, 1e9, 500)).max()) - present)
    return max(steps)


@pytest.mark.parametrize("kind", ["whole", "columns"])
@pytest.mark.parametrize("data", [1, 2])
def test_certificate_no_single_change_gains_more_than_the_tolerance(run, data, kind):
    design, phi, y = friedman(data, 120)
    journal = Journal(Budget(tol=1e-3))
    found = run(IndividualEvidence(), design.moments(kind)[0], journal)
    assert found.outcome is Outcome.CONVERGED
    assert len(found.active) > 3
    assert largest_gain(phi, y, found.active, found.ridges, 119) < 1.1e-3
    expected = profiled_log_evidence(phi[:, found.active], y, found.ridges, intercept=True)
    np.testing.assert_allclose(IndividualEvidence().value(journal.score, 119, 120, 1.0), expected, rtol=1e-7)


def test_every_step_raises_the_score(run):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget())
    run(IndividualEvidence(), design.moments("whole")[0], journal)
    scores = np.array([s[2] for s in journal.trace().tolist() if s[0] != "em"])
    assert (np.diff(scores) > -1e-8).all()


GCV_SCHEDULES = {name: run for name, run in SCHEDULES.items() if run is not run_em}


@pytest.fixture(params=GCV_SCHEDULES)
def run_by_gcv(request):
    return GCV_SCHEDULES[request.param]


def largest_gain_of_gcv(phi, t, active, ridges, n):
    """The best single change of a set, from residuals by QR and a scan over the ridge of every column."""

    def score(columns, penalties):
        return -0.5 * n * np.log(stable_gcv(phi[:, columns], t, penalties, n))

    before, gains = score(active, ridges), []
    for m in range(phi.shape[1]):
        rest, others = active[active != m], ridges[active != m]
        scan = (phi[:, m] ** 2).sum() * np.geomspace(1e-11, 1e5, 60)
        gains.append(max(score(rest, others), *(score(np.append(rest, m), np.append(others, r)) for r in scan)) - before)
    return max(gains)


@pytest.mark.parametrize("kind", ["whole", "columns"])
@pytest.mark.parametrize(("data", "gamma"), [(1, 0.05), (2, 0.1), (2, 0.01)])
def test_certificate_of_gcv(run_by_gcv, data, gamma, kind):
    design, phi, y = friedman(data, 60, gamma)
    journal = Journal(Budget(tol=1e-3))
    found = run_by_gcv(GCV(), design.moments(kind)[0], journal)
    assert found.outcome is Outcome.CONVERGED
    assert len(found.active) > 2
    assert largest_gain_of_gcv(phi, y, found.active, found.ridges, 59) < 1.2e-3
    expected = 60 * stable_gcv(phi[:, found.active], y, found.ridges, 59)
    np.testing.assert_allclose(GCV().value(journal.score, 59, 60, 1.0), expected, rtol=1e-6)


@pytest.mark.parametrize("width", [2.0, 5.0, 10.0])
@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_wide_kernels_and_hardly_any_noise(run_by_gcv, width, kind):
    """Conditions of H up to 1e12: no NaN, no false score, and a certificate in stable arithmetic as far as digits go."""
    X = np.linspace(-10, 10, 60)[:, None]
    t = np.sinc(X[:, 0] / np.pi) + np.random.default_rng(0).normal(0, 1e-5, 60)
    basis = KernelBasis(gamma=0.5 / width**2).fit(X)
    phi = basis.transform(X)
    moments = InMemoryDesign(basis, X, t[:, None], fit_intercept=False).moments(kind)[0]
    journal = Journal(Budget(tol=1e-3, max_steps=3000))
    found = run_by_gcv(GCV(), moments, journal)
    expected = 60 * stable_gcv(phi[:, found.active], t, found.ridges, 60)
    np.testing.assert_allclose(GCV().value(journal.score, 60, 60, 1.0), expected, rtol=1e-3)
    state = ActiveSet(moments, found.active, found.ridges, squares=True)
    assert not state.has_sign_violation()
    assert largest_gain_of_gcv(phi, t, found.active, found.ridges, 60) < 0.3


def test_every_step_lowers_v(run_by_gcv):
    for kind in ("whole", "columns"):
        journal = Journal(Budget())
        run_by_gcv(GCV(), friedman(1, 150)[0].moments(kind)[0], journal)
        assert (np.diff(journal.trace()["criterion"]) > -1e-8).all()


def test_scaling_the_target_or_a_column_changes_nothing_by_gcv():
    phi, t = random_problem(1, n=60, m=20)
    scale = np.geomspace(1e-5, 1e5, 20)
    base = BestAction().run(GCV(), moments_of(phi, t), Journal())
    for factor in (1e9, 1e-9):
        other = BestAction().run(GCV(), moments_of(phi, factor * t), Journal())
        np.testing.assert_array_equal(base.active, other.active)
        np.testing.assert_allclose(other.ridges, base.ridges, rtol=1e-6)
    other = BestAction().run(GCV(), moments_of(phi * scale, t), Journal())
    np.testing.assert_array_equal(base.active, other.active)
    np.testing.assert_allclose(other.ridges, base.ridges * scale[base.active] ** 2, rtol=1e-5)


def test_the_order_of_rows_and_candidates_does_not_matter(rng):
    phi, t = random_problem(0, n=80, m=60)
    base = BestAction().run(IndividualEvidence(), moments_of(phi, t), Journal())
    rows, columns = rng.permutation(80), rng.permutation(60)
    moved = BestAction().run(IndividualEvidence(), moments_of(phi[rows][:, columns], t[rows]), Journal())
    assert sorted(columns[moved.active]) == sorted(base.active)


def test_scaling_a_column_scales_its_ridge():
    phi, t = random_problem(1, n=60, m=20)
    scale = np.geomspace(1e-5, 1e5, 20)
    base = BestAction().run(IndividualEvidence(), moments_of(phi, t), Journal())
    other = BestAction().run(IndividualEvidence(), moments_of(phi * scale, t), Journal())
    np.testing.assert_array_equal(base.active, other.active)
    np.testing.assert_allclose(other.ridges, base.ridges * scale[base.active] ** 2, rtol=1e-6)


def test_fixed_noise_is_respected(run):
    design, _, _ = friedman(2, 100)
    moments = design.moments("whole")[0]
    quiet = run(IndividualEvidence(0.05), moments, Journal())
    loud = run(IndividualEvidence(2.0), moments, Journal())
    assert len(quiet.active) > len(loud.active)


def test_size_limit(run):
    design, _, _ = friedman(1, 150)
    found = BestAction().run(IndividualEvidence(), design.moments("whole")[0], Journal(Budget(max_active=7)))
    assert (len(found.active), found.outcome) == (7, Outcome.SIZE_LIMIT)
    found = GreedyBatches(pools=Pools(20)).run(IndividualEvidence(), design.moments("columns")[0], Journal(Budget(max_active=7)))
    assert (len(found.active), found.outcome) == (7, Outcome.SIZE_LIMIT)


def test_step_limit_says_so(run):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget(max_steps=5))
    assert run(IndividualEvidence(), design.moments("whole")[0], journal).outcome is Outcome.STEP_LIMIT


def test_time_limit_says_so(run):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget(deadline=time.monotonic() - 1.0))
    assert run(IndividualEvidence(), design.moments("whole")[0], journal).outcome is Outcome.TIME_LIMIT


def test_crowded_pools_give_way_to_the_whole_gram():
    """On a hard problem by column the search asks for the whole Gram and ends where no pool could hold it back."""
    design, _, _ = friedman(1, 400)
    moments = design.moments("columns")[0]
    asked = []
    whole = moments.gram.whole
    moments.gram.whole = lambda: asked.append(True) or whole()
    found = GreedyBatches(pools=Pools(128)).run(IndividualEvidence(), moments, Journal())
    assert asked
    assert len(found.active) > 60


def test_verbose_prints_steps(capsys):
    design, _, _ = friedman(2, 60)
    for compiled in (True, False):
        BestAction(compiled=compiled).run(IndividualEvidence(), design.moments("whole")[0], Journal(verbose=2))
        assert "step" in capsys.readouterr().err


@pytest.mark.parametrize("factor", [100.0, 0.9])
def test_a_checkpoint_takes_back_what_failed_and_nothing_else(factor):
    """From ridges that are too large, larger ones are worse and smaller ones better."""
    phi, t = random_problem(0, n=40, m=8)
    ridges = 50.0 * (phi[:, :3] ** 2).sum(axis=0)
    state, journal = ActiveSet(moments_of(phi, t), np.arange(3), ridges, squares=True), Journal()
    journal.note("add", 0, 1.0, 3)
    before = Checkpoint(GCV(), state, journal)
    state.keep(np.arange(3), factor * ridges)
    journal.note("change", 0, 2.0, 3)
    state.is_ill_conditioned = True
    failed = factor > 1.0
    assert before.take_back_what_failed() == failed
    np.testing.assert_allclose(state.ridges, ridges if failed else factor * ridges)
    assert len(journal.trace()) == (1 if failed else 2)

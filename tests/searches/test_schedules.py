"""Whatever the schedule: at the end no single change improves the criterion, and the running score is the true one."""

import time

import numpy as np
import pytest
from sklearn.datasets import make_friedman1, make_friedman2

from skarce import KernelBasis
from skarce.criteria import GCV, IndividualEvidence
from skarce.designs import InMemoryDesign, Rows
from skarce.methods.relevance_em import run_relevance_em
from skarce.searches import BestAction, GreedyBatches, Pools
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import largest_gain, largest_gain_of_gcv, log_evidence, profiled_log_evidence, random_problem, stable_gcv
from tests.problems import moments_of

SCHEDULES = {
    "best action, compiled": lambda c, m, j: BestAction().run(c, m, j),
    "best action, NumPy": lambda c, m, j: BestAction(compiled=False).run(c, m, j),
    "greedy batches": lambda c, m, j: GreedyBatches().run(c, m, j),
    "greedy batches from the first function": lambda c, m, j: GreedyBatches(few=-1).run(c, m, j),
    "greedy batches in pools": lambda c, m, j: GreedyBatches(pools=Pools(20, 10)).run(c, m, j),
    "expectation maximization": run_relevance_em,
}


@pytest.fixture(params=SCHEDULES)
def run(request):
    return SCHEDULES[request.param]


def friedman(kind, n, gamma=0.1):
    X, y = (make_friedman1(n, noise=1.0, random_state=0)) if kind == 1 else make_friedman2(n, noise=125, random_state=0)
    X, y = (X - X.mean(0)) / X.std(0), (y - y.mean()) / y.std()
    basis = KernelBasis(gamma=gamma).fit(X)
    phi = basis.transform(X)
    return InMemoryDesign(basis, Rows(X, y[:, None])), phi - phi.mean(axis=0), y


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


GCV_SCHEDULES = {name: run for name, run in SCHEDULES.items() if run is not run_relevance_em}


@pytest.fixture(params=GCV_SCHEDULES)
def run_by_gcv(request):
    return GCV_SCHEDULES[request.param]


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
    moments = InMemoryDesign(basis, Rows(X, t[:, None]), fit_intercept=False).moments(kind)[0]
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
    """The score is the evidence at that noise, and no single change raises it by more than the tolerance."""
    design, phi, y = friedman(2, 100)
    sizes = []
    for noise in (0.05, 2.0):
        criterion, journal = IndividualEvidence(noise), Journal(Budget(tol=1e-3))
        found = run(criterion, design.moments("whole")[0], journal)
        expected = log_evidence(phi[:, found.active], y, found.ridges / noise, noise, intercept=True)
        np.testing.assert_allclose(criterion.value(journal.score, 99, 100, 1.0), expected, rtol=1e-8)
        assert largest_gain(phi, y, found.active, found.ridges, 99, noise=noise) < 1.1e-3
        sizes.append(len(found.active))
    assert sizes[0] > sizes[1]


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_size_limit(run, kind):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget(max_active=7))
    found = run(IndividualEvidence(), design.moments(kind)[0], journal)
    assert (len(found.active), found.outcome) == (7, Outcome.SIZE_LIMIT)
    trace = journal.trace()
    assert trace["n_active"][trace["action"] != "em"].max() == 7


def test_step_limit_says_so(run):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget(max_steps=5))
    assert run(IndividualEvidence(), design.moments("whole")[0], journal).outcome is Outcome.STEP_LIMIT


def test_time_limit_says_so(run):
    design, _, _ = friedman(1, 150)
    journal = Journal(Budget(deadline=time.monotonic() - 1.0))
    assert run(IndividualEvidence(), design.moments("whole")[0], journal).outcome is Outcome.TIME_LIMIT


@pytest.mark.parametrize("compiled", [True, False])
def test_verbose_prints_steps(compiled, capsys):
    """Every step if they are taken one by one, and the last of each stretch if compiled code takes many."""
    design, _, _ = friedman(2, 60)
    journal = Journal(Budget(verbose=2))
    BestAction(compiled=compiled).run(IndividualEvidence(), design.moments("whole")[0], journal)
    trace, lines = journal.trace(), capsys.readouterr().err.splitlines()
    printed = [int(line.split()[1]) for line in lines]
    assert printed == sorted(set(printed))
    assert printed[-1] == len(trace)
    assert compiled or len(lines) == len(trace)
    for number, line in zip(printed, lines, strict=True):
        action, _, value, n_active = trace[number - 1]
        assert line.split() == ["step", str(number), str(action), "criterion", f"{value:.6e}", "active", str(n_active)]

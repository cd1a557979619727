"""All sets of a few functions: the best one is the best of brute force with dense formulas."""

import re
import time
from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

from skarce import SparseRegressor
from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, OrthogonalGCV, PenalizedError, SharedEvidence, SharedGCV
from skarce.searches import BestAction, Exhaustive, Floating, Forward, Oscillating, PlusTakeAway, exhaustive
from skarce.searches.leftovers import Leftovers
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.oracles import annihilator, gcv, log_evidence, penalized_error, profiled_log_evidence, shared_evidence
from tests.problems import moments_of

SIZE, M, N = 3, 7, 20


def masked_problem(seed):
    """Two functions are only useful together, and a third resembles their sum: a greedy search takes the third first."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(N, M))
    phi[:, 6] = phi[:, 0] + phi[:, 1] + 0.4 * rng.normal(size=N)
    return phi, 2.0 * (phi[:, 0] + phi[:, 1]) + 0.5 * phi[:, 2] + 0.5 * rng.normal(size=N)


def over_ridges(value, size):
    """The largest value over the logarithms of the ridges."""
    return -minimize(lambda x: -value(np.exp(x)), np.zeros(size), bounds=[(-12.0, 14.0)] * size, method="L-BFGS-B").fun


def over_one_ridge(value):
    grid = np.linspace(-12.0, 14.0, 60)
    nearest = grid[np.argmax([value(np.exp(x)) for x in grid])]
    return -minimize_scalar(lambda x: -value(np.exp(x)), bounds=(nearest - 0.5, nearest + 0.5), method="bounded").fun


def left(phi, t):
    return float(((t - phi @ np.linalg.lstsq(phi, t, rcond=None)[0]) ** 2).sum()) if phi.shape[1] else float(t @ t)


def gcv_score(phi, t, ridges):
    return -0.5 * N * np.log(gcv(phi, t, ridges) / N) if len(ridges) else -0.5 * N * np.log(t @ t / N**2)


def dense_shared_evidence(phi, t, ridge):
    ridges = np.full(phi.shape[1], ridge)
    beta = N / (t @ annihilator(phi, ridges, N) @ t)
    return shared_evidence(phi, t, ridge * beta, beta)


def evidence_of_noise(t):
    """Eq. (4) of the empty set: its two widths are 1 and N."""
    return log_evidence(np.zeros((N, 1)), t, np.ones(1), t @ t / N) + 0.5 * np.log(4.0 / N)


def smallest_good_enough(phi, t, size):
    """The set of fewest functions within 5 % of the penalized error of all, and the best of its size."""
    bound = 1.05 * penalized_error(phi, t, 0.5)
    sets = [s for k in range(size + 1) for s in combinations(range(M), k)]
    errors = {s: penalized_error(phi[:, s], t, 0.5) for s in sets}
    enough = [s for s in sets if errors[s] <= bound]
    return min(enough, key=lambda s: (len(s), errors[s])) if enough else min(sets, key=lambda s: errors[s])


DENSE = {
    "evidence": (
        IndividualEvidence(),
        lambda phi, t: (
            over_ridges(lambda r: profiled_log_evidence(phi, t, r), phi.shape[1])
            if phi.shape[1]
            else log_evidence(np.zeros((N, 1)), t, np.ones(1), t @ t / N)
        ),
    ),
    "evidence, known noise": (
        IndividualEvidence(noise_variance=0.25),
        lambda phi, t: (
            over_ridges(lambda r: log_evidence(phi, t, r / 0.25, 0.25), phi.shape[1])
            if phi.shape[1]
            else log_evidence(np.zeros((N, 1)), t, np.ones(1), 0.25)
        ),
    ),
    "gcv": (
        GCV(),
        lambda phi, t: over_ridges(lambda r: gcv_score(phi, t, r), phi.shape[1]) if phi.shape[1] else gcv_score(phi, t, []),
    ),
    "shared gcv": (
        SharedGCV(),
        lambda phi, t: (
            over_one_ridge(lambda r: gcv_score(phi, t, np.full(phi.shape[1], r))) if phi.shape[1] else gcv_score(phi, t, [])
        ),
    ),
    "shared gcv, given ridge": (SharedGCV(0.5), lambda phi, t: gcv_score(phi, t, np.full(phi.shape[1], 0.5))),
    "shared evidence": (
        SharedEvidence(),
        lambda phi, t: over_one_ridge(lambda r: dense_shared_evidence(phi, t, r)) if phi.shape[1] else evidence_of_noise(t),
    ),
    "explained, gcv": (ExplainedVariance(), lambda phi, t: N * np.log(N - phi.shape[1]) - 0.5 * N * np.log(left(phi, t))),
    "explained, bic": (
        ExplainedVariance("bic"),
        lambda phi, t: -0.5 * (N * np.log(left(phi, t)) + phi.shape[1] * np.log(N)),
    ),
}


@pytest.mark.parametrize("name", DENSE)
def test_the_best_set_is_that_of_brute_force(name):
    phi, t = masked_problem(0)
    criterion, dense = DENSE[name]
    sets = [list(s) for size in range(SIZE + 1) for s in combinations(range(M), size)]
    worths = [dense(phi[:, s], t) for s in sets]
    fit = Exhaustive(SIZE).run(criterion, moments_of(phi, t), Journal())
    assert fit.outcome is Outcome.BEST_OF_ALL
    # A function at the largest ridge that the dense formulas try is as good as none, so the first of equal sets counts.
    assert sorted(fit.active) == sets[int(np.argmax(np.array(worths) > max(worths) - 1e-4))]


@pytest.mark.parametrize("seed", range(6))
def test_the_smallest_set_that_is_good_enough_is_that_of_brute_force(seed):
    phi, t = masked_problem(seed)
    fit = Exhaustive(4).run(PenalizedError(0.5, tol=0.05), moments_of(phi, t), Journal())
    assert tuple(sorted(fit.active)) == smallest_good_enough(phi, t, 4)


def test_the_smallest_set_that_explains_enough_is_the_best_of_its_size():
    phi, t = masked_problem(1)
    fit = Exhaustive(4).run(ExplainedVariance("variance", unexplained=0.05), moments_of(phi, t), Journal())
    energies = {s: left(phi[:, s], t) for k in range(5) for s in combinations(range(M), k)}
    enough = [s for s, energy in energies.items() if energy <= 0.05 * (t @ t)]
    assert enough
    assert tuple(sorted(fit.active)) == min(enough, key=lambda s: (len(s), energies[s]))


@pytest.mark.parametrize("name", DENSE)
def test_no_set_at_any_ridges_is_worth_more_than_its_ceiling(name):
    phi, t = masked_problem(3)
    moments, rng = moments_of(phi, t), np.random.default_rng(0)
    criterion = DENSE[name][0].prepared(moments)
    for members in (m for size in (1, 2, 3) for m in combinations(range(M), size)):
        ridges = 10.0 ** rng.uniform(-4.0, 3.0, len(members) if criterion.has_own_ridges else 1) * np.ones(len(members))
        state = criterion.new_state(moments, np.array(members), ridges * (not isinstance(criterion, ExplainedVariance)))
        for size in range(1, len(members) + 1):
            assert criterion.worth(state) <= criterion.ceiling(moments, np.array([left(phi[:, members], t)]), size)[0] + 1e-9


def test_what_is_left_is_what_dense_projections_leave():
    phi, t = masked_problem(0)
    first = Leftovers.of(moments_of(phi, t), np.arange(M), 0.0).strongest_first()
    second = first.after(1)
    (entered, others) = (list(first.candidates[1:2]), list(second.candidates))
    assert others == list(first.candidates[2:])
    np.testing.assert_allclose(second.energies_with_one(), [left(phi[:, [*entered, o]], t) for o in others], rtol=1e-8)
    tails = [left(phi[:, entered + others[k:]], t) for k in range(len(others))]
    np.testing.assert_allclose(second.energies_with_tails(), tails, rtol=1e-8)


def test_bounds_skip_most_sets_and_without_bounds_the_answer_is_the_same():
    class Unbounded(ExplainedVariance):
        def ceiling(self, moments, left, size):
            return np.full_like(left, np.inf)

        def worth(self, state):
            return self.score(state, state.moments.n_samples)

    rng = np.random.default_rng(0)
    phi = rng.normal(size=(60, 14))
    t = phi[:, :3].sum(axis=1) + 0.5 * rng.normal(size=60)
    journals = Journal(), Journal()
    fits = [Exhaustive(4).run(c, moments_of(phi, t), j) for c, j in zip((ExplainedVariance(), Unbounded()), journals, strict=True)]
    assert sorted(fits[0].active) == sorted(fits[1].active)
    n_sets = Exhaustive(4).n_sets(14)
    assert n_sets == sum(comb(14, k) for k in range(5))
    assert journals[1].n_steps >= n_sets - 1  # all but the empty set
    assert journals[0].n_steps < n_sets / 10


def test_duplicates_do_no_harm():
    phi, t = masked_problem(2)
    twice = np.hstack([phi, phi])
    for criterion in (ExplainedVariance("bic"), IndividualEvidence(), SharedEvidence(), SharedGCV()):
        once = Exhaustive(2).run(criterion, moments_of(phi, t), Journal())
        fit = Exhaustive(2).run(criterion, moments_of(twice, t), Journal())
        assert sorted(fit.active % M) == sorted(once.active)


def related_problem(seed, factor):
    """Inputs that share a common factor, some of which matter."""
    rng = np.random.default_rng(seed)
    n, m = rng.integers(15, 60), rng.integers(4, 9)
    phi = rng.normal(size=(n, m)) + factor * rng.normal(size=(n, 1))
    weights = rng.normal(size=m) * (rng.random(m) < 0.6)
    return phi, phi @ weights + rng.choice([0.1, 0.5, 2.0]) * rng.normal(size=n)


GREEDY = (Floating(), Oscillating(), BestAction(), PlusTakeAway(2, 1), Forward())


@pytest.mark.parametrize("factor", [0.0, 1.0, 10.0])
@pytest.mark.parametrize(
    "criterion",
    [IndividualEvidence(), IndividualEvidence(noise_variance=0.25), GCV(), SharedEvidence(), SharedGCV(), ExplainedVariance()],
    ids=repr,
)
def test_no_greedy_search_finds_a_better_set(criterion, factor):
    for seed in range(12):
        moments = moments_of(*related_problem(seed, factor))
        best = Exhaustive(3).run(criterion, moments, Journal())
        worth = criterion.worth(criterion.new_state(moments, best.active, best.ridges))
        for search in GREEDY:
            fit = search.run(criterion, moments, Journal(Budget(max_active=3)))
            assert criterion.worth(criterion.new_state(moments, fit.active, fit.ridges)) <= worth + 1e-6


def test_functions_that_only_matter_together_stay_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) + 10.0 * rng.normal(size=(50, 1))
    y = X @ [1.0, 1.0, -0.5] + 0.1 * rng.normal(size=50)
    model = SparseRegressor("passthrough", search=Exhaustive(3), calibrate_std=False).fit(X, y)
    assert list(model.active_) == [0, 1, 2]
    assert model.criterion_ > 18.5


def test_under_a_step_limit_it_is_not_worse_than_the_search_it_begins_with():
    criterion, moments, journal = IndividualEvidence(), moments_of(*related_problem(1, 10.0)), Journal(Budget(max_active=3))
    greedy = Floating().run(criterion, moments, journal)
    best = Exhaustive(3).run(criterion, moments, Journal(Budget(max_active=3, max_steps=journal.n_steps + 1)))
    assert best.outcome is Outcome.STEP_LIMIT
    worths = [criterion.worth(criterion.new_state(moments, fit.active, fit.ridges)) for fit in (best, greedy)]
    assert worths[0] >= worths[1]


def test_too_many_sets_are_refused_before_the_search_with_their_number_and_what_to_do():
    X = np.random.default_rng(0).normal(size=(50, 30))
    model = SparseRegressor("passthrough", ExplainedVariance(), Exhaustive(max_size=6, max_sets=1000))
    n_sets = f"{sum(comb(30, k) for k in range(7)):,}"
    with pytest.raises(ValueError, match=f"would compare {n_sets} sets of at most 6 of 30 candidates, about .* Lower max_size"):
        model.fit(X, X[:, 0])


def test_the_cost_is_printed_if_steps_are(capsys):
    phi, t = masked_problem(0)
    Exhaustive(2).run(ExplainedVariance(), moments_of(phi, t), Journal(Budget(verbose=1)))
    assert re.search(r"Exhaustive: 29 sets of at most 2 of 7 candidates, about \d+ seconds at most", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("seconds", "says"), [(1e-3, None), (0.05, r"1,351 sets of at most 3 of 20 candidates, about 70 seconds at most")]
)
def test_the_cost_is_a_warning_if_it_is_long(seconds, says, monkeypatch, recwarn):
    monkeypatch.setattr(exhaustive, "_quickest", lambda task: seconds)
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(60, 20))
    best = Exhaustive(3).run(ExplainedVariance(stop="bic"), moments_of(phi, phi[:, 3] + rng.normal(size=60)), Journal(Budget()))
    assert 3 in best.active
    messages = [str(warning.message) for warning in recwarn]
    assert not messages if says is None else re.search(says, messages[0])


def test_max_active_and_max_iter_of_the_estimator_count():
    X, y = masked_problem(0)
    model = SparseRegressor("passthrough", ExplainedVariance(), Exhaustive(5), max_active=1).fit(X, y)
    assert len(model.active_) == 1
    assert model.outcome_ is Outcome.BEST_OF_ALL
    assert model.outcome_.is_converged
    assert set(model.trace_["action"]) == {"better"}
    stopped = SparseRegressor("passthrough", ExplainedVariance(), Exhaustive(5), max_iter=3, calibrate_std=False)
    with pytest.warns(UserWarning, match="step limit"):
        stopped.fit(X, y)
    assert stopped.n_iter_ <= 3


def test_order_dependent_penalties_are_refused():
    with pytest.raises(TypeError, match="Exhaustive removes functions, but with OrthogonalGCV"):
        SparseRegressor("passthrough", OrthogonalGCV(), Exhaustive()).fit(*masked_problem(0))


@pytest.mark.parametrize(
    ("make", "message"), [(lambda: Exhaustive(0), "max_size must be"), (lambda: Exhaustive(2, 1.5), "max_sets must")]
)
def test_wrong_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_durations_are_in_words_that_mean_something():
    assert exhaustive._about(0.01) == "about 1 seconds"
    assert exhaustive._about(1e4) == "about 3 hours"
    assert exhaustive._about(1e9) == "about 30 years"
    assert exhaustive._about(1e20) == "more than 1,000 years"


def test_the_time_of_a_set_is_not_that_of_a_first_call(monkeypatch):
    seconds, now = iter([0.0625, *[0.0078125] * 100]), [0.0]

    def work():
        now[0] += next(seconds)

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    assert exhaustive._quickest(work) == 0.0078125
    assert 0.1 < now[0] < 0.11  # it is asked as often as takes a tenth of a second

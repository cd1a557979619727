"""Searches that add and take away one function at a time: their paths by brute force, their counts, limits, and all criteria."""

import time
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from skarce import SparseRegressor
from skarce.criteria import GCV, ExplainedVariance, IndividualEvidence, OrthogonalGCV, SharedEvidence, SharedGCV
from skarce.searches import Backward, BestAction, Floating, Forward, Oscillating, PlusTakeAway
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.eigen_set import EigenSet
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from tests.criteria.test_shared_evidence import reestimated_densely
from tests.oracles import log_density, random_problem, shared_evidence
from tests.searches.test_forward import Scripted
from tests.states.test_active_set import moments_of

TOL = 1e-3
PAPER_FORWARD = Forward(16, 0.0, share=0.3)
SEARCHES = {
    "forward": PAPER_FORWARD,
    "backward": Backward(),
    "plus 1": PlusTakeAway(1, 0),
    "plus 2, take away 1": PlusTakeAway(2, 1),
    "plus 3, take away 1": PlusTakeAway(3, 1),
    "plus 1, take away 2": PlusTakeAway(1, 2),
    "floating": Floating(),
    "oscillating": Oscillating(3),
}
GROWING = [name for name, search in SEARCHES.items() if not search.goes_down]
CRITERIA = {
    "individual evidence": IndividualEvidence(),
    "GCV": GCV(),
    "shared GCV": SharedGCV(),
    "shared GCV, fixed": SharedGCV(2.0),
    "explained variance": ExplainedVariance(),
    "explained variance, BIC": ExplainedVariance("bic"),
    "shared evidence": SharedEvidence(),
    "shared evidence, paper": SharedEvidence("paper"),
}
every_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=list(SEARCHES))
every_criterion = pytest.mark.parametrize("criterion", CRITERIA.values(), ids=list(CRITERIA))


def even_problem(seed, n=40, m=20, n_true=6, noise=0.7):
    """Columns of similar length, neighbours alike, so that greedy choices are regretted."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(n, m))
    phi = phi + 0.9 * np.roll(phi, 1, axis=1)
    return phi, phi[:, :n_true] @ rng.choice([-1.0, 1.0], n_true) + noise * rng.normal(size=n)


def run(search, criterion, phi, t, limits=None):
    journal = Journal(limits)
    return search.run(criterion, moments_of(phi, t), journal), journal.trace()


def replayed(trace, start=()):
    """The set before the first row and after each, from the trace alone."""
    sets = [set(start)]
    for row, step in enumerate(trace):
        if step["action"] == "undo":
            sets.append(set(sets[row - step["index"]]))
        else:
            sets.append(sets[-1] ^ {int(step["index"])})
        assert len(sets[-1]) == step["n_active"]
        assert step["action"] == "undo" or (int(step["index"]) in sets[-1]) == (step["action"] == "add")
    return sets


# By brute force --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Model:
    active: tuple[int, ...]
    alpha: float | None
    beta: float | None
    evidence: float


class BruteForce:
    """Each candidate tried by eq. (4) from N x N matrices at the precisions held; then both re-estimated densely."""

    def __init__(self, phi, t, reestimate):
        self.phi, self.t, self.reestimate = phi, t, reestimate
        self.path = []

    def empty(self):
        n = len(self.t)
        return Model((), None, None, log_density(self.t, np.eye(n) * (self.t @ self.t / n)) + 0.5 * np.log(2) + 0.5 * np.log(2 / n))

    def added(self, model):
        outside = [m for m in range(self.phi.shape[1]) if m not in model.active]
        if model.active:
            tried = [self.evidence((*model.active, m), model.alpha, model.beta) for m in outside]
        else:
            tried = [(self.phi[:, m] @ self.t) ** 2 / (self.phi[:, m] @ self.phi[:, m]) for m in outside]
        best = outside[self.separated(tried)]
        self.path.append(("add", best))
        return self.settled((*model.active, best), model)

    def worst(self, model):
        tried = [self.evidence(tuple(np.delete(model.active, i)), model.alpha, model.beta) for i in range(len(model.active))]
        return model.active[self.separated(tried)]

    def removed(self, model):
        worst = self.worst(model)
        self.path.append(("delete", worst))
        return self.settled(tuple(m for m in model.active if m != worst), model)

    @staticmethod
    def separated(values):
        order = np.argsort(values)
        assert len(order) == 1 or values[order[-1]] - values[order[-2]] > 1e-9, "too close to call"
        return int(order[-1])

    def evidence(self, active, alpha, beta):
        return shared_evidence(self.phi[:, list(active)], self.t, alpha, beta)

    def settled(self, active, before):
        inside = self.phi[:, list(active)]
        if self.reestimate == "paper":
            variance = self.t @ self.t / len(self.t)
            first = (1e-3 / variance, 10 / variance) if before.alpha is None else (before.alpha, before.beta)
            alpha, beta, _ = reestimated_densely(inside, self.t, *first, 0.1)
        else:
            alpha, beta = self.best_precisions(inside)
        return Model(active, alpha, beta, self.evidence(active, alpha, beta))

    def best_precisions(self, inside):
        n = len(self.t)

        def noise(log):
            return self.t @ np.linalg.solve(np.eye(n) + inside @ inside.T / np.exp(log), self.t) / n

        def loss(log):
            return n * np.log(noise(log)) + np.linalg.slogdet(np.eye(n) + inside @ inside.T / np.exp(log))[1]

        logs = np.linspace(-15, 15, 31)
        at = logs[np.argmin([loss(log) for log in logs])]
        log = minimize_scalar(loss, bounds=(at - 1, at + 1), method="bounded", options={"xatol": 1e-8}).x
        return np.exp(log) / noise(log), 1 / noise(log)


def brute_plus_take_away(brute, plus, minus, patience):
    best, model = brute.empty(), brute.added(brute.empty())
    while True:
        best = model if model.evidence > best.evidence + TOL else best
        if len(model.active) - len(best.active) >= patience or len(model.active) + plus > brute.phi.shape[1]:
            return best
        for step in range(plus + minus):
            model = brute.added(model) if step < plus else brute.removed(model)
            best = model if model.evidence > best.evidence + TOL else best


def brute_floating(brute, patience, start=()):
    best = model = brute.settled(start, brute.empty()) if start else brute.empty()
    records = {len(start): model.evidence}
    while len(model.active) > 2:  # what it starts from is thinned out first
        smaller = brute.removed(model)
        if smaller.evidence <= model.evidence + TOL:
            break
        best = model = smaller
        records[len(model.active)] = model.evidence
    while len(model.active) - len(best.active) < patience and len(model.active) < brute.phi.shape[1]:
        model = brute.added(model)
        newest, size = model.active[-1], len(model.active)
        records[size] = max(model.evidence, records.get(size, model.evidence))
        best = model if model.evidence > best.evidence + TOL else best
        while len(model.active) > 2 and brute.worst(model) != newest:
            smaller = brute.removed(model)
            if smaller.evidence <= records.get(len(smaller.active), model.evidence) + TOL:
                break
            model, newest = smaller, None
            records[len(model.active)] = model.evidence
            best = model if model.evidence > best.evidence + TOL else best
    return best


def brute_oscillating(brute, depth, patience):
    model, size = brute_plus_take_away(brute, 1, 0, patience), 1
    while size <= depth and len(model.active) > size:
        swung = model
        for step in range(4 * size):
            swung = brute.removed(swung) if size <= step < 3 * size else brute.added(swung)
        model, size = (swung, 1) if swung.evidence > model.evidence + TOL else (model, size + 1)
    return model


WHOLE_SEARCHES = {
    "forward": (PlusTakeAway(1, 0, patience=4, share=0.0), lambda brute: brute_plus_take_away(brute, 1, 0, 4)),
    "plus 2, take away 1": (PlusTakeAway(2, 1, patience=4, share=0.0), lambda brute: brute_plus_take_away(brute, 2, 1, 4)),
    "floating": (Floating(patience=4, share=0.0), lambda brute: brute_floating(brute, 4)),
    "oscillating": (Oscillating(3, patience=4, share=0.0), lambda brute: brute_oscillating(brute, 3, 4)),
}


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("name", WHOLE_SEARCHES)
@pytest.mark.parametrize("seed", range(4))
def test_whole_searches_go_the_way_of_brute_force(seed, name, reestimate):
    phi, t = even_problem(seed)
    search, by_brute_force = WHOLE_SEARCHES[name]
    brute = BruteForce(phi, t, reestimate)
    best = by_brute_force(brute)
    found, trace = run(search, SharedEvidence(reestimate), phi, t)
    steps = trace[trace["action"] != "undo"]
    assert list(zip(steps["action"], steps["index"].tolist(), strict=True)) == brute.path
    assert set(found.active) == set(best.active)
    # By the rule of the paper one set can have several precisions, and so evidences (errata 3.6).
    is_tight = reestimate == "tight"
    noise = SharedEvidence().noise_at(EigenSet(moments_of(phi, t), found.active, found.ridges), 40) if is_tight else found.noise
    np.testing.assert_allclose(found.ridges[0] / noise, best.alpha, rtol=1e-4 if is_tight else 0.02)
    np.testing.assert_allclose(1 / noise, best.beta, rtol=1e-4 if is_tight else 0.02)
    at_best = trace["criterion"][[s == set(best.active) for s in replayed(trace)[1:]]]
    np.testing.assert_allclose(at_best.max(), best.evidence, rtol=1e-8 if is_tight else 1e-5)


@pytest.mark.parametrize("n_start", [3, 8, 15])
@pytest.mark.parametrize("seed", range(4))
def test_floating_comes_down_from_what_it_starts_from(seed, n_start):
    phi, t = even_problem(seed)
    start = tuple(range(19, 19 - n_start, -1))  # most of them are of no use
    brute = BruteForce(phi, t, "tight")
    best = brute_floating(brute, 4, start)
    found, trace = run(Floating(patience=4, share=0.0, initial=start), SharedEvidence(), phi, t)
    steps = trace[trace["action"] != "undo"]
    assert list(zip(steps["action"], steps["index"].tolist(), strict=True)) == brute.path
    assert set(found.active) == set(best.active)
    assert not set(start) <= set(found.active)


# Order and counts ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("seed", range(5))
def test_plus_one_is_forward(seed, reestimate):
    phi, t = even_problem(seed, n=80, m=60)
    (one, path), (other, other_path) = (run(s, SharedEvidence(reestimate), phi, t) for s in (PlusTakeAway(1, 0), PAPER_FORWARD))
    np.testing.assert_array_equal(path, other_path)
    np.testing.assert_array_equal(one.active, other.active)
    np.testing.assert_array_equal(one.ridges, other.ridges)


@pytest.mark.parametrize("seed", range(5))
def test_counts_of_the_paper(seed):
    """Errata 3.3: the first function is one addition, and the rule is looked at after a complete step."""
    phi, t = even_problem(seed, n=120, m=100)
    found, trace = run(PlusTakeAway(1, 0), SharedEvidence(), phi, t)
    assert len(trace) == len(found.active) + 15 + 1
    found, trace = run(PlusTakeAway(2, 1), SharedEvidence(), phi, t)
    assert len(trace) == 1 + 3 * (len(found.active) + 15)
    assert np.diff(trace["n_active"]).tolist() == [1, 1, -1] * (len(found.active) + 15)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_the_larger_the_model_the_longer_the_breath(share):
    phi, t = even_problem(0, n=120, m=100, n_true=30)
    found, trace = run(PlusTakeAway(1, 0, patience=1, share=share), SharedEvidence(), phi, t)
    assert len(found.active) > 8
    assert len(trace) == len(found.active) + round(share * len(found.active)) + 1


@pytest.mark.parametrize("reestimate", ["tight", "paper"])
@pytest.mark.parametrize("seed", range(8))
def test_floating_is_forward_until_a_removal_stands_and_never_falls_behind_itself(seed, reestimate):
    phi, t = even_problem(seed, n=60, m=40, n_true=12)
    found, trace = run(Floating(), SharedEvidence(reestimate), phi, t)
    _, forward = run(PAPER_FORWARD, SharedEvidence(reestimate), phi, t)
    stands, records = [], {0: -np.inf, 1: -np.inf}
    for row, step in enumerate(trace):
        is_undone = row + 1 < len(trace) and trace["action"][row + 1] == "undo"
        if step["action"] == "delete" and not is_undone:
            assert step["criterion"] > records[step["n_active"]] + TOL
            stands.append(row)
        if step["action"] == "delete" and is_undone:
            assert step["criterion"] <= records[step["n_active"]] + TOL
        records[step["n_active"]] = max(step["criterion"], records.get(step["n_active"], -np.inf))
    first = stands[0] if stands else len(trace)
    added = trace["index"][:first][trace["action"][:first] == "add"]
    np.testing.assert_array_equal(added, forward["index"][: len(added)])
    assert len(found.active) >= 2


def test_floating_takes_functions_back():
    """On these problems greedy choices are regretted, and the test above is about something."""
    stands = 0
    for seed in range(8):
        _, trace = run(Floating(), SharedEvidence(), *even_problem(seed, n=60, m=40, n_true=12))
        stands += (trace["action"] == "delete").sum() - (trace["action"] == "undo").sum()
    assert stands > 8


@every_criterion
@pytest.mark.parametrize("seed", range(3))
def test_oscillating_ends_no_worse_than_forward_and_as_large(seed, criterion):
    phi, t = even_problem(seed, n=60, m=40, n_true=12)
    (forward, _), (found, trace) = (run(s, criterion, phi, t) for s in (PAPER_FORWARD, Oscillating(4)))
    assert len(found.active) == len(forward.active)
    assert scored(criterion, phi, t, found) >= scored(criterion, phi, t, forward) - 1e-9
    if len(forward.active) > 4 and criterion.needs_squares and not isinstance(criterion, GCV):
        closing = trace["action"][-(4 * (1 + 2 + 3 + 4) + 4) :]  # failed swings, each undone
        assert (closing == "undo").sum() >= 4


def scored(criterion, phi, t, found):
    state = ActiveSet(moments_of(phi, t), found.active, found.ridges, squares=True)
    state.noise = found.noise
    return criterion.worth(state) if hasattr(criterion, "worth") else criterion.score(state, len(t))


# Every search, every criterion -----------------------------------------------------------------------------------------------


@every_search
@every_criterion
@pytest.mark.parametrize("seed", range(2))
def test_every_search_with_every_criterion(seed, criterion, search):
    phi, t = even_problem(seed, n=50, m=25)
    found, trace = run(search, criterion, phi, t)
    sets = replayed(trace, range(25) if search.goes_down else ())
    assert set(found.active.tolist()) in sets
    assert len(set(found.active.tolist())) == len(found.active) >= 3
    assert found.outcome in (Outcome.NONE_BETTER_FOUND, Outcome.NO_ADDITION_HELPS)
    if not hasattr(criterion, "worth"):
        most = trace["criterion"][trace["n_active"] == len(found.active)].max()
        np.testing.assert_allclose(scored(criterion, phi, t, found), most, rtol=1e-5)
    model = SparseRegressor("passthrough", criterion, search).fit(phi, t)
    mean, std = model.predict(phi, return_std=True)
    assert model.score(phi, t) > 0.7
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()


@every_search
@every_criterion
def test_more_candidates_than_rows_copies_and_zeros(criterion, search):
    phi, t = even_problem(0, n=15, m=14)
    phi = np.column_stack([phi, phi, np.zeros(15), phi[:, 0] * (1 + 1e-13)])
    found, _ = run(search, criterion, phi, t)
    assert 28 not in found.active
    assert np.isfinite(found.ridges).all()
    model = SparseRegressor("passthrough", criterion, search, max_iter=200).fit(phi, t)
    assert np.isfinite(model.predict(phi, return_std=True)[1]).all()


@every_search
@every_criterion
def test_a_target_orthogonal_to_everything(criterion, search):
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(30, 8)))[0]
    found, _ = run(search, criterion, Q[:, :7] * 3, Q[:, 7])
    assert len(found.active) == 0
    assert not found.outcome.is_early


@pytest.mark.parametrize("kind", ["whole", "columns"])
@every_search
def test_whole_and_by_column_are_the_same_search(search, kind):
    phi, t = even_problem(1, n=50, m=25)
    journal = Journal()
    found = search.run(SharedEvidence(), moments_of(phi, t, kind), journal)
    expected, trace = run(search, SharedEvidence(), phi, t)
    np.testing.assert_array_equal(found.active, expected.active)
    np.testing.assert_array_equal(journal.trace()["index"], trace["index"])


def test_orders_that_matter_are_not_taken_apart():
    with pytest.raises(TypeError, match="depends on the order of entry"):
        run(Floating(), OrthogonalGCV(), *even_problem(0))


# Members, limits and parameters ----------------------------------------------------------------------------------------------


def with_(search, **parameters):
    return type(search)(**{**{k: getattr(search, k) for k in search.__dataclass_fields__}, **parameters})


@every_search
@every_criterion
def test_members_that_are_always_in_stay(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, trace = run(with_(search, always_in=[17, 12]), criterion, phi, t)
    assert {12, 17} <= set(found.active.tolist())
    assert not {12, 17} & set(trace["index"][trace["action"] != "undo"].tolist())


@pytest.mark.parametrize("name", GROWING)
@every_criterion
def test_a_search_starts_from_what_it_is_given(criterion, name):
    phi, t = even_problem(0, n=50, m=25)
    initial = np.array([3, 20, 1])
    _, trace = run(with_(SEARCHES[name], initial=initial), criterion, phi, t)
    assert len(trace) == 0 or trace["n_active"][0] in (2, 4)
    replayed(trace, initial)
    if name == "forward":
        assert not set(trace["index"]) & set(initial)


def test_going_down_can_start_from_a_few():
    found, trace = run(Backward(initial=range(10)), SharedEvidence(), *even_problem(0))
    assert trace["n_active"].tolist() == list(range(9, -1, -1))
    assert set(found.active) <= set(range(10))


@every_search
@every_criterion
def test_max_active(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, _ = run(search, criterion, phi, t, Budget(max_active=3))
    if search.goes_down:
        assert 1 <= len(found.active) <= 3
        assert found.outcome is Outcome.NONE_BETTER_FOUND
    else:
        assert (len(found.active), found.outcome) == (3, Outcome.SIZE_LIMIT)


def test_going_down_comes_below_the_cap_from_more():
    found, _ = run(Backward(initial=range(10)), SharedEvidence(), *even_problem(0), Budget(max_active=3))
    assert 1 <= len(found.active) <= 3


@pytest.mark.parametrize("search", [PlusTakeAway(1, 0), PlusTakeAway(2, 1), Floating()])
def test_a_cap_that_was_not_the_reason_is_not_blamed(search):
    found, _ = run(search, Scripted(scores=(0, 5, 1, 1, 1, 1, 1)), *even_problem(0), Budget(max_active=3))
    assert (len(found.active), found.outcome) == (1, Outcome.NONE_BETTER_FOUND)


@every_search
@pytest.mark.parametrize("name", ["shared evidence", "shared GCV", "explained variance"])
@pytest.mark.parametrize("size", [1, 4, 10])
def test_exactly_n_basis(name, size, search):
    found, _ = run(with_(search, n_basis=size), CRITERIA[name], *even_problem(0, n=50, m=25))
    assert (len(found.active), found.outcome) == (size, Outcome.GOAL_REACHED)


def test_n_basis_beyond_what_there_is():
    found, _ = run(PlusTakeAway(2, 1, n_basis=30), SharedEvidence(), *even_problem(0, n=50, m=25))
    assert found.outcome is Outcome.TOO_FEW_CANDIDATES
    assert len(found.active) == 25
    assert "there are none left" in found.outcome.value


@every_search
@every_criterion
def test_limits_say_so_and_the_best_model_comes_back(criterion, search):
    phi, t = even_problem(0, n=50, m=25)
    found, trace = run(search, criterion, phi, t, Budget(max_steps=5))
    assert (len(trace), found.outcome) == (5, Outcome.STEP_LIMIT)
    assert set(found.active.tolist()) in replayed(trace, range(25) if search.goes_down else ())
    found, trace = run(search, criterion, phi, t, Budget(deadline=time.monotonic() - 1.0))
    assert (len(trace), found.outcome) == (0, Outcome.TIME_LIMIT)


def test_best_action_says_so_too():
    phi, t = even_problem(0, n=50, m=25)
    for limits, outcome in ((Budget(max_steps=2), Outcome.STEP_LIMIT), (Budget(max_active=2), Outcome.SIZE_LIMIT)):
        found, trace = run(BestAction(), SharedEvidence(), phi, t, limits)
        assert (len(found.active), len(trace), found.outcome) == (2, 2, outcome)


@pytest.mark.parametrize(
    ("worths", "size"),
    [
        ((0, 1, 2, 3, 4, 5, 4, 3, 2), 5),
        ((0, 1, 2, 3, 5 - 0.9e-3, 5, 4, 3, 2), 4),  # a larger model must be better by what counts
        ((0, 1, 2, 5 - 1.7e-3, 5 - 0.9e-3, 5, 4, 3, 2), 4),  # and small steps down do not add up
        ((0, 1, 9, 3, 4, 5, 4, 3, 2), 2),
    ],
)
def test_of_models_that_are_equal_the_smallest(worths, size):
    for search in (Backward(), PlusTakeAway(1, 2)):
        found, _ = run(search, Scripted(scores=worths), *even_problem(0, m=8))
        assert len(found.active) == size


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PlusTakeAway(2, 2), "plus and minus must differ"),
        (lambda: PlusTakeAway(-1, 2), "plus and minus must be whole numbers of at least 0"),
        (lambda: PlusTakeAway(1.5, 1), "plus and minus must be whole numbers of at least 0, got 1.5 and 1"),
        (lambda: PlusTakeAway(1, 0.0), "plus and minus must be whole numbers"),
        (lambda: PlusTakeAway("2", 1), "plus and minus must be whole numbers"),
        (lambda: Oscillating(1.5), "depth must be a whole number of at least 1, got 1.5"),
        (lambda: Floating(patience=2.5), "patience must be a whole number"),
        (lambda: Oscillating(0), "depth must be"),
        (lambda: Floating(patience=0), "patience must be"),
        (lambda: Floating(share=-0.1), "share must be"),
        (lambda: Backward(threshold=np.nan), "threshold must be"),
        (lambda: Backward(n_basis=2.5), "n_basis must be"),
        (
            lambda: run(Floating(initial=[40]), SharedEvidence(), *even_problem(0)),
            "initial must be indices of candidates from 0 to 19, got 40.$",
        ),
        (
            lambda: run(Floating(initial=range(15, 120)), SharedEvidence(), *even_problem(0)),
            "initial must be indices of candidates from 0 to 19, got 20 and 99 more that are not.$",
        ),
        (
            lambda: run(Floating(initial=np.arange(20) < 3), SharedEvidence(), *even_problem(0)),
            r"initial .* is a mask of truth values: give np.flatnonzero\(mask\).$",
        ),
        (lambda: run(Floating(always_in=[-1]), SharedEvidence(), *even_problem(0)), "always_in must be indices"),
        (lambda: run(Floating(always_in=[1, 2], n_basis=1), SharedEvidence(), *even_problem(0)), "more than n_basis=1"),
        (
            lambda: run(Floating(always_in=[1, 2]), SharedEvidence(), *even_problem(0), Budget(max_active=1)),
            "more than max_active=1",
        ),
        (
            lambda: run(Forward(initial=[1, 2, 3], n_basis=2), SharedEvidence(), *even_problem(0)),
            "3 candidates, more than n_basis=2",
        ),
        (
            lambda: run(Floating(initial=[1, 2], always_in=[2, 4]), SharedEvidence(), *even_problem(0), Budget(max_active=2)),
            "3 candidates, more than max_active=2 lets in, and Floating grows",
        ),
        (
            lambda: run(Backward(initial=[1, 2], n_basis=3), SharedEvidence(), *even_problem(0)),
            "2 candidates, fewer than n_basis=3",
        ),
    ],
)
def test_parameters_that_make_no_sense_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("search", "text"),
    [
        (Floating(share=float("0.3")), "Floating()"),
        (PlusTakeAway(3, 1, share=0.5), "PlusTakeAway(plus=3, minus=1, share=0.5)"),
        (Oscillating(4, initial=[1, 2]), "Oscillating(depth=4, initial=[1, 2])"),
        (Forward(16, 0.0, share=0.3), "Forward(patience=16, threshold=0.0, n_basis=None, share=0.3)"),
        (Backward(n_basis=3), "Backward(n_basis=3)"),
    ],
)
def test_searches_are_shown_as_they_are_written(search, text):
    assert repr(search) == text
    assert eval(text) == search


def test_random_problem_of_unequal_columns():
    """One precision for all weights: the long columns are what counts, and the search ends soundly all the same."""
    for seed in range(4):
        for search in SEARCHES.values():
            found, _ = run(search, SharedEvidence(), *random_problem(seed, n=40, m=12))
            assert np.isfinite(found.ridges).all()

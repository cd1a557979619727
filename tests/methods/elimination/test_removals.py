"""Elimination in blocks: against rank-one updates, and against solving again for every candidate."""

from itertools import islice

import numpy as np
import pytest

from skarce.methods.elimination import removals as elimination
from skarce.methods.elimination.removals import InverseOnDevice, ShrinkingInverse, additions, most_missed, removals
from skarce.moments import WholeGram
from tests.devices import LIBRARIES, Device
from tests.oracles import penalized_error, random_problem, rbf
from tests.problems import moments_of

seeds = pytest.mark.parametrize("seed", range(6))


def kernels(seed, n=60, gamma=0.4, d=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, d))
    return rbf(X, X, gamma), np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=n)


def by_brute_force(phi, t, ridge, n_steps=None):
    """Leave out each function in turn and solve: the one whose absence costs least goes."""
    left, steps = list(range(phi.shape[1])), []
    for _ in range(len(left) if n_steps is None else n_steps):
        before = penalized_error(phi[:, left], t, ridge)
        costs = [penalized_error(phi[:, [j for j in left if j != k]], t, ridge) - before for k in left]
        place = int(np.argmin(costs))
        steps.append((left.pop(place), costs[place]))
    return steps


@seeds
@pytest.mark.parametrize("ridge", [0.05, 3.0])
def test_increments_are_those_of_solving_without_each_function(seed, ridge):
    """Theorem 3.1, and eqs 3.3 to 3.5 after every removal."""
    phi, t = random_problem(seed)
    inverse = ShrinkingInverse(WholeGram(phi.T @ phi), np.arange(12), phi.T @ t, ridge, block=4)
    while len(inverse) > 1:
        members = inverse.members.copy()
        H = phi[:, members].T @ phi[:, members] + ridge * np.eye(len(members))
        w, R = np.linalg.solve(H, phi[:, members].T @ t), np.linalg.inv(H)
        np.testing.assert_allclose(inverse.weights, w, rtol=1e-9, atol=1e-12)
        for place in range(len(members)):
            np.testing.assert_allclose(inverse._column(place), R[:, place], rtol=1e-8, atol=1e-10 * np.abs(R).max())
        full = penalized_error(phi[:, members], t, ridge)
        without = [penalized_error(phi[:, np.delete(members, k)], t, ridge) - full for k in range(len(members))]
        np.testing.assert_allclose(w**2 / np.diag(R), without, rtol=1e-7, atol=1e-9 * full)
        step = inverse.remove_least()
        assert step.candidate == members[np.argmin(without)]
        assert step.increment == pytest.approx(min(without), rel=1e-7, abs=1e-9 * full)


@seeds
@pytest.mark.parametrize("block", [1, 2, 7, 64])
def test_blocks_rank_one_updates_and_brute_force_go_the_same_way(seed, block):
    phi, t = kernels(seed, 40)
    expected = by_brute_force(phi, t, 0.1)
    moments = moments_of(phi, t)
    steps = list(removals(moments.gram, np.arange(40), moments.projections, 0.1, block))
    assert [s.candidate for s in steps] == [candidate for candidate, _ in expected]
    np.testing.assert_allclose([s.increment for s in steps], [cost for _, cost in expected], rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("block", [1, 5, 32])
def test_weights_on_the_way_are_those_of_rank_one_updates_to_ten_digits(block):
    """Without refreshes: what a block defers is not lost."""
    phi, t = kernels(0, 150)
    gram, b, ridge = phi.T @ phi, phi.T @ t, 0.5
    inverse = ShrinkingInverse(WholeGram(gram), np.arange(150), b, ridge, block)
    R, left = np.linalg.inv(gram + ridge * np.eye(150)), np.arange(150)
    w = R @ b
    for _ in range(110):
        s = int(np.argmin(w**2 / np.diag(R)))
        assert inverse.remove_least().candidate == left[s]
        w, R = w - w[s] / R[s, s] * R[:, s], R - np.outer(R[:, s], R[s]) / R[s, s]
        w, R, left = np.delete(w, s), np.delete(np.delete(R, s, 0), s, 1), np.delete(left, s)
        np.testing.assert_allclose(inverse.weights[np.argsort(inverse.members)], w, rtol=1e-10, atol=1e-10 * np.abs(w).max())
    fresh = np.linalg.solve(gram[np.ix_(left, left)] + ridge * np.eye(40), b[left])
    np.testing.assert_allclose(w, fresh, rtol=1e-9)


def test_tiles_and_threads_change_nothing(monkeypatch):
    phi, t = kernels(1, 300, d=3)
    moments = moments_of(phi, t)
    once = list(islice(removals(moments.gram, np.arange(300), moments.projections, 0.3, 16), 290))
    monkeypatch.setattr(elimination, "TILE", 37)
    monkeypatch.setattr("skarce._parallel.WORTH_THREADS", 0.0)
    again = list(islice(removals(moments.gram, np.arange(300), moments.projections, 0.3, 16), 290))
    assert [s.candidate for s in once] == [s.candidate for s in again]
    np.testing.assert_allclose([s.increment for s in once], [s.increment for s in again], rtol=1e-8)


@seeds
def test_log_determinants_follow_both_ways(seed):
    phi, t = random_problem(seed)
    moments, ridge = moments_of(phi, t), 2.0
    left = list(range(12))
    for step in removals(moments.gram, np.arange(12), moments.projections, ridge):
        before = np.linalg.slogdet(np.eye(30) + phi[:, left] @ phi[:, left].T / ridge)[1]
        left.remove(step.candidate)
        after = np.linalg.slogdet(np.eye(30) + phi[:, left] @ phi[:, left].T / ridge)[1]
        assert step.log_determinant == pytest.approx(after - before, rel=1e-7, abs=1e-9)
    inside = []
    for step in additions(moments, np.arange(12), ridge):
        before = np.linalg.slogdet(np.eye(30) + phi[:, inside] @ phi[:, inside].T / ridge)[1]
        inside.append(step.candidate)
        after = np.linalg.slogdet(np.eye(30) + phi[:, inside] @ phi[:, inside].T / ridge)[1]
        assert step.log_determinant == pytest.approx(after - before, rel=1e-7, abs=1e-9)


@seeds
@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_additions_are_those_of_brute_force(seed, kind):
    phi, t = kernels(seed, 40)
    inside, error = [], t @ t
    for step in additions(moments_of(phi, t, kind), np.arange(40), 0.1):
        left = np.setdiff1d(np.arange(40), inside)
        errors = [penalized_error(phi[:, [*inside, k]], t, 0.1) for k in left]
        assert step.candidate == left[np.argmin(errors)]
        assert step.increment == pytest.approx(error - min(errors), rel=1e-6, abs=1e-10)
        inside.append(step.candidate)
        error = min(errors)
    assert len(inside) == 40


def test_some_of_the_candidates_only():
    phi, t = kernels(2, 30)
    some = np.array([3, 7, 8, 20, 29])
    moments = moments_of(phi, t)
    expected = [int(some[k]) for k, _ in by_brute_force(phi[:, some], t, 0.2)]
    assert [s.candidate for s in removals(moments.gram, some, moments.projections, 0.2)] == expected
    assert sorted(s.candidate for s in additions(moments, some, 0.2)) == some.tolist()


def test_of_equal_functions_the_first_goes_first():
    phi, t = random_problem(3)
    doubled = np.column_stack([phi[:, :4], phi[:, :4]])
    moments = moments_of(doubled, t)
    order = [s.candidate for s in removals(moments.gram, np.arange(8), moments.projections, 1.0)]
    for k in range(4):
        assert order.index(k) < order.index(k + 4)


def test_nearly_dependent_functions_keep_their_digits():
    """Without computing R again when its diagonal has fallen, increments after the duplicates have gone would be rounding."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 110))
    phi = np.column_stack([base, base[:, :90]])  # R_kk falls from 1/(2 rho) to 1/H_kk when the other one goes
    t = base @ rng.normal(size=110) + 0.1 * rng.normal(size=200)
    moments, ridge = moments_of(phi, t), 1e-10
    steps = list(removals(moments.gram, np.arange(200), moments.projections, ridge))
    left = np.sort([s.candidate for s in steps[90:]])
    assert len(set(left % 110)) == 110  # one of each
    error, inside = penalized_error(phi[:, left], t, ridge), left.tolist()
    for step in steps[90:99]:
        inside.remove(step.candidate)
        after = penalized_error(phi[:, inside], t, ridge)
        assert step.increment == pytest.approx(after - error, rel=1e-7)
        error = after


def test_one_function_and_none():
    phi, t = random_problem(0)
    moments = moments_of(phi, t)
    (step,) = removals(moments.gram, np.array([2]), moments.projections, 1.0)
    assert step.increment == pytest.approx(t @ t - penalized_error(phi[:, [2]], t, 1.0))
    (step,) = additions(moments, np.array([2]), 1.0)
    assert step.increment == pytest.approx(t @ t - penalized_error(phi[:, [2]], t, 1.0))
    assert list(removals(moments.gram, np.empty(0, dtype=int), moments.projections, 1.0)) == []
    assert list(additions(moments, np.empty(0, dtype=int), 1.0)) == []


def test_most_missed_takes_out_what_raises_the_penalized_error_least():
    phi, t = random_problem(3)
    rng = np.random.default_rng(3)
    scales, ridge = rng.uniform(0.1, 3.0, phi.shape[1]), 0.7

    def error(places):
        some, ridges = phi[:, places], np.diag(ridge / scales[places] ** 2)
        return t @ t - t @ some @ np.linalg.solve(some.T @ some + ridges, some.T @ t)

    left = list(range(phi.shape[1]))
    while len(left) > 1:
        left.remove(min(left, key=lambda out: error([i for i in left if i != out])))
        assert list(most_missed(phi.T @ phi, phi.T @ t, scales, ridge, len(left))) == left


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("block", [1, 5, 32])
def test_a_device_removes_the_same_functions(library, block, monkeypatch):
    """Until none is left: with updates, new inverses whenever half has left, and some of the candidates only."""
    monkeypatch.setattr(elimination, "WORTH_DEVICE", 10)
    phi, t = kernels(0, 120)
    gram, some = phi.T @ phi, np.setdiff1d(np.arange(120), [3, 77])
    here, there = WholeGram(gram), WholeGram(gram, Device(library)(gram))
    assert type(ShrinkingInverse.of(there, some, (phi.T @ t)[some], 0.5, block)) is InverseOnDevice
    assert type(ShrinkingInverse.of(there, some[:9], (phi.T @ t)[some[:9]], 0.5, block)) is ShrinkingInverse
    steps = zip(removals(there, some, phi.T @ t, 0.5, block), removals(here, some, phi.T @ t, 0.5, block), strict=True)
    for found, expected in steps:
        assert found.candidate == expected.candidate
        assert found.increment == pytest.approx(expected.increment, rel=1e-7)
        assert found.log_determinant == pytest.approx(expected.log_determinant, rel=1e-9)
        np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(found.spread, expected.spread, rtol=1e-8)


@pytest.mark.parametrize("library", LIBRARIES)
def test_nearly_dependent_functions_on_a_device_keep_their_digits(library, monkeypatch):
    """R is computed again there, too, when its diagonal has fallen."""
    monkeypatch.setattr(elimination, "WORTH_DEVICE", 10)
    rng = np.random.default_rng(0)
    base = rng.normal(size=(200, 110))
    phi = np.column_stack([base, base[:, :90]])
    gram, b = phi.T @ phi, phi.T @ (base @ rng.normal(size=110) + 0.1 * rng.normal(size=200))
    there, here = WholeGram(gram, Device(library)(gram)), WholeGram(gram)
    found, expected = (list(removals(one, np.arange(200), b, 1e-10))[90:] for one in (there, here))
    assert len({step.candidate % 110 for step in found}) == 110  # one of each was left
    assert [step.candidate % 110 for step in found] == [step.candidate % 110 for step in expected]
    np.testing.assert_allclose([s.increment for s in found], [s.increment for s in expected], rtol=1e-7)

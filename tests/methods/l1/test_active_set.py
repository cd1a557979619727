import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.linear_model import Lasso

from skarce.methods.l1.active_set import L1ActiveSet, _best_length
from skarce.moments import ColumnGram, Moments
from tests.oracles import coordinate_descent, l1_objective, l1_violation, random_problem, rbf
from tests.problems import moments_of


class Watched(L1ActiveSet):
    """Remembers the objective after every move, by dense matrices."""

    def __init__(self, phi, t):
        super().__init__(moments_of(phi, t))
        self.phi, self.t, self.objectives = phi, t, []

    def dense(self):
        weights = np.zeros(self.phi.shape[1])
        weights[self.members] = self.weights
        return weights

    def minimize(self, penalty, tol, max_steps):
        self.penalty = penalty
        return super().minimize(penalty, tol, max_steps)

    def _move(self, weights, shift):
        self.objectives.append(l1_objective(self.phi, self.t, self.dense(), self.penalty))
        super()._move(weights, shift)
        self.objectives.append(l1_objective(self.phi, self.t, self.dense(), self.penalty))


def largest(phi, t):
    return np.abs(phi.T @ t).max()


def problems():
    rng = np.random.default_rng(0)
    yield "columns of unequal lengths", *random_problem(0)
    yield "more candidates than rows", rng.normal(size=(20, 60)), rng.normal(size=20)
    phi = rng.normal(size=(30, 8))
    yield "duplicate, opposite and zero columns", np.column_stack([phi, phi, -phi, np.zeros(30)]), phi[:, 1] + rng.normal(size=30)
    x = rng.uniform(0, 1, 60)
    t = 1 + x + np.sin(2 * np.pi * x) + rng.normal(size=60)
    yield "overlapping kernels", rbf(x[:, None], x[:, None], 3.0), t
    yield "kernels and their opposites", np.hstack([k := rbf(x[:, None], x[:, None], 30.0), -k]), t


PROBLEMS = {name: (phi, t) for name, phi, t in problems()}


@pytest.fixture(params=PROBLEMS)
def problem(request):
    return PROBLEMS[request.param]


@pytest.mark.parametrize("share", [2.0, 1.0, 0.5, 0.1, 1e-2, 1e-4, 1e-5])
def test_the_optimality_conditions_hold(problem, share):
    phi, t = problem
    state, penalty = Watched(phi, t), share * largest(phi, t)
    state.minimize(penalty, 1e-7, 10_000)
    assert l1_violation(phi, t, state.dense(), penalty) <= 1.1e-7 * penalty
    assert (state.weights != 0).all()
    assert len(state.members) == len(set(state.members)) <= len(t)
    assert len(state.members) == 0 if share >= 1 else len(state.members) > 0


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
def test_the_objective_is_that_of_coordinate_descent(share):
    for seed in range(5):
        phi, t = random_problem(seed)
        penalty = share * largest(phi, t)
        state = Watched(phi, t)
        state.minimize(penalty, 1e-9, 10_000)
        reached = l1_objective(phi, t, state.dense(), penalty)
        assert reached <= l1_objective(phi, t, coordinate_descent(phi, t, penalty, 300), penalty) * (1 + 1e-8)
        lasso = Lasso(alpha=penalty / len(t), fit_intercept=False, tol=1e-12, max_iter=100_000).fit(phi, t)
        assert reached == pytest.approx(l1_objective(phi, t, lasso.coef_, penalty), rel=1e-8)
        assert state.objective(penalty) + 0.5 * t @ t == pytest.approx(reached, rel=1e-10)


def test_the_objective_never_rises_and_falls_on_the_way(problem):
    phi, t = problem
    state = Watched(phi, t)
    for share in (0.5, 0.03, 1e-3):
        state.objectives.clear()
        state.minimize(share * largest(phi, t), 1e-7, 10_000)
        steps = np.array(state.objectives)
        assert (np.diff(steps) <= 1e-12 * steps[0]).all()
        assert steps[-1] < steps[0]


def test_a_path_from_above_ends_where_a_cold_start_does(problem):
    phi, t = problem
    warm, goal = Watched(phi, t), 1e-3 * largest(phi, t)
    for penalty in np.geomspace(largest(phi, t), goal, 40):
        warm.minimize(penalty, 1e-8, 10_000)
    cold = Watched(phi, t)
    cold.minimize(goal, 1e-8, 10_000)
    reached = [l1_objective(phi, t, state.dense(), goal) for state in (warm, cold)]
    assert reached[0] == pytest.approx(reached[1], rel=1e-9)


def test_a_start_of_larger_and_of_smaller_models_ends_at_the_same_minimizer():
    phi, t = random_problem(3, n=40, m=25)
    state, goal = Watched(phi, t), 0.1 * largest(phi, t)
    ends = []
    for elsewhere in (1e-4, 0.9, 2.0):
        state.minimize(elsewhere * largest(phi, t), 1e-9, 10_000)
        state.minimize(goal, 1e-9, 10_000)
        ends.append(state.dense())
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, atol=1e-8 * np.abs(ends[0]).max())


def test_next_to_no_penalty_gives_the_least_sum_of_weights_that_interpolates():
    rng = np.random.default_rng(4)
    phi, t = rng.normal(size=(15, 50)), rng.normal(size=15)
    state = Watched(phi, t)
    for penalty in np.geomspace(1, 1e-10, 40) * largest(phi, t):
        state.minimize(penalty, 1e-6, 10_000)
    basis_pursuit = linprog(np.ones(100), A_eq=np.hstack([phi, -phi]), b_eq=t, bounds=(0, None))
    assert np.abs(state.weights).sum() == pytest.approx(basis_pursuit.fun, rel=1e-6)
    np.testing.assert_allclose(phi @ state.dense(), t, atol=1e-6)


def test_columns_that_come_one_at_a_time_give_the_same():
    phi, t = random_problem(1, n=50, m=30)
    gram, asked = phi.T @ phi, []

    def columns(indices):
        asked.extend(indices)
        return gram[indices]

    by_column = ColumnGram(gram.diagonal().copy(), columns, lambda rows, some: gram[np.ix_(rows, some)])
    state, whole = L1ActiveSet(Moments(by_column, phi.T @ t, float(t @ t), 50.0)), L1ActiveSet(moments_of(phi, t))
    for one in (state, whole):
        one.minimize(0.2 * largest(phi, t), 1e-8, 1000)
    assert sorted(state.members) == sorted(whole.members)
    assert set(state.members) <= set(asked)
    assert len(set(asked)) < 30


def test_a_limit_of_steps_is_kept():
    phi, t = random_problem(1, n=50, m=30)
    state = Watched(phi, t)
    assert state.minimize(1e-3 * largest(phi, t), 1e-8, 2) == 2
    assert (state.weights != 0).all()
    assert l1_objective(phi, t, state.dense(), 1e-3) < l1_objective(phi, t, np.zeros(30), 1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_length_is_that_of_a_scan(seed):
    rng = np.random.default_rng(seed)
    phi, t, penalty = rng.normal(size=(12, 5)), rng.normal(size=12), 10 ** rng.uniform(-1, 1)
    weights = rng.normal(size=5) * (rng.uniform(size=5) < 0.7)
    signs = np.where(weights == 0, rng.choice([-1.0, 1.0], 5), np.sign(weights))
    uphill = penalty * signs - phi.T @ (t - phi @ weights)
    direction = -np.linalg.solve(phi.T @ phi, uphill)
    length, gain = _best_length(weights, direction, signs, uphill, direction @ phi.T @ phi @ direction, penalty)
    with np.errstate(divide="ignore"):
        kinks = -weights / direction
    scan = np.sort(np.concatenate([np.linspace(0, 1, 20_001), kinks[(kinks > 0) & (kinks < 1)]]))
    values = l1_objective(phi, t, weights + scan[:, None] * direction, penalty)
    assert values[0] - values.min() == pytest.approx(gain, rel=1e-6, abs=1e-12)
    assert length == pytest.approx(scan[values.argmin()], abs=1e-3)

"""Local ridges: each at its minimum of GCV, one after the other."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from skarce import KernelBasis, LocalRidgeRegressor, Outcome
from skarce.basis.transformers import PassthroughCandidates
from skarce.designs import InMemoryDesign, Rows
from skarce.methods.local_ridge import _ChangingInverse, _FullModel, run_local_ridge
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import gcv, largest_gain_of_gcv, random_problem
from tests.problems import moments_of


@pytest.mark.parametrize("readmit", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_local_ridges_end_at_a_minimum_in_every_coordinate(seed, readmit):
    phi, t = random_problem(seed, n=40, m=25)
    journal = Journal(Budget(tol=1e-4))
    found = run_local_ridge(moments_of(phi, t), journal, None, readmit)
    assert found.outcome is Outcome.CONVERGED
    assert len(found.active) < 25
    columns = phi if readmit else phi[:, found.active]
    active = found.active if readmit else np.arange(len(found.active))
    assert largest_gain_of_gcv(columns, t, active, found.ridges, 40) < 1e-3
    assert (np.diff(journal.trace()["criterion"]) > -1e-9).all()
    expected = -0.5 * 40 * np.log(gcv(phi[:, found.active], t, found.ridges) / 40)
    np.testing.assert_allclose(journal.score, expected, rtol=1e-8)


def test_a_cycle_of_local_ridges_is_what_dense_one_dimensional_searches_give():
    """Every ridge in turn, the strongest column first, by a fine scan with N x N matrices."""
    phi, t = random_problem(0, n=25, m=6)
    found = run_local_ridge(moments_of(phi, t), Journal(Budget(max_steps=1)), 5.0, False)
    order = np.argsort(-((phi.T @ t) ** 2) / (phi**2).sum(axis=0))
    ridges = np.full(6, 5.0)
    for j in order:
        scan = (phi[:, j] ** 2).sum() * np.geomspace(1e-12, 1e12, 4000)
        values = []
        for r in scan:
            trial = ridges.copy()
            trial[j] = r
            values.append(gcv(phi, t, trial))
        ridges[j] = scan[np.argmin(values)]
    kept = np.flatnonzero(ridges < 1e11 * (phi**2).sum(axis=0))
    assert sorted(found.active) == sorted(kept)
    order = np.argsort(found.active)
    inner = ridges[kept] > 1e-11 * (phi[:, kept] ** 2).sum(axis=0)
    np.testing.assert_allclose(found.ridges[order][inner], ridges[kept][inner], rtol=0.03)


@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_initial_ridge_and_readmission_change_the_path(sinc):
    X, y = sinc
    models = [LocalRidgeRegressor("rbf", initial_ridge=r).fit(X, y) for r in (None, 1e-3, 1e3)]
    assert all(m.criterion_ < 0.02 for m in models)
    with pytest.raises(ValueError, match=r"initial_ridge must be positive and finite, or None; got -1"):
        LocalRidgeRegressor("rbf", initial_ridge=-1.0).fit(X, y)


@pytest.mark.parametrize("gamma", [0.003, 0.01])
def test_local_ridges_never_end_above_a_value_they_had(gamma):
    """An explicit inverse loses its digits with wide kernels: a cycle that raised V is taken back."""
    X, y = load_diabetes(return_X_y=True)
    model = LocalRidgeRegressor(KernelBasis(gamma=100 * gamma)).fit(X[:150], y[:150])
    assert model.outcome_ in (Outcome.CONVERGED, Outcome.ILL_CONDITIONED)
    assert (np.diff(model.trace_["criterion"]) < 1e-6 * y.var()).all()
    assert model.criterion_ < 1.01 * model.trace_["criterion"].min()


@pytest.mark.filterwarnings("ignore:Some active functions:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_a_cycle_of_local_ridges_that_raised_v_is_taken_back(rng):
    """Here rounding does raise V; without taking back, the trace would rise, or the result be far from it."""
    X = rng.uniform(-10, 10, (150, 1))
    y = np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 150)
    model = LocalRidgeRegressor(KernelBasis(gamma=0.01)).fit(X, y)
    assert (np.diff(model.trace_["criterion"]) < 0.0).all()
    assert model.criterion_ < 1.01 * model.trace_["criterion"].min()


def test_max_active_keeps_the_functions_of_largest_effect(sinc):
    X, y = sinc
    model = LocalRidgeRegressor("rbf", max_active=3).fit(X, y)
    assert (len(model.active_), model.outcome_) == (3, Outcome.SIZE_LIMIT)


@pytest.mark.parametrize("basis", ["passthrough", KernelBasis(kernel="linear")])
def test_no_candidate_that_varies_gives_the_mean(basis):
    y = np.arange(30.0)
    model = LocalRidgeRegressor(basis).fit(np.ones((30, 3)), y)
    assert len(model.active_) == 0
    assert model.outcome_ is Outcome.NOTHING_HELPS
    np.testing.assert_allclose(model.predict(np.ones((2, 3))), y.mean())


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", [14, 21, 40, 49, 54, 56, 62, 64])
def test_columns_of_very_different_lengths_are_all_found(seed):
    """Updates by rank one lose all digits of the short columns, whose variance is then a division by zero."""
    rng = np.random.default_rng(seed)
    n, d = rng.integers(10, 60), rng.integers(3, 12)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-6, 6, size=d)
    y = X @ (rng.normal(size=d) / X.std(axis=0)) + 0.1 * rng.normal(size=n)
    model = LocalRidgeRegressor("passthrough").fit(X, y)
    assert model.score(X, y) > 0.9


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_fit_that_becomes_exact_keeps_its_steps():
    """Cycles that have nothing left to improve did not ask the limits."""
    X = np.ones((1, 1))
    model = LocalRidgeRegressor("rbf", fit_intercept=False, max_iter=1).fit(X, X[:, 0], sample_weight=[1e12])
    assert model.n_iter_ == 1


def test_an_inverse_that_changes_is_the_matrix_that_changes(rng):
    root = rng.normal(size=(7, 9))
    dense = root @ root.T
    late = _ChangingInverse(7)
    late.reset(dense)
    for step in range(12):
        if step % 4 == 1:  # the last member takes the place of the second
            late.drop(1)
            keep = [0, len(dense) - 1, *range(2, len(dense) - 1)]
            dense = dense[np.ix_(keep, keep)]
        elif step % 4 == 3:
            inward = rng.normal(size=len(dense))
            late.append(inward, 1.7)
            border = np.append(inward, -1.0)
            dense = np.pad(dense, (0, 1)) + np.outer(border, border) / 1.7
        else:
            vector = rng.normal(size=len(dense))
            late.subtract(0.3, vector)
            dense = dense - 0.3 * np.outer(vector, vector)
        vector = rng.normal(size=len(dense))
        np.testing.assert_allclose(late.times(vector), dense @ vector, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(late.diagonal(), dense.diagonal(), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose([late.row(place) for place in range(len(dense))], dense, rtol=1e-10, atol=1e-10)


def test_copies_and_multiples_of_columns_change_nothing(rng):
    X = rng.normal(size=(40, 6))
    y = X[:, 0] - 2.0 * X[:, 3] + 0.3 * rng.normal(size=40)
    with_copies = np.column_stack([X, X[:, [3, 0]], -5.0 * X[:, 3], X])
    plain = LocalRidgeRegressor("passthrough", calibrate_std=False).fit(X, y)
    found = LocalRidgeRegressor("passthrough", calibrate_std=False).fit(with_copies, y)
    np.testing.assert_array_equal(found.active_, plain.active_)
    np.testing.assert_allclose(found.predict(with_copies), plain.predict(X), rtol=1e-8)


def test_many_more_columns_than_rows_take_a_system_of_the_rows(rng):
    """The inverse by rows is that of the whole matrix, so the fit ends at the same model as from sums, which have no rows."""
    X = rng.normal(size=(15, 90))
    y = X[:, 0] + 0.1 * rng.normal(size=15)
    (moments,) = InMemoryDesign(PassthroughCandidates(90), Rows(X, y[:, None])).moments("whole")
    rows = moments.rows.centered(np.arange(90))
    by_rows, by_columns = _FullModel(moments, 0.7, rows), _FullModel(moments, 0.7)
    for one in (by_rows, by_columns):
        one._ridges[:] = np.linspace(0.1, 3.0, 90)
        one.refresh()
    np.testing.assert_allclose(by_rows._inverse._base, by_columns._inverse._base, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_rows.weights, by_columns.weights, rtol=1e-8, atol=1e-12)
    assert by_rows.freedom == pytest.approx(by_columns.freedom)

"""Means, ranks and ratios against slow formulas, and what becomes of failures."""

import numpy as np
import pytest

from benchmarks.accuracy.cells import Cell
from benchmarks.accuracy.summary import best_of, geometric_mean, grid_of, of_role, ranks, ratios, standings

NAN = float("nan")


def cell(table, method, rmse, split=0, **others):
    return Cell(table=table, split=split, method=method, settings="", rmse=rmse, failure=None if rmse else "broken", **others)


def slow_ranks(row):
    """One more than the number of better ones, and half of the other equal ones."""
    row = [np.inf if np.isnan(value) else value for value in row]
    return [1 + sum(other < value for other in row) + (sum(other == value for other in row) - 1) / 2 for value in row]


@pytest.mark.parametrize("seed", range(5))
def test_ranks_and_ratios_are_those_of_slow_formulas(seed):
    rng = np.random.default_rng(seed)
    errors = rng.integers(1, 6, (7, 5)).astype(float)
    errors[rng.random((7, 5)) < 0.2] = NAN
    np.testing.assert_array_equal(ranks(errors), [slow_ranks(row) for row in errors])
    for row, found in zip(errors, ratios(errors), strict=True):
        least = min((value for value in row if not np.isnan(value)), default=NAN)
        np.testing.assert_allclose(found, [value / least for value in row])


def test_the_geometric_mean_is_the_root_of_the_product():
    np.testing.assert_allclose(geometric_mean(np.array([2.0, 3.0, NAN, 7.0])), (2.0 * 3.0 * 7.0) ** (1 / 3))
    assert np.isnan(geometric_mean(np.array([NAN])))


def test_a_grid_has_means_over_splits_in_the_order_of_the_board():
    cells = [cell("step", "vbls", 0.5), cell("step", "vbls", 0.7, split=1), cell("boston", "frvm", 0.2)]
    grid = grid_of(cells, "rmse")
    assert (grid.tables, grid.methods) == (("boston", "step"), ("frvm", "vbls"))
    np.testing.assert_allclose(grid.values, [[0.2, NAN], [NAN, 0.6]])


def test_one_failed_split_fails_the_table():
    cells = [
        cell("step", "vbls", 0.1),
        cell("step", "vbls", None, split=1),
        cell("step", "frvm", 0.9),
        cell("step", "frvm", 0.9, 1),
    ]
    assert np.isnan(grid_of(cells, "rmse").row("step")["vbls"])
    first, second = standings(cells)
    assert (first.method, first.mean_rank, first.n_best, first.n_failed) == ("frvm", 1.0, 1, 0)
    assert (second.method, second.mean_rank, second.n_best, second.n_failed) == ("vbls", 2.0, 0, 1)
    assert np.isnan(second.mean_ratio)


def test_standings_are_sorted_and_count_what_there_is():
    errors = {"boston": {"frvm": 0.2, "vbls": 0.4, "gp": 0.1}, "cpu_act": {"frvm": 0.3, "vbls": 0.3, "gp": 0.6}}
    sizes, covered = {"frvm": 10, "vbls": 3, "gp": 500}, {"boston": 0.9, "cpu_act": 0.7}
    cells = [
        cell(table, method, error, functions=sizes[method], coverage=None if method == "gp" else covered[table])
        for table, row in errors.items()
        for method, error in row.items()
    ]
    found = {each.method: each for each in standings(cells)}
    assert list(found) == ["frvm", "gp", "vbls"]
    np.testing.assert_allclose([each.mean_rank for each in found.values()], [1.75, 2.0, 2.25])
    np.testing.assert_allclose(found["vbls"].mean_ratio, (4.0 * 1.0) ** 0.5)
    np.testing.assert_allclose(found["vbls"].median_ratio, 2.5)
    np.testing.assert_allclose((found["frvm"].coverage, found["frvm"].least_coverage), (0.8, 0.7))
    assert np.isnan(found["gp"].coverage)
    assert (found["gp"].n_best, found["gp"].functions) == (1, 500.0)
    warned = standings([*cells, cell("step", "gp", 0.5, warnings=("look out", "again"))])
    assert {each.method: each.n_warned for each in warned} == {"frvm": 0, "gp": 1, "vbls": 0}


def test_roles_and_the_best_of_each_side():
    cells = [cell("boston", "frvm", 0.2), cell("abalone", "frvm", 0.3), cell("abalone", "gp", 0.1), cell("abalone", "vbls", 0.4)]
    assert [each.table for each in of_role(cells, "TUNE")] == ["boston"]
    row = grid_of(cells, "rmse").row("abalone")
    assert best_of(row, rivals=False) == ("frvm", 0.3)
    assert best_of(row, rivals=True) == ("gp", 0.1)
    assert best_of({"vbls": NAN}, rivals=False) is None

"""Tables of the board and the table with traps: roles, splits, and the traps themselves."""

import numpy as np
import pytest

from benchmarks.accuracy.generated import GRID_REPEATS, N_GRID, N_TEST, OUTLIER
from benchmarks.accuracy.tables import REPORT, TABLES, TUNE, absent
from benchmarks.traps import DEPTHS, LEAK, LEAK_NOISE, LOST_POINT, SITES, TARGET, mean_yield, traps
from skarce.datasets import SOURCES

GENERATED = [name for name, table in TABLES.items() if table.is_generated]
REAL = [name for name, table in TABLES.items() if not table.is_generated]


def test_families_are_on_one_side():
    for family, role in (("kin8", REPORT), ("puma8", TUNE)):
        roles = [table.role for name, table in TABLES.items() if name.startswith(family)]
        assert roles == [role] * 4
    assert {name for name, table in TABLES.items() if table.role == TUNE} >= {"boston", "cpu_act", "friedman1", "friedman2"}
    assert {TABLES[name].role for name in ("abalone", "friedman3", "grid", "step", "traps")} == {REPORT}


def test_every_regression_table_is_there():
    classes = {"synth_tr", "synth_te", "banana", "pima_tr", "pima_te"}
    assert set(REAL) == set(SOURCES) - classes


@pytest.mark.parametrize("name", GENERATED)
def test_generated_tables_are_seeded_and_standardized(name):
    X, y, X_test, y_test = TABLES[name].parts(0, 60, 0)
    assert (len(X), len(y), len(X_test), len(y_test)) == (60, 60, N_TEST, N_TEST)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-12)
    assert set(np.round(X.std(axis=0), 12)) <= {0.0, 1.0}
    np.testing.assert_array_equal(TABLES[name].parts(0, 60, 0)[1], y)
    for split, seed in ((1, 0), (0, 1)):
        assert not np.array_equal(TABLES[name].parts(split, 60, seed)[1], y)


def test_rows_of_a_real_table_are_in_one_part_only(monkeypatch):
    X, y = np.arange(180.0).reshape(90, 2), np.arange(90.0)
    monkeypatch.setattr("skarce.datasets.load", lambda name: (X, y, ("a", "b"), "here"))
    for n_train, expected in ((50, 50), (800, 60)):
        _, train, _, test = TABLES["boston"].parts(0, n_train, 0)
        assert len(train) == expected
        assert sorted([*train, *test]) == list(y)


def test_real_tables_are_found_or_named(data_folder, monkeypatch):
    assert absent(["boston", "friedman1", "chwirut1"]) == {}
    assert [len(part) for part in TABLES["chwirut1"].parts(0, 500, 0)] == [143, 143, 71, 71]
    monkeypatch.setenv("SKARCE_DATA", str(data_folder.parent / "nowhere"))
    assert list(absent(["boston", "friedman1"])) == ["boston"]


def test_the_grid_has_repeats_one_outlier_and_a_value_left_out(rng):
    X, y, X_test, _ = TABLES["grid"].draw(rng, 800)
    assert len(np.unique(X_test[:, 0])) == N_GRID
    (left_out,) = set(X_test[:, 0]) - set(X[:, 0])
    assert 0 < left_out < N_GRID - 1
    settings, repeats = np.unique(X, axis=0, return_counts=True)
    assert set(repeats) == {GRID_REPEATS}
    spreads = [np.ptp(y[(setting == X).all(axis=1)]) for setting in settings]
    assert sum(spread > OUTLIER * 0.1 / 2 for spread in spreads) == 1


def test_traps_hold_what_they_promise(rng):
    frame = traps(rng, 400)
    assert (frame.columns[-1], set(frame["site"])) == (TARGET, set(SITES))
    assert set(frame["depth"]) <= set(DEPTHS)
    assert frame["batch"].nunique() == 1
    assert frame.drop(columns=[TARGET, LEAK]).duplicated().sum() > 50
    noise = frame[TARGET] - mean_yield(frame)
    (outlier,) = np.flatnonzero(np.abs(noise) > 10.0)
    np.testing.assert_allclose(frame[TARGET][outlier] / LOST_POINT, mean_yield(frame)[outlier], atol=5.0)
    np.testing.assert_allclose((frame[LEAK] - frame[TARGET]).std(), LEAK_NOISE, rtol=0.2)


def test_traps_on_the_board_have_the_leak_only_if_asked(rng):
    with_leak, without = (TABLES[name].draw(np.random.default_rng(0), 200) for name in ("traps", "traps-no-leak"))
    assert with_leak[0].shape[1] == without[0].shape[1] + 1
    np.testing.assert_array_equal(with_leak[1], without[1])
    best = [max(abs(np.corrcoef(column, y)[0, 1]) for column in X.T if np.ptp(column)) for _, _, X, y in (with_leak, without)]
    assert best[0] > 0.99 > best[1]

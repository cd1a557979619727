"""Notes on columns that are nearly copies of the target."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from skarce.datasets.leaks import FEWEST_ROWS, MOST_ROWS, NEARLY_ALL, near_copies


def noted(y, **columns):
    frame = pd.DataFrame({"other": np.zeros(len(y)), **columns})
    return near_copies(frame, np.asarray(y, dtype=float), list(frame.columns))


@pytest.mark.parametrize("n_rows", [FEWEST_ROWS, 300, MOST_ROWS + 1000])
def test_a_near_copy_is_noted_with_its_correlation(rng, n_rows):
    y = rng.normal(size=n_rows)
    copy = y + rng.normal(0, 1e-6, n_rows)
    copy[np.argsort(y)[[3, 4]]] = copy[np.argsort(y)[[4, 3]]]  # two rows change places
    copy[np.argsort(y)[7]] = 1e3  # and one is an outlier
    (note,) = noted(y, copy=copy, noise=rng.normal(size=n_rows))
    assert "'copy' is nearly a copy of the target" in note
    kept = np.arange(n_rows) != np.argsort(y)[7]
    is_whole = n_rows <= MOST_ROWS
    assert not is_whole or f"{spearmanr(copy[kept], y[kept]).statistic ** 2:.4f}" in note
    assert note.endswith("--exclude copy")


@pytest.mark.parametrize("noise", [0.03, 0.3])
def test_the_threshold_is_the_squared_rank_correlation(rng, noise):
    y = rng.normal(size=500)
    near = y + rng.normal(0, noise, 500)
    assert bool(noted(y, near=near)) == (spearmanr(near, y).statistic ** 2 >= NEARLY_ALL) == (noise < 0.1)


def test_one_outlier_neither_hides_nor_makes_a_copy(rng):
    y = rng.normal(size=200)
    copy, noise = y + rng.normal(0, 0.01, 200), rng.normal(size=200)
    copy[3] = 1e6
    assert len(noted(y, copy=copy)) == 1
    y[5] = noise[5] = 1e6
    assert np.corrcoef(y, noise)[0, 1] > 0.999
    assert noted(y, noise=noise) == []


def test_a_curve_of_the_target_is_noted(rng):
    y = rng.normal(size=100)
    assert len(noted(y, exponential=np.exp(y), falling=-y)) == 2


def test_row_numbers_few_rows_and_the_only_input_are_not_noted(rng):
    y = np.sort(rng.normal(size=100))
    assert noted(y, id=1000 + np.arange(100)) == []
    assert len(noted(y, cents=np.round(1e6 * y))) == 1
    assert noted(y[: FEWEST_ROWS - 1], copy=y[: FEWEST_ROWS - 1]) == []
    assert near_copies(pd.DataFrame({"copy": y}), y, ["copy"]) == []


def test_names_are_quoted_for_the_shell(rng):
    y = rng.normal(size=50)
    assert noted(y, **{"my estimate": y})[0].endswith("--exclude 'my estimate'")

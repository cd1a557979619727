"""Notes on columns that are nearly copies of the target."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from skarce.datasets import TargetKind
from skarce.datasets.leaks import FEWEST_ROWS, MOST_ROWS, NEARLY_ALL, leaks, near_copies, numbers_in, share_explained


def noted(y, **columns):
    frame = pd.DataFrame({"other": np.zeros(len(y)), **columns})
    return list(near_copies(frame, np.asarray(y, dtype=float), list(frame.columns)).values())


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
    assert near_copies(pd.DataFrame({"copy": y}), y, ["copy"]) == {}


def test_names_are_quoted_for_the_shell(rng):
    y = rng.normal(size=50)
    assert noted(y, **{"my estimate": y})[0].endswith("--exclude 'my estimate'")


def leaking(y, kind=TargetKind.NUMBERS, **columns):
    """Columns that are noted, beside two that are not."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"other": rng.normal(size=len(y)), "town": rng.choice(["Bonn", "Kiel", "Ulm"], len(y)).astype(object)})
    found = leaks(frame.assign(**columns), np.asarray(y), kind)
    assert not {"other", "town"} & set(found)
    return found


@pytest.mark.parametrize("form", ["${:,.0f}", "{:.2f} EUR", "about {:.0f}"])
@pytest.mark.parametrize("n_rows", [FEWEST_ROWS, 300])
def test_the_target_as_text_is_noted(rng, form, n_rows):
    y = np.exp(rng.normal(12.0, 1.0, n_rows)) * np.where(rng.uniform(size=n_rows) < 0.2, 0.001, 1.0)
    texts = np.array([form.format(value) for value in y], dtype=object)
    found = leaking(y, label=texts, plate=np.array([f"plate {rng.integers(1000)}" for _ in y], dtype=object))
    assert list(found) == ["label"]
    assert "text whose numbers are nearly a copy" in found["label"]
    assert found["label"].endswith("--exclude label")
    texts[3] = "unknown"
    assert n_rows < 300 or list(leaking(y, label=texts)) == ["label"]


def test_numbers_are_found_in_texts():
    np.testing.assert_equal(numbers_in(["-1.5", "1,234.5 kg", "S1", "1 234"]), [-1.5, 1234.5, 1.0, 1234.0])
    assert np.isnan(numbers_in(["1", "a"])).all()
    assert np.isnan(numbers_in(["1 to 2"] * 9)).all()


@pytest.mark.parametrize("n_rows", [200, MOST_ROWS + 1000])
def test_texts_that_explain_a_target_of_numbers_are_noted(rng, n_rows):
    y = rng.normal(size=n_rows)
    ranges = np.array([f"{'abcdefghijklmnopqrst'[place]}" for place in np.argsort(np.argsort(y)) * 20 // n_rows], dtype=object)
    halves = np.where(y > 0, "high", "low").astype(object)
    found = leaking(y, ranges=ranges, halves=halves)
    assert list(found) == ["ranges"]
    assert "texts explain 99." in found["ranges"]
    assert list(leaking((y > 0).astype(float), halves=halves)) == ["halves"]


def test_names_of_rows_tell_nothing_about_others(rng):
    y = rng.normal(size=200)
    assert leaking(y, name=np.array([f"{chr(97 + row % 26)}{chr(97 + row // 26)}" for row in range(200)], dtype=object)) == {}
    assert share_explained(np.arange(200), y) <= 0.0


def test_what_texts_explain_is_that_of_a_loop_over_left_out_rows(rng):
    codes, y = rng.integers(0, 5, 30), rng.normal(size=30)
    errors = [(y[row] - y[(codes == codes[row]) & (np.arange(30) != row)].mean()) ** 2 for row in range(30)]
    kept = np.arange(30) != np.argmax(errors)
    expected = 1.0 - np.sum(np.array(errors)[kept]) / (np.var(y[kept]) * 29)
    assert share_explained(codes, y) == pytest.approx(expected)


@pytest.mark.parametrize("n_rows", [100, 400])
@pytest.mark.parametrize("n_typos", [0, 1, 20])
def test_a_code_that_copies_the_class_is_noted(rng, n_rows, n_typos):
    y = np.where(rng.normal(size=n_rows) > 0, "sold", "open")
    status = np.where(y == "sold", rng.choice(["S1", "S2"], n_rows), "N0").astype(object)
    status[:n_typos] = np.where(y == "sold", "N0", "S1")[:n_typos]
    found = leaking(y, TargetKind.CLASSES, status=status)
    assert list(found) == (["status"] if n_typos < 20 else [])


def test_of_a_rare_class_the_rare_rows_must_be_told(rng):
    """A constant guess is right for 99.7 % of these rows."""
    y = np.where(np.arange(3000) % 300 == 7, "fraud", "fine")
    assert leaking(y, TargetKind.CLASSES, number=rng.normal(size=3000), code=rng.choice(["a", "b"], 3000).astype(object)) == {}
    assert list(leaking(y, TargetKind.CLASSES, flag=np.where(y == "fraud", "F", "-").astype(object))) == ["flag"]

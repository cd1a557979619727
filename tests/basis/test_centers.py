"""Which centers ``centers="auto"`` takes: all distinct rows if they are few, and landmarks if they are many."""

import numpy as np
import pytest

from skarce import KernelBasis, ProcessBasis
from skarce.basis import centers
from skarce.basis.centers import AUTO_LANDMARKS, FEW_ROWS_PER_LANDMARK, SEEDING_ROWS_PER_LANDMARK

FEW = FEW_ROWS_PER_LANDMARK * AUTO_LANDMARKS
MANY = FEW + 1


def test_auto_is_the_default_and_takes_all_distinct_rows_if_they_are_few(rng):
    X = rng.normal(size=(FEW, 2))
    X = np.vstack([X, X[:500]])
    auto, every = KernelBasis().fit(X), KernelBasis(centers=None).fit(X)
    assert auto.centers == "auto"
    np.testing.assert_array_equal(auto.centers_, every.centers_)
    np.testing.assert_array_equal(auto.center_indices_, np.arange(FEW))
    assert auto.center_choice_ == every.center_choice_ == "all"
    assert not auto.is_on_landmarks


def test_auto_takes_landmarks_if_there_are_many_rows_and_none_takes_all(rng):
    X = rng.normal(size=(MANY, 2))
    basis = KernelBasis().fit(X)
    assert basis.centers_.shape == (AUTO_LANDMARKS, 2)
    assert basis.center_choice_ == "landmarks"
    assert basis.is_on_landmarks
    np.testing.assert_array_equal(basis.centers_, X[basis.center_indices_])
    assert len(np.unique(basis.centers_, axis=0)) == AUTO_LANDMARKS
    assert len(KernelBasis(centers=None).fit(X).centers_) == MANY
    assert basis.select([1, 2]).is_on_landmarks


def test_each_choice_has_a_name(rng):
    X = rng.normal(size=(40, 2))
    assert KernelBasis(centers=7, random_state=0).fit(X).center_choice_ == "landmarks"
    assert KernelBasis(centers=50).fit(X).center_choice_ == "all"
    assert KernelBasis(centers=X[:3]).fit(X).center_choice_ == "given"
    assert KernelBasis("precomputed").fit(X @ X.T).center_choice_ == "all"
    assert not KernelBasis(centers=7, random_state=0).fit(X).is_on_landmarks
    with pytest.raises(ValueError, match="centers must be \"auto\", None, a whole number or an array of centers, got 'all'"):
        KernelBasis(centers="all").fit(X)


def test_landmarks_of_auto_do_not_change_from_fit_to_fit_but_follow_the_seed(rng):
    X = rng.normal(size=(MANY, 2))
    first, again, other = KernelBasis().fit(X), KernelBasis().fit(X), KernelBasis(random_state=1).fit(X)
    np.testing.assert_array_equal(first.center_indices_, again.center_indices_)
    assert set(first.center_indices_) != set(other.center_indices_)


def test_weights_and_repeats_give_the_same_landmarks(rng):
    X = rng.normal(size=(MANY, 2))
    weights = rng.integers(1, 4, MANY)
    expected = KernelBasis().fit(X).centers_
    np.testing.assert_array_equal(KernelBasis().fit(X, sample_weight=weights).centers_, expected)
    np.testing.assert_array_equal(KernelBasis().fit(np.repeat(X, weights, axis=0)).centers_, expected)
    more, zeros = np.vstack([rng.normal(size=(5, 2)), X]), np.r_[np.zeros(5), np.ones(MANY)]
    np.testing.assert_array_equal(KernelBasis().fit(more, sample_weight=zeros).centers_, expected)


def test_seeding_sees_no_more_rows_if_there_are_more(rng, monkeypatch):
    seen = []
    real = centers.spread_rows

    def counting(X, *arguments, **options):
        seen.append(len(X))
        return real(X, *arguments, **options)

    monkeypatch.setattr(centers, "spread_rows", counting)
    for n_rows in (20_000, 40_000):
        KernelBasis().fit(rng.normal(size=(n_rows, 1)))
    assert seen == [SEEDING_ROWS_PER_LANDMARK * AUTO_LANDMARKS] * 2


@pytest.mark.parametrize("scale", [1e-150, 1e-20, 1e150])
def test_landmarks_do_not_depend_on_the_units(rng, scale):
    X = rng.normal(size=(400, 2))
    with np.errstate(all="raise"):
        chosen = KernelBasis(gamma=scale**-2.0, centers=20, random_state=0).fit(scale * X).center_indices_
    np.testing.assert_array_equal(chosen, KernelBasis(gamma=1.0, centers=20, random_state=0).fit(X).center_indices_)


def test_rows_that_no_distance_tells_apart_are_chosen_once():
    X = np.r_[1.0, 1e-200 * np.arange(1, 40)][:, None]
    chosen = KernelBasis(gamma=1.0, centers=10, random_state=0).fit(X).center_indices_
    assert len(np.unique(chosen)) == len(chosen) <= 10


def test_a_process_takes_landmarks_too(rng):
    X = rng.normal(size=(MANY, 1))
    few, many = ProcessBasis(gamma=50.0).fit(X[:50]), ProcessBasis(gamma=50.0).fit(X)
    assert not few.kernels_.is_on_landmarks
    assert many.kernels_.is_on_landmarks
    np.testing.assert_array_equal(many.centers_, ProcessBasis(gamma=50.0).fit(X).centers_)


def test_widths_are_learned_alike_if_auto_takes_every_row(rng):
    X = rng.normal(size=(60, 2))
    y = np.sin(2.0 * X[:, 0])
    learned = [KernelBasis(gamma="ard", centers=c, random_state=0).fit(X, y).gamma_ for c in ("auto", None)]
    np.testing.assert_array_equal(*learned)


@pytest.mark.parametrize("number", [1e9, 2.5, True])
def test_a_number_of_landmarks_is_a_whole_number(rng, number):
    with pytest.raises(ValueError, match="a whole number"):
        KernelBasis(centers=number).fit(rng.normal(size=(20, 2)))

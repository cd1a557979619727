"""Default fits on many rows: landmarks, an outcome that says so, and early refusals of what does not fit into memory."""

import numpy as np
import pytest

from skarce import (
    EvidenceRegressor,
    EvidenceSearchRegressor,
    KernelBasis,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    ProcessBasis,
    RelevanceVectorRegressor,
)
from skarce.basis.centers import AUTO_LANDMARKS, FEW_ROWS_PER_LANDMARK
from skarce.criteria import SharedEvidence
from skarce.designs import RowBlocks
from tests.estimator_lists import REGRESSORS


def wave(rng, n_rows):
    X = rng.uniform(-5, 5, (n_rows, 1))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.1, n_rows)


@pytest.fixture
def many(rng):
    return wave(rng, FEW_ROWS_PER_LANDMARK * AUTO_LANDMARKS + 200)


def test_a_default_fit_says_that_its_candidates_are_landmarks(many):
    model = RelevanceVectorRegressor("rbf").fit(*many)
    assert model.outcome_ is Outcome.ON_LANDMARKS
    assert model.outcome_.is_converged
    assert Outcome.CONVERGED.is_converged
    assert not Outcome.TIME_LIMIT.is_converged
    assert "KernelBasis(centers=...)" in str(model.outcome_)
    assert model.basis_.center_choice_ == "landmarks"
    assert len(model.relevance_) == AUTO_LANDMARKS
    assert model.score(*many) > 0.97


def test_a_default_fit_is_the_same_each_time(many):
    first, again = RelevanceVectorRegressor("rbf").fit(*many), RelevanceVectorRegressor("rbf").fit(*many)
    np.testing.assert_array_equal(first.relevance_vectors_, again.relevance_vectors_)
    np.testing.assert_array_equal(first.dual_coef_, again.dual_coef_)
    other = RelevanceVectorRegressor("rbf", random_state=1).fit(*many)
    assert not np.array_equal(first.relevance_vectors_, other.relevance_vectors_)


def test_few_rows_give_the_model_with_all_rows_as_centers(rng):
    X, y = wave(rng, 300)
    auto, every = RelevanceVectorRegressor("rbf").fit(X, y), RelevanceVectorRegressor(KernelBasis(centers=None)).fit(X, y)
    np.testing.assert_array_equal(auto.active_, every.active_)
    np.testing.assert_array_equal(auto.dual_coef_, every.dual_coef_)
    assert auto.outcome_ is Outcome.CONVERGED


def test_landmarks_that_the_user_asked_for_are_nothing_to_mention(many):
    assert RelevanceVectorRegressor(KernelBasis(centers=40, random_state=0)).fit(*many).outcome_ is Outcome.CONVERGED


def test_other_outcomes_stay_and_the_basis_still_says_it(many):
    model = OrthogonalLeastSquaresRegressor("rbf", n_basis=3).fit(*many)
    assert model.outcome_ is Outcome.GOAL_REACHED
    assert model.basis_.center_choice_ == "landmarks"


def test_a_process_says_it_too(many):
    assert EvidenceRegressor(ProcessBasis(gamma=1.0)).fit(*many).outcome_ is Outcome.ON_LANDMARKS


def test_verbose_prints_a_line_about_landmarks(many, rng, capsys):
    RelevanceVectorRegressor("rbf", verbose=1).fit(*many)
    (line,) = [line for line in capsys.readouterr().err.splitlines() if line.startswith("centers:")]
    assert f"{AUTO_LANDMARKS:,} functions at landmarks for {len(many[0]):,} rows" in line
    RelevanceVectorRegressor("rbf", verbose=1).fit(*wave(rng, 100))
    assert "centers:" not in capsys.readouterr().err


def test_a_slow_criterion_gets_fewer_landmarks(many):
    model = EvidenceSearchRegressor("rbf", max_active=2).fit(*many)
    assert len(model.relevance_) == SharedEvidence.most_landmarks < AUTO_LANDMARKS


@pytest.mark.parametrize("basis", ["rbf", KernelBasis(), KernelBasis(centers=None)])
def test_centers_at_the_rows_are_not_fixed_in_advance(many, basis):
    with pytest.raises(AttributeError) as refused:
        RelevanceVectorRegressor(basis).partial_fit(*many)
    assert "candidates that are fixed in advance" in str(refused.value)


def test_row_blocks_take_landmarks_from_a_sample(rng):
    X, y = wave(rng, 21_000)
    model = RelevanceVectorRegressor("rbf", max_active=12).fit(RowBlocks.from_arrays(X, y))
    assert model.basis_.center_choice_ == "landmarks"
    assert model.score(X, y) > 0.97
    with pytest.raises(ValueError, match="centers=None would make each of the 21000 rows a candidate"):
        RelevanceVectorRegressor(KernelBasis(centers=None)).fit(RowBlocks.from_arrays(X, y))


def kernel_of_no_use(X, C):
    raise AssertionError("a fit that cannot end must be refused before the first kernel is evaluated")


@pytest.mark.parametrize("regressor", REGRESSORS)
def test_all_of_many_rows_as_centers_are_refused_before_the_first_pass(rng, regressor):
    X, y = wave(rng, 200_000)
    with pytest.raises(ValueError, match=r"a fit with 200000 candidates, .* \(\d+ MiB\), above .*KernelBasis\(centers=\"auto\"\)"):
        regressor(KernelBasis(kernel_of_no_use, centers=None)).fit(X, y)

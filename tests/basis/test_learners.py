"""The memory of learned widths."""

import numpy as np
import pytest

from skarce import EvidenceRegressor, KernelBasis, RelevanceVectorRegressor, _width_learner
from skarce.basis import learners
from skarce.model_selection import learn_widths


@pytest.fixture
def calls(monkeypatch):
    """The kernels that widths were learned for, in order."""
    made = []

    def counted(*args, **options):
        made.append(options["kernel"])
        return learn_widths(*args, **options)

    monkeypatch.setattr(_width_learner, "_learner", counted)
    return made


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (40, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=40)


def test_the_same_data_and_options_are_learned_from_once(calls, problem):
    X, y = problem
    apart = [RelevanceVectorRegressor().fit(X, y), EvidenceRegressor().fit(X, y)]
    assert len(calls) == 2
    with learners.remembering() as memory:
        together = [RelevanceVectorRegressor().fit(X, y), EvidenceRegressor().fit(X, y)]
        assert len(calls) == 3
        assert memory.take_seconds_saved() > 0.0 == memory.take_seconds_saved()
    for one, other in zip(apart, together, strict=True):
        np.testing.assert_array_equal(one.predict(X), other.predict(X))
    RelevanceVectorRegressor().fit(X, y)
    assert len(calls) == 4


def test_other_data_or_options_are_learned_from_again(calls, problem):
    X, y = problem
    with learners.remembering() as memory:
        for basis in (KernelBasis(gamma="ard"), KernelBasis(gamma="evidence"), KernelBasis("matern32", gamma="ard")):
            basis.fit(X, y)
        KernelBasis(gamma="ard").fit(X, -2.0 * y)
        KernelBasis(gamma="ard").fit(X, y, np.arange(40.0))
        RelevanceVectorRegressor(KernelBasis(gamma="ard"), fit_intercept=False).fit(X, y)
        assert memory.take_seconds_saved() == 0.0
    assert len(calls) == 6


def test_what_cannot_be_hashed_is_learned_again(calls, problem):
    with learners.remembering() as memory:
        for _ in range(2):
            KernelBasis(gamma="ard", width_params={"callback": lambda progress: None}).fit(*problem)
        assert memory.take_seconds_saved() == 0.0
    assert len(calls) == 2

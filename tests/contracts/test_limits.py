"""One body for the limits of every regressor. A new regressor, or a new solver of one, is a line in `EVERY_REGRESSOR`."""

import time
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import skarce
from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    KernelMatchingPursuitRegressor,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    SparseRegressor,
    StepwiseRegressor,
    VBLSRegressor,
)
from skarce.criteria import SharedEvidence
from skarce.searches import BestAction, GreedyBatches, Pools
from tests.estimator_lists import WITHOUT_BASIS

BASIS = KernelBasis(gamma=1.0)
EVERY_REGRESSOR = {
    "relevance vectors": RelevanceVectorRegressor(BASIS),
    "relevance vectors, one by one": RelevanceVectorRegressor(BASIS, solver="sequential"),
    "relevance vectors, EM": RelevanceVectorRegressor(BASIS, solver="em"),
    "relevance vectors in pools": SparseRegressor(BASIS, search=GreedyBatches(pools=Pools(12, 5)), moments="columns"),
    "fast GCV": FastGCVRegressor(BASIS),
    "fast GCV, one by one": FastGCVRegressor(BASIS, solver="sequential"),
    "fast GCV, to the letter": FastGCVRegressor(BASIS, solver="sequential", noise_update="paper"),
    "local smoothing": LocalRidgeRegressor(BASIS),
    "regularized forward": RegularizedForwardRegressor(BASIS),
    "orthogonal least squares": OrthogonalLeastSquaresRegressor(BASIS),
    "matching pursuit": KernelMatchingPursuitRegressor(BASIS),
    "matching pursuit, basic": KernelMatchingPursuitRegressor(BASIS, variant="basic"),
    "matching pursuit, Huber": KernelMatchingPursuitRegressor(BASIS, loss="huber"),
    "evidence search, forward": EvidenceSearchRegressor(BASIS, search="forward"),
    "evidence search, backward": EvidenceSearchRegressor(BASIS, search="backward"),
    "evidence search, floating": EvidenceSearchRegressor(BASIS, search="floating"),
    "evidence search, oscillating": EvidenceSearchRegressor(BASIS, search="oscillating"),
    "evidence search, plus and minus": EvidenceSearchRegressor(BASIS, search="plus-take-away"),
    "best action, one ridge": SparseRegressor(BASIS, SharedEvidence(), BestAction()),
    "all candidates": EvidenceRegressor(BASIS),
    "elimination": BackwardEliminationRegressor(BASIS),
    "elimination, forward": BackwardEliminationRegressor(BASIS, direction="forward"),
    "L1": LaplacePriorRegressor(BASIS),
    "L1, not finished": LaplacePriorRegressor(BASIS, finish=False),
    "Jeffreys": JeffreysPriorRegressor(BASIS),
    "stepwise": StepwiseRegressor(BASIS),
    "stepwise, backward": StepwiseRegressor(KernelBasis(gamma=1.0, centers=20), direction="backward"),
    "variational": VBLSRegressor(BASIS),
    "variational, sweeps": VBLSRegressor(BASIS, solver="em"),
    "variational, shared": VBLSRegressor(BASIS, prior="shared"),
    "variational, shared, sweeps": VBLSRegressor(BASIS, prior="shared", solver="em"),
    "variational, factorized": VBLSRegressor(BASIS, prior="shared", factorized=True),
    "variational, no prior": VBLSRegressor(BASIS, prior="none"),
    "variational, no prior, sweeps": VBLSRegressor(BASIS, prior="none", solver="em"),
    "variational, by the bound": VBLSRegressor(BASIS, significance="bound"),
    "variational, Student": VBLSRegressor(BASIS, noise="student-t"),
    "variational, Student, shared": VBLSRegressor(BASIS, noise="student-t", prior="shared"),
}
AT_ONCE = ("variational, no prior",)  # one solution, so that no limit can stop it
LATE = 8  # times that a fit may ask for the time after the limit: once in each loop that is still open


@pytest.fixture(params=EVERY_REGRESSOR)
def name(request):
    return request.param


class Clock:
    """Every question for the time takes one second."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        self.now += 1
        return float(self.now)


def rows(n=40, n_outputs=1):
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, (n, 1))
    y = np.column_stack([np.sin((1 + k) * X[:, 0]) + 0.3 * rng.normal(size=n) for k in range(n_outputs)])
    return X, y[:, 0] if n_outputs == 1 else y


def fitted(model, X, y):
    return fitted_and_told(model, X, y)[0]


def fitted_and_told(model, X, y):
    """The model, and the text of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
    assert not [w for w in caught if issubclass(w.category, RuntimeWarning)]
    if model.outcome_.is_early:
        assert any(issubclass(w.category, ConvergenceWarning) and str(w.message) == model.outcome_.value for w in caught)
    assert np.isfinite(model.predict(X)).all()
    return model, [str(w.message) for w in caught]


def with_limits(name, **limits):
    return clone(EVERY_REGRESSOR[name]).set_params(**limits)


def test_every_regressor_is_in_the_list():
    ours = {getattr(skarce, each) for each in skarce.__all__ if each.endswith("Regressor")}
    assert {type(model) for model in EVERY_REGRESSOR.values()} >= ours - {skarce.RelevanceVectorPoissonRegressor, *WITHOUT_BASIS}


def test_the_number_of_steps_is_kept(name):
    X, y = rows()
    free = fitted(with_limits(name), X, y).n_iter_
    for max_iter in (1, 2, 3, 5, 8, 13):
        model = fitted(with_limits(name, max_iter=max_iter), X, y)
        assert model.n_iter_ <= max_iter
        assert len(model.trace_) == model.n_iter_
        if max_iter < free and name not in AT_ONCE:
            assert model.outcome_ is Outcome.STEP_LIMIT or model.n_iter_ < max_iter


def test_the_number_of_steps_holds_for_each_target(name):
    X, y = rows(n_outputs=2)
    model = fitted(with_limits(name, max_iter=4), X, y)
    assert all(posterior.n_iter <= 4 for posterior in model.posterior_)


def test_the_number_of_functions_is_kept_even_if_another_limit_comes_first(name):
    X, y = rows()
    for limits in ({"max_iter": 2}, {"max_time": 1e-9}):
        assert len(fitted(with_limits(name, max_active=3, **limits), X, y).active_) <= 3


def test_the_time_is_kept(name, monkeypatch):
    """A fit asks for the time again and again, and after the limit it soon ends."""
    X, y = rows()
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    for max_time in (1, 2, 3, 4, 5, 7, 10, 15, 25, 40, 100):
        started = clock.now
        model = fitted(with_limits(name, max_time=max_time, calibrate_std=False), X, y)
        late = clock.now - started - max_time - 1
        assert late <= LATE
        if late > 0 and name not in AT_ONCE:
            assert model.outcome_ is Outcome.TIME_LIMIT


def test_the_calibration_counts_towards_the_time(name, monkeypatch):
    """After the limit the fit soon ends: calibrated, or with a factor of one and a warning that says so."""
    X, y = rows()
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    for max_time in (1, 3, 10, 25, 40, 100):
        started = clock.now
        model, told = fitted_and_told(with_limits(name, max_time=max_time, calibrate_std=True), X, y)
        late = clock.now - started - max_time - 1
        assert late <= LATE
        if late > 0 and name not in AT_ONCE:
            assert model.std_scale_ == 1.0
            is_told = any("max_time came before the refits" in message for message in told)
            assert is_told != (model.outcome_ is Outcome.TIME_LIMIT)  # one of the two says it


def test_no_time_at_all_still_gives_a_model_of_every_target(name):
    X, y = rows(n_outputs=2)
    model = fitted(with_limits(name, max_time=0.0), X, y)
    assert len(model.posterior_) == 2
    if name not in AT_ONCE:
        assert model.outcome_ is Outcome.TIME_LIMIT


def test_targets_share_the_time(name, monkeypatch):
    """The last target does not get only what the others have left."""
    X, y = rows(n_outputs=3)
    clock = Clock()
    monkeypatch.setattr(time, "monotonic", clock)
    started = clock.now
    fitted(with_limits(name, max_time=60), X, y)
    assert clock.now - started - 60 <= 3 * (LATE + 1)

"""Every method on data that break others."""

import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score

from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)

EVERY_METHOD = {
    "frvm": RelevanceVectorRegressor,
    "frvm, sequential": partial(RelevanceVectorRegressor, solver="sequential"),
    "rvm": partial(RelevanceVectorRegressor, solver="em"),
    "fgcv": FastGCVRegressor,
    "fgcv, sequential": partial(FastGCVRegressor, solver="sequential"),
    "fgcv, printed noise update": partial(FastGCVRegressor, noise_update="paper"),
    "orr": LocalRidgeRegressor,
    "ols": OrthogonalLeastSquaresRegressor,
    "rfs": RegularizedForwardRegressor,
    "rfs, orthogonal": partial(RegularizedForwardRegressor, penalize="orthogonal"),
    "abf": EvidenceRegressor,
    "gps-be": BackwardEliminationRegressor,
    "gps-be, forward": partial(BackwardEliminationRegressor, direction="forward"),
    "ssge-forward": EvidenceSearchRegressor,
    "ssge-pta": partial(EvidenceSearchRegressor, search="plus-take-away"),
    "ssge-floating": partial(EvidenceSearchRegressor, search="floating", reestimate="paper"),
    "ssge-oscillating": partial(EvidenceSearchRegressor, search="oscillating"),
    "ssge, backward": partial(EvidenceSearchRegressor, search="backward"),
    "ssge, best action": partial(EvidenceSearchRegressor, search="best-action"),
    "skr": LaplacePriorRegressor,
    "skr, active": partial(LaplacePriorRegressor, degrees_of_freedom="active"),
    "skr, not finished": partial(LaplacePriorRegressor, finish=False),
    "as": JeffreysPriorRegressor,
    "vbls-rvm": lambda basis="rbf", **parameters: VBLSRegressor(basis, **parameters),
    "vbls-rvm, deletion": lambda basis="rbf", **parameters: VBLSRegressor(basis, significance="bound", **parameters),
}


@pytest.fixture(params=EVERY_METHOD)
def make(request):
    return EVERY_METHOD[request.param]


def assert_sound(model, X):
    mean, std = model.predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert np.isfinite(std).all()
    assert (std >= 0).all()
    assert isinstance(model.outcome_, Outcome)


def test_duplicate_rows(rng, make):
    X = np.repeat(rng.uniform(-3, 3, (20, 1)), 6, axis=0)
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 120)
    model = make("rbf").fit(X, y)
    assert_sound(model, X)
    assert len(model.relevance_) == 20


def test_duplicate_zero_and_constant_columns(rng, make):
    X = rng.normal(size=(50, 3))
    X = np.column_stack([X, X, np.zeros(50), np.full(50, 1e8), X[:, 0] * (1 + 1e-13)])
    y = X[:, 0] - X[:, 1] + rng.normal(0, 0.1, 50)
    model = make("passthrough").fit(X, y)
    assert_sound(model, X)
    assert not set(model.active_) & {6, 7}
    assert r2_score(y, model.predict(X)) > 0.98


def test_one_row_and_two_rows(make):
    for n in (1, 2):
        X, y = np.arange(n, dtype=float)[:, None], np.arange(n, dtype=float) + 3
        model = make("rbf").fit(X, y)
        assert_sound(model, X)
    assert RelevanceVectorRegressor("rbf").fit([[1.0]], [3.0]).predict([[9.0]])[0] == 3.0


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
def test_more_candidates_than_rows(rng, make):
    X = rng.normal(size=(40, 400))
    y = X[:, 3] * 2 + rng.normal(0, 0.1, 40)
    model = make("passthrough").fit(X, y)
    assert_sound(model, X)
    assert 3 in model.active_


def test_constant_target_gives_its_mean(rng, make):
    X = rng.normal(size=(30, 2))
    for value in (5.0, 0.0, 0.1, 1e150, -1e-150):
        model = make("rbf").fit(X, np.full(30, value))
        assert model.outcome_ is Outcome.CONSTANT_TARGET
        assert len(model.active_) == 0
        np.testing.assert_allclose(model.predict(X), value)
        assert_sound(model, X)


def test_pure_noise_gives_a_small_model(make):
    sizes = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(100, 2))
        model = make(KernelBasis(gamma=0.2)).fit(X, rng.normal(size=100))
        assert_sound(model, X)
        # A dense model has all functions or none, and is small if the data determine few of them. If an iteration that
        # drops functions was not finished, their number says nothing.
        is_dense = isinstance(model, EvidenceRegressor) or not getattr(model, "finish", True)
        sizes.append(model.relevance_.sum() if is_dense else len(model.active_))
    assert np.mean(sizes) < 5


def test_target_orthogonal_to_everything(make):
    X = np.array([[1.0], [-1.0], [1.0], [-1.0]])
    model = make("passthrough").fit(X, [1.0, 1.0, -1.0, -1.0])
    assert model.outcome_ is Outcome.NOTHING_HELPS
    assert_sound(model, X)


def test_noise_free_targets(rng, make):
    X = rng.uniform(-5, 5, (80, 1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        exact = make("passthrough").fit(X, 3 * X[:, 0] + 1)
        kernel = make("rbf", max_iter=2000).fit(X, np.sin(X[:, 0]))
    # The least L1 penalty of the path shrinks by 1e-4; all others have next to none if there is no noise.
    shrinks = 1e-4 if isinstance(exact, LaplacePriorRegressor) else 0.0
    assert exact.coef_[0] == pytest.approx(3.0, rel=1e-6 + shrinks)
    assert exact.noise_variance_ < (1e-11 + 10.0 * shrinks**2) * X.var()
    assert_sound(kernel, X)


@pytest.mark.parametrize("gamma", [1e-12, 1e-6, 1e-3, 1e3, 1e9])
def test_kernels_of_any_width_end_in_a_sound_model(rng, make, gamma):
    X = rng.uniform(-3, 3, (60, 2))
    y = X[:, 0] + rng.normal(0, 0.1, 60)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        model = make(KernelBasis(gamma=gamma), max_iter=2000).fit(X, y)
    assert_sound(model, X)


def test_nearly_exact_fits_and_ill_conditioned_bases_never_raise(make):
    """Random problems of the kinds that once ended in a failed factorization or the logarithm of a negative number."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, gamma = int(rng.integers(5, 60)), float(10 ** rng.uniform(-5, 3))
        X = rng.normal(size=(n, int(rng.integers(1, 3))))
        y = [np.sin(X[:, 0]), X[:, 0] * 1e6 + 1e9, np.sign(X[:, 0]), rng.normal(size=n)][seed % 4]
        kernel = ["rbf", "matern52", "polynomial", "sigmoid"][seed % 5 % 4]
        options = {"moments": ["whole", "columns"][seed % 2], "calibrate_std": seed % 10 == 0}  # refits take five times as long
        model = make(KernelBasis(kernel, gamma=gamma), max_iter=300, **options)
        if "noise_variance" in model.get_params():
            model.set_params(noise_variance=None if seed % 3 else float(10 ** rng.uniform(-6, 2)))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=ConvergenceWarning)
            for dtype in (np.float64, np.float32):
                assert_sound(model.fit(X.astype(dtype), y), X.astype(dtype))

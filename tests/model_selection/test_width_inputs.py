"""Learned widths on the inputs of real tables: grids, whole numbers, flags, categories, heavy tails and constants."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from skarce import EvidenceRegressor, KernelBasis, ProcessBasis, RelevanceVectorRegressor
from skarce.model_selection import learn_widths
from skarce.model_selection.kernel_slopes import NAMES

COVARIANCES = ["weights", "kernel"]


def gridded(seed):
    """Eight shapes at 14 values on a grid. The target grows steeply along the grid; the shapes matter little."""
    rng = np.random.default_rng(seed)
    shapes = rng.normal(size=(8, 2)).round(1)
    shape, place = np.repeat(np.arange(8), 14), np.tile(np.linspace(0.0, 1.0, 14), 8)
    X = np.column_stack([shapes[shape], place])
    y = 60.0 * np.exp(4.5 * (place - 1.0)) * (1.0 + 0.1 * X[:, 0]) + rng.normal(0.0, 0.1, len(X))
    return (X - X.mean(axis=0)) / X.std(axis=0), y


@pytest.mark.parametrize("left_out", [3, 5, 6, 9])
def test_a_grid_value_left_out_is_predicted_as_well_as_by_a_gaussian_process(left_out):
    """Widths below the spacing make every grid value a category: the prediction at a new value is then the intercept."""
    X, y = gridded(0)
    new = X[:, 2] == np.unique(X[:, 2])[left_out]
    rival = GaussianProcessRegressor(ConstantKernel() * RBF(np.ones(3)) + WhiteKernel(), normalize_y=True)
    models = [rival, *(EvidenceRegressor(basis) for basis in (ProcessBasis(), ProcessBasis("auto"), KernelBasis(gamma="ard")))]
    models.append(RelevanceVectorRegressor(KernelBasis(gamma="ard")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        errors = [np.sqrt(np.mean((model.fit(X[~new], y[~new]).predict(X[new]) - y[new]) ** 2)) for model in models]
    noise = 0.1
    assert max(errors[1:3]) < max(errors[0], noise) + 0.5 * noise  # the same model
    assert max(errors[3:]) < 3.0 * max(errors[0], noise)  # others; with categories, errors are 30 to 90 times the noise


def discrete(n=150):
    """Whole numbers, a flag, a category in three columns, a heavy tail, and a constant. The last two do not matter."""
    rng = np.random.default_rng(3)
    counts, flag, kind = rng.poisson(4.0, n), rng.integers(2, size=n), rng.integers(3, size=n)
    tail = np.exp(2.0 * rng.normal(size=n))
    X = np.column_stack([counts, flag, np.eye(3)[kind], tail, np.full(n, 5.0)])
    y = np.sqrt(counts) * np.where(flag > 0, 1.0, 0.3) + 0.7 * (kind == 1) + rng.normal(0.0, 0.15, n)
    return X, y


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kernel", [*NAMES, "auto"])
def test_discrete_inputs_matter_and_their_kernels_reach_the_neighboring_values(kernel, covariance):
    X, y = discrete()
    learned = learn_widths(X, y, kernel=kernel, covariance=covariance)
    assert learned.noise_variance == pytest.approx(0.15**2, rel=0.35)
    assert learned.gamma[6] == 0.0  # the constant
    assert (learned.gamma[:5] < 10.0).all()  # the spacing is one, so that larger values make categories
    power = 1.0 if learned.kernel == "laplacian" else 2.0
    reach = learned.gamma * X.std(axis=0) ** power
    assert min(reach[0], reach[1]) > 3.0 * reach[5]


@pytest.mark.parametrize("kernel", ["rbf", "matern32"])
def test_the_logarithm_of_a_heavy_tail_is_learned(kernel):
    rng = np.random.default_rng(0)
    X = np.exp(1.5 * rng.normal(size=(200, 2)))
    y = np.log(X[:, 0]) + rng.normal(0.0, 0.2, 200)
    learned = learn_widths(X, y, kernel=kernel, covariance="kernel")
    assert learned.noise_variance < 0.4
    assert learned.gamma[0] > 100 * learned.gamma[1]


@pytest.mark.parametrize("covariance", COVARIANCES)
@pytest.mark.parametrize("kernel", NAMES)
def test_the_signal_does_not_imitate_the_noise(kernel, covariance):
    """Six inputs and 120 rows: rows are far apart, so narrow kernels would explain everything. Half of the variance is noise."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(120, 6))
        noise = rng.normal(size=120)
        learned = learn_widths(X, X[:, 0] + noise, kernel=kernel, covariance=covariance)
        assert learned.noise_variance > 0.5 * np.mean(noise**2)


@pytest.mark.parametrize("kernel", NAMES)
def test_intervals_of_a_process_cover_if_there_is_hardly_a_signal(kernel):
    """Without the prior on neighbors, some of these fits put most of the noise into the signal and cover half of the new rows."""
    covered = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X, X_test = rng.normal(size=(100, 5)), rng.normal(size=(500, 5))
        y, y_test = (0.3 * at[:, 0] + rng.normal(size=len(at)) for at in (X, X_test))
        mean, std = EvidenceRegressor(ProcessBasis(kernel)).fit(X, y).predict(X_test, return_std=True)
        covered.append(np.mean(np.abs(mean - y_test) < 1.96 * std))
    assert min(covered) > 0.8
    assert np.mean(covered) > 0.9


def test_a_repeated_row_counts_like_its_weight():
    X, y = discrete(60)
    weights = np.random.default_rng(0).integers(0, 3, 60)
    weighted = learn_widths(X, y, sample_weight=weights, covariance="kernel", tol=1e-7)
    repeated = learn_widths(np.repeat(X, weights, axis=0), np.repeat(y, weights), covariance="kernel", tol=1e-7)
    assert weighted.log_evidence == pytest.approx(repeated.log_evidence, abs=1e-3)
    dropped = learn_widths(X[weights > 0], y[weights > 0], sample_weight=weights[weights > 0], covariance="kernel", tol=1e-7)
    np.testing.assert_array_equal(weighted.gamma, dropped.gamma)

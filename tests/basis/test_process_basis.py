"""A dense model on the process basis is a Gaussian process with the kernel as covariance: scikit-learn's is the oracle."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import EvidenceRegressor, KernelBasis, ProcessBasis
from skarce.basis import learners
from skarce.model_selection import learn_widths

GAMMA = np.array([0.4, 0.1])


@pytest.fixture
def smooth(rng):
    X = rng.uniform(-3, 3, (90, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + rng.normal(0, 0.1, 90)


def gaussian_process(model, kernel):
    """The process of a fitted model, with nothing left to learn."""
    whole = ConstantKernel(1.0 / model.weight_precision_[0]) * kernel + WhiteKernel(model.noise_variance_)
    return GaussianProcessRegressor(whole, alpha=0.0, optimizer=None)


@pytest.mark.parametrize("name", ["rbf", "matern32", "matern52"])
def test_a_dense_model_is_a_gaussian_process(smooth, name):
    X, y = smooth
    lengths = 1.0 / np.sqrt(2.0 * GAMMA)
    kernel = RBF(lengths) if name == "rbf" else Matern(lengths, nu=1.5 if name == "matern32" else 2.5)
    model = EvidenceRegressor(ProcessBasis(name, gamma=GAMMA), fit_intercept=False, calibrate_std=False).fit(X, y)
    process = gaussian_process(model, kernel).fit(X, y)
    at = np.vstack([X[:10], X[:10] + 0.05])
    np.testing.assert_allclose(model.predict(at), process.predict(at), atol=1e-6)
    assert model.criterion_ == pytest.approx(process.log_marginal_likelihood_value_, abs=1e-4)
    _, std = model.predict(X, return_std=True)
    _, expected = process.predict(X, return_std=True)
    np.testing.assert_allclose(std, expected, rtol=1e-4)  # at the centers nothing of the variance is missing


def test_functions_have_the_kernel_as_covariance(smooth):
    X, _ = smooth
    phi = ProcessBasis(gamma=GAMMA).fit_transform(X)
    np.testing.assert_allclose(phi @ phi.T, KernelBasis(gamma=GAMMA).fit_transform(X), atol=1e-9)


def test_wide_kernels_need_few_functions_and_repeated_rows_none(smooth):
    X, _ = smooth
    wide = ProcessBasis(gamma=1e-3).fit(X)
    assert len(wide.centers_) < 25
    assert len(ProcessBasis(gamma=1e-3).fit(np.vstack([X, X])).centers_) == len(wide.centers_)
    assert ProcessBasis(gamma=GAMMA, centers=7).fit_transform(X).shape == (90, 7)
    assert list(ProcessBasis(gamma=GAMMA, centers=2).fit(X).get_feature_names_out()) == ["process0", "process1"]


def test_widths_are_those_of_the_process(smooth):
    X, y = smooth
    basis = ProcessBasis(gamma="ard", width_params={"n_starts": 1}).fit(X, y)
    np.testing.assert_array_equal(basis.gamma_, learn_widths(X, y, covariance="kernel", n_starts=1).gamma)
    model = EvidenceRegressor(ProcessBasis(gamma="ard")).fit(X, y)
    lengths = 1.0 / np.sqrt(2.0 * model.basis_.transformer.gamma_)
    learned = GaussianProcessRegressor(RBF(lengths) * 1.0 + WhiteKernel(0.01), normalize_y=True, random_state=0).fit(X, y)
    at = X + 0.1
    assert np.mean((model.predict(at) - learned.predict(at)) ** 2) < 1e-3
    again = clone(model).fit(X, y)
    np.testing.assert_array_equal(again.predict(at), model.predict(at))


def test_wrong_parameters_are_named(smooth):
    X, y = smooth
    with pytest.raises(ValueError, match="kernel must be one of"):
        ProcessBasis("linear").fit(X, y)
    with pytest.raises(ValueError, match="learned from the targets"):
        ProcessBasis().fit(X)
    with pytest.raises(ValueError, match="width_params has no"):
        ProcessBasis(width_params={"rows": 3}).fit(X, y)


@pytest.mark.parametrize("basis", [ProcessBasis(), make_pipeline(StandardScaler(), ProcessBasis())], ids=["alone", "in a pipeline"])
def test_widths_are_learned_within_the_limits_of_the_estimator(smooth, basis, capsys):
    X, y = smooth
    with (
        pytest.warns(ConvergenceWarning, match="while kernel widths were learned"),
        pytest.warns(ConvergenceWarning, match="reached the time limit"),
    ):
        EvidenceRegressor(basis, max_time=0.0).fit(X, y)
    EvidenceRegressor(basis, verbose=1).fit(X, y)
    assert "log evidence" in capsys.readouterr().err


def test_a_model_without_a_constant_learns_widths_without_one(smooth):
    X, y = smooth
    model = EvidenceRegressor(ProcessBasis(), fit_intercept=False).fit(X, y + 3.0)
    expected = learn_widths(X, y + 3.0, covariance="kernel", fit_intercept=False).gamma
    np.testing.assert_array_equal(model.basis_.transformer.gamma_, expected)


class Asks(TransformerMixin, BaseEstimator):
    """Keeps the options that a part of a basis is handed."""

    def fit(self, X, y=None):
        self.handed_ = learners.handed()
        return self

    def transform(self, X):
        return np.asarray(X)


def test_parts_that_learn_widths_share_the_time(smooth):
    X, y = smooth
    parts = FeatureUnion([("one", ProcessBasis()), ("two", ProcessBasis("matern52")), ("asks", Asks())])
    model = EvidenceRegressor(parts, weight_variance=1.0, max_time=120.0).fit(X, y)
    handed = model.basis_.transformer.named_transformers["asks"].handed_
    assert handed == {"fit_intercept": True, "max_time": 30.0, "robust": True}  # a quarter of the time each: half is for the method
    assert learners.handed() == {}


@parametrize_with_checks(
    [ProcessBasis(gamma="scale")],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "columns follow the order of the rows, and the check shuffles the rows"
    },
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

"""Kernels that are chosen by the evidence of their widths."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from skarce import EvidenceRegressor, KernelBasis, ProcessBasis, RelevanceVectorRegressor
from skarce.model_selection import learn_widths
from skarce.model_selection.widths import AUTO


@pytest.fixture(scope="module")
def smooth():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (80, 2))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.1, 80)


@pytest.fixture(scope="module")
def rough():
    """A draw of a process with the Matern kernel of smoothness 3/2."""
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, (150, 1))
    covariance = KernelBasis("matern32", gamma=0.5, centers=None).fit(X).transform(X)
    return X, np.linalg.cholesky(covariance + 1e-4 * np.eye(150)) @ rng.normal(size=150)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("rule", ["ard", "evidence"])
def test_no_other_kernel_has_more_evidence(smooth, rough, rule, covariance):
    for X, y in (smooth, rough):
        chosen = learn_widths(X, y, kernel="auto", gamma=rule, covariance=covariance)
        alone = {name: learn_widths(X, y, kernel=name, gamma=rule, covariance=covariance) for name in AUTO}
        assert all(one.kernel == name for name, one in alone.items())
        assert chosen.log_evidence > max(one.log_evidence for one in alone.values()) - 0.1
        assert chosen.log_evidence == pytest.approx(alone[chosen.kernel].log_evidence, abs=0.1)


def test_a_smooth_target_and_a_rough_one_get_their_kernels(smooth, rough):
    assert learn_widths(*smooth, kernel="auto", covariance="kernel").kernel == "rbf"
    assert learn_widths(*rough, kernel="auto", covariance="kernel").kernel == "matern32"


def test_the_basis_uses_the_kernel_that_was_chosen(rough):
    X, y = rough
    basis = KernelBasis("auto", gamma="ard", width_params={"covariance": "kernel"}).fit(X, y)
    assert basis.kernel == "auto"
    assert basis.kernel_ == "matern32"
    same = KernelBasis("matern32", gamma=basis.gamma_).fit(X)
    np.testing.assert_array_equal(basis.transform(X), same.transform(X))
    np.testing.assert_array_equal(basis.select([3]).transform(X), same.select([3]).transform(X))
    assert list(basis.select([3]).get_feature_names_out()) == ["matern323"]
    again = pickle.loads(pickle.dumps(basis))
    np.testing.assert_array_equal(again.transform(X), basis.transform(X))
    assert not hasattr(clone(basis), "kernel_")


def test_models_on_a_chosen_kernel_predict_and_can_be_augmented(rough):
    X, y = rough
    model = RelevanceVectorRegressor(KernelBasis("auto", gamma="ard"), calibrate_std=False).fit(X, y)
    assert model.basis_.kernel_ in AUTO
    assert model.score(X, y) > 0.9
    mean, std = model.predict(X[:5], return_std="augmented")
    assert np.isfinite(mean).all()
    assert (std > 0.0).all()
    process = EvidenceRegressor(ProcessBasis("auto")).fit(X, y)
    assert process.basis_.transformer.kernel_ == "matern32"
    assert process.score(X, y) > 0.9


@pytest.mark.parametrize("kernel", ["rbf", "linear", "precomputed", lambda rows, centers: rows @ centers.T])
def test_every_kernel_says_what_it_is(kernel):
    X = np.random.default_rng(0).normal(size=(5, 5))
    assert KernelBasis(kernel).fit(X).kernel_ is kernel


@pytest.mark.parametrize("gamma", ["scale", "median", 1.0, [1.0, 2.0]])
@pytest.mark.parametrize("make", [KernelBasis, ProcessBasis])
def test_a_chosen_kernel_needs_learned_widths(smooth, make, gamma):
    with pytest.raises(ValueError, match='kernel="auto" is chosen together with learned widths: it needs gamma="learned", "ard"'):
        make("auto", gamma=gamma).fit(*smooth)


def test_a_basis_saved_before_kernels_could_be_chosen_still_works(smooth):
    X, _ = smooth
    for basis in (KernelBasis("matern52", gamma=1.0).fit(X), ProcessBasis("matern52", gamma=1.0).fit(X)):
        old = {name: value for name, value in basis.__getstate__().items() if name != "kernel_"}
        restored = type(basis).__new__(type(basis))
        restored.__setstate__(old)
        assert restored.kernel_ == "matern52"
        np.testing.assert_array_equal(restored.transform(X), basis.transform(X))

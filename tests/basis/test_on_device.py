"""Candidates on a device are those of NumPy."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer, StandardScaler

from skarce import KernelBasis, ProcessBasis
from skarce._device import to_host
from skarce.basis import fit_basis
from skarce.basis.kernels import DISTANCE_KERNELS, PRODUCT_KERNELS
from skarce.basis.on_device import SHAPES
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch

KERNELS = [*DISTANCE_KERNELS, *PRODUCT_KERNELS]


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


def rows(n=30, d=3, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


def on_device(basis, X, device):
    evaluation = basis.on_device(device(X))
    values = evaluation.values(slice(None))
    assert device.holds(values)
    assert values.shape == (evaluation.n_rows, evaluation.n_candidates)
    return to_host(values)


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_those_of_numpy(device, kernel):
    basis = KernelBasis(kernel, gamma=0.3, coef0=0.7).fit(rows(12))
    expected = basis.transform(rows(seed=1))
    np.testing.assert_allclose(on_device(basis, rows(seed=1), device), expected, rtol=1e-13, atol=1e-14)


def test_every_kernel_has_its_formula():
    made = {type(KernelBasis(kernel).fit(rows()).make_kernel()) for kernel in KERNELS}
    made.add(type(KernelBasis(lambda X, C: X @ C.T).fit(rows()).make_kernel()))
    assert set(SHAPES) == made


@pytest.mark.parametrize("kernel", list(DISTANCE_KERNELS))
def test_one_width_for_each_input(device, kernel):
    basis = KernelBasis(kernel, gamma=[0.1, 0.0, 2.0]).fit(rows(12))
    np.testing.assert_allclose(on_device(basis, rows(seed=1), device), basis.transform(rows(seed=1)), rtol=1e-13, atol=1e-14)


@pytest.mark.parametrize("kernel", [*DISTANCE_KERNELS, "cosine"])
def test_rows_that_are_far_away_do_not_overflow(device, kernel):
    basis = KernelBasis(kernel, gamma=1.0).fit(rows(12))
    X = np.array([[1e150, -1e150, 0.0], [0.0, 0.0, 0.0], [1e-150, 0.0, 0.0]])
    np.testing.assert_allclose(on_device(basis, X, device), basis.transform(X), rtol=1e-12, atol=1e-14)


def test_single_precision_is_evaluated_in_double(device):
    X = rows(seed=1).astype(np.float32)
    basis = KernelBasis(gamma=0.3).fit(rows(12).astype(np.float32))
    values = basis.on_device(device(X)).values(slice(None))
    expected = KernelBasis(gamma=0.3).fit(basis.centers_.astype(np.float64)).transform(X.astype(np.float64))
    np.testing.assert_allclose(to_host(values), expected, rtol=1e-13)


def test_a_kernel_that_overflows_is_named(device):
    basis = KernelBasis("polynomial", gamma=1.0, degree=30).fit(rows(5))
    with pytest.raises(ValueError, match="candidates must be finite and in the range"):
        basis.on_device(device(1e10 * rows())).values(slice(None))


def test_functions_of_the_user_get_arrays_on_the_device(device):
    basis = KernelBasis(lambda X, C, slope: X @ C.T * slope, kernel_params={"slope": 2.0}).fit(rows(5))
    np.testing.assert_allclose(on_device(basis, rows(seed=1), device), 2.0 * rows(seed=1) @ basis.centers_.T, rtol=1e-13)


def test_functions_of_the_user_that_leave_the_device_are_refused(device):
    basis = KernelBasis(lambda X, C: np.ones((X.shape[0], C.shape[0]))).fit(rows(5))
    with pytest.raises(TypeError, match=r"the kernel function must return a .* its answer is a NumPy array"):
        basis.on_device(device(rows())).values(slice(None))


def test_functions_of_the_user_of_a_wrong_shape_are_refused(device):
    basis = KernelBasis(lambda X, C: X).fit(rows(5))
    with pytest.raises(ValueError, match=r"must return shape \(30, 5\) .* got \(30, 3\)"):
        basis.on_device(device(rows())).values(slice(None))


def test_inputs_themselves_are_copied(device):
    X = device(rows())
    candidates = fit_basis(None, rows(), None, None)
    values = candidates.on_device(X).values(slice(2, 5))
    values *= 0.0
    np.testing.assert_array_equal(to_host(X), rows())


def test_kept_columns_are_those_of_all_inputs(device):
    kept = fit_basis(None, rows(), None, None).select(np.array([2, 0]))
    np.testing.assert_array_equal(on_device(kept, rows(), device), rows()[:, [2, 0]])


def test_features_of_a_process_are_those_of_numpy(device):
    basis = ProcessBasis(gamma=0.2).fit(rows(40))
    np.testing.assert_allclose(on_device(basis, rows(seed=1), device), basis.transform(rows(seed=1)), atol=1e-9)
    kept = fit_basis(ProcessBasis(gamma=0.2), rows(40), None, None).select(np.array([3, 1]))
    np.testing.assert_allclose(on_device(kept, rows(seed=1), device), kept.transform(rows(seed=1)), atol=1e-9)


@needs_dispatch
@pytest.mark.parametrize(
    "transformer",
    [
        PolynomialFeatures(2),
        StandardScaler(copy=False),
        PCA(2),
        make_pipeline(StandardScaler(), "passthrough", PolynomialFeatures(3, include_bias=False)),
        make_pipeline("passthrough"),
    ],
    ids=str,
)
def test_transformers_that_support_the_array_api_work_there(device, transformer, monkeypatch):
    X = device(rows(seed=1))
    with dispatched(monkeypatch):
        candidates = fit_basis(transformer, rows(40), None, None)
        evaluation = candidates.on_device(X)
        found = evaluation.values(slice(None))
        assert device.holds(found)
        assert evaluation.n_candidates == found.shape[1]
        exact = candidates.select(np.arange(found.shape[1])).transform(rows(seed=1))
        np.testing.assert_allclose(to_host(found), exact, atol=1e-12)
        found *= 0.0
        np.testing.assert_array_equal(to_host(X), rows(seed=1))
        kept = candidates.select(np.array([1, 0]))
        np.testing.assert_allclose(to_host(kept.on_device(X).values(slice(3))), exact[:3, [1, 0]], atol=1e-12)


def test_other_transformers_and_kernel_matrices_stay_on_the_host(device):
    for transformer in (SplineTransformer(), make_pipeline(StandardScaler(), SplineTransformer())):
        candidates = fit_basis(transformer, rows(), None, None)
        name = type(transformer).__name__
        with pytest.raises(TypeError, match=f"{name} works in the memory of the host, but X is a"):
            candidates.on_device(device(rows()))
    basis = KernelBasis("precomputed").fit(np.eye(4))
    with pytest.raises(ValueError, match="pass a NumPy array"):
        basis.on_device(device(np.eye(4)))

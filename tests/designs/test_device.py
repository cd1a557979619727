"""Rows on a device: what they are fitted to, what moves, and what is refused."""

import numpy as np
import pytest

import skarce
import skarce.designs.device_rows
from skarce import (
    EvidenceRegressor,
    KernelBasis,
    PrimalSVMClassifier,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
)
from skarce._device import to_host
from skarce.designs import DeviceRows, RowBlocks
from skarce.methods.elimination.removals import InverseOnDevice, removals
from skarce.moments.directions import Directions
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch, needs_strict

N = 400


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture
def dispatch(monkeypatch):
    with dispatched(monkeypatch):
        yield


def problem(n=N, seed=0):
    """Inputs, a target with noise, and weights that count."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    y = np.sin(2 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
    return X, y, rng.integers(0, 3, n).astype(float)


def noisy(y):
    """Classes that overlap."""
    return y + np.random.default_rng(9).normal(size=len(y))


def basis():
    """Kernels that do not resemble each other, so that rounding does not decide which of them enter."""
    centers = np.stack(np.meshgrid(np.linspace(-3, 3, 6), np.linspace(-3, 3, 6)), axis=-1).reshape(-1, 2)
    return KernelBasis(gamma=1.0, centers=centers)


def separated(n=N, seed=0):
    """Kernels that hardly overlap, inputs, and a target that is a sum of nine of them with a little noise: the set is clear."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    kernels = KernelBasis(gamma=4.0, centers=basis().centers)
    y = kernels.fit(X).transform(X)[:, ::4] @ rng.uniform(2, 4, 9) + 0.05 * rng.normal(size=n)
    return kernels, X, y


def rows_on(device, X, y, weights=None, **options):
    return DeviceRows.from_arrays(X, y, weights, device=device.place, library=device.library, **options)


def assert_same_model(found, expected, X, tolerance=1e-6):
    np.testing.assert_array_equal(found.active_, expected.active_)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=tolerance * np.std(expected.predict(X)))


# Fits --------------------------------------------------------------------------------------------------------------------


@needs_dispatch
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("what", [basis(), "passthrough", ProcessBasis(gamma=0.5, centers=30, random_state=0)], ids=str)
def test_arrays_on_a_device_give_the_model_of_numpy(device, dispatch, what, weighted):
    X, y, weights = problem()
    weights = weights if weighted else None
    found = EvidenceRegressor(what).fit(device(X), device(y), device(weights))
    assert_same_model(found, EvidenceRegressor(what).fit(X, y, weights), X)


@needs_dispatch
def test_large_matrices_are_decomposed_on_the_device(device, dispatch, monkeypatch):
    seen = []
    decompose = Directions._of_device.__func__
    monkeypatch.setattr(Directions, "_of_device", classmethod(lambda cls, matrix: seen.append(1) or decompose(cls, matrix)))
    monkeypatch.setattr("skarce.moments.directions.WORTH_DEVICE", 30)
    X, y, weights = problem()
    found = EvidenceRegressor(basis()).fit(device(X), device(y), device(weights))
    assert seen
    assert_same_model(found, EvidenceRegressor(basis()).fit(X, y, weights), X)


@needs_dispatch
def test_functions_are_eliminated_on_the_device(device, dispatch, monkeypatch):
    seen = []
    subtract = InverseOnDevice._subtract
    monkeypatch.setattr(InverseOnDevice, "_subtract", lambda self, updates: seen.append(len(updates)) or subtract(self, updates))
    monkeypatch.setattr("skarce.methods.elimination.removals.WORTH_DEVICE", 10)
    monkeypatch.setattr(removals, "__defaults__", (8,))  # removals between two updates
    X, y, weights = problem()
    found = skarce.BackwardEliminationRegressor(basis()).fit(device(X), device(y), device(weights))
    assert 8 in seen
    assert_same_model(found, skarce.BackwardEliminationRegressor(basis()).fit(X, y, weights), X)


@needs_dispatch
def test_several_targets(device, dispatch):
    X, y, weights = problem()
    targets = np.column_stack([y, 1e3 * X[:, 0] ** 2])
    found = EvidenceRegressor(basis()).fit(device(X), device(targets), device(weights))
    assert_same_model(found, EvidenceRegressor(basis()).fit(X, targets, weights), X)
    assert found.noise_variance_.shape == (2,)


@needs_dispatch
@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_])
def test_other_numbers_are_summed_in_double_precision(device, dispatch, dtype):
    X, y, _ = problem()
    X = (10 * X).astype(dtype)
    found = EvidenceRegressor("passthrough", calibrate_std=False).fit(device(X), device(y.astype(np.float32)))
    exact = X.astype(np.float64), y.astype(np.float32).astype(np.float64)
    expected = EvidenceRegressor("passthrough", calibrate_std=False).fit(*exact)
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-10)


def test_rows_of_the_host_are_copied_in_blocks(device):
    X, y, weights = problem()
    found = EvidenceRegressor(basis()).fit(rows_on(device, X, y, weights, block_rows=37))
    assert_same_model(found, EvidenceRegressor(basis()).fit(X, y, weights), X)


@pytest.mark.parametrize(
    ("n_columns", "kind", "expected"), [(2, np.float64, 41), (30, np.float64, 4), (2, np.float32, 62), (999, float, 1)]
)
def test_blocks_of_the_host_are_cut_by_bytes(device, monkeypatch, n_columns, kind, expected):
    """Many columns make blocks of few rows."""
    monkeypatch.setattr(skarce.designs.device_rows, "BLOCK_BYTES", 1000)
    X, y = np.ones((100, n_columns), dtype=kind), np.ones(100)
    for inputs in (X, X.tolist()) if kind is np.float64 else (X,):
        sizes = [rows.X.shape[0] for rows in rows_on(device, inputs, y)]
        assert sizes[:-1] == [expected] * (len(sizes) - 1)
        assert sum(sizes) == 100


def test_blocks_may_be_made_on_the_device(device):
    X, y, weights = problem()
    parts = [slice(0, 100), slice(100, 101), slice(101, 101), slice(101, None)]
    made = DeviceRows(lambda: ((device(X[part]), device(y[part]), device(weights[part])) for part in parts))
    found = EvidenceRegressor(basis()).fit(made)
    assert made.n_rows == N
    assert_same_model(found, EvidenceRegressor(basis()).fit(X, y, weights), X)


def test_names_of_columns_come_from_blocks(device):
    import pyarrow as pa

    X, y, _ = problem()
    blocks = RowBlocks.from_arrow(pa.table({"a": X[:, 0], "b": X[:, 1], "y": y}), target="y")
    rows = DeviceRows.from_blocks(blocks, device=device.place, library=device.library)
    assert EvidenceRegressor("passthrough").fit(rows).feature_names_in_.tolist() == ["a", "b"]


@needs_dispatch
def test_folds_are_those_of_numpy(device, dispatch):
    """Refits without a fold need its sums. The fold of a row is a hash of its inputs, wherever they are."""
    X, y, weights = problem()
    options = {"calibrate_std": True}
    found = EvidenceRegressor(basis(), **options).fit(device(X), device(y), device(weights))
    expected = EvidenceRegressor(basis(), **options).fit(RowBlocks.from_arrays(X, y, weights))
    assert found.std_scale_ == pytest.approx(expected.std_scale_, rel=1e-6)
    assert found.std_scale_ != 1.0


@needs_dispatch
@pytest.mark.parametrize("options", [{"weights": "relative"}, {"effective_samples": 0.25}])
def test_worth_of_rows_is_that_of_numpy(device, dispatch, options):
    X, y, weights = problem()
    found = EvidenceRegressor(basis(), calibrate_std=False, **options).fit(device(X), device(y), device(7.0 * weights))
    expected = EvidenceRegressor(basis(), calibrate_std=False, **options).fit(X, y, 7.0 * weights)
    assert found.noise_variance_ == pytest.approx(expected.noise_variance_, rel=1e-8)
    assert found.criterion_ == pytest.approx(expected.criterion_, rel=1e-8)


@needs_dispatch
def test_widths_are_learned_on_the_host_from_the_same_rows(device, dispatch):
    X, y, _ = problem(200)
    found = EvidenceRegressor("auto").fit(device(X), device(y))
    expected = EvidenceRegressor("auto").fit(X, y)
    np.testing.assert_array_equal(found.basis_.gamma_, expected.basis_.gamma_)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), atol=1e-5)


@needs_dispatch
def test_a_sample_of_many_rows_is_moved(device, dispatch, monkeypatch):
    """Landmarks come from the sample, sums from all rows."""
    monkeypatch.setattr(skarce.designs.device_rows, "SAMPLE_ROWS", 50)
    moved = []

    def watched(values):
        moved.append(tuple(values.shape))
        return to_host(values)

    monkeypatch.setattr(skarce.designs.device_rows, "to_host", watched)
    X, y, weights = problem()
    sample = DeviceRows.of(device(X), device(y), device(weights)).sample(0, 50)
    assert sample.X.shape == (50, 2)
    assert (N, 2) not in moved
    assert (sample.n_rows, sample.total) == (N, weights.sum())
    assert set(map(tuple, sample.X)) <= set(map(tuple, X[weights > 0.0]))


def test_a_sample_does_not_depend_on_the_blocks_if_it_is_all(device):
    X, y, weights = problem(60)
    whole = DeviceRows.of(device(X), device(y), device(weights)).sample(0)
    assert whole.is_all
    np.testing.assert_array_equal(whole.X, X)
    np.testing.assert_array_equal(whole.y, y)


def test_heavy_rows_are_drawn_more_often(device):
    X, y = np.arange(1000.0)[:, None], np.zeros(1000)
    weights = np.where(X[:, 0] < 500, 1.0, 4.0)
    counts = [(DeviceRows.of(device(X), device(y), device(weights)).sample(seed, 50).X >= 500).sum() for seed in range(40)]
    assert 36 < np.mean(counts) < 44  # 40 are expected


# Latent functions --------------------------------------------------------------------------------------------------------


@needs_dispatch
@pytest.mark.usefixtures("rows_in_passes")
@pytest.mark.parametrize(("n_classes", "class_weight"), [(2, None), (2, "balanced"), (3, None)])
def test_classifiers_add_up_newton_steps_on_the_device(device, dispatch, n_classes, class_weight):
    X, y, weights = problem()
    labels = np.searchsorted([0.0, 1.5][: n_classes - 1], noisy(y)) + 3
    model = RelevanceVectorClassifier(basis(), class_weight=class_weight, calibrate_proba=False)
    found = skarce.RelevanceVectorClassifier(**model.get_params(deep=False)).fit(device(X), device(labels), device(weights))
    expected = model.fit(RowBlocks.from_arrays(X, labels, weights))
    np.testing.assert_array_equal(found.classes_, expected.classes_)
    np.testing.assert_array_equal(found.active_, expected.active_)
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)


@needs_dispatch
@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_are_added_up_on_the_device(device, dispatch, n_classes):
    X, y, weights = problem()
    labels = np.searchsorted([0.0, 1.5][: n_classes - 1], noisy(y))
    model = PrimalSVMClassifier(basis(), max_active=6, calibrate_proba=False)
    found = PrimalSVMClassifier(**model.get_params(deep=False)).fit(device(X), device(labels), device(weights))
    expected = model.fit(RowBlocks.from_arrays(X, labels, weights))
    np.testing.assert_array_equal(found.active_, expected.active_)
    np.testing.assert_allclose(found.decision_function(X), expected.decision_function(X), atol=1e-6)


@pytest.mark.usefixtures("rows_in_passes")
def test_labels_of_the_host_may_be_text(device):
    X, y, _ = problem()
    labels = np.where(noisy(y) > 0.0, "above", "below")
    found = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(rows_on(device, X, labels, block_rows=90))
    expected = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(RowBlocks.from_arrays(X, labels, block_rows=90))
    np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    assert found.classes_.tolist() == ["above", "below"]


@needs_dispatch
@pytest.mark.usefixtures("rows_in_passes")
def test_counts_add_up_newton_steps_on_the_device(device, dispatch):
    X, y, weights = problem()
    counts = np.random.default_rng(1).poisson(np.exp(y)).astype(float)
    found = RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False).fit(device(X), device(counts), device(1.0 + weights))
    blocks = RowBlocks.from_arrays(X, counts, 1.0 + weights)
    expected = RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False).fit(blocks)
    np.testing.assert_allclose(found.predict(X), expected.predict(X), rtol=1e-6)
    assert found.criterion_ == pytest.approx(expected.criterion_, rel=1e-9)


# Refused -----------------------------------------------------------------------------------------------------------------


def test_without_dispatch_the_error_says_what_to_do(device):
    X, y, _ = problem(20)
    with pytest.raises(TypeError, match=r"config_context\(array_api_dispatch=True\)"):
        EvidenceRegressor(basis()).fit(device(X), device(y))
    with pytest.raises(TypeError, match=r"config_context\(array_api_dispatch=True\)"):
        EvidenceRegressor(basis()).fit(X, y).predict(device(X))


@needs_dispatch
def test_nothing_is_moved_between_devices_silently(device, dispatch):
    X, y, weights = problem(20)
    model = EvidenceRegressor(basis())
    with pytest.raises(TypeError, match="but y is a NumPy array, in the memory of the host, and nothing is moved"):
        model.fit(device(X), y)
    with pytest.raises(TypeError, match="but sample_weight is of type list"):
        model.fit(device(X), device(y), weights.tolist())
    with pytest.raises(TypeError, match="is not turned into an array silently"):
        model.fit(X, device(y))
    with pytest.raises(ValueError, match="but the target y is None"):
        model.fit(device(X))


@needs_strict
@needs_dispatch
def test_two_devices_are_refused(dispatch):
    import array_api_strict as strict

    X, y, _ = problem(20)
    places = [strict.asarray(values, device=strict.Device(name)) for values, name in ((X, "device1"), (y, "device2"))]
    with pytest.raises(TypeError, match=r"X is a array_api_strict array on device1, but y is a array_api_strict array on device2"):
        EvidenceRegressor(basis()).fit(*places)


def spoiled(values, place, value):
    values = np.array(values)
    values[place] = value
    return values


@needs_dispatch
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda X, y, w: (spoiled(X, (7, 1), np.nan), y, w), "X must hold finite numbers, got NaN or infinity in row 7, column 1"),
        (lambda X, y, w: (X, spoiled(y, 3, np.inf), w), "y must hold finite numbers, got NaN or infinity in row 3"),
        (lambda X, y, w: (X, y, spoiled(w, 5, np.nan)), "sample_weight must hold finite numbers, got NaN or infinity in row 5"),
        (lambda X, y, w: (X, y, spoiled(w, 5, -1.0)), "sample_weight must not be negative, got -1"),
        (lambda X, y, w: (X, y, 0.0 * w), "must contain at least one non-zero number|must not be zero for every row"),
        (lambda X, y, w: (X, y, 1e200 * w), "the largest sample weight is"),
        (lambda X, y, w: (X, y[:-1], w), "X has 400 rows, but y has shape"),
        (lambda X, y, w: (X, y, w[:-1]), "X has 400 rows, but sample_weight has shape"),
        (lambda X, y, w: (X[:, 0], y, w), "X must have rows and columns, got shape"),
        (lambda X, y, w: (X[:, :0], y, w), "X must have rows and columns, got shape"),
        (lambda X, y, w: (X[:0], y[:0], w[:0]), "no rows"),
        (lambda X, y, w: (1e200 * X, y, w), "column 0 of X has a largest absolute value"),
        (lambda X, y, w: (X, 1e200 * y, w), "y has a largest absolute value"),
    ],
)
def test_wrong_data_are_named(device, dispatch, spoil, message):
    with pytest.raises(ValueError, match=message):
        EvidenceRegressor(basis()).fit(*map(device, spoil(*problem())))


@needs_dispatch
def test_complex_numbers_are_refused(device, dispatch):
    X, y, _ = problem(20)
    with pytest.raises(TypeError, match="X must hold real numbers"):
        EvidenceRegressor(basis()).fit(device(X.astype(complex)), device(y))


@needs_dispatch
def test_negative_counts_are_named(device, dispatch):
    X, y, _ = problem()
    with pytest.raises(ValueError, match="counts or rates"):
        RelevanceVectorPoissonRegressor(basis()).fit(device(X), device(y))


@needs_dispatch
def test_one_class_is_refused(device, dispatch):
    X, _, _ = problem()
    with pytest.raises(ValueError, match="at least two classes"):
        RelevanceVectorClassifier(basis()).fit(device(X), device(np.ones(N, dtype=int)))


@needs_dispatch
def test_methods_that_need_rows_on_the_host_say_so(device, dispatch):
    X, y, _ = problem()
    with pytest.raises(ValueError, match=r"rows on a device|in memory"):
        skarce.VBLSClassifier(basis()).fit(device(X), device((y > 0.0).astype(int)))


@needs_dispatch
def test_centers_at_every_row_are_refused_if_only_a_sample_is_moved(device, dispatch, monkeypatch):
    monkeypatch.setattr("skarce.designs.design.SAMPLE_ROWS", 50)
    X, y, _ = problem()
    with pytest.raises(ValueError, match="centers=None would make each of the 400 rows a candidate, but rows on a device are not"):
        EvidenceRegressor(KernelBasis(gamma=1.0, centers=None)).fit(device(X), device(y))


def test_targets_come_with_device_rows(device):
    X, y, _ = problem(20)
    with pytest.raises(ValueError, match="with DeviceRows, y and sample_weight come from the blocks"):
        EvidenceRegressor(basis()).fit(rows_on(device, X, y), y)


def test_rows_that_change_between_passes_are_noticed(device):
    X, y, _ = problem()
    lengths = iter([N, N - 1])

    def read():
        n = next(lengths)
        return ((device(X[:n]), device(y[:n])),)

    with pytest.raises(ValueError, match="the row blocks gave 399 rows in this pass, but 400 in the one before"):
        EvidenceRegressor(basis()).fit(DeviceRows(read))


@pytest.mark.parametrize(
    ("blocks", "error", "message"),
    [
        (lambda on, X, y: ((X, y),), TypeError, "blocks of device rows must be arrays on a device, but X is a NumPy array"),
        (lambda on, X, y: (on(X),), ValueError, "row block 0 must be"),
        (lambda on, X, y: ((on(X), on(y)), (on(X[:, :1]), on(y))), ValueError, "row block 1 has 1 inputs and 1 targets, but"),
        (lambda on, X, y: (), ValueError, "there are no rows"),
        (lambda on, X, y: 7, TypeError, "must return an iterable"),
    ],
)
def test_wrong_blocks_are_named(device, blocks, error, message):
    X, y, _ = problem(20)
    with pytest.raises(error, match=message):
        EvidenceRegressor(basis()).fit(DeviceRows(lambda: blocks(device, X, y)))


def test_devices_and_packages_that_are_not_there_are_named(device):
    X, y, _ = problem(20)
    with pytest.raises(ValueError, match="library must be one of"):
        DeviceRows.from_arrays(X, y, device="cpu", library="numpy")
    with pytest.raises(ValueError, match=f"{device.library} has no device 'nowhere'"):
        DeviceRows.from_arrays(X, y, device="nowhere", library=device.library)
    with pytest.raises(TypeError, match="blocks must be RowBlocks in the memory of the host, got DeviceRows"):
        DeviceRows.from_blocks(DeviceRows(lambda: ()), device=device.place, library=device.library)

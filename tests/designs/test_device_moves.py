"""What moves between host and device in whole fits and predictions: of the size of the rows, only what docs/gpu.md allows.

A spy stands in for the only functions that move arrays. array-api-strict raises for whatever would go around them. And nothing of
what was fitted stays on the device.
"""

import pickle
import sys
from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import clone

from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    FastGCVRegressor,
    KernelBasis,
    PrimalSVMClassifier,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    _device,
)
from skarce.designs import DeviceRows
from tests.designs.test_device import N, basis, noisy, problem
from tests.devices import LIBRARIES, Device, dispatched, needs_dispatch

pytestmark = needs_dispatch
SAMPLE = 150  # rows, fewer than all: so the sample is not of the size of the rows
M = basis().centers.shape[0]
UP, DOWN = "to the device", "to the host"
# What may move of the size of the rows: the function that moves it, where to, and how many numbers for each row.
WEIGHTS, LABELS = ("_drawn", DOWN, 1), ("_drawn", DOWN, 1)
TARGETS = ("__call__", DOWN, 1)  # SpreadPass: labels and counts are checked
INPUTS_TO_HASH, PLACES_OF_FOLDS = ("_folds_added", DOWN, 2), ("taken", UP, 1)


@dataclass(frozen=True)
class Move:
    """An array that was moved."""

    by: str
    where: str
    shape: tuple

    @property
    def is_of_rows(self):
        return max(self.shape, default=0) > SAMPLE

    @property
    def kind(self):
        return self.by, self.where, int(np.prod(self.shape[1:]))


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture(autouse=True)
def dispatch(monkeypatch):
    with dispatched(monkeypatch):
        yield


@pytest.fixture
def moves(monkeypatch):
    """All moves from now on. Special functions that only array-api-strict lacks are computed on the host, and do not count."""
    seen = []

    def spied(name, where, move, is_on_device):
        def watched(values, *rest, **more):
            frame = sys._getframe(1)
            while frame.f_code.co_name in ("to_device", "watched", "<genexpr>", "<listcomp>"):
                frame = frame.f_back
            if is_on_device(values) and frame.f_code.co_name != "special":
                seen.append(Move(frame.f_code.co_name, where, tuple(np.shape(values) if where == UP else values.shape)))
            return move(values, *rest, **more)

        for module in [module for key, module in sys.modules.items() if key.partition(".")[0] == "skarce"]:
            if vars(module).get(name) is move:
                monkeypatch.setattr(module, name, watched)

    spied("to_host", DOWN, _device.to_host, _device.is_on_device)
    spied("placed", UP, _device.placed, lambda values: True)
    return seen


def kinds_of_rows(moves):
    return {move.kind for move in moves if move.is_of_rows}


@pytest.fixture(autouse=True)
def few_rows_are_drawn(monkeypatch):
    monkeypatch.setattr(DeviceRows.sample, "__defaults__", (None, SAMPLE))


def labels_of(y, n_classes=2):
    return np.searchsorted([0.0, 1.5][: n_classes - 1], noisy(y))


def counts_of(y):
    return np.random.default_rng(1).poisson(np.exp(y)).astype(float)


PLAIN = {"calibrate_std": False}
FITS = {
    "relevance": (RelevanceVectorRegressor(basis(), **PLAIN), lambda y: y, set()),
    "gcv": (FastGCVRegressor(basis(), **PLAIN), lambda y: y, set()),
    "dense": (EvidenceRegressor(basis(), **PLAIN), lambda y: y, set()),
    "elimination": (BackwardEliminationRegressor(basis(), **PLAIN), lambda y: y, set()),
    "calibrated": (EvidenceRegressor(basis(), calibrate_std=True), lambda y: y, {INPUTS_TO_HASH, PLACES_OF_FOLDS}),
    "classifier": (RelevanceVectorClassifier(basis(), calibrate_proba=False), labels_of, {LABELS, TARGETS}),
    "classes": (RelevanceVectorClassifier(basis(), calibrate_proba=False), lambda y: labels_of(y, 3), {LABELS, TARGETS}),
    "margins": (PrimalSVMClassifier(basis(), max_active=6, calibrate_proba=False), labels_of, {LABELS, TARGETS}),
    "counts": (RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False), counts_of, {TARGETS}),
}


@pytest.fixture
def large_matrices_are_there(monkeypatch):
    """All matrices are large enough for the device."""
    for module in ("moments.directions", "states.device_block", "methods.latent.on_sums", "methods.elimination.removals"):
        monkeypatch.setattr(f"skarce.{module}.WORTH_DEVICE", 1)


@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
@pytest.mark.parametrize("name", FITS)
def test_a_fit_moves_no_more_rows_than_the_docs_say(device, moves, large_matrices_are_there, name, weighted):
    model, targets, allowed = FITS[name]
    X, y, weights = problem()
    given = device(X), device(targets(y)), device(weights) if weighted else None
    clone(model).fit(*given)
    assert kinds_of_rows(moves) <= allowed | ({WEIGHTS} if weighted else set())
    assert any(move.where == DOWN for move in moves)


def test_learned_widths_move_the_inputs_to_be_hashed_unless_the_std_is_not_calibrated(device, moves):
    X, y, _ = problem()
    EvidenceRegressor("auto").fit(device(X), device(y))
    assert INPUTS_TO_HASH in kinds_of_rows(moves)
    moves.clear()
    EvidenceRegressor("auto", calibrate_std=False).fit(device(X), device(y))
    assert not kinds_of_rows(moves)


@pytest.mark.parametrize("name", ["relevance", "dense", "elimination"])
def test_the_gram_matrix_does_not_go_back(device, moves, large_matrices_are_there, name):
    """It is moved to the host once, and stays where it was made."""
    X, y, weights = problem()
    clone(FITS[name][0]).fit(device(X), device(y), device(weights))
    assert [move.by for move in moves if move.where == DOWN and move.shape == (M, M)].count("moved") == 1
    assert not any(move.where == UP and move.shape == (M, M) and move.by != "_show_candidates" for move in moves)


@pytest.mark.parametrize("name", ["classifier", "counts"])
def test_the_curvature_of_a_newton_step_does_not_go_back(device, moves, large_matrices_are_there, name):
    X, y, _ = problem()
    clone(FITS[name][0]).fit(device(X), device(FITS[name][1](y)))
    assert any(move.where == DOWN and move.shape == (M + 1, M + 1) for move in moves)
    assert not any(move.where == UP and move.shape == (M + 1, M + 1) for move in moves)


@pytest.mark.parametrize("name", ["classifier", "counts"])
def test_curvatures_of_blocks_are_added_up_before_they_are_moved(device, moves, name):
    """The number of moves does not grow with the number of blocks."""
    X, y, _ = problem()
    sizes = []
    for n_blocks in (1, 4):
        moves.clear()
        parts = np.array_split(np.arange(N), n_blocks)
        rows = DeviceRows(lambda parts=parts: [(device(X[part]), device(FITS[name][1](y)[part])) for part in parts])
        clone(FITS[name][0]).fit(rows)
        sizes.append(sum(move.shape == (M + 1, M + 1) for move in moves))
    assert sizes[0] == sizes[1]


def test_predictions_stay_there(device, moves):
    X, y, weights = problem()
    regressor = RelevanceVectorRegressor(basis(), **PLAIN).fit(X, y, weights)
    classifier = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(X, labels_of(y, 3))
    counts = RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False).fit(X, counts_of(y))
    queries = device(X)
    moves.clear()
    for ask in (
        lambda: regressor.predict(queries, return_std=True),
        lambda: regressor.predict_interval(queries),
        lambda: classifier.predict(queries),
        lambda: classifier.predict_proba(queries),
        lambda: classifier.predict_log_proba(queries),
        lambda: classifier.decision_function(queries, return_std=True),
        lambda: classifier.latent(queries),
        lambda: counts.predict(queries, return_std=True),
    ):
        ask()
    assert moves
    assert not kinds_of_rows(moves)


def test_intervals_of_counts_and_labels_that_are_text_move_numbers_for_each_row(device, moves):
    X, y, _ = problem()
    counts = RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False).fit(X, counts_of(y))
    classifier = RelevanceVectorClassifier(basis(), calibrate_proba=False).fit(X, np.where(noisy(y) > 0.0, "above", "below"))
    queries = device(X)
    moves.clear()
    counts.predict_interval(queries)
    assert kinds_of_rows(moves) == {("predict_interval", DOWN, 1), ("predict_interval", UP, 1)}
    moves.clear()
    classifier.predict(queries)
    assert {kind[1:] for kind in kinds_of_rows(moves)} == {(DOWN, 1)}


FITTED = {
    "regressor": (RelevanceVectorRegressor(), lambda y: y),
    "dense": (EvidenceRegressor(basis(), calibrate_std=True), lambda y: y),
    "elimination": (BackwardEliminationRegressor(basis()), lambda y: y),
    "outputs": (RelevanceVectorRegressor(basis()), lambda y: np.column_stack([y, y**2])),
    "classifier": (RelevanceVectorClassifier(basis(), calibrate_proba=False), lambda y: (noisy(y) > 0.0).astype(int)),
    "classes": (RelevanceVectorClassifier(basis(), calibrate_proba=False), lambda y: np.searchsorted([0.0, 1.5], noisy(y))),
    "counts": (RelevanceVectorPoissonRegressor(basis(), calibrate_proba=False), lambda y: np.round(np.exp(y))),
    "margins": (PrimalSVMClassifier(basis(), max_active=6, calibrate_proba=False), lambda y: (noisy(y) > 0.0).astype(int)),
}


def everything_in(value, seen=None):
    """Yield a value, and all that its attributes, items and elements hold."""
    seen = set() if seen is None else seen
    if id(value) in seen or isinstance(value, (str, bytes, type, np.ndarray)):
        return
    seen.add(id(value))
    yield value
    held = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple, set)) else ()
    for part in [*held, *getattr(value, "__dict__", {}).values()]:
        yield from everything_in(part, seen)


def test_arrays_on_a_device_are_found_wherever_they_are(device):
    found = everything_in({"a": [(1, KernelBasis(centers=device([1.0])))]})
    assert any(map(_device.is_on_device, found))


@pytest.mark.parametrize("kind", FITTED)
def test_everything_fitted_is_numpy(device, large_matrices_are_there, kind):
    """Also if all large matrices were on the device."""
    (model, targets), (X, y, weights) = FITTED[kind], problem()
    model = clone(model).fit(device(X), device(targets(y)), device(weights))
    assert not [value for value in everything_in(model) if _device.is_on_device(value)]
    assert type(model.predict(X)) is np.ndarray
    assert device.library.encode() not in pickle.dumps(model)

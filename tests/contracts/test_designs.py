"""One body for every design: it poses the problems of the dense design.

A new design is one entry in `EVERY_DESIGN`. `FilesDesign` is a toy that shows all that a design on blocks must write.
"""

from collections.abc import Callable
from dataclasses import dataclass

import dask.array
import numpy as np
import pytest

import skarce.designs
from skarce import KernelBasis, RelevanceVectorRegressor
from skarce.basis import fit_basis
from skarce.designs import (
    DESIGNS,
    Block,
    BlockDesign,
    DaskDesign,
    Design,
    DeviceDesign,
    DeviceRows,
    InMemoryDesign,
    Recipe,
    RowBlocks,
    RowBlocksDesign,
    Rows,
    StreamDesign,
    as_design,
)
from skarce.likelihoods import Bernoulli, Gaussian
from tests.devices import PLACES, Device

N, GAMMA = 120, 0.4
FIRST = 45  # the number of rows in the first file


class Files(list):
    """Paths of archives with X, y and perhaps sample_weight."""


def read_file(path):
    with np.load(path) as archive:
        return archive["X"], archive["y"], archive.get("sample_weight")


class FilesDesign(BlockDesign):
    """Rows in several files. The basis is fitted on the first of them."""

    def __init__(self, candidates, files, rows, n_rows, *, fit_intercept=True):
        super().__init__(candidates, rows, n_rows, fit_intercept=fit_intercept)
        self._files = files

    @classmethod
    def takes(cls, X):
        return isinstance(X, Files)

    @classmethod
    def of(cls, X, y, sample_weight, recipe):
        rows = recipe.check(*read_file(X[0]))
        n_rows = sum(len(read_file(path)[0]) for path in X)
        return cls(recipe.candidates(rows), X, rows, n_rows, fit_intercept=recipe.fit_intercept)

    def _read(self):
        for path in self._files:
            X, y, weights = read_file(path)
            yield Block(self.candidates.on(X), y.reshape(len(X), -1), weights)


def as_files(X, y, weights, folder):
    files = Files()
    for number, part in enumerate((slice(0, FIRST), slice(FIRST, FIRST + 1), slice(FIRST + 1, None))):
        more = {} if weights is None else {"sample_weight": weights[part]}
        np.savez(folder / f"{number}.npz", X=X[part], y=y[part], **more)
        files.append(folder / f"{number}.npz")
    return files, None, None


def as_dask(X, y, weights, folder):
    """Inputs and targets in different partitions."""
    rows = (dask.array.from_array(X, chunks=(37, 1)), dask.array.from_array(y, chunks=(50, 1)))
    return *rows, None if weights is None else dask.array.from_array(weights, chunks=41)


def as_device_rows(library):
    """Copied to the device of a package. That of array-api-strict is one that NumPy cannot read."""
    place = Device(library).place
    return lambda X, y, w, folder: (DeviceRows.from_arrays(X, y, w, device=place, library=library, block_rows=37), None, None)


def streamed(X, y, weights, recipe):
    """A stream is not made from X and y. It gets batches."""
    rows = recipe.check(X, y, weights)
    design = StreamDesign(recipe.candidates(rows), y.shape[1], fit_intercept=recipe.fit_intercept)
    for part in (slice(0, 50), slice(50, 51), slice(51, N)):
        design = design.after_batch(Rows(X[part], y[part], None if weights is None else weights[part]))
    design.rows = rows
    return design


@dataclass(frozen=True)
class Case:
    """A design and the data that it is made from.

    Attributes
    ----------
    kind : type of Design
    passed : callable or None
        (X, y, sample_weight, folder) -> what the user passes to `fit` for these arrays: X, y and sample_weight. `folder` is an
        empty folder for files.
    made : callable or None
        (X, y, sample_weight, recipe) -> Design, if it is not made by `as_design`.
    keeps_rows : bool
        Whether rows can be asked for after the fit.
    """

    kind: type[Design]
    passed: Callable | None = None
    made: Callable | None = None
    keeps_rows: bool = False


# A new design is one entry here.
EVERY_DESIGN = {
    "in-memory": Case(InMemoryDesign, lambda X, y, w, folder: (X, y, w), keeps_rows=True),
    "row-blocks": Case(RowBlocksDesign, lambda X, y, w, folder: (RowBlocks.from_arrays(X, y, w, block_rows=37), None, None)),
    "files": Case(FilesDesign, as_files),
    "dask": Case(DaskDesign, as_dask),
    **{f"device-{library}": Case(DeviceDesign, as_device_rows(library)) for library in PLACES},
    "stream": Case(StreamDesign, made=streamed),
}
PASSED = [pytest.param(case, id=name) for name, case in EVERY_DESIGN.items() if case.passed]
BRINGS_TARGETS = [pytest.param(case, id=name) for name, case in EVERY_DESIGN.items() if case.kind.brings_targets]


@pytest.fixture(params=[pytest.param(case, id=name) for name, case in EVERY_DESIGN.items()])
def case(request):
    return request.param


@pytest.fixture(autouse=True)
def listed(monkeypatch):
    """List the toy among the designs, as a new file of the package would be."""
    monkeypatch.setattr(skarce.designs, "DESIGNS", (FilesDesign, *DESIGNS))


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def rows(request):
    """Targets: a wave, a line, a constant, and labels."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 2))
    targets = np.column_stack([np.sin(X[:, 0]) + 3.0, 1e3 * X[:, 1], np.full(N, 7.0), X[:, 0] > 0.0])
    return Rows(X, targets, rng.integers(0, 4, N).astype(float) if request.param else None, is_one_output=False)


@pytest.fixture(params=[True, False], ids=["intercept", "no-intercept"])
def fit_intercept(request):
    return request.param


def recipe_for(rows, **options):
    basis = KernelBasis(gamma=GAMMA, centers=rows.X[:15])
    return Recipe(
        lambda X, y, w, is_whole=True: Rows(X, np.asarray(y).reshape(len(X), -1), w, is_one_output=False), basis, **options
    )


def made(case, rows, folder, recipe):
    """The design of these rows, made in its own way."""
    X, y, weights = rows[:3]
    return case.made(X, y, weights, recipe) if case.made else as_design(*case.passed(X, y, weights, folder), recipe)


@pytest.fixture
def design(case, rows, fit_intercept, tmp_path):
    return made(case, rows, tmp_path, recipe_for(rows, fit_intercept=fit_intercept))


@pytest.mark.parametrize("kind", ["whole", "columns"])
def test_problems_are_those_of_the_dense_design(design, case, rows, fit_intercept, kind):
    assert type(design) is case.kind
    assert issubclass(case.kind, Design)
    weights = rows.row_weights
    phi = design.candidates.transform(rows.X)
    problems = design.problems(Gaussian(), kind)
    assert len(problems) == design.n_outputs == 4
    assert design.n_samples == pytest.approx(weights.sum())
    for output, problem in enumerate(problems[:2]):
        t = rows.targets[:, output]
        means, level = (weights @ phi / weights.sum(), weights @ t / weights.sum()) if fit_intercept else (0.0, 0.0)
        centered, target, scale = phi - means, t - level, problem.target_scale
        np.testing.assert_allclose(problem.moments.projections, scale * centered.T @ (weights * target), rtol=1e-8, atol=1e-8)
        gram = problem.moments.gram.columns(np.arange(15))
        np.testing.assert_allclose(gram, (centered.T * weights) @ centered, rtol=1e-8, atol=1e-8)
        assert problem.moments.target_energy == pytest.approx(scale**2 * weights @ target**2)
        assert problem.moments.n_samples == pytest.approx(weights.sum() - fit_intercept)
        np.testing.assert_allclose(design.target_means[output], level, rtol=1e-10)
        np.testing.assert_allclose(design.means(np.arange(15)), means * np.ones(15), rtol=1e-10)
        assert not problem.is_constant


def test_targets_are_scaled_by_a_power_of_two_to_about_unit_variance(design):
    for problem in design.problems(Gaussian())[:2]:
        assert np.log2(problem.target_scale) == round(np.log2(problem.target_scale))
        assert 0.25 <= problem.moments.target_energy / problem.moments.n_samples <= 4.0


def test_a_target_that_does_not_vary_is_noticed(design, fit_intercept):
    constant = design.problems(Gaussian())[2]
    assert constant.is_constant == fit_intercept
    if fit_intercept:
        assert constant.target_scale == 1.0


@pytest.mark.parametrize("most_held", [0, 10**6])
def test_rows_can_be_asked_or_the_error_says_what_to_do(design, case, rows, fit_intercept, most_held):
    if case.keeps_rows:
        evaluation, means = design.evaluation(most_held)
        phi, weights = design.candidates.transform(rows.X), rows.row_weights
        expected = phi - weights @ phi / weights.sum() if fit_intercept else phi
        np.testing.assert_allclose(evaluation.columns(np.arange(15)), expected, atol=1e-10)
        np.testing.assert_allclose(phi - means, expected, atol=1e-10)
        return
    for ask in (design.evaluation, lambda: design.reweighted(0, np.ones(N)), lambda: design.rows_of(np.arange(2))):
        with pytest.raises(ValueError, match="Pass arrays X and y"):
            ask()


def test_rows_are_all_rows_or_a_sample(design, case, rows):
    """Rows are known by their first input here: no two are equal."""
    places = np.argsort(rows.X[:, 0])[np.searchsorted(np.sort(rows.X[:, 0]), design.rows.X[:, 0])]
    np.testing.assert_array_equal(design.rows.X, rows.X[places])
    np.testing.assert_array_equal(design.rows.targets, rows.targets[places])
    np.testing.assert_array_equal(design.rows.row_weights, rows.row_weights[places])
    assert len(places) == N or not case.keeps_rows


def test_likelihoods_without_moments_get_their_observations(design):
    problem = design.problems(Bernoulli())[3]
    np.testing.assert_array_equal(problem.observations.targets, design.rows.targets[:, 3])
    np.testing.assert_array_equal(problem.observations.weights, design.rows.row_weights)
    with pytest.raises(TypeError, match="no moments"):
        _ = problem.moments


def test_means_that_are_not_known_yet_say_so(design, case, rows):
    questions = [lambda: design.target_means, lambda: design.means(np.arange(2))]
    if isinstance(design, BlockDesign):
        questions.append(lambda: design.n_samples)
    else:
        assert design.n_samples == rows.row_weights.sum()
    for ask in questions:
        with pytest.raises(RuntimeError, match=rf"call moments\(\) of this {case.kind.__name__} first"):
            ask()


# Made from what the user passes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", PASSED)
def test_the_first_design_that_takes_x_is_made(case, rows, tmp_path):
    passed = case.passed(*rows[:3], tmp_path)
    assert case.kind.takes(passed[0])
    design = as_design(*passed, recipe_for(rows))
    assert type(design) is case.kind
    with pytest.raises(ValueError, match="moments must be one of"):
        design.moments("half")


@pytest.mark.parametrize("case", PASSED)
def test_estimators_take_what_the_user_passes(case, rows, tmp_path):
    basis = KernelBasis(gamma=GAMMA, centers=rows.X[:15])
    X, y, weights = rows.X, rows.targets[:, :2] + 0.1 * np.random.default_rng(0).normal(size=(N, 2)), rows.weights
    expected = RelevanceVectorRegressor(basis).fit(X, y, weights).predict(X)
    found = RelevanceVectorRegressor(basis).fit(*case.passed(X, y, weights, tmp_path)).predict(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("case", BRINGS_TARGETS)
def test_targets_given_twice_are_refused(case, rows, tmp_path):
    X, y, weights = case.passed(*rows[:3], tmp_path)
    assert y is None
    assert weights is None
    for twice in ((rows.targets, None), (None, rows.row_weights)):
        with pytest.raises(ValueError, match=f"with {type(X).__name__}, y and sample_weight .* do not pass them to fit"):
            as_design(X, *twice, recipe_for(rows))


def test_a_design_that_is_not_made_from_x_and_y_says_so(rows):
    assert not StreamDesign.takes(rows.X)
    with pytest.raises(TypeError, match="cannot be made from X and y"):
        StreamDesign.of(rows.X, rows.targets, None, recipe_for(rows))


def test_every_listed_design_is_in_the_contract():
    testable = set(DESIGNS) - (set() if PLACES else {DeviceDesign})  # there may be no package of arrays that goes with NumPy
    assert {case.kind for case in EVERY_DESIGN.values()} >= testable


def test_a_passthrough_recipe_takes_the_inputs(rows):
    recipe = Recipe(lambda X, y, w: Rows(X, y, w), None)
    design = as_design(rows.X, rows.targets, None, recipe)
    assert design.candidates.n_candidates == fit_basis(None, rows.X, None, None).n_candidates == 2

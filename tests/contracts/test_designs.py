"""One body for every design: it poses the problems of the dense design. A new design is one line in `EVERY_DESIGN`."""

import numpy as np
import pytest

from skarce import KernelBasis
from skarce.basis import fit_basis
from skarce.designs import DESIGNS, Design, InMemoryDesign, Recipe, RowBlocks, RowBlocksDesign, Rows, StreamDesign, as_design
from skarce.likelihoods import Bernoulli, Gaussian

N, GAMMA = 120, 0.4


def in_memory(basis, rows, fit_intercept):
    return InMemoryDesign(basis, rows, fit_intercept=fit_intercept)


def row_blocks(basis, rows, fit_intercept):
    blocks = RowBlocks.from_arrays(rows.X, rows.targets, rows.weights, block_rows=37)
    return RowBlocksDesign(basis, blocks, rows, N, fit_intercept=fit_intercept)


def stream(basis, rows, fit_intercept):
    design = StreamDesign(basis, rows.targets.shape[1], fit_intercept=fit_intercept)
    for part in (slice(0, 50), slice(50, 51), slice(51, N)):
        design.absorb(Rows(rows.X[part], rows.targets[part], None if rows.weights is None else rows.weights[part]))
    design.rows = rows
    return design


EVERY_DESIGN = {"in memory": in_memory, "row blocks": row_blocks, "stream": stream}
KEEPS_ROWS = {"in memory"}


@pytest.fixture(params=EVERY_DESIGN)
def name(request):
    return request.param


@pytest.fixture(params=[None, "weights"], ids=["plain", "weighted"])
def rows(request):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(N, 2))
    targets = np.column_stack([np.sin(X[:, 0]) + 3.0, 1e3 * X[:, 1], np.full(N, 7.0)])
    return Rows(X, targets, None if request.param is None else rng.integers(0, 4, N).astype(float), is_one_output=False)


@pytest.fixture(params=[True, False], ids=["intercept", "no intercept"])
def fit_intercept(request):
    return request.param


@pytest.fixture
def design(name, rows, fit_intercept):
    basis = KernelBasis(gamma=GAMMA, centers=rows.X[:15]).fit(rows.X)
    return EVERY_DESIGN[name](basis, rows, fit_intercept)


def test_problems_are_those_of_the_dense_design(design, rows, fit_intercept):
    assert isinstance(design, Design)
    weights = rows.row_weights
    phi = design.candidates.transform(rows.X)
    problems = design.problems(Gaussian())
    assert len(problems) == design.n_outputs == 3
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


def test_rows_can_be_asked_or_the_error_says_what_to_do(design, name, rows, fit_intercept):
    if name in KEEPS_ROWS:
        evaluation, means = design.evaluation()
        phi, weights = design.candidates.transform(rows.X), rows.row_weights
        expected = phi - weights @ phi / weights.sum() if fit_intercept else phi
        np.testing.assert_allclose(evaluation.columns(np.arange(15)), expected, atol=1e-10)
        np.testing.assert_allclose(phi - means, expected, atol=1e-10)
        return
    for ask in (design.evaluation, lambda: design.reweighted(0, np.ones(N)), lambda: design.rows_of(np.arange(2))):
        with pytest.raises(ValueError, match="Pass arrays X and y"):
            ask()


def test_likelihoods_without_moments_get_their_observations(design, rows):
    problem = design.problems(Bernoulli())[1]
    np.testing.assert_array_equal(problem.observations.targets, rows.targets[:, 1])
    np.testing.assert_array_equal(problem.observations.weights, rows.row_weights)
    with pytest.raises(TypeError, match="no moments"):
        _ = problem.moments


def test_the_first_design_that_takes_x_is_made(rows):
    recipe = Recipe(
        lambda X, y, w: Rows(X, np.asarray(y).reshape(len(X), -1), w), KernelBasis(gamma=1.0, centers=5, random_state=0)
    )
    assert type(as_design(rows.X, rows.targets, None, recipe)) is InMemoryDesign
    assert type(as_design(RowBlocks.from_arrays(rows.X, rows.targets), None, None, recipe)) is RowBlocksDesign
    assert all(issubclass(kind, Design) for kind in DESIGNS)
    with pytest.raises(TypeError, match="cannot be made from X and y"):
        StreamDesign.of(rows.X, rows.targets, None, recipe)


def test_a_passthrough_recipe_takes_the_inputs(rows):
    recipe = Recipe(lambda X, y, w: Rows(X, y, w), None)
    design = as_design(rows.X, rows.targets, None, recipe)
    assert design.candidates.n_candidates == fit_basis(None, rows.X, None, None).n_candidates == 2

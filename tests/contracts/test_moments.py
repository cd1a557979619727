"""One body for every kind of moments: they answer like the dense design, to 1e-9."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context

from skarce import KernelBasis, _parallel
from skarce.basis.transformers import PassthroughCandidates
from skarce.designs import InMemoryDesign, RowBlocks, RowBlocksDesign, Rows
from skarce.designs.choice import IN_BATCHES, Access
from skarce.moments import Moments
from skarce.moments.passes import Block, whole_sums
from skarce.states.active_set import ActiveSet
from tests.oracles import annihilator, rbf

N, GAMMA = 900, 0.4


def in_memory(kind, memory=1024, access=IN_BATCHES):
    def provide(basis, X, targets, weights, fit_intercept):
        with config_context(working_memory=memory):
            return InMemoryDesign(basis, Rows(X, targets, weights), fit_intercept=fit_intercept).moments(kind, access)

    return provide


def row_blocks(kind):
    def provide(basis, X, targets, weights, fit_intercept):
        blocks = RowBlocks.from_arrays(X, targets, weights, block_rows=127)
        return RowBlocksDesign(basis, blocks, Rows(X, targets, weights), len(X), fit_intercept=fit_intercept).moments(kind)

    return provide


def sparse_columns(kind):
    def provide(basis, X, targets, weights, fit_intercept):
        raw = sparse.csr_array(basis.transform(X))
        rows = Rows(raw, targets, weights)
        return InMemoryDesign(PassthroughCandidates(raw.shape[1]), rows, fit_intercept=fit_intercept).moments(kind)

    return provide


def halves_added(basis, X, targets, weights, fit_intercept):
    parts = [slice(0, 400), slice(400, 401), slice(401, N)]
    sums = sum(
        whole_sums(lambda rows=rows: [Block(basis.on(X[rows]), targets[rows], None if weights is None else weights[rows])])
        for rows in parts
    )
    return sums.moments(about_mean=fit_intercept)


EVERY_KIND = {
    "whole": in_memory("whole"),
    "stored columns": in_memory("columns"),
    "stored columns, one by one": in_memory("columns", access=Access(one_by_one=True, n_columns=5)),
    "streamed columns": in_memory("columns", memory=1),
    "row blocks, whole": row_blocks("whole"),
    "row blocks, columns": row_blocks("columns"),
    "parts added up": halves_added,
    "sparse, whole": sparse_columns("whole"),
    "sparse, columns": sparse_columns("columns"),
}


@pytest.fixture(params=EVERY_KIND)
def provide(request):
    return EVERY_KIND[request.param]


@pytest.fixture(scope="module", params=["plain", "weighted"])
def weights(request):
    return None if request.param == "plain" else np.random.default_rng(5).integers(0, 4, N).astype(float)


@pytest.fixture(scope="module", params=[True, False], ids=["intercept", "no intercept"])
def fit_intercept(request):
    return request.param


@pytest.fixture(scope="module", params=["rows are centers", "landmarks"])
def problem(request):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 3))
    targets = np.column_stack([np.sin(X[:, 0]) + 3.0, X[:, 1] ** 2 + 1e3])
    centers = X if request.param == "rows are centers" else X[:40] + 0.1
    return KernelBasis(gamma=GAMMA, centers=centers).fit(X), X, targets, rbf(X, centers, GAMMA)


def dense(phi, t, weights, fit_intercept):
    """Phi and t after an explicit projection, the weights in their square roots."""
    weights = np.ones(len(t)) if weights is None else weights
    if fit_intercept:
        phi, t = phi - weights @ phi / weights.sum(), t - weights @ t / weights.sum()
    root = np.sqrt(weights)
    return phi * root[:, None], t * root


@pytest.mark.parametrize("threads", [False, True])
def test_answers_agree_with_the_dense_design(provide, problem, weights, fit_intercept, threads, monkeypatch):
    if threads:
        monkeypatch.setattr(_parallel, "WORTH_THREADS", 0.0)
    basis, X, targets, raw = problem
    n_effective = (N if weights is None else weights.sum()) - fit_intercept
    for output, moments in enumerate(provide(basis, X, targets, weights, fit_intercept)):
        phi, t = dense(raw, targets[:, output], weights, fit_intercept)
        active, w = np.array([5, 17, 2]), np.array([0.5, -1.0, 2.0])
        scale = np.linalg.norm(phi, axis=0)
        assert moments.n_samples == n_effective
        np.testing.assert_allclose(moments.gram.diagonal, scale**2, rtol=1e-9)
        np.testing.assert_allclose(moments.target_energy, t @ t, rtol=1e-9)
        np.testing.assert_allclose(moments.projections, phi.T @ t, atol=1e-9 * np.linalg.norm(t) * scale.max())
        # Blocks before any column has been kept, and of the same columns on both sides.
        rows, fresh = np.array([1, 2, 30]), np.array([7, 11])
        np.testing.assert_allclose(moments.gram.block(rows, fresh), phi[:, rows].T @ phi[:, fresh], atol=1e-9 * scale.max() ** 2)
        np.testing.assert_allclose(moments.gram.block(fresh, fresh), phi[:, fresh].T @ phi[:, fresh], atol=1e-9 * scale.max() ** 2)
        np.testing.assert_allclose(moments.gram.columns(active), phi[:, active].T @ phi, atol=1e-9 * scale.max() ** 2)
        np.testing.assert_allclose(moments.gram.column(17), phi[:, 17] @ phi, atol=1e-9 * scale.max() ** 2)
        np.testing.assert_allclose(moments.gram.block(rows, active), phi[:, rows].T @ phi[:, active], atol=1e-9 * scale.max() ** 2)
        block = moments.restricted_to(active).gram.block(np.array([0, 1]), np.array([2]))
        np.testing.assert_allclose(block, phi[:, active[:2]].T @ phi[:, active[2:]], atol=1e-9 * scale.max() ** 2)
        residual = t - phi[:, active] @ w
        np.testing.assert_allclose(moments.residual_energy(active, w), residual @ residual, rtol=1e-9)
        np.testing.assert_allclose(
            moments.residual_projections(active, w), phi.T @ residual, atol=1e-9 * np.linalg.norm(t) * scale.max()
        )


def test_rows_give_phi_and_products_with_its_square(provide, problem, weights, fit_intercept):
    basis, X, targets, raw = problem
    counts = np.ones(N) if weights is None else weights
    for output, moments in enumerate(provide(basis, X, targets, weights, fit_intercept)):
        if moments.rows is None:
            pytest.skip("sums that were added up have no rows left to ask")
        phi, t = (A[counts > 0.0] for A in dense(raw, targets[:, output], weights, fit_intercept))
        active, w = np.array([5, 17, 2]), np.array([0.5, -1.0, 2.0])
        scaled, some = moments.scaled(8.0).rows, moments.restricted_to(np.array([2, 5, 17])).rows
        np.testing.assert_allclose(scaled.centered(active), phi[:, active], atol=1e-9)
        np.testing.assert_allclose(scaled.target() / 8, t, atol=1e-9 * np.abs(t).max())
        product = phi[:, active].T @ (phi[:, active] @ w)
        np.testing.assert_allclose(scaled.gram_product(active, w), product, atol=1e-9 * np.abs(product).max())
        np.testing.assert_allclose(some.gram_product(np.array([1, 2, 0]), w), product, atol=1e-9 * np.abs(product).max())
        np.testing.assert_allclose(some.centered(np.array([1, 2, 0])), phi[:, active], atol=1e-9)
        np.testing.assert_allclose(some.target(), t, atol=1e-9 * np.abs(t).max())


def test_compressed_rows_have_the_same_products(provide, problem, weights, fit_intercept):
    basis, X, targets, raw = problem
    for output, moments in enumerate(provide(basis, X, targets, weights, fit_intercept)):
        if moments.rows is None:
            pytest.skip("sums that were added up have no rows left to ask")
        phi, t = dense(raw, targets[:, output], weights, fit_intercept)
        some = np.array([2, 5, 17])
        for rows, columns in ((moments.rows, np.arange(phi.shape[1])), (moments.restricted_to(some).rows, some)):
            matrix, expected = rows.compressed(), np.column_stack([phi[:, columns], t])
            assert len(matrix) <= max(expected.shape[1], len(phi))
            scale = np.linalg.norm(expected, axis=0)
            np.testing.assert_allclose(
                matrix.T @ matrix / np.outer(scale, scale), expected.T @ expected / np.outer(scale, scale), atol=1e-11
            )
        assert len(matrix) == len(some) + 1
        np.testing.assert_allclose(moments.scaled(8.0).rows.compressed(some)[:, -1] ** 2 @ np.ones(4), 64.0 * (t @ t), rtol=1e-9)


@pytest.fixture(scope="module")
def annihilated(problem, weights, fit_intercept):
    """Three candidates and their ridges, Phi, P and P Phi, which all kinds of moments are compared with."""
    active, ridges = np.array([5, 17, 2]), np.array([0.5, 1e-3, 4.0])
    _, _, targets, raw = problem
    phi, _ = dense(raw, targets[:, 0], weights, fit_intercept)
    P = annihilator(phi[:, active], ridges, N)
    return active, ridges, phi, P, P @ phi


def test_remainders_of_every_candidate_come_from_the_rows(provide, problem, weights, fit_intercept, annihilated):
    basis, X, targets, raw = problem
    active, ridges, phi, P, rest = annihilated
    provided = provide(basis, X, targets, weights, fit_intercept)
    if provided[0].rows is None:
        pytest.skip("sums that were added up have no rows left to ask")
    scale = np.linalg.norm(phi, axis=0)
    for output, moments in enumerate(provided):
        _, t = dense(raw[:, :1], targets[:, output], weights, fit_intercept)
        length = np.linalg.norm(t)
        seen = moments.scaled(8.0).rows.remainders(active, ridges)
        np.testing.assert_allclose(seen.alignment / 8, phi.T @ (P @ t), atol=1e-9 * length * scale.max())
        np.testing.assert_allclose(seen.overlap / 8, rest.T @ (P @ t), atol=1e-9 * length * scale.max())
        np.testing.assert_allclose(seen.leftover, np.einsum("nm,nm->m", phi, rest), atol=1e-9 * scale.max() ** 2)
        np.testing.assert_allclose(seen.remainder, np.sum(rest**2, axis=0), atol=1e-9 * scale.max() ** 2)


def test_remainders_keep_their_digits_if_the_condition_is_bad():
    """Against an augmented least squares problem in extended precision: condition 1e11 and more."""
    X = np.linspace(-1, 1, 60)[:, None]
    basis = KernelBasis(gamma=0.5).fit(X)
    design = InMemoryDesign(basis, Rows(X, np.sin(3 * X)), fit_intercept=False)
    moments = design.moments("whole")[0]
    active, ridges = np.arange(0, 60, 8), np.full(8, 1e-10)
    phi = rbf(X, X, 0.5)
    inside = phi[:, active]
    assert np.linalg.cond(inside.T @ inside + np.diag(ridges)) > 1e11
    remainder = np.array([_extended_residual(inside, phi[:, m], ridges) for m in range(60)])
    state = ActiveSet(moments, active, ridges, squares=True)
    outside = np.setdiff1d(np.arange(60), active)
    np.testing.assert_allclose(state.remainder[outside], remainder[outside], rtol=1e-5)
    blind = ActiveSet(replace(moments, rows=None), active, ridges, squares=True)
    assert np.abs(blind.remainder[outside] / remainder[outside] - 1.0).max() > 1e-3  # which is why the rows are asked


def _extended_residual(inside, column, ridges):
    """|P phi|^2 by modified Gram-Schmidt of [Phi; Z^(1/2)] in extended precision."""
    matrix = np.vstack([inside, np.diag(np.sqrt(ridges))]).astype(np.longdouble)
    rest = np.append(column, np.zeros(len(ridges))).astype(np.longdouble)
    for k in range(matrix.shape[1]):
        direction = matrix[:, k] / np.sqrt((matrix[:, k] ** 2).sum())
        for _ in range(2):
            rest -= direction * (direction @ rest)
        matrix[:, k + 1 :] -= np.multiply.outer(direction, direction @ matrix[:, k + 1 :])
        matrix[:, k + 1 :] -= np.multiply.outer(direction, direction @ matrix[:, k + 1 :])
    return float((rest[: len(column)] ** 2).sum())


def test_scaled_moments_are_those_of_the_scaled_target(provide, problem):
    basis, X, targets, _ = problem
    for scaled, direct in zip(
        [m.scaled(8.0) for m in provide(basis, X, targets, None, True)], provide(basis, X, 8.0 * targets, None, True), strict=True
    ):
        np.testing.assert_allclose(scaled.projections, direct.projections, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(scaled.target_energy, direct.target_energy, rtol=1e-9)
        active, w = np.array([1, 2]), np.array([3.0, 4.0])
        np.testing.assert_allclose(scaled.residual_energy(active, w), direct.residual_energy(active, w), rtol=1e-9)


def test_exact_residuals_come_from_the_rows(provide, problem, request):
    """A fit to 1e-9 of the signal: the difference of moments has no digit left, the rows have all."""
    basis, X, _, raw = problem
    active, w = np.array([3, 30, 21]), np.array([2.0, -1.0, 1.0])
    noise = 1e-9 * np.random.default_rng(2).normal(size=N)
    moments: Moments = provide(basis, X, (raw[:, active] @ w + noise)[:, None], None, True)[0]
    if moments.rows is None:
        pytest.skip("sums that were added up have no rows left to ask")
    np.testing.assert_allclose(moments.residual_energy(active, w), ((noise - noise.mean()) ** 2).sum(), rtol=1e-5)


def test_constant_columns_are_recognized(provide, fit_intercept):
    """A kernel so wide that its columns are constant to working precision has nothing to offer beside a constant."""
    X = np.random.default_rng(0).normal(size=(N, 2))
    basis = KernelBasis(gamma=1e-30, centers=5, random_state=0).fit(X)
    moments = provide(basis, X, X[:, :1], None, fit_intercept)[0]
    if fit_intercept:
        assert (moments.gram.diagonal == 0.0).all()
        assert (moments.projections == 0.0).all()
    else:
        np.testing.assert_allclose(moments.gram.diagonal, N)


def test_nearly_constant_columns_keep_their_digits(provide):
    """Values between 1 and 1 + 1e-5: squares about the mean must not be a difference of sums near N."""
    X = np.random.default_rng(0).uniform(0.5, 1.0, size=(N, 1))
    basis = KernelBasis(gamma=1e-5, centers=X[:7]).fit(X)
    phi, _ = dense(basis.transform(X), X[:, 0], None, True)
    moments = provide(basis, X, X, None, True)[0]
    np.testing.assert_allclose(moments.gram.diagonal, (phi**2).sum(axis=0), rtol=1e-7)

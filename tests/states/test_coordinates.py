"""Orthonormal coordinates against the rows they come from."""

import numpy as np
import pytest

from skarce._linalg import NotPositiveDefiniteError
from skarce.states.coordinates import GramCoordinates, RowCoordinates
from tests.oracles import random_problem
from tests.problems import kernel_moments, moments_of

KINDS = {
    "gram": lambda phi, t: GramCoordinates(moments_of(phi, t)),
    "rows": lambda phi, t: RowCoordinates(np.asfortranarray(phi), t),
}


def assert_spans(frame, active, phi, t):
    """Products within and outside the directions add up to those of the rows, and the active functions are inside."""
    scale = np.linalg.norm(phi, axis=0)
    basis = np.linalg.qr(phi[:, active])[0]
    np.testing.assert_allclose(frame.outside[active] / scale[active] ** 2, 0.0, atol=1e-12)
    np.testing.assert_allclose((frame.candidates**2).sum(axis=0) + frame.outside, scale**2, rtol=1e-10)
    np.testing.assert_allclose((frame.target**2).sum() + frame.rest, t @ t, rtol=1e-10)
    np.testing.assert_allclose(
        frame.target @ frame.candidates + frame.aligned, t @ phi, atol=1e-10 * scale.max() * np.linalg.norm(t)
    )
    own = frame.candidates[:, active]
    np.testing.assert_allclose(own.T @ frame.candidates, phi[:, active].T @ phi, atol=1e-10 * scale.max() ** 2)
    np.testing.assert_allclose(own.T @ frame.target, phi[:, active].T @ t, atol=1e-10 * scale.max() * np.linalg.norm(t))
    assert (frame.outside <= ((phi - basis @ (basis.T @ phi)) ** 2).sum(axis=0) + 1e-10 * scale**2).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(3))
def test_every_set_of_functions_is_spanned(kind, seed):
    phi, t = random_problem(seed, n=90, m=70)
    coordinates, rng = KINDS[kind](phi, t), np.random.default_rng(seed)
    for size in (3, 5, 60, 2, 70, 0):
        active = rng.permutation(70)[:size]
        frame = coordinates.spanning(active)
        assert size <= len(frame) <= 1.25 * size + 32
        assert_spans(frame, active, phi, t)


@pytest.mark.parametrize("kind", KINDS)
def test_a_frame_stays_as_it_was_when_directions_come(kind):
    phi, t = random_problem(0, n=90, m=70)
    coordinates = KINDS[kind](phi, t)
    early = coordinates.spanning(np.array([3, 1]))
    copies = [np.copy(part) for part in early[:5]]
    late = coordinates.spanning(np.arange(40))
    assert late.origin is early.origin
    for part, copied in zip(early, copies, strict=False):
        np.testing.assert_array_equal(part, copied)
    np.testing.assert_array_equal(late.candidates[:2], early.candidates)
    assert coordinates.spanning(np.arange(60, 70)).origin is not early.origin  # too many directions were of no use


def test_nearly_dependent_functions_need_the_rows():
    phi, t = random_problem(0, n=40, m=12)
    phi[:, 5] = phi[:, :4].sum(axis=1) + 1e-4 * phi[:, 5]
    phi[:, 6] = phi[:, 0] - phi[:, 1]
    with pytest.raises(NotPositiveDefiniteError):
        KINDS["gram"](phi, t).spanning(np.arange(7))
    assert_spans(KINDS["rows"](phi, t).spanning(np.arange(7)), np.array([0, 1, 2, 3, 4, 5]), phi, t)


def test_as_many_functions_as_rows():
    phi, t = random_problem(0, n=20, m=50)
    coordinates = KINDS["rows"](phi, t)
    frame = coordinates.spanning(np.arange(35))
    assert len(frame) == 20
    np.testing.assert_allclose(frame.outside, 0.0, atol=1e-12 * (phi**2).sum(axis=0).max())
    assert frame.rest < 1e-24 * (t @ t)


def test_rows_behind_moments_may_be_missing_or_constant():
    moments, phi, _ = kernel_moments(0.5)
    assert RowCoordinates.are_possible(moments)
    assert not RowCoordinates.are_possible(moments.without_rows())
    with pytest.raises(ValueError, match="no rows"):
        RowCoordinates.of(moments.without_rows())
    moments.gram.diagonal[3] = 0.0  # as for a candidate that does not vary
    frame = RowCoordinates.of(moments).spanning(np.array([1, 3]))
    assert frame.outside[3] == 0.0
    assert (frame.candidates[:, 3] == 0.0).all()
    np.testing.assert_allclose((frame.candidates[:, 1] ** 2).sum(), phi[:, 1] @ phi[:, 1])

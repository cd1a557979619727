"""Matrices of active functions on a device, beside those on the host."""

import numpy as np
import pytest

from skarce._device import is_on_device, to_host
from skarce._linalg import NotPositiveDefiniteError
from skarce.criteria import GCV, IndividualEvidence
from skarce.moments import Moments, WholeGram
from skarce.searches import GreedyBatches
from skarce.searches.joint_steps import joint_steps
from skarce.states import device_block
from skarce.states.active_block import ActiveBlock
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.device_block import DeviceBlock, block_of
from skarce.states.journal import Journal
from tests.devices import LIBRARIES, Device
from tests.oracles import random_problem
from tests.problems import moments_of

ACTIVE, RIDGES = np.array([0, 3, 8, 11]), np.array([0.5, 20.0, 3.0, 1e-3])


@pytest.fixture(params=LIBRARIES)
def device(request):
    return Device(request.param)


@pytest.fixture
def moments():
    return moments_of(*random_problem(4))


@pytest.fixture
def moments_there(moments, device, monkeypatch):
    """The same moments, whose large matrices are decomposed on a device; all are large."""
    monkeypatch.setattr(device_block, "WORTH_DEVICE", 1)
    every = np.arange(moments.n_candidates)
    block = moments.gram.block(every, every)
    gram = WholeGram(block, there=device(block))
    return Moments(gram, moments.projections, moments.target_energy, moments.n_samples)


def blocks(here, there):
    given = here.projections[ACTIVE], here.target_energy, RIDGES
    return block_of(here.gram, ACTIVE, *given), block_of(there.gram, ACTIVE, *given)


def test_a_block_there_is_the_block_here(moments, moments_there, device):
    here, there = blocks(moments, moments_there)
    assert type(here) is ActiveBlock
    assert type(there) is DeviceBlock
    assert device.holds(there.inverse_there)
    np.testing.assert_allclose(there.inverse_rows(np.array([2, 0])), here.inverse[[2, 0]], rtol=1e-9)
    kept = np.array([0, 2])
    smaller = (here.at(RIDGES[::-1].copy()), there.at(RIDGES[::-1].copy()))
    less = tuple(block.without(kept, block) for block in (here, there))
    for one, other in ((here, there), smaller):
        for name in ("weights", "energy", "log_determinant", "inverse", "squared_norms", "ridges"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name), rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_allclose(other.spread(), one.spread(), rtol=1e-9)
    expected = ActiveBlock(here.gram[np.ix_(kept, kept)], here.projections[kept], here.target_energy, RIDGES[kept])
    np.testing.assert_allclose(less[1].weights, expected.weights, rtol=1e-9)
    assert less[1].energy == pytest.approx(expected.energy, rel=1e-12)


def test_dependent_functions_are_an_error_there(moments_there):
    twice = np.array([2, 2])
    with pytest.raises(NotPositiveDefiniteError):
        block_of(moments_there.gram, twice, moments_there.projections[twice], 1.0, np.zeros(2))


@pytest.mark.parametrize("noise_variance", [None, 0.3])
def test_derivatives_there_are_those_here(moments, moments_there, noise_variance):
    criterion, (here, there) = IndividualEvidence(noise_variance), blocks(moments, moments_there)
    expected, found = (criterion.derivatives(block, moments.n_samples) for block in (here, there))
    assert is_on_device(found[1])
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(to_host(other), one, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("criterion", [IndividualEvidence(), GCV()])
def test_joint_steps_there_end_where_those_here_end(moments, moments_there, criterion):
    n = moments.n_samples
    here, there = (joint_steps(criterion, block, n, 1e-9, 50) for block in blocks(moments, moments_there))
    np.testing.assert_array_equal(there.positions, here.positions)
    np.testing.assert_allclose(there.block.ridges, here.block.ridges, rtol=1e-5)
    assert criterion.score(there.block, moments.n_samples) == pytest.approx(
        criterion.score(here.block, moments.n_samples), abs=1e-8
    )


def test_a_refresh_there_is_one_here(moments, moments_there):
    here, there = ActiveSet(moments, ACTIVE, RIDGES), ActiveSet(moments_there, ACTIVE, RIDGES)
    for name in ("leftover", "alignment", "energy"):
        np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-9, atol=1e-10)


def test_a_search_there_finds_the_model_of_one_here(moments, moments_there):
    search = GreedyBatches(few=-1)
    fits = [search.run(IndividualEvidence(), which, Journal(Budget())) for which in (moments, moments_there)]
    np.testing.assert_array_equal(fits[1].active, fits[0].active)
    np.testing.assert_allclose(fits[1].ridges, fits[0].ridges, rtol=1e-4)

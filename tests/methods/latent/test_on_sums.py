"""Models on sums: the formulas against dense ones, and those on a device against those on the host."""

from dataclasses import replace

import numpy as np
import pytest

from skarce._device import is_on_device, to_host
from skarce.methods.latent import on_sums
from skarce.methods.latent.climb import Climb
from skarce.methods.latent.on_sums import DeviceSumsModel, SumsModel, SumsOfRows, SumsPool
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.devices import LIBRARIES, Device

M = 12
ACTIVE, PRECISIONS = np.array([7, 1, 4]), np.array([0.3, 2.0, 5.0])


@pytest.fixture(params=[None, 0.01])
def sums(request):
    """An expansion like that of some rows: a positive definite curvature, and slopes that are not zero."""
    rng, n_fixed = np.random.default_rng(3), int(request.param is not None)
    n = M + n_fixed
    phi = rng.normal(size=(60, n))
    at = np.where(rng.random(n) < 0.5, rng.normal(size=n), 0.0)
    return SumsOfRows(-40.0, at, 5.0 * rng.normal(size=n), phi.T @ phi, rng.normal(size=n), rng.uniform(0, 0.1, M), request.param)


def dense_score(sums, precisions, indices):
    """The definition: the quadratic at its mode, the prior, the determinants, the tilt and the penalties."""
    fixed = [] if sums.constant_precision is None else [sums.constant_precision]
    places, a = sums.places(indices), np.concatenate([fixed, precisions])
    h = sums.curvature[np.ix_(places, places)] + np.diag(a)
    theta = np.zeros(len(sums.slopes))
    theta[places] = np.linalg.solve(h, (sums.slopes + sums.curvature @ sums.expanded_at)[places])
    d = theta - sums.expanded_at
    likelihood = sums.value + sums.slopes @ d - 0.5 * d @ sums.curvature @ d
    prior = 0.5 * np.log(a).sum() - 0.5 * a @ theta[places] ** 2 - 0.5 * np.linalg.slogdet(h)[1]
    return likelihood + prior - 0.5 * sums.tilt @ d - (sums.rates[indices] / precisions).sum()


def test_the_score_is_its_definition(sums):
    model = SumsModel.at_precisions(sums, PRECISIONS, ACTIVE)
    assert model.score == pytest.approx(dense_score(sums, PRECISIONS, ACTIVE), rel=1e-12)
    for step in (0, 1, 2):
        up, down = (PRECISIONS * np.exp(h * (np.arange(3) == step)) for h in (1e-5, -1e-5))
        slope = (dense_score(sums, up, ACTIVE) - dense_score(sums, down, ACTIVE)) / 2e-5
        assert model.gradient[step] == pytest.approx(slope, rel=1e-5, abs=1e-7)


def test_what_a_candidate_is_worth(sums):
    """With a large precision, the score rises by (q - S)/2 - r over the precision."""
    model, pool = SumsModel.at_precisions(sums, PRECISIONS, ACTIVE), SumsPool(sums, np.arange(M))
    found = pool.scanned(model)
    for candidate in np.setdiff1d(np.arange(M), ACTIVE):
        rises = [dense_score(sums, np.append(PRECISIONS, a), np.append(ACTIVE, candidate)) - model.score for a in (1e6, 2e6)]
        slope = 1e6 * (4.0 * rises[1] - rises[0])  # the part that falls as one over the precision
        q = found.quality[candidate] * (found.quality[candidate] - found.pull[candidate])
        assert slope == pytest.approx(0.5 * (q - found.sparsity[candidate]) - found.rate[candidate], rel=1e-3, abs=1e-3)
    products = pool.products(model, 9)
    assert products[9] == pytest.approx(found.sparsity[9])


def test_other_models_from_a_model(sums):
    model = SumsModel.at_precisions(sums, PRECISIONS, ACTIVE)
    assert model.at(2.0 * PRECISIONS).score == pytest.approx(dense_score(sums, 2.0 * PRECISIONS, ACTIVE))
    assert model.without(np.array([1])).score == pytest.approx(dense_score(sums, PRECISIONS[[0, 2]], ACTIVE[[0, 2]]))
    larger = SumsPool(sums, np.arange(M)).enlarged(model, np.array([9]), np.array([1.5]))
    assert larger.score == pytest.approx(dense_score(sums, np.append(PRECISIONS, 1.5), np.append(ACTIVE, 9)))


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_model_there_is_the_model_here(sums, library, monkeypatch):
    device = Device(library)
    here = SumsModel.at_precisions(sums, PRECISIONS, ACTIVE)
    monkeypatch.setattr(on_sums, "WORTH_DEVICE", 1)
    there = SumsModel.at_precisions(replace(sums, curvature_there=device(sums.curvature)), PRECISIONS, ACTIVE)
    assert type(there) is DeviceSumsModel
    assert is_on_device(there.negative_hessian)
    names = ("weights", "score", "factor", "root", "covariance", "spread", "pull", "gradient", "negative_hessian", "stiffness")
    for name in names:
        expected = getattr(here, name)
        np.testing.assert_allclose(to_host(getattr(there, name)), expected, rtol=1e-8, atol=1e-10, err_msg=name)
    pool = SumsPool(sums, np.arange(M))
    for one, other in zip(pool.scanned(here), pool.scanned(there), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(pool.products(there, 9), pool.products(here, 9), rtol=1e-8, atol=1e-9)
    ends = [Climb().run(model, pool, Journal(Budget()))[0] for model in (here, there)]
    np.testing.assert_array_equal(np.sort(ends[1].indices), np.sort(ends[0].indices))
    assert ends[1].score == pytest.approx(ends[0].score, abs=1e-6)

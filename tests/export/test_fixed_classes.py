"""The parts of probabilities in whole numbers, beside those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit, ndtr

from skarce.export.c.fixed_classes import ONE, binary_logarithm, cooled, logistic, moderated, normal_tail, of_all
from skarce.export.c.fixed_numbers import FORMATS, whole
from skarce.likelihoods import moderated_log_odds

RNG = np.random.default_rng(0)
LATENT_BITS = 24
every_format = pytest.mark.parametrize("kind", FORMATS.values(), ids=FORMATS)


@every_format
def test_tails(kind):
    z = np.linspace(0.0, 8.0, 1001)
    np.testing.assert_allclose(normal_tail(whole(z, 20), kind) / ONE, ndtr(-z), atol=1e-6)


@every_format
def test_moderation(kind):
    mean, std = RNG.normal(0, 5, 2000), np.abs(RNG.normal(0, 3, 2000))
    found = moderated(whole(mean, LATENT_BITS), whole(std, LATENT_BITS), LATENT_BITS, kind) / ONE
    np.testing.assert_allclose(found, expit(moderated_log_odds(mean, std)), atol=1e-6)


def test_logarithms():
    probabilities = np.array([1, 2, 3, 1000, ONE // 3, ONE - 1, ONE])
    np.testing.assert_allclose(binary_logarithm(probabilities) / 2.0**26, np.log2(probabilities / ONE), atol=1e-6)


@every_format
def test_log_odds_to_base_two(kind):
    odds = np.concatenate([RNG.normal(0, 10, 500), [0.0, 500.0, -500.0]])
    np.testing.assert_allclose(logistic(whole(odds, 26), kind) / ONE, expit(odds * np.log(2.0)), atol=1e-6)


@every_format
@pytest.mark.parametrize("temperature", [0.3, 1.7])
def test_temperatures_move_log_odds_from_their_center(kind, temperature):
    odds, center = RNG.normal(0, 3, 500), 0.7
    found = cooled(whole(expit(odds), 30), int(whole(center / np.log(2.0), 26)), int(whole(1.0 / temperature, 26)), kind)
    np.testing.assert_allclose(found / ONE, expit(center + (odds - center) / temperature), atol=2e-6)


def test_probabilities_of_all_classes_add_up():
    parts = [whole(RNG.uniform(0.01, 1, 100), 30) for _ in range(4)]
    found = of_all(parts) / ONE
    np.testing.assert_allclose(found, np.stack(parts, axis=1) / np.sum(parts, axis=0)[:, None], atol=1e-8)
    np.testing.assert_allclose(of_all(parts[:1]) / ONE, np.stack([ONE - parts[0], parts[0]], axis=1) / ONE)

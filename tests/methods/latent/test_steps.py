"""Joint steps for all precisions."""

import numpy as np
import pytest

from skarce.methods.latent.steps import capped, settle, superfluous
from tests.methods.latent.problems import ACTIVE, PRECISIONS, dense_score, model_of, problem


@pytest.mark.parametrize("seed", range(5))
def test_joint_steps_end_where_the_gradient_vanishes(seed, kind):
    phi, observed = problem(seed, kind, n=80)
    model = model_of(phi, observed)
    settled, converged = settle(model, 1e-7, 100)
    assert converged or len(settled) < len(model)
    settled, converged = settle(settled, 1e-7, 100)
    assert converged
    assert settled.score >= model.score
    assert np.abs(settled.gradient).max(initial=0.0) < 1e-2


def test_superfluous_functions_are_those_that_the_evidence_is_better_without(kind):
    phi, observed = problem(0, kind, n=200)
    noise = np.random.default_rng(5).normal(size=(200, 3))
    phi = np.column_stack([phi, noise])
    active = np.array([0, 2, 5, 9, 10, 11])
    model = model_of(phi, observed, active, np.full(6, 5.0))
    for position in superfluous(model):
        rest = np.delete(active, position)
        assert dense_score(phi, observed, rest, np.full(5, 5.0)) > dense_score(phi, observed, active, np.full(6, 5.0))
    assert len(superfluous(model))


def test_a_cap_takes_out_what_is_missed_least(kind):
    phi, observed = problem(3, kind, n=100)
    model = model_of(phi, observed)
    smaller = capped(model, 2)
    losses = {j: dense_score(phi, observed, np.delete(ACTIVE, j), np.delete(PRECISIONS, j)) for j in range(len(ACTIVE))}
    assert set(smaller.indices) == set(np.delete(ACTIVE, max(losses, key=losses.get)))

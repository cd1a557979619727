"""Which candidates make a pool, for searches that work on a few of many candidates at a time."""

from __future__ import annotations

import numpy as np

from skarce._typing import Floats, Indices

NEAR = 0.5  # candidates above this rank join the pool; those below 1 do not help yet, but may once the model has changed
STRONGEST_SHARE = 8  # one in eight of the first pool are the candidates that gain most alone; the others are drawn at random


def first_size(pool_size: int, n_candidates: int) -> int:
    """Return the size of the first pool: `pool_size`, or 4 sqrt(n_candidates) if that is more."""
    return max(pool_size, int(4.0 * np.sqrt(n_candidates)))


def first_pool(ranking: Floats, taken: Indices, size: int, rng: np.random.Generator) -> Indices:
    """Return a pool of candidates that are not `taken`: those that rank highest, and others drawn at random."""
    ranking = ranking.copy()
    ranking[taken] = -np.inf
    strongest = np.argsort(-ranking, kind="stable")[: size // STRONGEST_SHARE]
    is_left = np.ones(len(ranking), dtype=bool)
    is_left[taken], is_left[strongest] = False, False
    drawn = rng.permutation(np.flatnonzero(is_left))[: size - len(strongest)]
    return np.concatenate([strongest, drawn])


def strongest_violators(ranking: Floats, size: int) -> Indices:
    """Return at most `size` candidates that help or almost help, the strongest first."""
    helpful = np.flatnonzero(ranking > NEAR)
    return helpful[np.argsort(-ranking[helpful], kind="stable")][:size]

"""Raising the score of a Laplace approximation on a pool: batches of additions, joint steps for all precisions, removals."""

from __future__ import annotations

from dataclasses import dataclass

from skarce.methods.latent.model import Model
from skarce.methods.latent.pool import Batch, Pool
from skarce.methods.latent.steps import settle
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

REFUSALS = 8  # candidates in a row that seemed to help and did not, after which none is tried
FINE = 0.1  # of the tolerance: less is not worth a step


@dataclass(frozen=True)
class Climb:
    """How a pool is searched.

    Parameters
    ----------
    smallest_batch, growth : a batch has at most `smallest_batch` additions, or `growth` times the size of the model if that is more
    batch_end : a batch ends when a gain falls below this share of its first
    looseness, max_loose_steps : joint steps between batches end when one promises less than this share of the first gain
    max_tight_steps : joint steps when nothing is left to add
    """

    smallest_batch: int = 8
    growth: float = 0.5
    batch_end: float = 0.1
    looseness: float = 0.1
    max_loose_steps: int = 3
    max_tight_steps: int = 30

    def run(self, model: Model, pool: Pool[Model], journal: Journal) -> tuple[Model, Outcome]:
        """Raise the score until no candidate of the pool gains more than the tolerance."""
        tol, is_tight = journal.budget.tol, False
        refused: set[int] = set()
        while True:
            limit = journal.exhausted(ahead=model.seconds)
            if limit is not None:
                return model, limit
            batch = self._batch(model, pool, refused, journal)
            larger = None if batch is None else pool.accepted(model, batch, FINE * tol, journal)
            if batch is not None and larger is None:
                refused.add(int(batch.candidates[0]))
            elif batch is not None and larger is not None:
                model, refused, is_tight = self._with(larger, len(larger) - len(model), batch, journal), set(), False
            elif is_tight:
                return model, Outcome.CONVERGED if journal.budget.room(len(model)) else Outcome.SIZE_LIMIT
            else:
                model, is_tight = _settled(model, FINE * tol, self.max_tight_steps, journal)
                refused = set()

    def _batch(self, model: Model, pool: Pool[Model], refused: set[int], journal: Journal) -> Batch | None:
        room = journal.budget.room(len(model))
        if not room or len(refused) >= REFUSALS:
            return None
        limit = min(room, max(self.smallest_batch, int(self.growth * len(model))))
        return pool.batch(model, limit, refused, journal.budget.tol, self.batch_end)

    def _with(self, larger: Model, n_added: int, batch: Batch, journal: Journal) -> Model:
        """Note the larger model and take loose joint steps."""
        journal.note("add", int(batch.candidates[0]) if n_added == 1 else -1, larger.score, len(larger))
        tolerance = max(self.looseness * batch.first_gain, FINE * journal.budget.tol)
        return _settled(larger, tolerance, self.max_loose_steps, journal)[0]


def _settled(model: Model, tolerance: float, max_steps: int, journal: Journal) -> tuple[Model, bool]:
    """Return the model after joint steps, and whether there is nothing more to be had from them."""
    if journal.exhausted(ahead=model.seconds) is not None:
        return model, False
    settled, converged = settle(model, tolerance, max_steps, journal)
    if settled is not model:
        journal.note("joint" if len(settled) == len(model) else "prune", -1, settled.score, len(settled))
    return settled, converged or (len(settled) == len(model) and settled.score <= model.score + tolerance)

"""Sparse Bayesian classification: which functions are in, and with which precisions, by `Laplace.score`.

B changes whenever the mode moves, so no Gram matrix of the candidates serves for long. The search therefore works on a pool of
candidates whose columns it holds: additions in greedy batches on the problem with B held, checked at the new mode by the score
itself; joint second-order steps for all precisions; removals. Only when the pool has nothing more to give are all candidates
scanned, in one pass over the kernel for all classes together, and the strongest violators make the next pool.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._memory import memory_budget
from skarce._typing import Floats, Indices
from skarce.basis.candidates import ColumnsEvaluation, Evaluation
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.scan import Scan, scan
from skarce.methods.latent.steps import settle
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome

CAUTIOUS = (8.0, 64.0)  # times the precision that seems best with B held
REFUSALS = 8  # candidates in a row that seemed to help and did not, after which none is tried
NEAR = 0.5  # candidates that nearly help (gain begins at a ratio of 1) join the pool: they will, once the model has moved


@dataclass(frozen=True)
class SparseLaplace:
    """How the search goes.

    Parameters
    ----------
    pool_size : candidates in the first pool; 4 sqrt(n_candidates) if that is more, fewer where memory is short
    violators : candidates that join the model in a later pool; half its size if that is more
    smallest_batch, growth : a batch has at most so many additions, or this share of the model if that is more
    batch_end : a batch ends when a gain falls below this share of its first
    looseness, max_loose_steps : joint steps between batches end when one promises less than this share of the first gain
    max_tight_steps : joint steps when nothing is left to add
    random_state : seeds the first pool
    """

    pool_size: int = 256
    violators: int = 200
    smallest_batch: int = 8
    growth: float = 0.5
    batch_end: float = 0.1
    looseness: float = 0.1
    max_loose_steps: int = 3
    max_tight_steps: int = 30
    random_state: int = 0

    def run(self, evaluation: Evaluation, starts: list[Laplace], journals: list[Journal]) -> list[tuple[Laplace, Outcome]]:
        """Search for every class, from its start; all candidates are scanned for all classes that still move together."""
        models, outcomes = list(starts), [Outcome.CONVERGED] * len(starts)
        open_classes = list(range(len(starts)))
        first = scan(evaluation, models)
        others = [self._first_pool(found, model, k) for k, (found, model) in enumerate(zip(first, models, strict=True))]
        all_seen = {k for k, model in enumerate(models) if len(others[k]) + len(model) == evaluation.n_candidates}
        while open_classes:
            before = {k: models[k].score for k in open_classes}
            for k in open_classes:
                pool = Pool.of(evaluation, models[k], others[k])
                models[k], outcomes[k] = self._climb(models[k], pool, journals[k])
            rising = [k for k in open_classes if models[k].score > before[k] + 0.1 * journals[k].limits.tol]
            open_classes = [k for k in rising if outcomes[k] is Outcome.CONVERGED and k not in all_seen]
            scans = scan(evaluation, [models[k] for k in open_classes]) if open_classes else []
            for k, found in zip(open_classes, scans, strict=True):
                others[k] = self._violators(found, models[k], journals[k], evaluation.n_rows)
            open_classes = [k for k in open_classes if len(others[k])]
        return list(zip(models, outcomes, strict=True))

    # On a pool -------------------------------------------------------------------------------------------------------------

    def _climb(self, model: Laplace, pool: Pool, journal: Journal) -> tuple[Laplace, Outcome]:
        """Raise the score until no candidate of the pool gains more than the tolerance."""
        tol, is_tight = journal.limits.tol, False
        refused: set[int] = set()
        while True:
            limit = journal.exhausted()
            if limit is not None:
                return model, limit
            room = journal.limits.room(len(model)) if len(refused) < REFUSALS else 0
            batch = self._batch(model, pool, min(room, self._largest_batch(model)), refused, tol) if room else None
            larger = None if batch is None else self._accepted(model, pool, batch, 0.1 * tol)
            if batch is not None and larger is None:
                refused.add(int(batch.candidates[0]))
                continue
            if larger is not None and batch is not None:
                added, refused, is_tight = len(larger) - len(model), set(), False
                model = larger
                journal.note("add", int(batch.candidates[0]) if added == 1 else -1, model.score, len(model))
                model = self._settled(model, max(self.looseness * batch.first_gain, 0.1 * tol), self.max_loose_steps, journal)[0]
                continue
            if is_tight:
                return model, Outcome.CONVERGED if journal.limits.room(len(model)) else Outcome.SIZE_LIMIT
            model, is_tight = self._settled(model, 0.1 * tol, self.max_tight_steps, journal)
            refused = set()

    def _largest_batch(self, model: Laplace) -> int:
        return max(self.smallest_batch, int(self.growth * len(model)))

    def _batch(self, model: Laplace, pool: Pool, limit: int, refused: set[int], tol: float) -> Batch | None:
        """Greedy additions with B held; None where none gains more than `tol`."""
        found = scan(pool.evaluation, [model])[0]
        is_out = np.isin(pool.indices, [*model.indices, *refused])
        weighted = model.curvature[:, None] * model.columns
        places: list[int] = []
        precisions: list[float] = []
        residuals: list[Floats] = []
        shares: list[Floats] = []
        first_gain = 0.0
        while len(places) < limit:
            gains = np.where(is_out, 0.0, found.gains())
            place = int(gains.argmax())
            if gains[place] <= max(tol, self.batch_end * first_gain):
                break
            first_gain = first_gain or float(gains[place])
            precision = float(found.precisions()[place])
            # psi = C^-1 phi, where C^-1 loses psi_k psi_k' / (alpha_k + S_k) with every function k that came before.
            column = pool.columns[:, place]
            psi = model.curvature * column - weighted @ (model.covariance @ (weighted.T @ column))
            for residual, share in zip(residuals, shares, strict=True):
                psi -= residual * share[place]
            cross = pool.columns.T @ psi
            residuals.append(psi)
            shares.append(cross / (precision + found.sparsity[place]))
            found = found.after(place, cross, precision)
            is_out[place] = True
            places.append(place)
            precisions.append(precision)
        if not places:
            return None
        return Batch(np.array(places), pool.indices[places], np.array(precisions), first_gain)

    @staticmethod
    def _accepted(model: Laplace, pool: Pool, batch: Batch, least_gain: float) -> Laplace | None:
        """The model with the batch, with less of it, or with its first function at a larger precision; None if nothing helps.

        Whether is for the score to say, at the mode of each: B was held when the batch was chosen.
        """
        n = len(batch.places)
        trials = [(n // 2**k, 1.0) for k in range(n.bit_length())] + [(1, caution) for caution in CAUTIOUS]
        for n_added, caution in trials:
            try:
                larger = model.with_added(
                    pool.columns[:, batch.places[:n_added]], caution * batch.precisions[:n_added], batch.candidates[:n_added]
                )
                if larger.score > model.score + least_gain:
                    return larger
            except NotPositiveDefiniteError:
                pass  # nearly dependent functions came together
        return None

    @staticmethod
    def _settled(model: Laplace, tolerance: float, max_steps: int, journal: Journal) -> tuple[Laplace, bool]:
        """After joint steps, and whether there is nothing more to be had from them."""
        settled, converged = settle(model, tolerance, max_steps)
        if settled is not model:
            journal.note("joint" if len(settled) == len(model) else "prune", -1, settled.score, len(settled))
        return settled, converged or (len(settled) == len(model) and settled.score <= model.score + tolerance)

    # Among all candidates --------------------------------------------------------------------------------------------------

    def _first_pool(self, found: Scan, model: Laplace, number: int) -> Indices:
        """A random pool that also holds the candidates that do most by themselves."""
        n_candidates, n_rows = len(found.quality), len(model.labels)
        size = min(n_candidates - len(model), max(self.pool_size, int(4.0 * np.sqrt(n_candidates))), _room_for_columns(n_rows))
        ratio = found.ratio
        ratio[model.indices] = 0.0
        strongest = np.argsort(-ratio, kind="stable")[: size // 8]
        rest = np.setdiff1d(np.arange(n_candidates), np.concatenate([model.indices, strongest]))
        drawn = np.random.default_rng([self.random_state, number]).permutation(rest)[: size - len(strongest)]
        return np.concatenate([strongest, drawn])

    def _violators(self, found: Scan, model: Laplace, journal: Journal, n_rows: int) -> Indices:
        """The candidates that would help most, strongest first; none when none gains more than the tolerance."""
        ratio, gains = found.ratio, found.gains()
        ratio[model.indices] = gains[model.indices] = 0.0
        if gains.max(initial=0.0) <= journal.limits.tol or not journal.limits.room(len(model)):
            return np.empty(0, dtype=np.intp)
        helpful = np.flatnonzero(ratio > NEAR)
        room = min(max(self.violators, len(model) // 2), _room_for_columns(n_rows))
        return helpful[np.argsort(-ratio[helpful], kind="stable")][:room]


@dataclass(frozen=True)
class Batch:
    """Additions: places in the pool, candidates, precisions, and the gain of the first."""

    places: Indices
    candidates: Indices
    precisions: Floats
    first_gain: float


@dataclass(frozen=True)
class Pool:
    """Some candidates with their columns, shape (n_rows, len(indices))."""

    indices: Indices
    columns: Floats

    @property
    def evaluation(self) -> Evaluation:
        return ColumnsEvaluation(self.columns)

    @staticmethod
    def of(evaluation: Evaluation, model: Laplace, others: Indices) -> Pool:
        indices = np.sort(np.concatenate([model.indices, others])).astype(np.intp)
        return Pool(indices, evaluation.columns(indices))


def _room_for_columns(n_rows: int) -> int:
    """How many columns fit the memory budget, and at least some."""
    return max(32, int(memory_budget() / (8.0 * n_rows)))

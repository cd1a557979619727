"""A pool of candidates whose columns are held: greedy batches of additions with B held, checked at the new mode by the score."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.basis.candidates import ColumnsEvaluation, Evaluation
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.scan import Scan, scan
from skarce.states.journal import Journal

CAUTIOUS = (8.0, 64.0)  # times the precision that seems best with B held


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

    @classmethod
    def of(cls, evaluation: Evaluation, model: Laplace, others: Indices) -> Pool:
        """Put the functions of a model and other candidates together."""
        indices = np.sort(np.concatenate([model.indices, others])).astype(np.intp)
        return cls(indices, np.asfortranarray(evaluation.columns(indices)))

    def batch(self, model: Laplace, limit: int, refused: set[int], tol: float, end: float) -> Batch | None:
        """Return at most `limit` greedy additions with B held, until a gain falls below `tol` or this share of the first.

        Return None if no candidate gains more than `tol`.
        """
        found = scan(ColumnsEvaluation(self.columns), [model])[0]
        is_out = np.isin(self.indices, [*model.indices, *refused])
        products = _Products(model, self.columns)
        places: list[int] = []
        precisions: list[float] = []
        first_gain = 0.0
        while len(places) < limit:
            gains = np.where(is_out, 0.0, found.gains())
            place = int(gains.argmax())
            if gains[place] <= max(tol, end * first_gain):
                break
            first_gain = first_gain or float(gains[place])
            precision = float(found.precisions(np.array([place]))[0])
            found = found.after(place, products.with_all(place, precision, found), precision)
            is_out[place] = True
            places.append(place)
            precisions.append(precision)
        return Batch(np.array(places), self.indices[places], np.array(precisions), first_gain) if places else None

    def accepted(self, model: Laplace, batch: Batch, least_gain: float, journal: Journal) -> Laplace | None:
        """Return the model with the batch, with less of it, or with its first function at a larger precision; None if none helps.

        B was held when the batch was chosen. So the score at the mode of each decides. The first is tried even if time is short.
        """
        n = len(batch.places)
        trials = [(n // 2**k, 1.0) for k in range(n.bit_length())] + [(1, caution) for caution in CAUTIOUS]
        for number, (n_added, caution) in enumerate(trials):
            if number and journal.exhausted(ahead=model.seconds) is not None:
                return None
            try:
                larger = model.with_added(
                    self.columns[:, batch.places[:n_added]], caution * batch.precisions[:n_added], batch.candidates[:n_added]
                )
                if larger.score > model.score + least_gain:
                    return larger
            except NotPositiveDefiniteError:
                pass  # nearly dependent functions came together
        return None


class _Products:
    """Phi'C^-1 phi of one candidate after the other; C^-1 loses psi psi' / (alpha + S) with every function that comes in."""

    def __init__(self, model: Laplace, columns: Floats) -> None:
        self._model, self._columns = model, columns
        self._residuals: list[Floats] = []
        self._shares: list[Floats] = []

    def with_all(self, place: int, precision: float, found: Scan) -> Floats:
        """Return the products of a candidate that comes in now with all of the pool; psi = C^-1 phi."""
        model, column = self._model, self._columns[:, place]
        covered = model.columns @ (model.covariance @ (model.columns.T @ (model.curvature * column)))
        psi = model.curvature * (column - covered)
        for residual, share in zip(self._residuals, self._shares, strict=True):
            psi -= residual * share[place]
        cross = self._columns.T @ psi
        self._residuals.append(psi)
        self._shares.append(cross / (precision + found.sparsity[place]))
        return cross

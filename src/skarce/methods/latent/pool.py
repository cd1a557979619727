"""Pools of candidates: greedy batches of additions with B held, checked at the new mode by the score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from skarce._linalg import NotPositiveDefiniteError
from skarce._typing import Floats, Indices
from skarce.basis.candidates import ColumnsEvaluation, Evaluation
from skarce.methods.latent.laplace import Laplace
from skarce.methods.latent.model import Model
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


class Pool(ABC, Generic[Model]):
    """Some candidates, of which greedy batches join a model.

    Attributes
    ----------
    indices : which candidates they are
    """

    indices: Indices

    @abstractmethod
    def scanned(self, model: Model) -> Scan:
        """Return what each candidate would do for a model."""

    @abstractmethod
    def products(self, model: Model, place: int) -> Floats:
        """Return Phi'C^-1 phi of all candidates with the one at a place in the pool."""

    @abstractmethod
    def enlarged(self, model: Model, places: Indices, precisions: Floats) -> Model:
        """Return a model with the candidates at these places added."""

    def batch(self, model: Model, limit: int, refused: set[int], tol: float, end: float) -> Batch | None:
        """Return at most `limit` greedy additions with B held, until a gain falls below `tol` or this share of the first.

        Return None if no candidate gains more than `tol`.
        """
        found = self.scanned(model)
        is_out = _are_among(self.indices, np.array([*model.indices, *refused], dtype=np.intp))
        products = _Products(self, model)
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

    def accepted(self, model: Model, batch: Batch, least_gain: float, journal: Journal) -> Model | None:
        """Return the model with the batch, with less of it, or with its first function at a larger precision; None if none helps.

        B was held when the batch was chosen. So the score at the mode of each decides. The first is tried even if time is short.
        """
        n = len(batch.places)
        trials = [(n // 2**k, 1.0) for k in range(n.bit_length())] + [(1, caution) for caution in CAUTIOUS]
        for number, (n_added, caution) in enumerate(trials):
            if number and journal.exhausted(ahead=model.seconds) is not None:
                return None
            try:
                larger = self.enlarged(model, batch.places[:n_added], caution * batch.precisions[:n_added])
                if larger.score > model.score + least_gain:
                    return larger
            except NotPositiveDefiniteError:
                pass  # nearly dependent functions came together
        return None


def _are_among(indices: Indices, others: Indices) -> NDArray[np.bool_]:
    """Tell which indices are among others, by a table of all. `np.isin` first finds out that this is the best way."""
    table = np.zeros(1 + max(indices.max(initial=0), others.max(initial=0)), dtype=bool)
    table[others] = True
    return table[indices]


class _Products(Generic[Model]):
    """Phi'C^-1 phi of one candidate after the other; C^-1 loses psi psi' / (alpha + S) with every function that comes in."""

    def __init__(self, pool: Pool[Model], model: Model) -> None:
        self._pool, self._model = pool, model
        self._crosses: list[Floats] = []
        self._shares: list[Floats] = []

    def with_all(self, place: int, precision: float, found: Scan) -> Floats:
        """Return the products of a candidate that comes in now with all of the pool."""
        cross = self._pool.products(self._model, place)
        for earlier, share in zip(self._crosses, self._shares, strict=True):
            cross -= earlier * share[place]
        self._crosses.append(cross)
        self._shares.append(cross / (precision + found.sparsity[place]))
        return cross


class ColumnsPool(Pool[Laplace]):
    """Candidates whose columns are held, shape (n_rows, len(indices)), with the rates of their penalties."""

    def __init__(self, indices: Indices, columns: Floats, rates: Floats) -> None:
        self.indices, self.columns, self.rates = indices, columns, rates

    @classmethod
    def of(cls, evaluation: Evaluation, model: Laplace, others: Indices, rates: Floats) -> ColumnsPool:
        """Put the functions of a model and other candidates together. The rates are those of all candidates."""
        indices = np.sort(np.concatenate([model.indices, others])).astype(np.intp)
        return cls(indices, np.asfortranarray(evaluation.columns(indices)), rates[indices])

    def scanned(self, model: Laplace) -> Scan:
        return scan(ColumnsEvaluation(self.columns), [model], self.rates)[0]

    def products(self, model: Laplace, place: int) -> Floats:
        column = self.columns[:, place]
        covered = model.columns @ (model.covariance @ (model.columns.T @ (model.curvature * column)))
        return self.columns.T @ (model.curvature * (column - covered))

    def enlarged(self, model: Laplace, places: Indices, precisions: Floats) -> Laplace:
        return model.with_added(self.columns[:, places], precisions, self.indices[places])

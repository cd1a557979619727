r"""Basic matching pursuit of squares: one weight moves in each step, and all others stay (Mallat and Zhang 1993).

The residual is multiplied by :math:`I - uu^T` in each step, with the unit vector u of the function that moved. After some steps it
is :math:`Rt` with the product R of these projections. It is linear in the target, so generalized cross validation is :math:`V =
N|Rt|^2/(\operatorname{tr}R)^2`, as for every linear method. The trace needs only the span of the functions that have moved.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from skarce._linalg import solve_lower
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria import GCV
from skarce.criteria.without_ridges import LEAST_FREEDOM
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.searches.walk import first_of_the_best
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.judge import Judge
from skarce.states.members import Members
from skarce.states.outcome import Outcome
from skarce.states.state import RESOLUTION, resolved_energy

INDEPENDENT = 1e-9  # the share of a function that must be left outside the span of the others
SCARCELY_CORRELATED = 1e-14  # squared correlation with the residual, below which it is rounding
REFRESH_EVERY = 200  # steps; then the residual is computed again from the weights


@dataclass(frozen=True)
class PursuitGCV(Judge):
    """Generalized cross validation of a linear method, if the fit knows its noise variance q / tr R."""

    sense: ClassVar[int] = -1
    kind: ClassVar[str] = GCV.kind

    def score(self, members: Members, n_samples: float) -> float:
        return score_of(members.energy, members.energy / self.noise_at(members, n_samples), n_samples)

    def value(self, score: Any, n_samples: float, n_total: float, target_scale: float) -> Any:
        return GCV().value(score, n_samples, n_total, target_scale)

    def noise_at(self, members: Members, n_samples: float) -> float:
        return members.energy / (n_samples - len(members.ridges)) if members.noise is None else members.noise


def score_of(energy: float, freedom: float, n_samples: float) -> float:
    """Return -(n/2) log(q / v^2)."""
    return n_samples * float(np.log(freedom) - 0.5 * np.log(energy))


class Spanned:
    """The trace of a product of projections, in orthonormal coordinates of the functions that they project out."""

    def __init__(self, moments: Moments) -> None:
        self._moments = moments
        self._spanning: list[int] = []
        self._lower = np.empty((0, 0))
        self._product = np.empty((0, 0))

    @property
    def freedom(self) -> float:
        """tr R: one for each dimension outside the span, and the trace of the product inside."""
        return self._moments.n_samples - len(self._spanning) + float(np.trace(self._product))

    def freedom_after(self, candidate: int) -> float:
        """Return tr R after one more projection."""
        direction, pivot = self._coordinates(candidate)
        inside = float(np.trace(self._product) - direction @ (self._product @ direction))
        return self._moments.n_samples - len(self._spanning) + inside - pivot**2

    def project_out(self, candidate: int) -> None:
        """Multiply the product by I - u u'."""
        direction, pivot = self._coordinates(candidate)
        if pivot > 0.0:
            size = len(self._spanning)
            self._lower = np.block([[self._lower, np.zeros((size, 1))], [direction[None, :], np.full((1, 1), pivot)]])
            self._product = np.pad(self._product, (0, 1))
            self._product[-1, -1] = 1.0
            self._spanning.append(candidate)
            direction = self._lower[-1]
        self._product -= np.multiply.outer(direction, direction @ self._product)

    def _coordinates(self, candidate: int) -> tuple[Floats, float]:
        """Return the unit vector of a candidate inside the span, and its part outside (0 if it is only rounding)."""
        gram, spanning = self._moments.gram, np.array(self._spanning, dtype=np.intp)
        norms = np.sqrt(gram.diagonal[spanning] * gram.diagonal[candidate])
        inside = solve_lower(self._lower, gram.column(candidate)[spanning] / norms)
        outside = 1.0 - float(inside @ inside)
        return (inside, float(np.sqrt(outside))) if outside > INDEPENDENT else (inside / np.linalg.norm(inside), 0.0)


@dataclass(frozen=True)
class BasicPursuit(MomentMethod):
    """Matching pursuit without back-fitting.

    Parameters
    ----------
    patience : int
        The search ends if this many steps in a row have not improved the best model.
    threshold : float
        The smallest relative reduction of V that counts.
    n_basis : int or None
        Exactly this many functions. None lets V decide.
    crowded : float or None
        As in `MomentMethod`.
    criterion : PursuitGCV
        The criterion that the posterior reports.
    """

    patience: int = 16
    threshold: float = 1e-4
    n_basis: int | None = None
    crowded: float | None = None
    criterion: PursuitGCV = field(default_factory=PursuitGCV)

    @property
    def warns_if_half(self) -> bool:
        return self.n_basis is None

    def solve(self, judge: PursuitGCV, moments: Moments, journal: Journal) -> Fit:
        return _Steps(self, moments, journal).run()


class _Steps:
    """The residual and the weights, and the best model so far."""

    def __init__(self, method: BasicPursuit, moments: Moments, journal: Journal) -> None:
        self._method, self._moments, self._journal = method, moments, journal
        self._active: list[int] = []
        self._weights: dict[int, float] = {}
        self._alignment, self._energy = moments.projections.copy(), resolved_energy(moments)
        self._spanned = Spanned(moments)
        self._usable = moments.gram.diagonal > 0.0
        self._score = score_of(self._energy, self._spanned.freedom, moments.n_samples)
        self._best = self._model(Outcome.NO_ADDITION_HELPS)

    @on_one_blas_thread
    def run(self) -> Fit:
        """Move one weight after the other until there is a reason to stop."""
        n_basis, needed = self._method.n_basis, 0.5 * self._method.threshold * self._moments.n_samples
        best_score, since, outcome = self._score, 0, None
        while outcome is None and (since < self._method.patience or n_basis is not None):
            must_grow = n_basis is not None and since > 0  # weights have settled, but functions are still wanted
            size = len(self._active)
            outcome = self._journal.exhausted() or self._step(must_grow=must_grow)
            if outcome is not None:
                break
            is_better = self._score > best_score + needed
            if n_basis is not None or is_better:
                best_score, self._best = self._score, self._model(Outcome.NO_ADDITION_HELPS)
            has_grown = n_basis is not None and len(self._active) > size
            since = 0 if is_better or has_grown else since + 1
            if n_basis is not None and len(self._active) == n_basis:
                outcome = Outcome.GOAL_REACHED
        return replace(self._best, outcome=outcome or Outcome.NO_ADDITION_HELPS)

    def _step(self, *, must_grow: bool) -> Outcome | None:
        """Move the weight of the function that is most correlated with the residual. Return the outcome if there is none.

        With `must_grow`, it is a function that has no weight yet.
        """
        diagonal, energy = self._moments.gram.diagonal, self._energy
        shares = np.divide(self._alignment**2, diagonal * energy, out=np.zeros(len(diagonal)), where=self._usable)
        if self._journal.budget.room(len(self._active)) == 0:
            shares[np.setdiff1d(np.arange(len(diagonal)), self._active)] = 0.0
        if must_grow:
            shares[self._active] = 0.0
        candidate = first_of_the_best(shares) if len(shares) else -1
        if candidate < 0 or not shares[candidate] > SCARCELY_CORRELATED:
            return self._end()
        if self._spanned.freedom_after(candidate) < LEAST_FREEDOM:
            return self._end()
        self._move(candidate)
        return None

    def _end(self) -> Outcome:
        if self._method.n_basis is not None:
            return Outcome.TOO_FEW_CANDIDATES
        return Outcome.SIZE_LIMIT if self._journal.budget.room(len(self._active)) == 0 else Outcome.NO_ADDITION_HELPS

    def _move(self, candidate: int) -> None:
        moments, is_new = self._moments, candidate not in self._weights
        step = float(self._alignment[candidate] / moments.gram.diagonal[candidate])
        if is_new:
            self._active.append(candidate)
        self._weights[candidate] = self._weights.get(candidate, 0.0) + step
        self._energy = max(self._energy - step * float(self._alignment[candidate]), RESOLUTION * moments.target_energy)
        self._spanned.project_out(candidate)
        self._alignment -= step * moments.gram.column(candidate)
        if self._journal.n_steps % REFRESH_EVERY == REFRESH_EVERY - 1:
            self._refresh()
        self._score = score_of(self._energy, self._spanned.freedom, moments.n_samples)
        self._journal.note("add" if is_new else "change", candidate, self._score, len(self._active))

    def _refresh(self) -> None:
        active, weights = self._indices(), np.array(list(self._weights.values()))
        self._alignment = self._moments.projections - weights @ self._moments.gram.columns(active)
        self._energy = max(self._moments.residual_energy(active, weights), RESOLUTION * self._moments.target_energy)

    def _indices(self) -> Indices:
        return np.array(self._active, dtype=np.intp)

    def _model(self, outcome: Outcome) -> Fit:
        weights = np.array(list(self._weights.values()), dtype=float)
        noise = self._energy / self._spanned.freedom
        return Fit(self._indices(), np.zeros(len(weights)), outcome, noise=noise, weights=weights)

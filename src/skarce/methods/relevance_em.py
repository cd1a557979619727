"""The original relevance vector machine: it starts with all candidates, and prunes those whose precision diverges.

All precisions are estimated together. Tipping (2001), eqs 16 to 18, in moment space and with precisions relative to the noise:
gamma_j = 1 - lambda_j h_jj, alpha_j = gamma_j / w_j^2, noise = |t - Phi w|^2 / (N - sum gamma).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from skarce._linalg import NotPositiveDefiniteError, seconds_to_invert
from skarce._memory import require
from skarce._parallel import on_one_blas_thread
from skarce._typing import Floats, Indices
from skarce.criteria import IndividualEvidence
from skarce.designs.choice import ALL_AT_ONCE, Access
from skarce.methods.method import MomentMethod
from skarce.moments import Moments
from skarce.searches.greedy_batches import GreedyBatches
from skarce.searches.joint_steps import Remaining
from skarce.states.active_block import ActiveBlock
from skarce.states.fit import Fit
from skarce.states.journal import Journal
from skarce.states.outcome import Outcome
from skarce.states.state import RIDGE_RANGE, resolved_energy

FINAL_SHARE = 1.0  # the model that is returned takes about as long as one iteration
MOST_IDLE = 100  # iterations in a row without a new largest score: rounding in dependent columns moves it up and down forever
PRUNED_RIDGE = 1e6  # a function with a ridge this many times phi'phi has left the model


@dataclass(frozen=True)
class RelevanceEM(MomentMethod):
    """Iterate to convergence, then let a search finish. Candidates that were pruned too soon may come back.

    The fixed-point iteration never lets a function come back, so its limit need not be a maximum. After the final search, the
    result has the same certificate as that of other methods: no single change gains more than the tolerance.

    Parameters
    ----------
    criterion : IndividualEvidence
        The evidence, with a given or a learned noise variance.
    crowded : float or None
        If the model has more functions than this share of the rows, a few functions may take its place. None keeps the model.
    """

    criterion: IndividualEvidence = field(default_factory=IndividualEvidence)
    crowded: float | None = None

    @property
    def warns_if_half(self) -> bool:
        return True

    @property
    def access(self) -> Access:
        return ALL_AT_ONCE

    def solve(self, judge: IndividualEvidence, moments: Moments, journal: Journal) -> Fit:
        return run_relevance_em(judge, moments, journal)


@on_one_blas_thread
def run_relevance_em(criterion: IndividualEvidence, moments: Moments, journal: Journal) -> Fit:
    """Iterate, keep at most `max_active` functions, and let greedy batches finish."""
    usable = np.flatnonzero(moments.gram.diagonal > 0.0)
    what = f'solver="em", which starts from all {len(usable)} candidates,'
    require(len(usable), len(usable), what, "Use solver='fast', or fewer candidates (KernelBasis(centers=500))")
    local = moments.restricted_to(usable)
    active, ridges, limit = _iterate(criterion, local, journal)
    active, ridges = _capped(criterion, local, active, ridges, journal)
    start = (usable[active], ridges)
    if limit is not None:
        return Fit(*start, limit)
    return GreedyBatches().run(criterion, moments, journal, start)


def _capped(
    criterion: IndividualEvidence, moments: Moments, active: Indices, ridges: Floats, journal: Journal
) -> tuple[Indices, Floats]:
    """Take out the function that is missed least, until at most `max_active` are left. Without time, take out all at once."""
    max_active = journal.budget.max_active
    if max_active is None or len(active) <= max_active:
        return active, ridges
    members = Remaining(_block(moments, active, ridges))
    while len(members.kept) > max_active:
        gains = criterion.removal_gains(members, members.kept, moments.n_samples)
        if journal.exhausted() is Outcome.TIME_LIMIT:
            kept = np.sort(members.kept[np.argsort(gains, kind="stable")[:max_active]])
            return active[kept], ridges[kept]
        members.remove(int(members.kept[gains.argmax()]))
    return active[members.kept], ridges[members.kept]


def _block(moments: Moments, active: Indices, ridges: Floats) -> ActiveBlock:
    """Solve for the weights. Ridges that are too small for dependent columns grow until a solution exists."""
    gram, projections = moments.gram.block(active, active), moments.projections[active]
    while True:
        try:
            return ActiveBlock(gram, projections, resolved_energy(moments), ridges)
        except NotPositiveDefiniteError:
            if not ridges.min() < RIDGE_RANGE[1] * gram.diagonal().max():
                raise
            ridges = np.maximum(10.0 * ridges, RIDGE_RANGE[0] * gram.diagonal())


def _iterate(criterion: IndividualEvidence, moments: Moments, journal: Journal) -> tuple[Indices, Floats, Outcome | None]:
    n, gram = moments.n_samples, moments.gram
    active = np.arange(moments.n_candidates)
    # At the start, all candidates together explain the variance of the target, and a tenth of it is noise.
    ridges = np.full(len(active), 0.1 * gram.diagonal.sum() / n)
    score, best, n_idle = -np.inf, -np.inf, 0
    watch = journal.stopwatch(seconds_to_invert(len(active)))
    while len(active) and n_idle < MOST_IDLE:
        limit = watch.exhausted(1.0 + FINAL_SHARE)
        if limit is not None:
            return active, ridges, limit
        try:
            block = ActiveBlock(gram.block(active, active), moments.projections[active], resolved_energy(moments), ridges)
        except NotPositiveDefiniteError:
            if not ridges.min() < RIDGE_RANGE[1] * gram.diagonal[active].max():
                return active[:0], ridges[:0], Outcome.ILL_CONDITIONED
            ridges = ridges * 10.0  # the ridges are too small for dependent columns
            continue
        determined = np.maximum(1.0 - ridges * block.spread(), 1e-300)
        residual = max(block.energy - float(ridges @ block.weights**2), 1e-300)
        noise = criterion.noise_variance or residual / max(n - float(determined.sum()), 1e-3 * n)
        with np.errstate(divide="ignore", over="ignore"):
            updated = determined * noise / block.weights**2
        keep = updated < PRUNED_RIDGE * gram.diagonal[active]
        if len(active) > 1 and not keep.any():
            keep[np.argmin(updated / gram.diagonal[active])] = True
        before, score = score, criterion.score(block, n)
        active = active[keep]
        ridges = np.maximum(updated[keep], RIDGE_RANGE[0] * gram.diagonal[active])
        journal.note("em", -1, score, len(active))
        n_idle = 0 if score > best or not keep.all() else n_idle + 1
        best = max(score, best) if keep.all() else -np.inf
        if keep.all() and abs(score - before) < 0.1 * journal.budget.least_gain:
            break
    return active, ridges, None

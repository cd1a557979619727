r"""Cross-fitting from sums: what refits say about the rows of a fold, all of them together.

With the weights w and the constant b of a refit, and the sums :math:`S` of the fold about its means, the squared errors add up to

.. math:: \sum c\,(t - b - \varphi^Tw)^2 = S_{tt} - 2w^TS_{\varphi t} + w^TS_{\varphi\varphi}w +
   n\,(\bar t - b - \bar\varphi^Tw)^2,

and the variances of new targets to :math:`\sigma^2\left[n(1 + 1/N) + \operatorname{tr}H^{-1}S_{\varphi\varphi} +
n\,d^TH^{-1}d\right]` with :math:`d = \bar\varphi - c`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skarce._linalg import solve_lower
from skarce._progress import counted
from skarce._typing import Floats
from skarce.designs import Design, StreamDesign
from skarce.designs.fold_sums import centers_in_fold
from skarce.likelihoods import Likelihood
from skarce.methods.method import Method
from skarce.model_selection.cross_fitting import refits_of
from skarce.moments import FoldSums, Sums
from skarce.posteriors.of_fit import as_if_from
from skarce.posteriors.posterior import Posterior
from skarce.states.budget import Budget


class LeftOutSums(NamedTuple):
    """Sums over all rows, each left out once, of shape (n_outputs,) if no other is given.

    Attributes
    ----------
    squares : squared errors of the refits
    variances : of new targets by the model of all rows, as if these rows had not been seen
    spread : squares of the targets about their means
    weight : the sum of the sample weights, a number
    """

    squares: Floats
    variances: Floats
    spread: Floats
    weight: float


def cross_fit_sums(
    method: Method[Any], design: Design, sums: FoldSums, likelihood: Likelihood, posteriors: Sequence[Any], budget: Budget
) -> LeftOutSums | None:
    """Fit all rows but those of a fold, for each fold, and return what the fits say about the rows of the folds.

    Return None if all rows are in one fold. `TimeIsUpError` is raised if a refit reaches the time limit.
    """
    squares, variances, weight = np.zeros(len(posteriors)), np.zeros(len(posteriors)), 0.0
    folds, total = sums.folds, sums.whole()
    for fold, own in counted(enumerate(folds), lambda fold: 1, "leaving out", len(folds), "folds"):
        rest = Sums.total([others for other, others in enumerate(folds) if other != fold])
        if not (own.n_samples > 0.0 and rest.n_samples > 0.0):
            continue
        rest.drop(centers_in_fold(design.candidates, fold, total))
        others = StreamDesign.of_sums(design.candidates, rest, fit_intercept=design.fit_intercept).problems(likelihood)
        refits = refits_of(others, method, replace(budget, verbose=0))
        for output, (whole, refit, problem) in enumerate(zip(posteriors, refits, others, strict=True)):
            squares[output] += squared_errors(refit, own, output)
            variances[output] += total_variance(as_if_from(problem, whole), own)
        weight += own.n_samples
    return LeftOutSums(squares, variances, total.target_energies, weight) if weight > 0.0 else None


def squared_errors(posterior: Posterior, sums: Sums, output: int) -> float:
    """Return the sum of squared errors of a model over the rows of these sums."""
    active, weights = posterior.active, posterior.mean
    gram, projections = sums.gram[np.ix_(active, active)], sums.projections[active, output]
    about_means = sums.target_energies[output] - 2.0 * weights @ projections + weights @ gram @ weights
    error_of_means = sums.target_means[output] - posterior.intercept - sums.candidate_means[active] @ weights
    return float(max(about_means, 0.0) + sums.n_samples * error_of_means**2)


def total_variance(posterior: Posterior, sums: Sums) -> float:
    """Return the sum of the variances of new targets at the rows of these sums."""
    active, n = posterior.active, sums.n_samples
    away = solve_lower(posterior.factor, (sums.candidate_means[active] - posterior.center)[:, None])
    half = solve_lower(posterior.factor, np.asfortranarray(sums.gram[np.ix_(active, active)]))
    trace = float(np.trace(solve_lower(posterior.factor, np.asfortranarray(half.T))))
    level = 1.0 + (1.0 / posterior.level_worth if posterior.fit_intercept else 0.0)
    return float(posterior.noise_variance * (n * level + trace + n * float((away**2).sum())))

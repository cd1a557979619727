"""How many factors: by left-out rows, or by the Bayesian information criterion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skarce._linalg import cholesky, solve_lower
from skarce._progress import Quiet, counted, progress
from skarce._typing import Floats, Indices
from skarce.methods.factors.conditioning import Conditional
from skarce.methods.factors.factor_model import FactorModel
from skarce.methods.factors.likelihood import fit_directly, n_parameters
from skarce.methods.factors.spread import Spread

ALL_UP_TO = 10  # each number of factors is tried up to this one, and then every 1.25th
GROWTH = 1.25
TRIAL_TOL, TRIAL_STEPS = 1e-3, 50  # of fits without some rows
CHOOSING = "choosing the number of factors"
CRITERION_TOL, CRITERION_STEPS = 1e-4, 200  # of fits to all rows, whose likelihoods differ by as little as the cost of a parameter


def candidates_for(most: int) -> list[int]:
    """The numbers of factors that are tried: none, and up to `most`."""
    tried = list(range(min(most, ALL_UP_TO) + 1))
    while tried[-1] < most:
        tried.append(min(most, int(np.ceil(GROWTH * tried[-1]))))
    return tried


def left_out_scores(
    rows: Floats, weights: Floats, folds: Indices, n_inputs: int, most: int, *, isotropic: bool
) -> dict[int, float]:
    """The log density of left-out targets, divided by their number, for each number of factors that is tried.

    `rows` are standardized, weights are positive, and `folds` says which rows are left out together.
    """
    tried, names = candidates_for(most), np.unique(folds)
    scores = np.zeros(len(tried))
    with progress(CHOOSING, len(names) * len(tried), "models") as part:
        for done, fold in enumerate(names):
            is_out = folds == fold
            if not is_out.all():
                scores += _left_out(rows, weights, is_out, tried, n_inputs, isotropic, part)
            part.to((done + 1) * len(tried))
    return dict(zip(tried, (scores / weights.sum()).tolist(), strict=True))


def information_scores(spread: Spread, most: int, *, isotropic: bool) -> dict[int, float]:
    """Minus half of the Bayesian information criterion, for each number of factors that is tried."""
    cost, tried = 0.5 * np.log(max(spread.n_samples, 1.0)), candidates_for(most)
    models = _models(spread, tried, isotropic, CRITERION_TOL, CRITERION_STEPS)
    return {
        model.n_factors: model.log_likelihood(spread) - cost * n_parameters(spread.n_columns, model.n_factors, isotropic=isotropic)
        for model in counted(models, lambda model: 1, CHOOSING, len(tried), "models")
    }


def conditional_density(model: FactorModel, n_inputs: int, rows: Floats) -> Floats:
    """The log density of the targets of rows, given their inputs. Rows are around the means of the model."""
    conditional = Conditional.of(model, n_inputs)
    lower = cholesky(conditional.covariance())
    errors = rows[:, n_inputs:] - rows[:, :n_inputs] @ conditional.coefficients().T
    squares = np.sum(solve_lower(lower, errors.T) ** 2, axis=0)
    return -0.5 * (squares + len(lower) * np.log(2.0 * np.pi)) - np.log(lower.diagonal()).sum()


def _left_out(
    rows: Floats, weights: Floats, is_out: Indices, tried: Sequence[int], n_inputs: int, isotropic: bool, part: Quiet
) -> Floats:
    """The log density of the targets that are left out, added up, for each number of factors."""
    spread = Spread.of(rows[~is_out], weights[~is_out])
    new, counts = rows[is_out] - spread.center, weights[is_out]
    models = _models(spread, tried, isotropic, TRIAL_TOL, TRIAL_STEPS)
    scores = np.empty(len(tried))
    for place, model in enumerate(models):
        scores[place] = counts @ conditional_density(model, n_inputs, new)
        part.step()
    return scores


def _models(spread: Spread, tried: Sequence[int], isotropic: bool, tol: float, max_iter: int) -> Iterator[FactorModel]:
    """A model for each number of factors.

    None begins where another one ended: noise that fewer factors leave is often next to a poor maximum of more.
    """
    return (fit_directly(spread, n_factors, isotropic=isotropic, tol=tol, max_iter=max_iter) for n_factors in tried)

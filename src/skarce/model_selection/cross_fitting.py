"""Cross-fitting: what a method says about rows that it has not seen, at candidates that stay as they are."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from skarce._parallel import slices
from skarce._progress import counted
from skarce._typing import Floats, Indices
from skarce.designs import Design, Problem
from skarce.designs.folds import Part, Split, have_room, parts, parts_of_whole_moments
from skarce.methods.method import Method
from skarce.posteriors.of_fit import as_if_from
from skarce.states.budget import Budget
from skarce.states.outcome import Outcome

ROWS_AT_A_TIME = 16_384  # of left-out rows, whose active functions are evaluated together


class TimeIsUpError(Exception):
    """The time limit of the fit came before the last refit."""


class LeftOut(NamedTuple):
    """Rows that were left out, and what the refits without them say, of shape (n_left_out, n_outputs) if no other is given.

    Attributes
    ----------
    places : where these rows are in the table, shape (n_left_out,)
    targets : the targets of these rows
    weights : their sample weights, shape (n_left_out,)
    means : what the refits predict; for a latent function, its mean
    variances : of new targets by the model of all rows, as if these rows had not been seen; of a latent function by the refits
    """

    places: Indices
    targets: Floats
    weights: Floats
    means: Floats
    variances: Floats


def cross_fit(
    method: Method[Any],
    design: Design,
    problems: Sequence[Problem],
    posteriors: Sequence[Any],
    splits: Sequence[Split],
    budget: Budget,
    *,
    kind: str = "auto",
    are_folds: bool = True,
) -> LeftOut:
    """Fit all rows but those that a split leaves out, for each split, and return what the fits say about the left-out rows.

    Parameters
    ----------
    method : Method
        The method, which starts anew for each split: to start from the functions of the fit to all rows would tell the refits what
        the left-out rows have chosen.
    design : Design
        The rows, which must be in memory.
    problems : sequence of Problem
        The problems of all rows. If they have the whole Gram matrix and the splits are folds, so have the refits.
    posteriors : sequence of Posterior or LatentPosterior
        The models of all rows. Variances are theirs without the left-out rows: at their functions, ridges and noise, because these
        are the models that will predict. A refit may interpolate its rows, and then its own noise and ridges say nothing.
    splits : sequence of (fitted, left out)
        Places of rows.
    budget : Budget
        The limits of each refit. `TimeIsUpError` is raised if a refit reaches the time limit.
    kind : {"auto", "whole", "columns"}, default="auto"
        How much of the Gram matrix a refit from rows computes.
    are_folds : bool, default=True
        Whether each row of positive weight is left out exactly once.
    """
    seen, usable = [], _usable(splits, problems)
    whole = zip(_parts(design, problems, usable, are_folds), usable, strict=True)
    for part, (_, places) in counted(whole, lambda fold: 1, "leaving out", len(usable), "folds"):
        others = part.problems(problems[0].likelihood, kind, method.access)
        refits = refits_of(others, method, budget)
        unaware = [_unaware(*models) for models in zip(posteriors, refits, others, strict=True)]
        rows = part.left_out
        seen.append(LeftOut(places, rows.targets, rows.row_weights, *_predictions(part, refits, unaware)))
        if budget.verbose > 1:
            print(f"calibration: {len(places)} rows left out, active {max(len(refit.active) for refit in refits)}", file=sys.stderr)
    if not seen:
        raise ValueError("no split leaves targets to fit.")
    return LeftOut(*(np.concatenate(column) for column in zip(*seen, strict=True)))


def _usable(splits: Sequence[Split], problems: Sequence[Problem]) -> list[Split]:
    """Return the splits whose other rows can be fitted. Counts cannot if all of them are zero."""
    return [split for split in splits if all(_can_be_fitted(problem, split[0]) for problem in problems)]


def _can_be_fitted(problem: Problem, rows: Indices) -> bool:
    try:
        problem.likelihood.check_targets(problem.design.rows.targets[rows, problem.output])
    except ValueError:
        return False
    return True


def _parts(design: Design, problems: Sequence[Problem], splits: Sequence[Split], are_folds: bool) -> Iterator[Part]:
    first = problems[0].scaled_moments
    is_whole = first is not None and first.gram.is_whole and have_room(first.n_candidates, len(splits))
    return parts_of_whole_moments(design, splits) if is_whole and are_folds else parts(design, splits)


def refits_of(problems: Sequence[Problem], method: Method[Any], budget: Budget) -> list[Any]:
    """Return the posteriors of the rows of a part. Raise TimeIsUpError if the time limit ended its fits."""
    fits = method.run_all(problems, replace(budget, verbose=0))
    if any(fit.outcome is Outcome.TIME_LIMIT for fit in fits):
        raise TimeIsUpError
    return [method.posterior(fit, problem) for fit, problem in zip(fits, problems, strict=True)]


def _unaware(whole: Any, refit: Any, problem: Problem) -> Any:
    """Return the model of all rows, as uncertain as if it had not seen the left-out ones.

    A latent function has no noise, and Student's t noise gives each row a weight. There it is the refit, at the noise of the whole.
    """
    is_refit = problem.scaled_moments is None or np.isfinite(whole.noise_freedom)
    return refit.at_noise_of(whole) if is_refit else as_if_from(problem, whole)


def _predictions(part: Part, refits: Sequence[Any], unaware: Sequence[Any]) -> tuple[Floats, Floats]:
    """Return means by the refits and variances by the others at the left-out rows, shapes (n_left_out, n_outputs)."""
    evaluation, shape = part.design.candidates.on(part.left_out.X), (len(part.left_out.targets), len(refits))
    means, variances = np.empty(shape), np.empty(shape)
    for rows in slices(shape[0], ROWS_AT_A_TIME):
        for output, (refit, other) in enumerate(zip(refits, unaware, strict=True)):
            means[rows, output] = refit.predict(evaluation.columns(refit.active, rows))
            variances[rows, output] = other.variance(evaluation.columns(other.active, rows))
    return means, variances

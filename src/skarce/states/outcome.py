"""How a fit ended."""

from __future__ import annotations

from enum import Enum
from typing import Any


class Outcome(Enum):
    """How a fit ended. The value of each member is a sentence that says what happened and what to try next.

    Every estimator has the attribute ``outcome_``. Print it to read the advice, or compare it with a member.

    See Also
    --------
    skarce.RelevanceVectorRegressor : An estimator with this attribute.
    skarce.SparseRegressor : Any criterion with any search.

    Notes
    -----
    Three members say that the fit has converged, and `is_converged` is true for them: ``CONVERGED``, ``ON_LANDMARKS`` if
    ``KernelBasis(centers="auto")`` found too many rows and chose landmarks, and ``BEST_OF_ALL`` of an exhaustive search.

    Three members end a fit early or with less than you asked for: ``STEP_LIMIT``, ``TIME_LIMIT`` and ``TOO_FEW_CANDIDATES``. Two
    say that the model cannot be trusted as it is: ``HALF_USED`` and ``ILL_CONDITIONED``. An estimator that ends with one of these
    five also warns. ``NO_NOISE`` warns only if the model has more than half as many functions as there are observations.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import Outcome, RelevanceVectorRegressor
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> model = RelevanceVectorRegressor().fit(X, y)
    >>> model.outcome_ is Outcome.CONVERGED
    True
    >>> print(model.outcome_)
    The fit has converged: no step of this method improves the criterion any more.
    """

    CONVERGED = "The fit has converged: no step of this method improves the criterion any more."
    ON_LANDMARKS = (
        "The fit has converged. There were too many distinct inputs to center a function at each of them, so the candidates are "
        "landmarks: a sample of the inputs that covers them. Pass KernelBasis(centers=...) with a larger number for a closer fit, "
        "or centers=None for all inputs if they are in memory."
    )
    BEST_OF_ALL = (
        "This is the best of all sets of at most max_size functions (or max_active, if that is smaller). Sets that the search "
        "skipped cannot be better. If each function has its own ridge, the ridges of a set are the best that several starts found."
    )
    SIZE_LIMIT = "The model has reached max_active functions. Raise max_active to get a larger model."
    ILL_CONDITIONED = (
        "Some active functions are so nearly dependent that rounding errors hide whether a further step would help. Check the "
        "model on held-out rows. Fewer centers help (KernelBasis(centers=...)), and so does a larger gamma if you have set it."
    )
    STEP_LIMIT = "The fit reached the step limit before it converged. Raise max_iter, or use a larger tol."
    TIME_LIMIT = (
        "The fit reached the time limit, and this is the best model so far. Raise max_time, use a larger tol, or offer fewer "
        "candidates."
    )
    CONSTANT_TARGET = "The target does not vary, so the model predicts only its mean."
    TOO_LITTLE_DATA = (
        "There is at most one observation, so the model predicts only its mean. Sample weights count observations: check that they "
        "are not too small."
    )
    NO_ADDITION_HELPS = "Further additions do not improve the criterion any more."
    GOAL_REACHED = "The model has as many functions, or explains as much of the target, as you asked for."
    TOO_FEW_CANDIDATES = (
        "The model has fewer functions than n_basis: no candidate is left, or all that are left depend on the functions in the "
        "model. Ask for fewer functions, offer more candidates, or use a narrower kernel."
    )
    NONE_BETTER_FOUND = (
        "This is the best of all models that the search compared. Another search, or the same search with more patience, may find "
        "a better one."
    )
    NO_NOISE = (
        "The candidates explain the target up to rounding errors. The noise cannot be told from zero, and the noise variance of "
        "the model is only a bound of the method. If the model has nearly as many functions as there are observations, it "
        "interpolates: use a wider kernel, fewer candidates, or max_active."
    )
    END_OF_PATH = (
        "The criterion is smallest at one end of the penalties that were tried, so a penalty beyond that end may give a smaller "
        "value. Pass an array to penalty= that goes further, and compare the models on held-out rows: a smaller criterion does not "
        "always mean better predictions."
    )
    HALF_USED = (
        "The model uses up more than half of the observations (its degrees of freedom), or the criterion still improved when a "
        "path of penalties reached that size. It cannot be trusted there: noise and uncalibrated intervals are too small. Try the "
        "inputs themselves (basis='passthrough'), VBLSRegressor, fewer centers, a wider kernel (smaller gamma) or max_active, and "
        "check the model on held-out rows."
    )
    FOLLOWING = "The stream goes on: a few steps were taken from the last model, and more may follow with the next batch."
    NOTHING_HELPS = "No candidate explains the target better than noise does, so the model has no basis functions."

    def __str__(self) -> str:
        return self.value

    @classmethod
    def restored(cls, saved: Any) -> Outcome:
        """Return the member that a saved model names. Models of older versions hold the member itself."""
        return saved if isinstance(saved, cls) else cls[saved]

    @property
    def is_converged(self) -> bool:
        """Whether no step of the method improves the criterion any more, for the candidates that were offered."""
        return self in (Outcome.CONVERGED, Outcome.ON_LANDMARKS, Outcome.BEST_OF_ALL)

    @property
    def deserves_a_warning(self) -> bool:
        """Whether the model is less than what was asked for, or cannot be trusted."""
        return self.is_early or self in (Outcome.TOO_FEW_CANDIDATES, Outcome.HALF_USED, Outcome.ILL_CONDITIONED)

    @property
    def is_early(self) -> bool:
        """Whether a limit stopped the fit before it converged."""
        return self in (Outcome.STEP_LIMIT, Outcome.TIME_LIMIT)


# HALF_USED of models whose candidates are the inputs themselves: there are no kernels to change.
HALF_USED_BY_INPUTS = Outcome.HALF_USED.value.replace(
    "Try the inputs themselves (basis='passthrough'), VBLSRegressor, fewer centers, a wider kernel (smaller gamma) or max_active,",
    "Try VBLSRegressor, fewer inputs or max_active,",
)

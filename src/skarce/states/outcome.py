"""How a fit ended."""

from __future__ import annotations

from enum import Enum


class Outcome(Enum):
    """How a fit ended; the value reads as advice."""

    CONVERGED = "The criterion has settled: no step that this method takes improves it any more."
    SIZE_LIMIT = "The model reached max_active. Raise max_active for a larger one."
    ILL_CONDITIONED = (
        "Active functions are so nearly dependent that rounding hides what a further change would do. Narrow the kernel, or thin "
        "out close centers."
    )
    STEP_LIMIT = "The step limit was reached before the criterion settled. Raise max_iter, or loosen tol."
    TIME_LIMIT = "The time limit was reached; this is the best model so far. Raise max_time, or loosen tol."
    CONSTANT_TARGET = "The target does not vary, so the model is its mean alone."
    TOO_LITTLE_DATA = "There is no more than one observation (sample weights are counts), so the model is its mean alone."
    NO_ADDITION_HELPS = "Further additions do not improve the criterion any more."
    GOAL_REACHED = "The model has as many functions, or explains as much, as was asked for."
    TOO_FEW_CANDIDATES = (
        "The candidates that are left depend on those in the model, or there are none left: it has fewer functions than n_basis. "
        "Ask for fewer, offer more candidates, or narrow the kernel."
    )
    NONE_BETTER_FOUND = (
        "This is the best of all models that the search compared. Another search, or the same with more patience, may find a "
        "better one."
    )
    NO_NOISE = (
        "The candidates explain the target to within rounding: the noise cannot be told from zero, and what is given for it is a "
        "bound of the method."
    )
    END_OF_PATH = (
        "The criterion is least at an end of the path of penalties: it may fall further beyond, which need not mean that the model "
        "predicts better. Give penalty= an array that goes on there, and compare on rows that were held out."
    )
    HALF_USED = (
        "The criterion still fell where the path of penalties ended, because models began to use more than half of the "
        "observations: what it says of those cannot be trusted. Widen the kernel, take degrees_of_freedom='active', or choose the "
        "penalty on rows that were held out."
    )
    FOLLOWING = "The stream goes on: a few steps were taken from the last model, and more may follow with the next batch."
    NOTHING_HELPS = "No candidate explains the target better than noise does, so the model has no basis functions."

    def __str__(self) -> str:
        return self.value

    @property
    def deserves_a_warning(self) -> bool:
        """Whether less came out than was asked for."""
        return self.is_early or self is Outcome.TOO_FEW_CANDIDATES

    @property
    def is_early(self) -> bool:
        """Whether a limit stopped the fit before it had settled."""
        return self in (Outcome.STEP_LIMIT, Outcome.TIME_LIMIT)

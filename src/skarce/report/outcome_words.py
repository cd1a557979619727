"""What fits say, in the words of the command line: options and names of methods in place of parameters and classes."""

from __future__ import annotations

import re

from skarce.estimators.trust import ADVICE_IF_TOO_SURE, ADVICE_ON_OUTLIERS
from skarce.states.outcome import HALF_USED_BY_INPUTS, Outcome

WORDS: dict[Outcome, str] = {
    Outcome.ON_LANDMARKS: (
        "The fit has converged. There were too many distinct inputs to center a function at each of them, so the candidates are "
        "landmarks: a sample of the inputs that covers them. skarce fit --centers with a larger number gives a closer fit."
    ),
    Outcome.BEST_OF_ALL: "This is the best of all sets of functions up to the largest size that was allowed.",
    Outcome.SIZE_LIMIT: "The model has reached the largest number of functions that it may have.",
    Outcome.ILL_CONDITIONED: (
        "Some active functions are so nearly dependent that rounding errors hide whether a further step would help. Check the "
        "model on rows of its own. Fewer centers (skarce fit --centers) or narrower kernels (a larger --gamma) help."
    ),
    Outcome.STEP_LIMIT: (
        "The fit reached the step limit before it converged. Try another method, or fewer centers (skarce fit --centers)."
    ),
    Outcome.TIME_LIMIT: "The fit reached the time limit, and this is the best model so far. Raise --max-time of skarce fit.",
    Outcome.TOO_FEW_CANDIDATES: (
        "The model has fewer functions than were asked for: no candidate is left, or all that are left depend on the functions in "
        "the model. Ask for fewer functions (skarce fit --n-basis), or use narrower kernels (a larger --gamma)."
    ),
    Outcome.NO_NOISE: (
        "The candidates explain the target up to rounding errors. The noise cannot be told from zero, and the noise variance of "
        "the model is only a bound of the method. If the model has nearly as many functions as there are rows, it interpolates: "
        "use another method, wider kernels (skarce fit with a smaller --gamma), or fewer centers (--centers)."
    ),
    Outcome.END_OF_PATH: (
        "The criterion is smallest at one end of the penalties that were tried, so a penalty beyond that end may give a smaller "
        "value. Compare the model with other methods on left-out rows."
    ),
    Outcome.HALF_USED: (
        "The model uses up more than half of the rows (its degrees of freedom), or the criterion still improved when a path of "
        "penalties reached that size. It cannot be trusted there: noise and uncalibrated intervals are too small. Use another "
        "method, wider kernels (skarce fit with a smaller --gamma), or fewer centers (--centers)."
    ),
}
OF_MESSAGES = {
    **{outcome.value: words for outcome, words in WORDS.items()},
    HALF_USED_BY_INPUTS: WORDS[Outcome.HALF_USED].replace(
        "another method, wider kernels (skarce fit with a smaller --gamma), or fewer centers (--centers).",
        "another method, or fewer inputs.",
    ),
}


ADVICE = {
    ADVICE_IF_TOO_SURE: "Try the linear method vbls (skarce fit --method vbls), fewer inputs (--exclude), or more rows.",
    ADVICE_ON_OUTLIERS: "correct these rows, or leave them out.",
}
ROWS_OF_A_FIT = re.compile(r": rows [^()]* \(the first row is 0\)")  # those of a fold have other numbers in the table
NUMBER = re.compile(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?")


def command_line_words(message: str) -> str:
    """The message as someone at the command line can use it: how a fit ended, or what to do about its rows."""
    words = OF_MESSAGES.get(message, message)
    for advice, instead in ADVICE.items():
        words = words.replace(advice, instead)
    return words


def words_of_folds(message: str) -> str:
    """The same for the fit of a fold, whose rows are a part of those of the table."""
    return command_line_words(ROWS_OF_A_FIT.sub("", message))


def template(words: str) -> str:
    """The words without their numbers: messages that differ in nothing else have the same."""
    return NUMBER.sub("#", words)

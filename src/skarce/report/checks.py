"""What could make a comparison misleading: each check looks at one thing and says what it found."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from scipy.stats import binom

from skarce._text import one_line
from skarce.comparison import MethodResult, OutOfFold
from skarce.datasets import TargetKind
from skarce.datasets.training import TrainingData
from skarce.report.numbers import percent, plural, rounded
from skarce.report.outcome_words import command_line_words, template, words_of_folds
from skarce.report.ranking import error_of, errors_of, optimism
from skarce.report.verdict import ERRORS, Verdict, base_words
from skarce.states.outcome import Outcome

FEW_ROWS = 100  # with fewer, the folds are small and their errors differ by chance
ROWS_PER_INPUT = 5
MOST_REPEATED = 0.01  # a share of repeated rows above this is worth a warning
NOT_TRUSTED = (Outcome.NO_NOISE, Outcome.HALF_USED)
TOLD_ELSEWHERE = frozenset(outcome for outcome in Outcome if outcome.is_early or outcome in NOT_TRUSTED)
MOST_WARNINGS = 5  # different ones that are written out
LARGE_OPTIMISM = 0.1  # share of the error
LEAST_GAIN = 0.001  # of an error rate; a smaller one is not written as a number
CHANCE = 0.001  # a coverage that is less likely than this is no chance
FEWEST_ROWS_OF_INTERVALS = 59  # with fewer, intervals that cover all rows may well be too wide: 0.95**59 is below 5 %
LEVEL = 0.95


class Finding(Enum):
    """How a check ended."""

    FINE = "fine"
    NOTE = "note"
    WARNING = "warning"


@dataclass(frozen=True)
class Check:
    """What was looked at, how it ended, and what to do."""

    name: str
    finding: Finding
    words: str

    def as_dict(self) -> dict[str, str]:
        """Ready for JSON."""
        return {"name": self.name, "finding": self.finding.value, "words": self.words}


def warnings_first(found: Sequence[Check | None]) -> list[Check]:
    """The checks that were made, in the order of how much they matter."""
    order = list(Finding)[::-1]
    return sorted((check for check in found if check is not None), key=lambda check: order.index(check.finding))


def enough_rows(training: TrainingData) -> Check:
    """Too few rows to tell methods apart."""
    n_rows, n_inputs = training.X.shape
    name, sizes = "Enough rows", f"{plural(n_rows, 'row')} for {plural(n_inputs, 'input')}"
    if n_rows < FEW_ROWS or n_rows < ROWS_PER_INPUT * n_inputs:
        return Check(name, Finding.WARNING, f"{sizes} are few: the folds differ by chance. Use --repeats 5, or more rows.")
    return Check(name, Finding.FINE, f"{sizes}.")


def enough_given_rows(n_rows: int) -> Check:
    """Too few rows to tell how good a model is."""
    name = "Enough rows"
    if n_rows < FEW_ROWS:
        return Check(name, Finding.WARNING, f"{plural(n_rows, 'row is', 'rows are')} few: errors on others may differ by chance.")
    return Check(name, Finding.FINE, f"{plural(n_rows, 'row')}.")


def rows_of_the_fit(n_centers: int, n_rows: int) -> Check:
    """Rows that are centers of the functions of a model: it was fitted to such rows."""
    name = "Rows of the fit"
    if not n_centers:
        return Check(name, Finding.FINE, "No given row is a center of the functions.")
    words = (
        f"{plural(n_centers, 'of the given rows is a center', 'of the given rows are centers')} of the functions, so the model "
        "was fitted to such rows. It looks better on rows that it was fitted to: give others."
    )
    return Check(name, Finding.WARNING if are_of_the_fit(n_centers, n_rows) else Finding.NOTE, words)


def are_of_the_fit(n_centers: int, n_rows: int) -> bool:
    """Whether so many rows are centers of a model that the rows, or their likes, are those of its fit."""
    return n_centers > MOST_REPEATED * n_rows


def end_of_fit(outcome: Outcome) -> Check:
    """Whether a limit ended a fit, and whether its model can be trusted."""
    is_bad = outcome.deserves_a_warning or outcome in NOT_TRUSTED
    return Check("End of the fit", Finding.WARNING if is_bad else Finding.FINE, command_line_words(outcome.value))


def leaking_columns(training: TrainingData) -> Check:
    """Columns that give the target away."""
    if training.leaks:
        return Check("Leaking columns", Finding.WARNING, " ".join(map(_sentence, training.leaks.values())))
    return Check("Leaking columns", Finding.FINE, "No single column tells nearly all of the target.")


def repeated_rows(training: TrainingData) -> Check:
    """Rows that are there twice: one may be trained on and the other tested."""
    name = "Repeated rows"
    repeated = int(training.X.assign(**{_unused(training): training.y}).duplicated(keep=False).sum())
    if not repeated:
        return Check(name, Finding.FINE, "No row is there twice.")
    share = repeated / len(training.y)
    words = f"{plural(repeated, 'row is', 'rows are')} there more than once ({percent(share)})"
    if share <= MOST_REPEATED:
        return Check(name, Finding.NOTE, f"{words}.")
    remedy = "A model that remembers rows then looks too good. Drop the copies, unless they are observations of their own."
    return Check(name, Finding.WARNING, f"{words}. {remedy}")


def _unused(training: TrainingData) -> str:
    """A name that no column has."""
    return "_" + max(training.kinds, key=len)


def early_stops(seen: Sequence[OutOfFold]) -> Check:
    """Fits that a limit ended."""
    stopped = {each.method.name: _first(each, Outcome.is_early.fget) for each in seen}  # type: ignore[attr-defined]
    return _outcomes("Fits that converged", stopped, seen, "No fit was stopped by a limit.")


def interpolation(seen: Sequence[OutOfFold]) -> Check:
    """Models that use up the rows, or that leave no noise."""
    doubted = {each.method.name: _first(each, lambda outcome: outcome in NOT_TRUSTED) for each in seen}
    return _outcomes("Interpolation", doubted, seen, "No sparse model uses up more than half of its rows, or leaves no noise.")


def warned_fits(results: Sequence[MethodResult], seen: Sequence[OutOfFold]) -> Check | None:
    """What fits warned of, besides the ends that other checks tell of. Warnings that differ only in numbers are told once."""
    told = {(each.method.name, outcome.value) for each in seen for outcome in each.outcomes if outcome in TOLD_ELSEWHERE}
    alike: dict[str, list[tuple[str, str]]] = {}
    for result in results:
        for message in result.warnings:
            if (result.method.name, message) not in told:
                words = words_of_folds(message)
                alike.setdefault(template(words), []).append((result.method.name, words))
    if not alike:
        return None
    shown = [_warned(warned) for warned in list(alike.values())[:MOST_WARNINGS]]
    more = [f"And {plural(len(alike) - len(shown), 'other warning')}."] if len(alike) > len(shown) else []
    return Check("Warnings of fits", Finding.WARNING, " ".join(shown + more))


def _warned(warned: Sequence[tuple[str, str]]) -> str:
    """The methods with their numbers of warnings, and the first of these, which differ at most in numbers."""
    counts, texts = Counter(name for name, _ in warned), [words for _, words in warned]
    names = ", ".join(f"{name} ({plural(number, 'warning')})" for name, number in counts.items())
    return f"{names}{', the first' if len(set(texts)) > 1 else ''}: {_sentence(one_line(texts[0]))}"


def _first(each: OutOfFold, is_meant: Any) -> tuple[int, Outcome] | None:
    meant = [outcome for outcome in each.outcomes if outcome is not None and is_meant(outcome)]
    return (len(meant), meant[0]) if meant else None


def _outcomes(name: str, found: dict[str, tuple[int, Outcome] | None], seen: Sequence[OutOfFold], fine: str) -> Check:
    named = [(method, *which) for method, which in found.items() if which is not None]
    if not named:
        return Check(name, Finding.FINE, fine)
    n_folds = max(len(each.outcomes) for each in seen)
    methods = ", ".join(f"{method} ({count} of {n_folds} folds)" for method, count, _ in named)
    return Check(name, Finding.WARNING, f"{methods}: {command_line_words(named[0][2].value)}")


def reused_rows(results: Sequence[MethodResult]) -> Check:
    """What was chosen on the rows that it was tested on: never the widths, always the winner."""
    name = "Reused test rows"
    done = [result for result in results if result.error is None]
    rules = dict.fromkeys(result.method.width_rule for result in done if result.method.has_kernels)
    chosen = f"Kernel widths ({', '.join(rules)}) and scales" if rules else "Scales"
    inside = f"{chosen} were chosen on the training rows of each fold, never on its test rows."
    if len(done) < 2:
        return Check(name, Finding.FINE, inside)
    gain = optimism(done)
    words = (
        f"{inside} But the best of {len(done)} methods was chosen on the rows that its error comes from: "
        f"{_expected(gain, done[0].method.task.target)} Keep rows apart for a last test."
    )
    is_large = gain > max(float(np.std(errors_of(done[0]))), LARGE_OPTIMISM * error_of(done[0]))
    return Check(name, Finding.WARNING if is_large else Finding.NOTE, words)


def _expected(gain: float, kind: TargetKind) -> str:
    """How much larger the error of the winner is on new rows, for that reason alone."""
    if gain <= 0.0:
        return f"no other is better in any fold, so this makes its {ERRORS[kind]} hardly too small."
    if kind is not TargetKind.CLASSES:
        shown = f"about {rounded(gain, 2)}"
    else:
        shown = f"about {100.0 * gain:.1f} percentage points" if gain >= LEAST_GAIN else "less than 0.1 percentage points"
    return f"on new rows, expect its {ERRORS[kind]} to be {shown} larger."


def honest_intervals(
    shares: Mapping[str, float], n_rows: int, best: str, *, may_be_wide: bool, noun: str = "left-out row"
) -> Check | None:
    """Whether 95 % intervals cover 95 % of the rows, up to chance. Those of counts may cover more, and those of rows of the fit.

    `shares` are the coverages of all methods that have intervals, the best method first; None if there are none. `noun` says what
    the rows are.
    """
    if not shares:
        return None
    name, rows = "Honest intervals", plural(n_rows, noun)
    narrow, wide = too_narrow(shares, n_rows), [] if may_be_wide else too_wide(shares, n_rows)
    listed = {method: f"{method} ({percent(share)}{', the best method' * (method == best)})" for method, share in shares.items()}
    wasteful = f" Wider than they need to be: {', '.join(listed[each] for each in wide)}." if wide else ""
    if narrow:
        words = f"95 % intervals cover too few of {rows}: {', '.join(listed[each] for each in narrow)}"
        return Check(name, Finding.WARNING, f"{words}. They are too narrow: widen them before you rely on them.{wasteful}")
    if wide:
        return Check(name, Finding.NOTE, f"No 95 % interval covers too few of {rows}.{wasteful}")
    covered = f"95 % intervals cover {_range(shares, best)} of {rows}."
    if n_rows < FEWEST_ROWS_OF_INTERVALS:
        return Check(name, Finding.NOTE, f"{covered} That is too few rows to tell whether they are honest.")
    return Check(name, Finding.FINE, covered)


def _range(shares: Mapping[str, float], best: str) -> str:
    """The smallest and the largest share with their methods."""
    if len(shares) == 1:
        return percent(next(iter(shares.values())))
    ends = dict.fromkeys(end(shares, key=shares.__getitem__) for end in (min, max))
    return " to ".join(f"{percent(shares[name])} ({name}{', the best' * (name == best)})" for name in ends)


def too_narrow(shares: Mapping[str, float], n_rows: int) -> list[str]:
    """Methods whose 95 % intervals cover so few rows that it is no chance."""
    return [name for name, share in shares.items() if binom.cdf(round(share * n_rows), n_rows, LEVEL) < CHANCE]


def too_wide(shares: Mapping[str, float], n_rows: int) -> list[str]:
    """Methods whose 95 % intervals cover so many rows that it is no chance."""
    return [name for name, share in shares.items() if binom.sf(round(share * n_rows) - 1, n_rows, LEVEL) < CHANCE]


def better_than_no_inputs(found: Verdict, kind: TargetKind) -> Check | None:
    """Whether the inputs tell anything about the target; None if no method could be fitted."""
    name, base = "Inputs that tell something", base_words(kind)
    if found.best is None:
        return None
    if found.beats_base:
        return Check(name, Finding.FINE, f"{found.best} predicts better than {base}.")
    words = f"No method predicts better than {base}, so none is recommended, and a model of these inputs tells nothing sure."
    return Check(name, Finding.WARNING, words)


def even_folds(words: str) -> Check:
    """Whether one fold of the best method has a far larger error than its others; `words` say which, or nothing."""
    if not words:
        return Check("Even folds", Finding.FINE, "No fold of the best method has an error far above its others.")
    return Check("Even folds", Finding.WARNING, _sentence(words.removeprefix("Note: ")))


def failures(results: Sequence[MethodResult]) -> Check | None:
    """Methods that failed."""
    failed = [f"{result.method.name}: {one_line(result.error)}" for result in results if result.error is not None]
    return Check("Failed methods", Finding.WARNING, " ".join(failed)) if failed else None


def other_notes(training: TrainingData) -> Check | None:
    """What reading the table had to say, besides columns that give the target away."""
    return Check("The table", Finding.NOTE, " ".join(map(_sentence, training.notes))) if training.notes else None


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:].rstrip('.')}."

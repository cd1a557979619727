"""What given rows say about a stored model, in one sentence, and what would change it."""

from __future__ import annotations

from collections.abc import Sequence

from skarce.datasets import TargetKind
from skarce.report.numbers import plural
from skarce.report.quality import Quality
from skarce.report.ranking import FEWEST_ROWS
from skarce.report.verdict import ERRORS, MORE_INPUTS, Verdict, base_words, error_text, leak_warning

NO_ROWS = "No rows were given, so this page says nothing about errors on new rows."
GIVE_ROWS = "Rows with their targets, as DATA. Use rows that the model was not fitted to."
MORE_ROWS = "More rows: the errors of so few differ mostly by chance."
OTHER_ROWS = "If the model was fitted to some of these rows, expect larger errors on others."
OTHER_METHODS = "Another method may predict better: skarce compare tells."


def model_verdict(
    name: str, kind: TargetKind, quality: Quality | None, *, is_doubtful: bool, is_narrow: bool, leaks: Sequence[str]
) -> Verdict:
    """The verdict on one model.

    Parameters
    ----------
    name : what the model is called
    kind : what it predicts
    quality : what rows say, None if there are none
    is_doubtful : whether the fit ended in a way that cannot be trusted
    is_narrow : whether its intervals cover too few of the rows
    leaks : columns of the rows that nearly tell the target
    """
    doubtful = (name,) if is_doubtful else ()
    doubt = f" The fit of {name} cannot be trusted (see the checks)." if is_doubtful else ""
    if quality is None:
        return Verdict(f"{NO_ROWS}{doubt}", (GIVE_ROWS,), None, shown=name, doubtful=doubtful)
    narrow = " Its 95 % intervals are too narrow for these rows." if is_narrow else ""
    return Verdict(
        sentence=f"{leak_warning(leaks)}{_sentence(name, kind, quality)}{narrow}{doubt}",
        changes=tuple(_changes(quality)),
        best=name,
        level=(name,),
        shown=name,
        doubtful=doubtful,
        beats_base=quality.beats_base,
        leaks=tuple(leaks),
    )


def _sentence(name: str, kind: TargetKind, quality: Quality) -> str:
    error, base = (error_text(kind, value) for value in (quality.error, quality.error_without_inputs))
    numbers = f"{ERRORS[kind]} {error}, {base} without inputs"
    if quality.n_rows < FEWEST_ROWS:
        verb = plural(quality.n_rows, "given row is", "given rows are")
        return f"{verb} too few to tell how well {name} predicts ({numbers})."
    if quality.beats_base:
        return f"On {quality.n_rows:,} given rows, {name} predicts better than {base_words(kind)} ({numbers})."
    return (
        f"On {quality.n_rows:,} given rows, {name} does not predict better than {base_words(kind)} by more than chance ({numbers})."
    )


def _changes(quality: Quality) -> list[str]:
    if quality.n_rows < FEWEST_ROWS:
        return [MORE_ROWS, OTHER_ROWS]
    return [OTHER_ROWS, OTHER_METHODS] if quality.beats_base else [MORE_INPUTS, OTHER_METHODS]

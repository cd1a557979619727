"""What given rows say about a stored model, in one sentence, and what would change it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from skarce.datasets import TargetKind
from skarce.report.checks import are_of_the_fit
from skarce.report.numbers import plural
from skarce.report.quality import Quality
from skarce.report.ranking import FEWEST_ROWS
from skarce.report.verdict import ERRORS, MORE_INPUTS, Verdict, base_words, error_text, leak_warning

NO_ROWS = "No rows were given, so this page says nothing about errors on new rows."
GIVE_ROWS = "Give rows with their targets: skarce explain MODEL DATA. Use rows that the model was not fitted to."
OTHER_DATA = "Give rows that the model was not fitted to: skarce explain MODEL DATA."
MORE_ROWS = "More rows: the errors of so few differ mostly by chance."
MAYBE_FITTED = "If the model was fitted to some of these rows, expect larger errors on others."
SOME_FITTED = "The model was fitted to some of these rows (see the checks): expect larger errors on others."
OTHER_METHODS = "Another method may predict better: skarce compare tells."


def model_verdict(
    name: str,
    kind: TargetKind,
    quality: Quality | None,
    *,
    facts: Mapping[str, str],
    n_centers: int,
    is_doubtful: bool,
    is_narrow: bool,
    leaks: Sequence[str],
) -> Verdict:
    """The verdict on one model.

    Parameters
    ----------
    name : what the model is called
    kind : what it predicts
    quality : what rows say, None if there are none
    facts : names and values in words
    n_centers : how many of the rows are centers of its functions, so that it was fitted to them
    is_doubtful : whether the fit ended in a way that cannot be trusted
    is_narrow : whether its intervals cover too few of the rows
    leaks : columns of the rows that nearly tell the target
    """
    doubtful = (name,) if is_doubtful else ()
    doubt = f" The fit of {name} cannot be trusted (see the checks)." if is_doubtful else ""
    if quality is None:
        return Verdict(f"{_model_words(facts)}{doubt} {NO_ROWS}", (GIVE_ROWS,), None, shown=name, doubtful=doubtful)
    narrow = " Its 95 % intervals are too narrow for these rows." if is_narrow else ""
    return Verdict(
        sentence=f"{leak_warning(leaks)}{_sentence(name, kind, quality, n_centers)}{narrow}{doubt}",
        changes=tuple(_changes(quality, n_centers)),
        best=name,
        level=(name,),
        shown=name,
        doubtful=doubtful,
        beats_base=quality.beats_base,
        leaks=tuple(leaks),
    )


def _model_words(facts: Mapping[str, str]) -> str:
    """The size of a model, its noise if it has one, and how its fit ended."""
    noise = f", and the noise is {facts['noise']}" if "noise" in facts else ""
    return f"The model uses {facts['functions']}{noise}. {facts['outcome']}"


def _sentence(name: str, kind: TargetKind, quality: Quality, n_centers: int) -> str:
    error, base = (error_text(kind, value) for value in (quality.error, quality.error_without_inputs))
    numbers = f"{ERRORS[kind]} {error}, {base} without inputs"
    if are_of_the_fit(n_centers, quality.n_rows):
        return (
            f"{name} was fitted to such rows, so the {quality.n_rows:,} given rows do not tell how well it predicts others "
            f"({numbers})."
        )
    if quality.n_rows < FEWEST_ROWS:
        verb = plural(quality.n_rows, "given row is", "given rows are")
        return f"{verb} too few to tell how well {name} predicts ({numbers})."
    if quality.beats_base:
        return f"On {quality.n_rows:,} given rows, {name} predicts better than {base_words(kind)} ({numbers})."
    return (
        f"On {quality.n_rows:,} given rows, {name} does not predict better than {base_words(kind)} by more than chance ({numbers})."
    )


def _changes(quality: Quality, n_centers: int) -> list[str]:
    if are_of_the_fit(n_centers, quality.n_rows):
        return [OTHER_DATA, OTHER_METHODS]
    fitted = SOME_FITTED if n_centers else MAYBE_FITTED
    if quality.n_rows < FEWEST_ROWS:
        return [MORE_ROWS, fitted]
    return [fitted, OTHER_METHODS] if quality.beats_base else [MORE_INPUTS, OTHER_METHODS]

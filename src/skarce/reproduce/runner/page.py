"""Findings as tables that line up: rows of texts, and a page of Markdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from skarce.reproduce.runner.findings import Finding, verdict_counts
from skarce.reproduce.runner.pairs import LEVEL
from skarce.reproduce.runner.paper import Claim, Pair, Paper
from skarce.reproduce.runner.summary_table import summary_table

TUNING_NOTE = (
    "Tuned: the repeats on which {choices} chosen by cross validation in {folds} folds of the training rows; the others use the "
    "median of {those} chosen there. Own: {own}."
)
FIT_NOTE = (
    "Fit is CPU time on one thread at {choice}, without tuning; fit ratio is the {average} over repeats of fit over that of "
    "the baseline."
)


def general_notes(paper: Paper) -> list[str]:
    """What the words and numbers in the tables mean."""
    if not paper.in_detail:
        return [f"{paper.measure.note}.", *([paper.pair_test.note] if paper.tells_p_values else [])]
    of_widths = paper.choice_heading == "gamma"
    named = "gamma (the kernel width)" if of_widths else paper.choice_heading
    return [
        f"{paper.measure.note}; * marks the least median. Functions, {named} and fit are {paper.average}s over repeats.",
        TUNING_NOTE.format(
            folds={5: "five", 10: "ten"}.get(paper.n_folds, paper.n_folds),
            choices="the width was" if of_widths else f"{paper.choice_heading} were",
            those="the widths" if of_widths else "those",
            own="the method learns its width while it is fitted" if of_widths else "there is nothing left to choose",
        ),
        FIT_NOTE.format(choice="the chosen width" if of_widths else "what was chosen", average="median"),
        f"{paper.pair_test.note} Below {LEVEL} the better method is named.",
    ]


def p_value_rows(finding: Finding) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the lower triangle, the paper's arrangement: each cell compares its column with its row."""
    contenders = [summary.contender for summary in finding.summaries]
    columns, rows = contenders[:-1], contenders[:0:-1]
    printed = {claim.pair: claim for claim in finding.claims}
    cells = [[row.label, *(_p_value_cell(finding, printed, (column.name, row.name)) for column in columns)] for row in rows]
    return ["", *(column.label for column in columns)], cells


def _p_value_cell(finding: Finding, printed: dict[Pair, Claim], pair: Pair) -> str:
    ours = finding.comparisons.get(pair)
    if ours is None:
        return ""
    theirs = f" (paper {_p_value(printed[pair].p_value)})" if pair in printed else ""
    winner = f" {finding.paper.label(ours.better)}" if ours.is_significant and ours.better else ""
    return f"{_p_value(ours.p_value)}{winner}{theirs}"


def claim_rows(finding: Finding) -> list[list[str]]:
    """What the paper found significant, and what we did: claim, its p-value, ours, the number of pairs, the verdict."""
    significant = [claim for claim in finding.claims if claim.p_value < LEVEL]
    return [_claim_row(claim, finding) for claim in significant]


def _claim_row(claim: Claim, finding: Finding) -> list[str]:
    label, ours = finding.paper.label, finding.comparison(claim.pair)
    first, second = map(label, claim.pair)
    other = second if claim.better == claim.pair[0] else first
    said = f"{label(claim.better)} better than {other}" if claim.better else f"{first} and {second} differ"
    p_value, n_pairs = (None, 0) if ours is None else (ours.p_value, ours.n_pairs)
    better = f" {label(ours.better)}" if ours is not None and ours.better else ""
    return [said, _p_value(claim.p_value), f"{_p_value(p_value)}{better}", str(n_pairs), finding.verdict(claim).value]


def other_claims(paper: Paper, found: Sequence[Finding]) -> list[str]:
    """Sentences on numbers of functions and on times, one for each claim and experiment."""
    sentences = []
    for finding in found:
        sentences += [_functions_sentence(finding, pair) for pair in paper.more_functions]
        sentences += [_time_sentence(finding, method, span) for method, span in paper.time_ratios.items()]
    return sentences


def _functions_sentence(finding: Finding, pair: Pair) -> str:
    more, fewer = (finding.summary(name).n_functions for name in pair)
    first, second = map(finding.paper.label, pair)
    said = f"{finding.experiment.title}, functions: the paper has more in {first} than in {second}"
    if more is None or fewer is None:
        return f"{said}; not run."
    return f"{said}; ours {more:g} and {fewer:g} ({'agrees' if more > fewer else 'does not agree'})."


def _time_sentence(finding: Finding, method: str, span: tuple[float, float]) -> str:
    ratio, label = finding.summary(method).time_ratio, finding.paper.label
    said = f"{finding.experiment.title}, fit time of {label(method)} over {label(str(finding.paper.baseline))}"
    ours = "not run" if ratio is None else f"ours {ratio:.2f} ({'agrees' if span[0] <= ratio <= span[1] else 'does not agree'})"
    return f"{said}: the paper has {span[0]:g} to {span[1]:g}; {ours}."


def markdown_table(headings: Sequence[str], rows: Sequence[Sequence[str]], left: Collection[int] = (0,)) -> str:
    """Columns that line up in the plain text too: those in `left` to the left, the others to the right."""
    widths = [max(3, *(len(cell) for cell in column)) for column in zip(headings, *rows, strict=True)]
    rule = ["-" * width if place in left else "-" * (width - 1) + ":" for place, width in enumerate(widths)]
    return "\n".join(_markdown_row(cells, widths, left) for cells in (headings, rule, *rows))


def _markdown_row(cells: Sequence[str], widths: Sequence[int], left: Collection[int]) -> str:
    padded = zip(cells, widths, strict=True)
    texts = [cell.ljust(width) if place in left else cell.rjust(width) for place, (cell, width) in enumerate(padded)]
    return f"| {' | '.join(texts)} |"


def _p_value(value: float | None) -> str:
    return "-" if value is None else f"{value:.2g}"


def markdown(paper: Paper, found: Sequence[Finding], facts: Mapping[str, str], pictures: Sequence[str] = ()) -> str:
    """The whole page. `facts` are printed as they are; `pictures` are file names, one per experiment at most."""
    parts = [f"# {paper.title}: our numbers beside those of the paper", paper.reference + "."]
    parts += ["\n".join(f"- {name}: {value}" for name, value in facts.items())]
    parts += paper.overview(found) if paper.overview else []
    parts += _own_pictures(paper, pictures)
    for finding in found if paper.in_detail else ():
        parts += _section(finding, pictures)
    parts += _claims_section(paper, found)
    return "\n\n".join([*parts, "## Notes", "\n".join(f"- {note}" for note in (*general_notes(paper), *paper.notes))]) + "\n"


def _own_pictures(paper: Paper, pictures: Sequence[str]) -> list[str]:
    """Those that belong to no single experiment."""
    of_experiments = {f"{experiment.name}.png" for experiment in paper.experiments if paper.in_detail}
    return [f"![{Path(name).stem}]({name})" for name in pictures if name not in of_experiments]


def _section(finding: Finding, pictures: Sequence[str]) -> list[str]:
    experiment = finding.experiment
    headings, rows = p_value_rows(finding)
    pictured = [f"![{experiment.title}]({name})" for name in pictures if name == f"{experiment.name}.png"]
    return [
        f"## {experiment.title}",
        f"{experiment.note} Repeats: {repeats_line(finding)}.".strip(),
        markdown_table(*summary_table(finding)),
        *pictured,
        f"{_whose(rows)}; each cell compares the method of its column with that of its row:",
        markdown_table(headings, rows),
    ]


def _whose(rows: Sequence[Sequence[str]]) -> str:
    """Whether the cells hold p-values of the paper beside ours."""
    return "p-values, ours and the paper's" if any("(paper" in cell for row in rows for cell in row) else "Our p-values"


def repeats_line(finding: Finding) -> str:
    """How many repeats were run and tuned."""
    n_run = max(summary.n_repeats for summary in finding.summaries)
    tuned = [summary.n_tuned for summary in finding.summaries if summary.contender.choices]
    on_how_many = f", {max(tuned)} of them tuned" if tuned else ""
    return f"{n_run} of the paper's {finding.experiment.n_repeats} were run{on_how_many}"


def verdict_line(found: Sequence[Finding]) -> str:
    """How many of the paper's significant differences have which verdict; empty where it has none."""
    counts = verdict_counts(found)
    listed = "; ".join(f"{kind.value} {n}" for kind, n in counts.items())
    return f"Of {sum(counts.values())} differences that the paper found significant: {listed}." if counts else ""


def _claims_section(paper: Paper, found: Sequence[Finding]) -> list[str]:
    rows = [[finding.experiment.title, *row] for finding in found for row in claim_rows(finding)]
    if not rows:
        return []
    headings = ("data", "the paper says", "its p", "our p and better", "pairs", "verdict")
    sentences = "\n".join(f"- {sentence}" for sentence in other_claims(paper, found))
    return ["## Where the paper's ranking holds", verdict_line(found), markdown_table(headings, rows, left=(0, 1, 5)), sentences]

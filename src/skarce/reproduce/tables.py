"""Findings as tables that line up: rows of texts, and a page of Markdown."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from skarce.reproduce.findings import Finding, Summary, verdict_counts
from skarce.reproduce.paper import Claim, Pair, Paper
from skarce.reproduce.signed_rank import LEVEL, Comparison, verdict

SUMMARY_HEADINGS = (
    "method",
    "NMSE median",
    "quartiles",
    "mean",
    "functions",
    "gamma",
    "fit",
    "fit ratio",
    "repeats",
    "tuned",
    "note",
)
GENERAL_NOTES = (
    "NMSE is the mean squared test error over the variance of the test targets; * marks the least median. Functions, gamma (the "
    "kernel width) and fit are medians over repeats.",
    "Tuned: the repeats on which the width was chosen by five-fold cross validation of the training rows; the others use the "
    "median of the widths chosen there. Own: the method learns its width while it is fitted.",
    "Fit is CPU time on one thread at the chosen width, without tuning; fit ratio is the median over repeats of fit over that of "
    "the baseline.",
    "p-values are of the two-sided Wilcoxon signed rank test over repeats; below 0.05 the better method is named. Fewer than six "
    "pairs cannot be significant.",
)


def summary_table(finding: Finding, headings: Sequence[str] = SUMMARY_HEADINGS) -> tuple[list[str], list[list[str]]]:
    """Some columns of the table of methods; those in which nothing stands are left out."""
    rows = summary_rows(finding)
    kept = [place for place, heading in enumerate(SUMMARY_HEADINGS) if heading in headings and any(row[place] for row in rows)]
    return [SUMMARY_HEADINGS[place] for place in kept], [[row[place] for place in kept] for row in rows]


def summary_rows(finding: Finding) -> list[list[str]]:
    """One row of texts per method, under `SUMMARY_HEADINGS`; the least median error is marked."""
    medians = [summary.quartiles[1] for summary in finding.summaries if summary.quartiles]
    return [_summary_row(summary, min(medians, default=None)) for summary in finding.summaries]


def _summary_row(summary: Summary, least: float | None) -> list[str]:
    name = summary.contender.label
    if summary.quartiles is None:
        return [name, *["-"] * 7, "0", "0", _note(summary)]
    first, median, third = summary.quartiles
    return [
        name,
        f"{median:.4f}" + ("*" if median == least else " "),
        f"{first:.4f} to {third:.4f}",
        _text(summary.mean, ".4f"),
        _text(summary.n_functions, "g"),
        _text(summary.gamma, ".3g"),
        _milliseconds(summary.fit_seconds),
        _text(summary.time_ratio, ".2f"),
        str(summary.n_repeats),
        str(summary.n_tuned) if summary.contender.widths else "own",
        _note(summary),
    ]


def _note(summary: Summary) -> str:
    parts = [f"{summary.n_failed} failed" if summary.n_failed else "", f"{summary.n_warned} warned" if summary.n_warned else ""]
    return ", ".join(part for part in parts if part)


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
    return f"{_p_value(ours.p_value)}{_winner(ours)}{theirs}"


def _winner(ours: Comparison) -> str:
    return f" {ours.better.upper()}" if ours.is_significant and ours.better else ""


def claim_rows(finding: Finding) -> list[list[str]]:
    """What the paper found significant, and what we did: claim, its p-value, ours, the number of pairs, the verdict."""
    significant = [claim for claim in finding.claims if claim.p_value < LEVEL]
    return [_claim_row(claim, finding.comparison(claim.pair)) for claim in significant]


def _claim_row(claim: Claim, ours: Comparison | None) -> list[str]:
    first, second = (name.upper() for name in claim.pair)
    other = second if claim.better == claim.pair[0] else first
    said = f"{claim.better.upper()} better than {other}" if claim.better else f"{first} and {second} differ"
    p_value, n_pairs = (None, 0) if ours is None else (ours.p_value, ours.n_pairs)
    better = f" {ours.better.upper()}" if ours is not None and ours.better else ""
    return [said, _p_value(claim.p_value), f"{_p_value(p_value)}{better}", str(n_pairs), verdict(claim, ours).value]


def other_claims(paper: Paper, found: Sequence[Finding]) -> list[str]:
    """Sentences on numbers of functions and on times, one for each claim and experiment."""
    sentences = []
    for finding in found:
        sentences += [_functions_sentence(finding, pair) for pair in paper.more_functions]
        sentences += [_time_sentence(finding, paper, method, span) for method, span in paper.time_ratios.items()]
    return sentences


def _functions_sentence(finding: Finding, pair: Pair) -> str:
    more, fewer = (finding.summary(name).n_functions for name in pair)
    first, second = (name.upper() for name in pair)
    said = f"{finding.experiment.title}, functions: the paper has more in {first} than in {second}"
    if more is None or fewer is None:
        return f"{said}; not run."
    return f"{said}; ours {more:g} and {fewer:g} ({'agrees' if more > fewer else 'does not agree'})."


def _time_sentence(finding: Finding, paper: Paper, method: str, span: tuple[float, float]) -> str:
    ratio = finding.summary(method).time_ratio
    said = f"{finding.experiment.title}, fit time of {method.upper()} over {str(paper.baseline).upper()}"
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


def _text(value: float | None, spec: str) -> str:
    return "-" if value is None else f"{value:{spec}}"


def _milliseconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1000.0 * seconds:.3g} ms" if seconds < 1.0 else f"{seconds:.3g} s"


def markdown(paper: Paper, found: Sequence[Finding], facts: Mapping[str, str], pictures: Sequence[str] = ()) -> str:
    """The whole page. `facts` are printed as they are; `pictures` are file names, one per experiment at most."""
    parts = [f"# {paper.title}: our numbers beside those of the paper", paper.reference + "."]
    parts += ["\n".join(f"- {name}: {value}" for name, value in facts.items())]
    for finding in found:
        parts += _section(finding, pictures)
    parts += _claims_section(paper, found)
    return "\n\n".join([*parts, "## Notes", "\n".join(f"- {note}" for note in (*GENERAL_NOTES, *paper.notes))]) + "\n"


def _section(finding: Finding, pictures: Sequence[str]) -> list[str]:
    experiment = finding.experiment
    headings, rows = p_value_rows(finding)
    pictured = [f"![{experiment.title}]({name})" for name in pictures if name.startswith(f"{experiment.name}.")]
    return [
        f"## {experiment.title}",
        f"{experiment.note} Repeats: {repeats_line(finding)}.".strip(),
        markdown_table(*summary_table(finding)),
        *pictured,
        "p-values, ours and the paper's; each cell compares the method of its column with that of its row:",
        markdown_table(headings, rows),
    ]


def repeats_line(finding: Finding) -> str:
    """How many repeats were run and tuned."""
    n_run = max(summary.n_repeats for summary in finding.summaries)
    n_tuned = max((summary.n_tuned for summary in finding.summaries if summary.contender.widths), default=0)
    return f"{n_run} of the paper's {finding.experiment.n_repeats} were run, {n_tuned} of them tuned"


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

"""The p-values and other claims of a paper next to ours, as rows of texts and as sentences."""

from __future__ import annotations

from collections.abc import Sequence

from skarce.reproduce.runner.findings import Finding, verdict_counts
from skarce.reproduce.runner.formatting import number_text
from skarce.reproduce.runner.pairs import LEVEL
from skarce.reproduce.runner.paper import Claim, Pair, Paper
from skarce.reproduce.runner.splits import Span


def p_value_rows(finding: Finding) -> tuple[list[str], list[list[str]]]:
    """Headings and rows of the lower triangle. Each cell compares the method of its column with the method of its row."""
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
    """The differences that the paper found significant: the claim, its p-value, ours, the number of pairs, the verdict."""
    return [_claim_row(claim, finding) for claim in finding.claims if claim.p_value < LEVEL]


def _claim_row(claim: Claim, finding: Finding) -> list[str]:
    label, ours = finding.paper.label, finding.comparison(claim.pair)
    first, second = map(label, claim.pair)
    other = second if claim.better == claim.pair[0] else first
    said = f"{label(claim.better)} better than {other}" if claim.better else f"{first} and {second} differ"
    p_value, n_pairs = (None, 0) if ours is None else (ours.p_value, ours.n_pairs)
    better = f" {label(ours.better)}" if ours is not None and ours.better else ""
    return [said, _p_value(claim.p_value), f"{_p_value(p_value)}{better}", str(n_pairs), finding.verdict(claim).value]


def _p_value(value: float | None) -> str:
    return number_text(value, ".2g")


def verdict_line(found: Sequence[Finding]) -> str:
    """How many of the paper's significant differences have which verdict. Empty if the paper has none."""
    counts = verdict_counts(found)
    listed = "; ".join(f"{kind.value} {n}" for kind, n in counts.items())
    return f"Of {sum(counts.values())} differences that the paper found significant: {listed}." if counts else ""


def other_claims(paper: Paper, found: Sequence[Finding]) -> list[str]:
    """Sentences about numbers of functions and fit times, one for each claim and experiment."""
    sentences = []
    for finding in found:
        sentences += [_functions_sentence(finding, pair) for pair in paper.more_functions]
        sentences += [_time_sentence(finding, method, span) for method, span in paper.time_ratios.items()]
    return sentences


def _functions_sentence(finding: Finding, pair: Pair) -> str:
    more, fewer = (finding.summary(name).n_functions for name in pair)
    first, second = map(finding.paper.label, pair)
    said = f"{finding.experiment.title}, functions: {first} needs more than {second} in the paper"
    if more is None or fewer is None:
        return f"{said}; not run here."
    return f"{said}; here {more:g} and {fewer:g} ({_agreement(more > fewer)})."


def _time_sentence(finding: Finding, method: str, span: Span) -> str:
    ratio, label = finding.summary(method).time_ratio, finding.paper.label
    said = f"{finding.experiment.title}, fit time of {label(method)} over {label(str(finding.paper.baseline))}"
    ours = "not run here" if ratio is None else f"here {ratio:.2f} ({_agreement(span[0] <= ratio <= span[1])})"
    return f"{said}: {span[0]:g} to {span[1]:g} in the paper; {ours}."


def _agreement(holds: bool) -> str:
    return "agrees" if holds else "does not agree"

"""The page that a run writes: the findings of a paper as Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from skarce.reproduce.runner.claims import claim_rows, other_claims, p_value_rows, verdict_line
from skarce.reproduce.runner.findings import Finding
from skarce.reproduce.runner.formatting import markdown_table
from skarce.reproduce.runner.pairs import LEVEL
from skarce.reproduce.runner.paper import Paper
from skarce.reproduce.runner.summary_table import summary_table

TUNING_NOTE = (
    "Tuned: the number of repeats on which {choices} chosen by cross validation in {folds} folds of the training rows. The other "
    "repeats use the median of {those} chosen there. Own: {own}."
)
FIT_NOTE = (
    "Fit is the CPU time on one thread at {choice}, without tuning. Fit ratio is the fit time over that of the baseline, the "
    "median over repeats."
)


def markdown(paper: Paper, found: Sequence[Finding], facts: Mapping[str, str], pictures: Sequence[str] = ()) -> str:
    """The whole page. `facts` are listed at the top. `pictures` are file names, at most one for each experiment."""
    parts = [f"# {paper.title}: our numbers beside those of the paper", paper.reference + "."]
    parts += ["\n".join(f"- {name}: {value}" for name, value in facts.items())]
    parts += paper.overview(found) if paper.overview else []
    parts += _overview_pictures(paper, pictures)
    for finding in found if paper.in_detail else ():
        parts += _section(finding, pictures)
    parts += _claims_section(paper, found)
    return "\n\n".join([*parts, "## Notes", "\n".join(f"- {note}" for note in (*general_notes(paper), *paper.notes))]) + "\n"


def _overview_pictures(paper: Paper, pictures: Sequence[str]) -> list[str]:
    """The pictures that do not belong to a single experiment."""
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
        f"{_p_value_caption(rows)}; each cell compares the method of its column with that of its row:",
        markdown_table(headings, rows),
    ]


def _p_value_caption(rows: Sequence[Sequence[str]]) -> str:
    has_printed = any("(paper" in cell for row in rows for cell in row)
    return "p-values, ours and the paper's" if has_printed else "Our p-values"


def repeats_line(finding: Finding) -> str:
    """How many repeats were run and tuned."""
    tuned = [summary.n_tuned for summary in finding.summaries if summary.contender.choices]
    on_how_many = f", {max(tuned)} of them tuned" if tuned else ""
    return f"{finding.n_repeats} of the paper's {finding.experiment.n_repeats} were run{on_how_many}"


def _claims_section(paper: Paper, found: Sequence[Finding]) -> list[str]:
    rows = [[finding.experiment.title, *row] for finding in found for row in claim_rows(finding)]
    if not rows:
        return []
    headings = ("data", "the paper says", "its p", "our p and better", "pairs", "verdict")
    sentences = "\n".join(f"- {sentence}" for sentence in other_claims(paper, found))
    return ["## Where the paper's ranking holds", verdict_line(found), markdown_table(headings, rows, left=(0, 1, 5)), sentences]


def general_notes(paper: Paper) -> list[str]:
    """What the words and numbers in the tables mean."""
    if not paper.in_detail:
        return [f"{paper.measure.note}.", *([paper.pair_test.note] if paper.shows_p_values else [])]
    of_widths = paper.choice_heading == "gamma"
    named = "gamma (the kernel width)" if of_widths else paper.choice_heading
    return [
        f"{paper.measure.note}. The smallest median has an asterisk. Functions, {named} and fit are {paper.average}s over repeats.",
        TUNING_NOTE.format(
            folds={5: "five", 10: "ten"}.get(paper.n_folds, paper.n_folds),
            choices="the width was" if of_widths else f"{paper.choice_heading} were",
            those="the widths" if of_widths else "the values",
            own="the method learns its width during the fit" if of_widths else "the method has nothing to tune",
        ),
        FIT_NOTE.format(choice="the chosen width" if of_widths else "the chosen values"),
        f"{paper.pair_test.note} If p is below {LEVEL}, the better method is named.",
    ]

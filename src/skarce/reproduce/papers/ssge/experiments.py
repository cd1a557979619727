"""Barrio, Romero and Belanche: searches guided by the evidence compared with all functions, RVM, SVM and OLS, on 40 DELVE tasks.

One width for each input is learned by the evidence of the model with all functions (ABF). All methods on the same rows share it.
"""

from __future__ import annotations

from skarce.reproduce.papers.ssge.contenders import contenders
from skarce.reproduce.papers.ssge.data import PROTOTASKS, SIZES, delve_task
from skarce.reproduce.papers.ssge.pictures import draw_lines
from skarce.reproduce.papers.ssge.printed import PRINTED, REFERENCE
from skarce.reproduce.papers.ssge.tables import overview
from skarce.reproduce.runner.pair_tests import T_TEST
from skarce.reproduce.runner.paper import Paper

QUICK_SIZES, QUICK_REPEATS = (64, 256), 2
NOTES = (
    "Rows: the tables of 8192 rows come without DELVE's own instances, so we cut new ones. The rows are shuffled by the seed; one "
    "half is for training and the other for testing. A task has eight instances (four at 1024 rows). Their training sets share no "
    "rows. Neither do their test sets, which have 512 rows each (1024 at 1024 rows).",
    "Inputs and targets are scaled to [-1, 1] by the training rows. Only the SVM has a constant, because it always has one.",
    "Widths: one for each input, learned by the evidence of the model with all functions (ABF) on at most 1000 rows. All other "
    "methods on the same instance use these widths.",
    "After every step, the searches re-estimate precision and noise to the maximum of the evidence. The paper stops at a tenth of "
    "the width of the maximum, so one set may have several evidences, and a search may go in circles.",
    "Added + removed: Oscillating(5) makes and judges its swings as a whole, so steps that were taken back count. For SFFS, "
    "removals that were tried and rejected are counted separately. The paper does not say what it counts.",
    "SVM: five-fold cross validation chooses C and the tube (on the scaled targets). OLS is stopped by GCV. RVM is the fast "
    "relevance vector machine. The paper does not say how it stopped OLS and tuned the SVM.",
)


def paper(quick: bool = False) -> Paper:
    """All 40 tasks with all their instances, or a quick version: two sizes, two instances, fewer choices for the SVM."""
    sizes = QUICK_SIZES if quick else SIZES
    experiments = tuple(delve_task(prototask, size) for prototask in PROTOTASKS for size in sizes)
    return Paper(
        name="ssge",
        title="Search strategies guided by the evidence",
        reference=REFERENCE,
        experiments=experiments,
        contenders=contenders(quick),
        pair_test=T_TEST,
        input_range=(-1.0, 1.0),
        target_range=(-1.0, 1.0),
        repeats=dict.fromkeys((experiment.name for experiment in experiments), QUICK_REPEATS) if quick else {},
        printed=PRINTED,
        baseline="pta10",
        average="mean",
        choice_heading="C and tube",
        notes=NOTES,
        overview=overview,
        pictures=(draw_lines,),
        in_detail=False,
    )

"""Ting, D'Souza, Vijayakumar and Schaal on classification: VBLS-RVM compared with the RVM, the SVM and logistic regression."""

from __future__ import annotations

from functools import partial
from typing import Any

from skarce.reproduce.papers.vbls.printed import REFERENCE
from skarce.reproduce.papers.vbls_classification.contenders import LARGE, SMALL, contenders
from skarce.reproduce.papers.vbls_classification.data import MNIST_ROWS, N_FIRST, mnist_name, pima, ripley, zeros
from skarce.reproduce.papers.vbls_classification.pictures import draw
from skarce.reproduce.papers.vbls_classification.printed import ON_FIRST, PRINTED
from skarce.reproduce.papers.vbls_classification.tables import overview
from skarce.reproduce.runner.measures import Measure, error_rate
from skarce.reproduce.runner.paper import Experiment, Paper
from skarce.reproduce.runner.splits import random_rows

MOST_ROWS_OF_EM = 3000  # the original RVM does not run on more
TUNING_ROWS, QUICK_TUNING_ROWS = 1000, 300
QUICK_EXPERIMENTS = ("ripley", "banana", "pima", mnist_name(1000))
NOTES = (
    "The paper calls the numbers in its tables 6 and 7 accuracies; they are errors.",
    "Ripley: 100 of the 250 training rows, drawn at random for each trial, and all 1000 test rows. Banana: 400 of 5300 rows, drawn "
    "at random, for training and the others for testing. The paper has the first ten splits of a benchmark; these splits are not "
    "available. Pima: the given training and test rows, so there is one trial. MNIST: random rows of the first 12000 training "
    "images, tested on the first 500 and on the first 2000 test images. There is one draw of each size, so differences of a few "
    "tenths of a percent are due to chance. The paper does not say which 500 images it took.",
    "Inputs are scaled to [0, 1] by the training rows. Images are divided by one number, the root mean square of their lengths. "
    "Widths, and C of both SVM and of logistic regression, minimize the error in five folds of the training rows (on MNIST, of "
    f"the first {TUNING_ROWS} of them; in a quick run, of at most {QUICK_TUNING_ROWS} rows). If several are equally good, the "
    "widest kernel is used. The paper says both that the width was 0.5 and that it was found by cross validation.",
    "RVM starts from all functions (Tipping 2001), fast RVM from none (Tipping and Faul 2003). Both end when no single change "
    f"raises the evidence. On MNIST the RVM has at most {MOST_ROWS_OF_EM} rows (the paper has 7.6 % and 1685.7 s at 5000). "
    "VBLS-RVM uses the full covariance of the weights; factorized is the form of the paper, with fake targets. Above 3000 rows "
    "VBLS-RVM has 2000 landmarks as candidates; the others have all training rows.",
    "Primal SVM is PrimalSVMClassifier: kernels enter one by one as long as they help, as in Keerthi et al., whose method the "
    "paper uses on MNIST. SVM is scikit-learn's. Logistic is linear. What the paper prints for Banana cannot come from a linear "
    "model, so kernel logistic (a ridge penalty, all kernels) is shown beside it.",
    "Fit is the CPU time on one thread, with the kernels and without tuning. The paper's times of VBLS-RVM are those with kernels.",
    "Pictures show the first split at the median of the choices.",
    "Never zero is the error of always answering that the image does not show a zero. The paper's 7.6 % of VBLS-RVM and RVM is 38 "
    "of 500 at all sizes, about as many as there are zeros. It is not a number to aim for.",
)


def error_on_first(labels: Any, predicted: Any) -> float:
    """The error on the first test rows."""
    return error_rate(labels[:N_FIRST], predicted[:N_FIRST])


ERROR = Measure(
    "error", error_rate, "Errors are percentages of the test rows", ".2f", "accuracy", others={ON_FIRST: error_on_first}
)


def paper(quick: bool = False) -> Paper:
    """All experiments on classification, or a quick version with few trials and choices, and 1000 rows of MNIST."""
    experiments = tuple(e for e in _experiments() if not quick or e.name in QUICK_EXPERIMENTS)
    return Paper(
        name="vbls-classification",
        title="Variational Bayesian least squares, classification",
        reference=REFERENCE,
        experiments=experiments,
        contenders=contenders(quick),
        measure=ERROR,
        repeats={e.name: min(2, e.n_repeats) for e in experiments} if quick else {},
        printed=PRINTED,
        baseline="frvm",
        average="mean",
        choice_heading="gamma, C, or both",
        tuning_rows=QUICK_TUNING_ROWS if quick else TUNING_ROWS,
        notes=NOTES,
        overview=overview,
        pictures=(draw,),
        in_detail=False,
    )


def _experiments() -> tuple[Experiment, ...]:
    images = [
        Experiment(
            mnist_name(n),
            f"MNIST, {n}",
            1,
            partial(zeros, n),
            methods=tuple(m for m in LARGE if m != "rvm" or n <= MOST_ROWS_OF_EM),
            commensurable=True,
        )
        for n in MNIST_ROWS
    ]
    return (
        Experiment("ripley", "Ripley", 10, ripley, methods=SMALL),
        Experiment("banana", "Banana", 10, random_rows("banana", 400), methods=SMALL),
        Experiment("pima", "Pima", 1, pima, methods=SMALL),
        *images,
    )

"""Ting, D'Souza, Vijayakumar and Schaal: variational least squares compared with classical regression and the RVM."""

from __future__ import annotations

from dataclasses import replace

from skarce._typing import Floats
from skarce.reproduce.papers.vbls.contenders import LINEAR, ON_KERNELS, SEARCHING, contenders
from skarce.reproduce.papers.vbls.data import (
    MIXTURES,
    N_MUSCLES,
    NEURON_NOISES,
    NOISES,
    mixed_inputs,
    neurons,
    neurons_name,
    ratings,
    sinc,
    synthetic_name,
)
from skarce.reproduce.papers.vbls.pictures import draw
from skarce.reproduce.papers.vbls.printed import PRINTED, REFERENCE
from skarce.reproduce.papers.vbls.tables import N_FEW, NMSE_ON_FEW, overview
from skarce.reproduce.runner.measures import NMSE, nmse
from skarce.reproduce.runner.paper import Experiment, Paper
from skarce.reproduce.runner.splits import random_rows

NOT_QUICK = ("abalone", "ratings")
NOTES = (
    "Section 6.1: 1000 rows for training. Errors are measured on 2000 exact test targets, and on the first 20 of them, as many as "
    "the paper has. 20 are too few to tell methods apart. The smallest mean has an asterisk. Redundant inputs are exact "
    "combinations of the relevant ones, so any ten independent columns are as good as the ten originals.",
    "Ridge uses the paper's 1e-10. Five folds choose the number of PLS components, and lasso chooses its penalty by its own folds. "
    "In stepwise regression, inputs enter at 0.05 and leave at 0.1. VBLS has nothing to tune. It begins with all inputs, as in the "
    "paper. VBLS, bound: inputs then leave as long as the bound of the rest grows. VBLS, both: the default of VBLSRegressor(), the "
    "better one of that model and of one that grows from no inputs.",
    "Five folds choose the kernel widths of VBLS-RVM, RVM (the fast relevance vector machine) and SVR (with C). Sinc is judged on "
    "exact targets; its widths are for inputs scaled to [0, 1]. A quarter of the error of VBLS-RVM there comes from the widths "
    "that five folds of 100 noisy points choose: with gamma fixed at 40 (0.1 on [-10, 10]) the error is 0.014, with 5.4 kernels.",
    "Boston: the methods on kernels have one and a half times to twice the printed error here, including scikit-learn's Gaussian "
    "process, and LWPR has nearly three times. The paper does not say which rows were for testing, and errors on random test rows "
    "differ by a factor of two. With a width for each input the error is 0.11 (mean over the random splits of skarce reproduce "
    "gpbe).",
    "Ratings and neurons are stand-ins that we generate, because the paper's sample of ratings and its recordings are not public. "
    "Neurons: 71 correlated rates and eleven muscles, each driven by ten neurons. The paper counts matches with its own search "
    "over subsets; here we count matches with the neurons that drive the muscle. Model search tries all subsets of the 14 most "
    "significant neurons.",
    "LWPR is LWPRRegressor() with ten passes over the rows. It chooses the width of its fields by three folds, and its functions "
    "are receptive fields. The paper prints no numbers for principal component regression, factor analysis and kernel dimension "
    "reduction, so they are not in the tables; skarce compare --methods pcr,fa,kdr runs them on any table.",
)


def paper(quick: bool = False) -> Paper:
    """All experiments on regression, or a quick version with few repeats, widths and costs, without Abalone and the ratings."""
    experiments = tuple(e for e in _experiments() if not quick or e.name not in NOT_QUICK)
    return Paper(
        name="vbls",
        title="Variational Bayesian least squares",
        reference=REFERENCE,
        experiments=experiments,
        contenders=contenders(quick),
        repeats={e.name: 1 if e.methods == ON_KERNELS else 2 for e in experiments} if quick else {},
        measure=replace(NMSE, others={NMSE_ON_FEW: nmse_on_few}),
        printed=PRINTED,
        baseline="lasso",
        average="mean",
        choice_heading="gamma, gamma and C, or components",
        notes=NOTES,
        overview=overview,
        pictures=(draw,),
        in_detail=False,
        shows_p_values=False,
    )


def nmse_on_few(targets: Floats, predicted: Floats) -> float:
    """The error on the first test targets, as many as the paper has."""
    return nmse(targets[:N_FEW], predicted[:N_FEW])


def _experiments() -> tuple[Experiment, ...]:
    synthetic = [
        Experiment(
            synthetic_name(r, i, r2), f"{r} redundant, {i} irrelevant, r2 = {r2}", 10, mixed_inputs(r, i, r2), methods=LINEAR
        )
        for r2 in NOISES
        for r, i in MIXTURES
    ]
    recordings = [
        Experiment(neurons_name(r2), f"neurons, r2 = {r2}", N_MUSCLES, neurons(r2), disjoint=True, methods=SEARCHING)
        for r2 in NEURON_NOISES
    ]
    return (
        *synthetic,
        Experiment("sinc", "sinc", 10, sinc, methods=ON_KERNELS),
        Experiment("boston", "Boston housing", 10, random_rows("boston", 404), methods=ON_KERNELS),
        Experiment("abalone", "Abalone", 10, random_rows("abalone", 3327), methods=ON_KERNELS),
        Experiment("ratings", "ratings, a stand-in", 3, ratings, methods=LINEAR),
        *recordings,
    )

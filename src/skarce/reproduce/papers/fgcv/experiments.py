"""Sundararajan, Shevade and Keerthi: fast GCV compared with the fast RVM, regularized forward selection and OLS.

The paper does not state how inputs are scaled (here to [0, 1] by the training rows), the noise of the Friedman data (here
Friedman's own), the constant (here an intercept), and the widths that were tried. Its partitions of Boston and Abalone are not
available; ours are random and have the same sizes.
"""

from __future__ import annotations

from skarce.datasets import friedman2, friedman3
from skarce.estimators import (
    FastGCVRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorRegressor,
)
from skarce.reproduce.papers.fgcv.printed import CLAIMS, MORE_FUNCTIONS, REFERENCE, TIME_RATIOS
from skarce.reproduce.papers.gaussian_process import LeanGaussianProcess
from skarce.reproduce.papers.kernel_contenders import on_kernels
from skarce.reproduce.runner.paper import Contender, Experiment, Paper
from skarce.reproduce.runner.splits import random_rows

WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
QUICK_REPEATS = {"friedman2": 3, "friedman3": 3, "boston": 3, "abalone": 1}
LEARN_ON, QUICK_LEARN_ON = 1000, 300  # rows on which the Gaussian process learns its kernel

EXPERIMENTS = (
    Experiment("friedman2", "Friedman 2", 100, friedman2, "200 noisy rows for training, 1000 rows without noise for testing."),
    Experiment("friedman3", "Friedman 3", 100, friedman3, "200 noisy rows for training, 1000 rows without noise for testing."),
    Experiment("boston", "Boston housing", 100, random_rows("boston", 481), "481 random rows for training, 25 for testing."),
    Experiment("abalone", "Abalone", 10, random_rows("abalone", 3000), "3000 random rows for training, 1177 for testing."),
)

NOTES = (
    "Inputs are scaled to [0, 1] by the training rows. Targets keep their units. Every kernel method has an intercept. "
    "The paper does not state its scaling, its noise, its constant or its widths.",
    "GP is scikit-learn's Gaussian process with one length scale and noise, learned by marginal likelihood from one start. If "
    "there are more than {learn_on} training rows, it learns on {learn_on} of them and is then conditioned on all. The paper took "
    "its GP from published results.",
    "The paper's partitions of Boston and Abalone are not available. Ours are random and have the same sizes. For ten Abalone "
    "partitions, the paper prints 9.8e-4. The smallest two-sided p-value of ten pairs is 0.00195, so the printed one is one-sided.",
)


def paper(quick: bool = False) -> Paper:
    """The paper with all its repeats, or a quick version with few repeats and every second width."""
    widths, learn_on = (WIDTHS[::2], QUICK_LEARN_ON) if quick else (WIDTHS, LEARN_ON)
    return Paper(
        name="fgcv",
        title="Fast generalized cross validation",
        reference=REFERENCE,
        experiments=EXPERIMENTS,
        contenders=(
            Contender("fgcv", "fast GCV", on_kernels(FastGCVRegressor), widths),
            Contender("frvm", "fast relevance vector machine", on_kernels(RelevanceVectorRegressor), widths),
            Contender("rfs", "regularized forward selection", on_kernels(RegularizedForwardRegressor), widths),
            Contender("ols", "orthogonal least squares", on_kernels(OrthogonalLeastSquaresRegressor), widths),
            Contender("gp", "Gaussian process", lambda gamma: LeanGaussianProcess(learn_on)),
        ),
        repeats=QUICK_REPEATS if quick else {},
        claims=CLAIMS,
        baseline="frvm",
        time_ratios=TIME_RATIOS,
        more_functions=MORE_FUNCTIONS,
        notes=tuple(note.format(learn_on=learn_on) for note in NOTES),
    )

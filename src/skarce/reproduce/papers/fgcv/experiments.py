"""Sundararajan, Shevade and Keerthi: fast GCV beside the fast relevance vector machine, regularized forward selection and OLS.

The paper leaves open how inputs are scaled (here to [0, 1] by the training rows), the noise of the Friedman data (Friedman's own),
the constant (here an intercept) and the widths that were tried. Its partitions of Boston and Abalone are not at hand: ours are
random, of the same sizes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skarce.basis import KernelBasis
from skarce.datasets import friedman2, friedman3
from skarce.reproduce.papers.gaussian_process import LeanGaussianProcess
from skarce.reproduce.runner.paper import Claim, Contender, Experiment, Paper, random_rows

REFERENCE = "S. Sundararajan, S. Shevade and S. S. Keerthi, Fast Generalized Cross Validation Algorithm for Sparse Model Learning"
WIDTHS = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8)
QUICK_REPEATS = {"friedman2": 3, "friedman3": 3, "boston": 3, "abalone": 1}
LEARN_ON, QUICK_LEARN_ON = 1000, 300  # rows on which the kernel of the Gaussian process is learned

EXPERIMENTS = (
    Experiment("friedman2", "Friedman 2", 100, friedman2, "200 noisy rows for training, 1000 rows without noise for testing."),
    Experiment("friedman3", "Friedman 3", 100, friedman3, "200 noisy rows for training, 1000 rows without noise for testing."),
    Experiment("boston", "Boston housing", 100, random_rows("boston", 481), "481 random rows for training, 25 for testing."),
    Experiment("abalone", "Abalone", 10, random_rows("abalone", 3000), "3000 random rows for training, 1177 for testing."),
)

# Tables 1 to 4 and the last two paragraphs of section 4. Where the text does not say which method is better, neither do we.
CLAIMS = {
    "friedman2": (
        Claim(("fgcv", "frvm"), 1.3e-12, "fgcv"),
        Claim(("fgcv", "rfs"), 0.013, "fgcv"),
        Claim(("fgcv", "ols"), 0.47),
        Claim(("frvm", "rfs"), 0.097),
        Claim(("frvm", "ols"), 9.4e-5),
        Claim(("rfs", "ols"), 0.119),
    ),
    "friedman3": (
        Claim(("fgcv", "frvm"), 3.0e-6, "fgcv"),
        Claim(("fgcv", "rfs"), 2.1e-6, "fgcv"),
        Claim(("fgcv", "ols"), 4.6e-9, "fgcv"),
        Claim(("frvm", "rfs"), 0.139),
        Claim(("frvm", "ols"), 0.002),
        Claim(("rfs", "ols"), 0.054),
    ),
    "boston": (
        Claim(("fgcv", "frvm"), 2.0e-5, "fgcv"),
        Claim(("fgcv", "rfs"), 0.003, "fgcv"),
        Claim(("fgcv", "ols"), 2.6e-5, "fgcv"),
        Claim(("frvm", "rfs"), 0.647),
        Claim(("frvm", "ols"), 0.096),
        Claim(("rfs", "ols"), 0.156),
        Claim(("fgcv", "gp"), 3.4e-10),
        Claim(("frvm", "gp"), 1.22e-12, "gp"),
    ),
    "abalone": (
        Claim(("fgcv", "frvm"), 0.462),
        Claim(("fgcv", "rfs"), 0.023, "fgcv"),
        Claim(("fgcv", "ols"), 9.8e-4, "fgcv"),
        Claim(("frvm", "rfs"), 0.005, "frvm"),
        Claim(("frvm", "ols"), 9.8e-4, "frvm"),
        Claim(("rfs", "ols"), 0.403),
        Claim(("fgcv", "gp"), 0.012, "gp"),
        Claim(("frvm", "gp"), 0.095),
    ),
}

NOTES = (
    "Inputs are scaled to [0, 1] by the training rows, targets are in their own units; every kernel method has an intercept. "
    "The paper does not state its scaling, its noise, its constant or its widths.",
    "GP is scikit-learn's Gaussian process with one length scale and noise, learned by marginal likelihood from one start; above "
    "{learn_on} training rows it is learned on {learn_on} of them and then conditioned on all. The paper took its GP from "
    "published results.",
    "The paper's partitions of Boston and Abalone are not at hand; ours are random and of the same sizes. The 9.8e-4 it prints for "
    "ten Abalone partitions is below the least two-sided p-value of ten pairs (0.00195), so it is one-sided.",
)


def paper(quick: bool = False) -> Paper:
    """The paper with all its repeats, or a taste of it: few repeats and every second width."""
    widths, learn_on = (WIDTHS[::2], QUICK_LEARN_ON) if quick else (WIDTHS, LEARN_ON)
    return Paper(
        name="fgcv",
        title="Fast generalized cross validation",
        reference=REFERENCE,
        experiments=EXPERIMENTS,
        contenders=(
            Contender("fgcv", "fast GCV", _on_kernels("FastGCVRegressor"), widths),
            Contender("frvm", "fast relevance vector machine", _on_kernels("RelevanceVectorRegressor"), widths),
            Contender("rfs", "regularized forward selection", _on_kernels("RegularizedForwardRegressor"), widths),
            Contender("ols", "orthogonal least squares", _on_kernels("OrthogonalLeastSquaresRegressor"), widths),
            Contender("gp", "Gaussian process", lambda gamma: LeanGaussianProcess(learn_on)),
        ),
        repeats=QUICK_REPEATS if quick else {},
        claims=CLAIMS,
        baseline="frvm",
        time_ratios={"fgcv": (1.25, 1.5)},
        more_functions=(("fgcv", "frvm"),),
        notes=tuple(note.format(learn_on=learn_on) for note in NOTES),
    )


def _on_kernels(estimator: str) -> Callable[[float | None], Any]:
    """Makes one of our estimators on Gaussian kernels of a given width at the training inputs."""

    def make(gamma: float | None) -> Any:
        import skarce

        return getattr(skarce, estimator)(KernelBasis("rbf", gamma=gamma))

    return make

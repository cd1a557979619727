"""What the paper on fast generalized cross validation prints: p-values, and statements about sizes and fit times."""

from __future__ import annotations

from skarce.reproduce.runner.paper import Claim

REFERENCE = "S. Sundararajan, S. Shevade and S. S. Keerthi, Fast Generalized Cross Validation Algorithm for Sparse Model Learning"

# Tables 1 to 4 and the last two paragraphs of section 4. If the text does not name the better method, we do not either.
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
TIME_RATIOS = {"fgcv": (1.25, 1.5)}  # of the fit time over that of the fast relevance vector machine
MORE_FUNCTIONS = (("fgcv", "frvm"),)

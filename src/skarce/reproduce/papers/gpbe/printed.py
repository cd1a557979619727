"""What the paper on backward elimination prints, tables 4.2 to 4.5."""

from __future__ import annotations

from skarce.reproduce.runner.paper import Printed

REFERENCE = "L. Bo, L. Wang and L. Jiao, Sparse Gaussian Processes Using Backward Elimination"

# Tables 4.2 and 4.3.
ERRORS = {
    "friedman1": {"gps": 0.46, "gps-be": 0.47, "gps-u": 2.62, "rvm": 2.84, "svm": 2.68, "as": 2.80},
    "boston": {"gps": 9.23, "gps-be": 9.31, "gps-u": 9.67, "rvm": 9.92, "svm": 10.66, "as": 10.02},
    "abalone": {"gps": 4.61, "gps-be": 4.65, "gps-u": 4.63, "rvm": 4.62, "svm": 4.72, "as": 4.68},
    "computer-activity": {"gps": 6.61, "gps-be": 6.68, "gps-u": 11.65, "rvm": 11.41, "svm": 11.34, "as": 12.09},
}
FUNCTIONS = {
    "friedman1": {"gps": 240, "gps-be": 63, "gps-u": 240, "rvm": 70.9, "svm": 178.3, "as": 78.7},
    "boston": {"gps": 481, "gps-be": 116, "gps-u": 481, "rvm": 52.88, "svm": 165.73, "as": 60.9},
    "abalone": {"gps": 1000, "gps-be": 15.7, "gps-u": 1000, "rvm": 11.0, "svm": 470.7, "as": 11.1},
    "computer-activity": {"gps": 1000, "gps-be": 86.7, "gps-u": 1000, "rvm": 47.8, "svm": 357.9, "as": 43.6},
}
# Table 4.4. The paper states neither the unit nor the number of splits.
RUNTIMES = {
    "friedman1": {"gps": 217.53, "gps-be": 228.78, "gps-u": 453.70, "rvm": 1652.05, "svm": 1246.32, "as": 290.35},
    "boston": {"gps": 8012.57, "gps-be": 8439.69, "gps-u": 9946.76, "rvm": 26922.98, "svm": 47005.36, "as": 7639.03},
    "abalone": {"gps": 4457.84, "gps-be": 4687.31, "gps-u": 6922.70, "rvm": 13093.14, "svm": 39631.06, "as": 4440.03},
    "computer-activity": {"gps": 6591.48, "gps-be": 6849.81, "gps-u": 7373.28, "rvm": 15150.28, "svm": 67127.36, "as": 5183.14},
}
BACKWARD_OVER_FORWARD = (0.998, 0.864)  # Table 4.5, last row: error and number of functions

PRINTED = {
    name: {method: Printed(error=error, n_functions=FUNCTIONS[name][method]) for method, error in errors.items()}
    for name, errors in ERRORS.items()
}

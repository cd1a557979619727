"""Tables 6 and 7 of the paper on variational least squares."""

from __future__ import annotations

from skarce.reproduce.papers.vbls_classification.data import N_FIRST, mnist_name
from skarce.reproduce.runner.paper import Printed

ON_FIRST = f"error on {N_FIRST}"  # name of the recorded number

TABLE_6 = {
    "ripley": {"rvm": 9.75, "svm": 10.8, "vbls-rvm": 9.66, "vbls-fake": 9.66, "logistic": 11.37},
    "banana": {"rvm": 10.8, "svm": 10.9, "vbls-rvm": 11.2, "vbls-fake": 11.2, "logistic": 11.0, "klr": 11.0},
    "pima": {"rvm": 19.8, "svm": 20.1, "vbls-rvm": 19.6, "vbls-fake": 19.6, "logistic": 22.2},
}
# Errors and seconds. The times of VBLS-RVM include the construction of the kernels.
TABLE_7 = {
    1000: {"psvm": (13.4, 5.888), "frvm": (11.8, 10.033), "vbls-rvm": (7.6, 55.56), "rvm": (7.6, 164.9)},
    3000: {"psvm": (14.2, 12.88), "frvm": (9.0, 10.56), "vbls-rvm": (7.6, 401.9), "rvm": (7.6, 4295.3)},
    5000: {"psvm": (14.4, 20.70), "frvm": (7.8, 23.23), "vbls-rvm": (7.6, 1123.2), "rvm": (7.6, 1685.7)},
    10_000: {"psvm": (14.2, 38.83), "frvm": (7.6, 43.51), "vbls-rvm": (7.6, 4171.6)},
}
PRINTED = {name: {method: Printed(error) for method, error in row.items()} for name, row in TABLE_6.items()} | {
    mnist_name(n): {m: Printed(fit_seconds=seconds, extras={ON_FIRST: error}) for m, (error, seconds) in row.items()}
    for n, row in TABLE_7.items()
}

"""What the paper on sparse kernel regression prints."""

from __future__ import annotations

from skarce.reproduce.runner.paper import Printed

REFERENCE = "H. Park, Sparse Kernel Regression using IRWLS Procedure"
PRINTED = {
    "simulated": {"svm": Printed(0.0757, 54.32), "rvm": Printed(0.1257, 11.46), "skr-irwls": Printed(0.0551, 40.07)},
    "ultrasonic": {"svm": Printed(11.0885, 114.83), "rvm": Printed(11.8355, 38.98), "skr-irwls": Printed(11.5905, 81.78)},
}

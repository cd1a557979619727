"""The papers that can be reproduced. A new one is a folder here, with a function ``paper(quick)``, and a line in `PAPERS`."""

from __future__ import annotations

from importlib import import_module

from skarce.reproduce.runner.paper import Paper
from skarce.reproduce.runner.selection import UnknownExperimentError

PAPERS = {
    "fgcv": "fast generalized cross validation (Sundararajan, Shevade and Keerthi)",
    "gpbe": "sparse Gaussian processes using backward elimination (Bo, Wang and Jiao)",
    "skr": "sparse kernel regression using IRWLS (Park)",
    "vbls": "variational Bayesian least squares (Ting, D'Souza, Vijayakumar and Schaal), the part on regression",
    "vbls-classification": "the part on classification of the same paper",
    "ssge": "search strategies guided by the evidence (Barrio, Romero and Belanche)",
}


def find_paper(name: str, quick: bool = False) -> Paper:
    """The paper with this name, in full or in its quick version. Its folder is imported only now."""
    if name not in PAPERS:
        raise UnknownExperimentError(f"unknown paper {name!r}; choose from {', '.join(PAPERS)}.")
    paper: Paper = import_module(f"skarce.reproduce.papers.{name.replace('-', '_')}").paper(quick)
    return paper

"""The papers that can be reproduced, by name: a new one is a file beside this and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from importlib import import_module

from skarce.datasets import DataNotFoundError
from skarce.reproduce.runner.paper import Experiment, Paper

PAPERS = {
    "fgcv": "fast generalized cross validation (Sundararajan, Shevade and Keerthi)",
    "gpbe": "sparse Gaussian processes using backward elimination (Bo, Wang and Jiao)",
    "skr": "sparse kernel regression using IRWLS (Park)",
    "vbls": "variational Bayesian least squares (Ting, D'Souza, Vijayakumar and Schaal), the part on regression",
    "vbls-classification": "the part on classification of the same paper",
    "ssge": "search strategies guided by the evidence (Barrio, Romero and Belanche)",
}


class UnknownExperimentError(ValueError):
    """A name that no paper or no experiment of the paper has."""


def find_paper(name: str, quick: bool = False) -> Paper:
    """The paper of this name; its module is imported only now."""
    if name not in PAPERS:
        raise UnknownExperimentError(f"unknown paper {name!r}; choose from {', '.join(PAPERS)}.")
    paper: Paper = import_module(f"skarce.reproduce.papers.{name.replace('-', '_')}").paper(quick)
    return paper


def experiment_names(paper: Paper, names: Sequence[str] | None = None, elsewhere: Sequence[str] = ()) -> list[str]:
    """The experiments of these names, in the order of the paper; None is all of them.

    A name may be a pattern (``kin8nm-*``), or the beginning of names up to a hyphen (``kin8nm``). Those that exist `elsewhere`, in
    the whole paper and not in a taste of it, are told from those that do not exist.
    """
    known = [experiment.name for experiment in paper.experiments]
    wanted = known if names is None else [name.strip() for name in names if name.strip()]
    unknown = [name for name in wanted if not _matching(known, name)]
    if unknown or not wanted:
        left_out = [name for name in unknown if _matching(elsewhere, name)]
        problem = f"unknown experiment {', '.join(map(repr, unknown))}" if unknown else "no experiment was named"
        if left_out and left_out == unknown:
            problem = f"{', '.join(map(repr, left_out))}: not part of --quick, only of the whole paper"
        raise UnknownExperimentError(f"{problem}; {paper.name} has {', '.join(known)}.")
    chosen = {match for name in wanted for match in _matching(known, name)}
    return [name for name in known if name in chosen]


def _matching(known: Sequence[str], name: str) -> list[str]:
    return [name] if name in known else [other for other in known if fnmatchcase(other, name) or other.startswith(f"{name}-")]


def check_data(paper: Paper, names: Sequence[str], seed: int) -> None:
    """Draw a split of every experiment before any work is done; an error names those that have their data."""
    chosen = [experiment for experiment in paper.experiments if experiment.name in names]
    problems = {experiment.name: problem for experiment in chosen if (problem := _problem(experiment, seed))}
    if problems:
        ready = [name for name in names if name not in problems]
        hint = f" Ready to run: --only {','.join(ready)}." if ready else ""
        raise DataNotFoundError(f"{next(iter(problems.values()))}{_others(problems)}{hint}")


def _problem(experiment: Experiment, seed: int) -> str | None:
    try:
        experiment.split(0, seed)
    except DataNotFoundError as error:
        return str(error)
    return None


def _others(problems: dict[str, str]) -> str:
    others = list(problems)[1:]
    return f" Data for {', '.join(others)} are missing too." if others else ""

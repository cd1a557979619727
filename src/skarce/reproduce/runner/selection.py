"""Which experiments of a paper to run, and whether their data are available."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from skarce._text import LONGEST_WORD
from skarce.datasets import DataNotFoundError
from skarce.reproduce.runner.paper import Experiment, Paper

MOST_OF_HINT = LONGEST_WORD - 1  # characters; longer words are cut, and nobody can paste what was cut


class UnknownExperimentError(ValueError):
    """There is no paper, or no experiment of the paper, with this name."""


def experiment_names(paper: Paper, names: Sequence[str] | None = None, elsewhere: Sequence[str] = ()) -> list[str]:
    """The experiments with these names, in the order of the paper. None means all of them.

    A name may be a pattern (``kin8nm-*``), or the part of a name before a hyphen (``kin8nm``). `elsewhere` lists the experiments
    of the whole paper if this is only its quick version; the error message is then more helpful.
    """
    known = [experiment.name for experiment in paper.experiments]
    wanted = known if names is None else [name.strip() for name in names if name.strip()]
    unknown = [name for name in wanted if not _matching(known, name)]
    if unknown or not wanted:
        raise UnknownExperimentError(f"{_problem_with_names(unknown, elsewhere)}; {paper.name} has {', '.join(known)}.")
    chosen = {match for name in wanted for match in _matching(known, name)}
    return [name for name in known if name in chosen]


def _matching(known: Sequence[str], name: str) -> list[str]:
    return [name] if name in known else [other for other in known if fnmatchcase(other, name) or other.startswith(f"{name}-")]


def _problem_with_names(unknown: Sequence[str], elsewhere: Sequence[str]) -> str:
    quoted = ", ".join(map(repr, unknown))
    if not unknown:
        return "no experiment was named"
    if all(_matching(elsewhere, name) for name in unknown):
        return f"{quoted}: not part of --quick, only of the whole paper"
    return f"unknown experiment {quoted}"


def with_data(paper: Paper, names: Sequence[str], seed: int) -> tuple[list[str], str]:
    """The experiments whose data are available, and in words which are not. A split of each is drawn before any work starts.

    Raise a DataNotFoundError if there are no data for any of them.
    """
    chosen = [experiment for experiment in paper.experiments if experiment.name in names]
    problems = {experiment.name: problem for experiment in chosen if (problem := _problem_with_data(experiment, seed))}
    ready = [name for name in names if name not in problems]
    if not problems:
        return ready, ""
    said = f"{next(iter(problems.values()))}{_also_missing(list(problems)[1:])}"
    if not ready:
        raise DataNotFoundError(said)
    return ready, said


def check_data(paper: Paper, names: Sequence[str], seed: int) -> None:
    """Raise a DataNotFoundError if an experiment has no data. The message names those that have, if the line has room for them."""
    ready, missing = with_data(paper, names, seed)
    if missing:
        listed = ",".join(ready)
        hint = f"Ready to run: --only {listed}" if len(listed) <= MOST_OF_HINT else "Leave these experiments out of --only"
        raise DataNotFoundError(f"{missing} {hint}.")


def _problem_with_data(experiment: Experiment, seed: int) -> str | None:
    try:
        experiment.split(0, seed)
    except DataNotFoundError as error:
        return str(error)
    return None


def _also_missing(names: Sequence[str]) -> str:
    return f" Data for {', '.join(names)} are missing too." if names else ""

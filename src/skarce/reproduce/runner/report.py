"""What a run writes besides the tables: all numbers, the settings behind them, and the machine."""

from __future__ import annotations

import json
import platform
from collections.abc import Collection, Sequence
from dataclasses import asdict
from math import prod
from typing import Any

import numpy as np
import scipy
import sklearn
from joblib import cpu_count

from skarce import __version__
from skarce.reproduce.runner.formatting import choice_text
from skarce.reproduce.runner.paper import Choice, Paper
from skarce.reproduce.runner.run import Run
from skarce.reproduce.runner.units import Record


def machine() -> dict[str, Any]:
    """Facts that affect times and last digits."""
    return {
        "processor": platform.processor() or platform.machine(),
        "system": platform.system(),
        "cores": cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "skarce": __version__,
    }


def settings(run: Run, quick: bool) -> dict[str, Any]:
    """What the user asked for, and what the budget allowed."""
    return {
        "quick": quick,
        "seed": run.options.seed,
        "budget_minutes": run.options.budget_seconds / 60.0,
        "choices": {contender.name: contender.choices for contender in run.paper.contenders},
        "plan": {name: asdict(share) for name, share in run.plan.items()},
    }


def facts(run: Run, quick: bool) -> dict[str, str]:
    """The list at the top of the page."""
    here = machine()
    versions = ", ".join(f"{name} {here[name]}" for name in ("skarce", "python", "numpy", "scipy", "scikit-learn"))
    limits = f"budget {run.options.budget_seconds / 60.0:g} minutes, seed {run.options.seed}"
    return {
        "run": f"quick (few repeats, fewer widths), {limits}" if quick else limits,
        "machine": f"{here['processor']}, {here['cores']} cores, {here['system']}",
        "versions": versions,
    } | choices_tried(run.paper, run.plan)


def choices_tried(paper: Paper, experiments: Collection[str]) -> dict[str, str]:
    """The choices of each method that took part. For a grid, the values of each part are listed."""
    part = {c.name: c for e in paper.experiments if e.name in experiments for c in paper.taking_part(e)}
    choosing: dict[tuple[Choice, ...], list[str]] = {}
    for contender in part.values():
        if contender.choices:
            choosing.setdefault(contender.choices, []).append(contender.label)
    return {f"tried for {', '.join(labels)}": _choices_text(choices) for choices, labels in choosing.items()}


def _choices_text(choices: tuple[Choice, ...]) -> str:
    parts = [tuple(dict.fromkeys(part)) for part in zip(*choices, strict=True)] if isinstance(choices[0], tuple) else []  # type: ignore[arg-type]
    is_grid = len(choices) > 1 and len(choices) == prod(map(len, parts)) and len(parts) > 1
    return " with ".join(", ".join(map(choice_text, part)) for part in (parts if is_grid else [choices]))


def results_json(run: Run, records: Sequence[Record], quick: bool) -> str:
    """Everything as JSON, with one record on each line."""
    paper = run.paper
    content = {
        "paper": paper.name,
        "reference": paper.reference,
        "settings": settings(run, quick),
        "machine": machine(),
        "printed": printed(paper),
    }
    head = json.dumps(content, indent=1, allow_nan=False).removesuffix("\n}")
    lines = ",\n  ".join(json.dumps(asdict(record), allow_nan=False) for record in records)
    return f'{head},\n "records": [\n  {lines}\n ]\n}}\n'


def printed(paper: Paper) -> dict[str, Any]:
    """The paper's own numbers."""
    return {
        "p_values": {name: [asdict(claim) for claim in claims] for name, claims in paper.claims.items()},
        "n_repeats": {experiment.name: experiment.n_repeats for experiment in paper.experiments},
        "baseline": paper.baseline,
        "time_ratios": dict(paper.time_ratios),
        "more_functions": paper.more_functions,
        "numbers": {name: {m: asdict(numbers) for m, numbers in own.items()} for name, own in paper.printed.items()},
    }

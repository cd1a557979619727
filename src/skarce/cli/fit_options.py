"""The options of ``skarce fit`` that shape the model, and which of them go together."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import click

from skarce.basis.default import AUTO
from skarce.comparison import METHODS, Method, Task, choices, find_own_method, own_names
from skarce.datasets.gaps import FILL
from skarce.datasets.tables import TableError

BUDGETED = choices(lambda task: [name for name in own_names(task) if METHODS[task][name].takes_budget])
SEED = 0  # of a given number of centers: the same data give the same model


@dataclass(frozen=True)
class FitOptions:
    """What the user asked for. None stands for an option that was not given."""

    target: str
    exclude: tuple[str, ...]
    missing: str
    task: Task | None
    method: str
    basis: str
    gamma: float | None
    widths: str | None
    centers: int | None
    n_basis: int | None
    max_time: float | None
    max_bytes: int | None
    real: str | None

    def check(self) -> None:
        """Raise if an option is wrong, whatever the data are."""
        if self.gamma is not None and self.widths is not None:
            raise click.UsageError(f"--gamma {self.gamma:g} and --widths {self.widths} both set the kernel width; use one of them.")
        if self.real is not None and self.max_bytes is None:
            raise click.UsageError(
                f"--real {self.real} is the type of numbers for --max-bytes; use both, or give --real to `skarce export`."
            )
        find_own_method(self.method, self.task)

    def check_for(self, method: Method) -> None:
        """Refuse options that the method cannot use."""
        if self.basis != AUTO and not method.has_basis:
            reason = "always has the same kernels" if method.has_kernels else "has no kernels"
            raise click.UsageError(f"--basis {self.basis} is not for --method {method.name}, which {reason}.")
        if self.widths is not None and not method.widths.rules:
            reason = "always chooses its kernel widths in the same way" if method.has_kernels else "has no kernels"
            raise click.UsageError(f"--widths {self.widths} is not for --method {method.name}, which {reason}.")
        for option, value in (("--gamma", self.gamma), ("--centers", self.centers)):
            if value is not None and not method.has_kernels:
                raise click.UsageError(f"{option} {value:g} is not for --method {method.name}, which has no kernels.")
        if self.n_basis is not None and not method.takes_budget:
            reason = "finds the number of functions itself"
            remedy = f"use it with {BUDGETED}"
            raise click.UsageError(f"--n-basis {self.n_basis} is not for --method {method.name}, which {reason}; {remedy}.")

    def check_streamed(self) -> None:
        """Refuse what needs all rows in memory."""
        if self.missing == FILL:
            remedy = "use --missing drop, or --no-stream"
            raise TableError(f"--missing fill takes the median of all rows, so they cannot be streamed; {remedy}.")
        if self.max_bytes is not None:
            raise TableError("--max-bytes fits smaller models to the rows again, so they cannot be streamed; use --no-stream.")
        if self.widths == "cv":
            remedy = "use --widths evidence, ard or learned, which take a sample, or --no-stream"
            raise TableError(f"--widths cv fits all rows again and again, so they cannot be streamed; {remedy}.")

    def applied_to(self, method: Method) -> Method:
        """The method on the basis, with widths by the rule."""
        method = method.with_basis(self.basis)
        return method if self.widths is None else method.with_widths(self.widths)

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters of the model."""
        seed = None if self.centers is None else SEED
        names = {"basis__gamma": self.gamma, "basis__centers": self.centers, "basis__random_state": seed}
        values = {**names, "n_basis": self.n_basis, "max_time": self.max_time}
        return {name: value for name, value in values.items() if value is not None}

    def as_dict(self) -> dict[str, Any]:
        """The options by their names on the command line."""
        values = {f"--{field.name.replace('_', '-')}": getattr(self, field.name) for field in fields(self)}
        return {**values, "--exclude": list(self.exclude), "--task": None if self.task is None else self.task.name}

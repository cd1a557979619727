"""What a report shows of a fitted model: facts, functions, steps, and what given rows say about it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from skarce.comparison.counting import InC
from skarce.report.inputs import FarRows, Input


@dataclass(frozen=True)
class ModelView:
    """A fitted model in the units of the data.

    Attributes
    ----------
    name : what the model is called
    facts : names and values in words
    functions : data frame with one row for each function, the most relevant first
    kernel_names : names of kernels by the numbers of their candidates
    steps : data frame of the last steps of the search
    inputs, inputs_label : inputs with numbers, and what these are
    far : rows far from the others, if rows are known
    inputs_title, inputs_words : what the numbers of the inputs tell
    in_c : what it is in C, with what stands before it
    commands : what writes it as C, one line each; empty if the data are in no file
    """

    name: str
    facts: dict[str, str]
    functions: Any
    steps: Any
    inputs: list[Input] = field(default_factory=list)
    inputs_label: str = ""
    far: FarRows | None = None
    inputs_title: str = "Inputs that matter"
    inputs_words: str = "The input at the top matters most."
    in_c: InC = field(default_factory=InC)
    commands: tuple[str, ...] = ()
    kernel_names: dict[int, str] = field(default_factory=dict)

    @property
    def commands_for_c(self) -> tuple[str, ...]:
        """The commands, if it can be written as C."""
        return () if self.in_c.n_bytes is None else self.commands

    def as_dict(self, places: list[str]) -> dict[str, Any]:
        """Inputs, far rows and size, ready for JSON. `places` say where the farthest rows are."""
        return {
            "inputs": [each.as_dict() for each in self.inputs],
            "far": [] if self.far is None else self.far.as_list(places),
            "export": {"bytes": self.in_c.n_bytes, "real": self.in_c.real, "commands": list(self.commands_for_c)},
        }

"""What reports say of a model in C."""

from __future__ import annotations

from dataclasses import replace

from skarce.cli.exporting import DEFAULT_REALS, C
from skarce.cli.exporting_gaps import pipeline_with_gaps
from skarce.cli.exporting_words import in_options
from skarce.cli.model_file import SavedModel
from skarce.comparison.counting import InC, in_c


def in_c_of(saved: SavedModel) -> InC:
    """What `skarce export` would write. Refusals name options of the command line."""
    found = in_c(pipeline_with_gaps(saved))
    return replace(found, refusal=in_options(found.refusal))


def option_of_real(found: InC) -> list[str]:
    """The option that asks for this type of numbers, if it is not the default."""
    return [] if found.real in ("", DEFAULT_REALS[C]) else ["--real", found.real]

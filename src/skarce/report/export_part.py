"""How a model leaves Python, and how large it is there."""

from __future__ import annotations

from skarce.export.c.code_size import usual_code
from skarce.export.c.tables import FLOAT
from skarce.report.markup import Markup, joined, tag
from skarce.report.model_view import ModelView

HEADING = "On a microcontroller"


def export_words(model: ModelView) -> str:
    """How large the model is in C."""
    found = model.in_c
    if found.n_bytes is None:
        return f"This model cannot be written as C: {found.refusal or 'it has a part without a known formula.'}"
    least, most = usual_code(found.real)
    imprecise = "" if found.real == FLOAT.c_type else f" {FLOAT.c_type.capitalize()} is not precise enough for it."
    return (
        f"As C this model has {found.n_bytes:,} bytes of constant tables, in {found.real}, with the steps before it and what its "
        f"uncertainty needs.{imprecise} The code takes {least / 1000:.1f} to {most / 1000:.1f} kB more, by the core. To make it "
        "smaller, add --max-bytes to skarce fit."
    )


def export_part(model: ModelView) -> Markup:
    """The size, and the commands to copy."""
    commands = [tag("pre", tag("code", "\n".join(model.commands_for_c)))] if model.commands_for_c else []
    return joined(tag("h3", HEADING), tag("p", export_words(model)), *commands)

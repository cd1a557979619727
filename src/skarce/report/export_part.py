"""How a model leaves Python, and how large it is there."""

from __future__ import annotations

from skarce.report.markup import Markup, joined, tag
from skarce.report.model_view import ModelView

HEADING = "On a microcontroller"


def export_words(model: ModelView) -> str:
    """How large the model is in C."""
    if model.c_bytes is None:
        return "This model cannot be written as C: it has a part without a known formula."
    return (
        f"As C this model has {model.c_bytes:,} bytes of constant tables, in float, with the steps before it and what its "
        "uncertainty needs. The code takes 1 to 5 kB more. To make it smaller, add --max-bytes to skarce fit."
    )


def export_part(model: ModelView) -> Markup:
    """The size, and the commands to copy."""
    commands = [tag("pre", tag("code", "\n".join(model.commands)))] if model.c_bytes is not None and model.commands else []
    return joined(tag("h3", HEADING), tag("p", export_words(model)), *commands)

"""Kernel widths, chosen by the evidence or by the variational bound of the model."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
    from skarce.model_selection.width_bound import WidthByBound, width_by_bound
    from skarce.model_selection.width_effort import Progress
    from skarce.model_selection.width_objective import Widths
    from skarce.model_selection.widths import learn_widths

__all__ = ["Progress", "WidthByBound", "Widths", "learn_widths", "width_by_bound"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "WidthByBound": "width_bound",
        "width_by_bound": "width_bound",
        "Progress": "width_effort",
        "Widths": "width_objective",
        "learn_widths": "widths",
    },
)

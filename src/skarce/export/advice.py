"""What would do if the arithmetic of an export is not precise enough, and why it is not."""

from __future__ import annotations

from typing import Any

import numpy as np

from skarce._typing import Floats
from skarce.export.checks import TOLERANCES, Compared
from skarce.export.description import NUMBERS, Described
from skarce.export.stages import Kernels

OF_DISTANCES = ("rbf", "laplacian", "matern32", "matern52")
LARGER_GAMMA = "a larger gamma (weights of wide kernels nearly cancel)"
FEWER = "fewer functions"
OTHER_UNITS = "other units of the target"
WITHOUT_OFFSET = "a target without its offset"
ROUNDED_SHARE = 0.1  # of the tolerance: if rounding the offset once takes more, the offset is too large
PRECISIONS: dict[str, Any] = {"float": np.float32, "double": np.float64}


def remedies(described: Described, compared: Compared, real: str, std: Any) -> list[str]:
    """Return what to change in the fit."""
    if is_out_of_range(described, compared, real, std):
        return [OTHER_UNITS]
    if large_offsets(described, compared, real):
        return [WITHOUT_OFFSET]
    kinds = [stage.kind for stage in described.stages if isinstance(stage, Kernels)]
    found = []
    if real == "float" and described.target == NUMBERS and len(described.heads) > 1:
        found.append("one model for each target")
    if real == "float" and any(kind in OF_DISTANCES and kind != "rbf" for kind in kinds):
        found.append('basis="rbf" (its sums are in pairs in float)')
    if any(kind in OF_DISTANCES for kind in kinds):
        found.append(LARGER_GAMMA)
    return [*found, FEWER]


def reason(described: Described, compared: Compared, real: str, std: Any) -> str:
    """Return a further sentence if the target itself is the reason, or an empty text."""
    if is_out_of_range(described, compared, real, std):
        limits = np.finfo(PRECISIONS[real])
        what = "The target" if std is False else "The variance of the target"
        return f" {what} is beyond the range of {real} ({limits.tiny:.0e} to {limits.max:.0e})."
    offsets = large_offsets(described, compared, real)
    if not offsets:
        return ""
    place, offset = max(offsets.items(), key=lambda one: abs(one[1]) / described.heads[one[0]].unit)
    which = f"Target {place}" if len(described.heads) > 1 else "The target"
    return (
        f" {which} is about {offset:.6g}, and its std is {described.heads[place].unit:.3g}: {real} has too few digits for both. "
        f"Subtract a constant such as {offset:.6g} before the fit, and add it to the exported mean yourself."
    )


def large_offsets(described: Described, compared: Compared, real: str) -> dict[int, float]:
    """Return the targets that are so large beside their std that rounding them counts, with their typical value."""
    if described.target != NUMBERS or real not in PRECISIONS:
        return {}
    smallest = ROUNDED_SHARE * TOLERANCES[real] / float(np.finfo(PRECISIONS[real]).eps)
    offsets = {place: _typical(compared.expected[:, place]) for place in range(len(described.heads))}
    return {place: offset for place, offset in offsets.items() if abs(offset) > smallest * described.heads[place].unit}


def is_out_of_range(described: Described, compared: Compared, real: str, std: Any) -> bool:
    """Return whether the target, or its variance if there is a std, is too large or too small for a type."""
    if described.target != NUMBERS or real not in PRECISIONS:
        return False
    limits = np.finfo(PRECISIONS[real])
    power = 1.0 if std is False else 2.0
    sizes = np.log([head.unit for head in described.heads]) * power
    return bool((sizes > np.log(float(limits.max))).any() or (sizes < np.log(float(limits.tiny))).any())


def _typical(values: Floats) -> float:
    finite = values[np.isfinite(values)]
    return float(np.median(finite)) if len(finite) else 0.0

"""Names beside the points of a panel, placed where they cover no point and no other name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

FONT = 8.0  # points
LETTER, LINE = 0.62 * FONT, 1.15 * FONT  # width and height of a letter in points, a little generous
POINT = 7.0  # width and height of a mark
DISTANCES = (7.0, 13.0, 20.0, 28.0, 38.0, 50.0, 64.0)
ANGLES = np.deg2rad([0, 180, 40, -40, 140, -140, 90, -90])
NEAR = 10.0  # a name further away gets a line to its point


class Box(NamedTuple):
    """A rectangle in points, from its lower left corner to its upper right one."""

    left: float
    lower: float
    right: float
    upper: float

    def overlaps(self, other: Box) -> bool:
        apart = self.right <= other.left or other.right <= self.left or self.upper <= other.lower or other.upper <= self.lower
        return not apart

    def lies_in(self, other: Box) -> bool:
        return other.left <= self.left and self.right <= other.right and other.lower <= self.lower and self.upper <= other.upper


def places(anchors: dict[str, tuple[float, float]], panel: Box) -> dict[str, tuple[float, float]]:
    """Where the middle of each name goes, in points. If no place is free, a name stays to the right of its point."""
    taken = [_around(*anchor, POINT, POINT) for anchor in anchors.values()]
    found = {}
    for name, anchor in sorted(anchors.items(), key=lambda item: (item[1][1], item[1][0])):
        width = LETTER * len(name)
        boxes = [_around(*middle, width, LINE) for middle in _candidates(anchor, width)]
        free = [box for box in boxes if box.lies_in(panel) and not any(map(box.overlaps, taken))]
        box = (free or boxes)[0]
        taken.append(box)
        found[name] = (box.left + box.right) / 2.0, (box.lower + box.upper) / 2.0
    return found


def _around(x: float, y: float, width: float, height: float) -> Box:
    return Box(x - width / 2.0, y - height / 2.0, x + width / 2.0, y + height / 2.0)


def _candidates(anchor: tuple[float, float], width: float) -> Iterator[tuple[float, float]]:
    """Middles of a name around its point, the nearest first. To the left and right, its end is at the distance."""
    for distance in DISTANCES:
        for angle in ANGLES:
            across, along = np.cos(angle), np.sin(angle)
            yield anchor[0] + distance * across + np.sign(round(across, 6)) * width / 2.0, anchor[1] + distance * along


def label(axes: Any, points: dict[str, tuple[float, float]], colors: dict[str, str]) -> None:
    """Write the names. The layout of the figure must be known."""
    scale = 72.0 / axes.figure.dpi
    anchors = {name: tuple(scale * axes.transData.transform(point)) for name, point in points.items()}
    extent = axes.get_window_extent()
    panel = Box(*(scale * edge for edge in (extent.x0, extent.y0, extent.x1, extent.y1 + LINE / scale)))
    for name, (x, y) in places(anchors, panel).items():
        offset = x - anchors[name][0], y - anchors[name][1]
        is_far = abs(offset[1]) > NEAR or abs(offset[0]) - LETTER * len(name) / 2.0 > NEAR
        line = {"arrowstyle": "-", "color": colors[name], "linewidth": 0.5, "alpha": 0.6, "shrinkA": 0.0, "shrinkB": 3.0}
        axes.annotate(
            name,
            points[name],
            offset,
            textcoords="offset points",
            ha="center",
            va="center",
            fontsize=FONT,
            color=colors[name],
            arrowprops=line if is_far else None,
            zorder=4,
            annotation_clip=False,
        ).set_in_layout(False)

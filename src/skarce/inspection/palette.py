"""One set of colors for all pictures and reports, for light and dark backgrounds. Nothing here needs a library for drawing.

The colors are those of Okabe and Ito, which the color-blind can tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BLACK, WHITE = "#000000", "#ffffff"
ORANGE, SKY_BLUE, GREEN, YELLOW = "#E69F00", "#56B4E9", "#009E73", "#F0E442"
BLUE, VERMILION, PURPLE = "#0072B2", "#D55E00", "#CC79A7"
MIDDLE_LUMINANCE = 0.18  # of a background that black and white text are equally easy to read on


@dataclass(frozen=True)
class Palette:
    """Colors by what they are for, as hexadecimal strings.

    Attributes
    ----------
    background, text : what everything is drawn on, and what is written on it
    main : the prediction, its band, and bars
    accent : what deserves a look: chosen centers, the chosen model, the boundary between classes
    data : observations
    grid : lines behind the data
    series : colors of several classes or curves, in this order
    middle : between `main` and `accent`, for a probability of one half
    band_alpha : opacity of bands in the color of their curve
    """

    background: str
    text: str
    main: str
    accent: str
    data: str
    grid: str
    series: tuple[str, ...]
    middle: str
    band_alpha: float

    def series_color(self, place: int) -> str:
        """Return the color of one of several curves. The colors repeat if there are many."""
        return self.series[place % len(self.series)]


LIGHT = Palette(
    background=WHITE,
    text="#1a1a1a",
    main=BLUE,
    accent=VERMILION,
    data="#8c8c8c",
    grid="#dddddd",
    series=(BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY_BLUE, BLACK),
    middle="#f4f4f4",
    band_alpha=0.22,
)
DARK = Palette(
    background="#121212",
    text="#ececec",
    main=SKY_BLUE,
    accent=ORANGE,
    data="#9a9a9a",
    grid="#3a3a3a",
    series=(SKY_BLUE, ORANGE, GREEN, PURPLE, YELLOW, "#ff7f50", WHITE),
    middle="#2a2a2a",
    band_alpha=0.35,
)


def palette_on(background: str | Sequence[float]) -> Palette:
    """Return the palette for a background: a hexadecimal color, or red, green and blue from 0 to 1.

    Examples
    --------
    >>> palette_on("#ffffff") is LIGHT, palette_on((0.0, 0.0, 0.0)) is DARK
    (True, True)
    """
    return LIGHT if luminance(background) > MIDDLE_LUMINANCE else DARK


def luminance(color: str | Sequence[float]) -> float:
    """Return the relative luminance of a color in sRGB, from 0 (black) to 1 (white)."""
    red, green, blue = (_linear(part) for part in (_parts(color) if isinstance(color, str) else color[:3]))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str | Sequence[float], second: str | Sequence[float]) -> float:
    """Return the contrast of two colors, from 1 (none) to 21 (black on white)."""
    darker, lighter = sorted((luminance(first), luminance(second)))
    return (lighter + 0.05) / (darker + 0.05)


def _parts(color: str) -> tuple[float, ...]:
    return tuple(int(color[start : start + 2], 16) / 255.0 for start in (1, 3, 5))


def _linear(part: float) -> float:
    """Return how much light a value of sRGB stands for."""
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4

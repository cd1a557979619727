"""The colors of pictures can be read on their backgrounds, also by the color-blind."""

from itertools import combinations

import numpy as np
import pytest

from skarce.inspection.palette import DARK, LIGHT, contrast, luminance, palette_on

# How linear red, green and blue look to people without red or green receptors (Viénot, Brettel and Mollon 1999).
WITHOUT_RED = np.array([[0.1124, 0.8876, 0.0], [0.1124, 0.8876, 0.0], [0.0040, -0.0040, 1.0]])
WITHOUT_GREEN = np.array([[0.2928, 0.7072, 0.0], [0.2928, 0.7072, 0.0], [-0.0223, 0.0223, 1.0]])
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(color):
    parts = np.array([int(color[start : start + 2], 16) for start in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIE L*a*b*, in which distances of about 2.3 can just be seen."""
    x, y, z = np.cbrt(TO_XYZ @ np.maximum(rgb, 1e-3) / (TO_XYZ @ np.ones(3)))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colors_stand_out_from_their_background(palette):
    assert contrast(palette.text, palette.background) > 10
    for color in (palette.main, palette.accent, palette.data):
        assert contrast(color, palette.background) > 3


@pytest.mark.parametrize("palette", [LIGHT, DARK])
@pytest.mark.parametrize("seen", [np.eye(3), WITHOUT_RED, WITHOUT_GREEN], ids=["all", "without red", "without green"])
def test_first_colors_can_be_told_apart(palette, seen):
    pairs = [*combinations(palette.series[:3], 2), (palette.main, palette.data), (palette.accent, palette.data)]
    for first, second in pairs:
        assert np.linalg.norm(lab(seen @ linear(first)) - lab(seen @ linear(second))) > 15


def test_luminance_is_that_of_white_and_of_black():
    assert luminance("#ffffff") == pytest.approx(1.0)
    assert luminance("#000000") == 0.0
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#ffffff", "#000000") == pytest.approx(21.0)


def test_the_palette_follows_the_background():
    assert palette_on("#fafafa") is LIGHT
    assert palette_on((0.1, 0.1, 0.1, 1.0)) is DARK
    assert palette_on(DARK.background) is DARK
    assert LIGHT.series_color(len(LIGHT.series)) == LIGHT.series[0]

"""A small writer of charts as SVG. Colors are CSS variables, so a chart follows the theme of its page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from skarce._typing import Floats
from skarce.report.markup import Markup, joined, tag
from skarce.report.numbers import rounded

WIDTH, HEIGHT = 390, 290
LEFT, RIGHT, TOP, BOTTOM = 58, 20, 12, 42  # margins, for numbers and names of the axes
N_TICKS = 5
LETTER = 5.6  # width of a letter of a label, about
WIDE_LETTER = 6.4  # the same in a wide font, for names that must not leave the picture
LINE = 12.0  # height of a label
NAME_WIDTH = 18.0  # of the name of an upright axis, with what is left of it
GAP = 6.0  # between numbers and their axis
MARGIN = 0.05  # of an axis beyond the data


@dataclass(frozen=True)
class Axis:
    """A range of numbers, on a linear or a logarithmic scale, with its name."""

    low: float
    high: float
    name: str = ""
    is_log: bool = False
    form: Callable[[float], str] = lambda value: rounded(value, 3)
    places: Mapping[float, str] | None = None  # words in place of numbers

    @classmethod
    def over(cls, values: Sequence[float] | Floats, name: str = "", *, is_log: bool = False, **options: object) -> Axis:
        """The axis that holds all values, with a margin."""
        finite = np.asarray(values, dtype=np.float64)
        finite = finite[np.isfinite(finite)]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        if is_log:
            reach = max((high / low) ** MARGIN, 1.1)
            return cls(low / reach, high * reach, name, True, **options)  # type: ignore[arg-type]
        reach = MARGIN * (high - low) or 0.5 * abs(low) or 1.0
        return cls(low - reach, high + reach, name, **options)  # type: ignore[arg-type]

    def share(self, value: float | Floats) -> Floats:
        """Where values are on the axis: 0 at its start, 1 at its end."""
        at = np.asarray(value, dtype=np.float64)
        if self.is_log:
            return np.log(at / self.low) / np.log(self.high / self.low)
        return (at - self.low) / (self.high - self.low)

    @classmethod
    def of_words(cls, words: Sequence[str], name: str = "") -> Axis:
        """The axis that has words from its end to its start, one unit apart: from top to bottom, if it stands."""
        places = {float(-place): word for place, word in enumerate(words)}
        return cls(0.5 - max(len(words), 1), 0.5, name, form=lambda place: places[place], places=places)

    def ticks(self) -> list[float]:
        """Round numbers on the axis."""
        if self.places is not None:
            return list(self.places)
        return log_ticks(self.low, self.high) if self.is_log else linear_ticks(self.low, self.high)


def linear_ticks(low: float, high: float, most: int = N_TICKS) -> list[float]:
    """Multiples of 1, 2 or 5 times a power of ten between two numbers, at most about as many as asked for.

    Examples
    --------
    >>> linear_ticks(0.0, 1.0)
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> linear_ticks(52.1, 61.9)
    [54.0, 56.0, 58.0, 60.0]
    """
    least = (high - low) / most
    power = 10.0 ** math.floor(math.log10(least))
    step = next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= least * (1 - 1e-9))
    decimals = max(0, 1 - math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(place * step, decimals) + 0.0 for place in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten between two numbers; of a wide range only powers of ten, of a narrow one linear ticks.

    Examples
    --------
    >>> log_ticks(0.8, 450.0)
    [1.0, 10.0, 100.0]
    >>> log_ticks(3.0, 60.0)
    [5.0, 10.0, 20.0, 50.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1.0,), (1.0, 2.0, 5.0)):
        found = [tick for power in powers for factor in factors if low <= (tick := factor * 10.0**power) <= high]
        if len(found) >= 3:
            return found[:: max(1, math.ceil(len(found) / (N_TICKS + 2)))]
    return linear_ticks(low, high)


@dataclass
class Chart:
    """Marks over two axes. `key` is its name in the page; `title` and `description` are what a screen reader says."""

    key: str
    title: str
    description: str
    x: Axis
    y: Axis
    height: int = HEIGHT
    left: int = LEFT
    width: int = WIDTH
    marks: list[Markup] = field(default_factory=list)
    taken: list[tuple[float, float, float, float]] = field(default_factory=list)  # boxes of labels and points

    def __post_init__(self) -> None:
        """Leave as much room on the left as the numbers of the axis need beside its name."""
        longest = max((len(self.y.form(tick)) for tick in self.y.ticks()), default=0)
        self.left = max(self.left, int(NAME_WIDTH + WIDE_LETTER * longest + GAP))

    def at(self, x: float | Floats, y: float | Floats) -> tuple[Floats, Floats]:
        """Where data are in the picture."""
        width, height = self.width - self.left - RIGHT, self.height - TOP - BOTTOM
        return self.left + width * self.x.share(x), TOP + height * (1.0 - self.y.share(y))

    def line(self, x: Floats, y: Floats, class_: str, name: str | None = None) -> None:
        """A line through points, in their order."""
        places = " ".join(f"{_short(a)} {_short(b)}" for a, b in zip(*self.at(x, y), strict=True))
        self.marks.append(tag("path", *_named(name), d=f"M{places}", class_=f"line {class_}"))

    def cloud(self, x: Floats, y: Floats, class_: str) -> None:
        """Many points as one element."""
        places = "".join(f"M{_short(a)} {_short(b)}h0" for a, b in zip(*self.at(x, y), strict=True))
        self.marks.append(tag("path", d=places, class_=f"cloud {class_}"))

    def point(self, x: float, y: float, class_: str, name: str) -> None:
        """One point; its name is shown when the mouse is over it."""
        a, b = self.at(x, y)
        self.taken.append((float(a) - 4, float(b) - 4, float(a) + 4, float(b) + 4))
        self.marks.append(tag("circle", tag("title", name), cx=_short(a), cy=_short(b), r=4.5, class_=f"point {class_}"))

    def bar(self, x: tuple[float, float], y: tuple[float, float], class_: str, name: str | None = None) -> None:
        """A filled rectangle between two corners."""
        (a, c), (b, d) = self.at(np.array(x), np.array(y))
        sides = {"width": _short(abs(c - a)), "height": _short(abs(d - b))}
        self.marks.append(tag("rect", *_named(name), x=_short(min(a, c)), y=_short(min(b, d)), class_=f"bar {class_}", **sides))

    def reserve(self, x: Floats, y: Floats) -> None:
        """Keep labels away from these points."""
        self.taken += [(float(a) - 6, float(b) - 4, float(a) + 6, float(b) + 4) for a, b in zip(*self.at(x, y), strict=True)]

    def label(self, x: float, y: float, words: str, class_: str = "", *, is_needed: bool = False) -> bool:
        """Words next to a point, where nothing else is; left out if there is no room, unless a needed one finds it farther away."""
        a, b = (float(place) for place in self.at(x, y))
        width = LETTER * len(words) + 4.0
        near = [((a + 8, b - 6), "start"), ((a - 8 - width, b - 6), "end"), ((a - width / 2, b - 19), "middle"),
                ((a - width / 2, b + 7), "middle")]  # fmt: skip
        far = [
            ((a + side * reach - (width if side < 0 else 0.0), b - 6 + step * LINE), "start" if side > 0 else "end")
            for reach in (12.0, 40.0, 80.0)
            for step in (-2, 2, -3, 3, -5, 5, -8, 8)
            for side in (1, -1)
        ]
        for place, anchor in [*near, *(far if is_needed else [])]:
            box = (place[0], place[1], place[0] + width, place[1] + LINE)
            if self._is_inside(box) and self._is_free(box):
                self.taken.append(box)
                at = {"start": box[0], "end": box[2], "middle": (box[0] + box[2]) / 2}[anchor]
                if (place, anchor) not in near:
                    end = f"{_short(at)} {_short(box[1] + LINE / 2)}"
                    self.marks.append(tag("path", d=f"M{_short(a)} {_short(b)} {end}", class_="leader"))
                attributes = {"x": _short(at), "y": _short(box[1] + 10), "text_anchor": anchor, "class_": f"label {class_}"}
                self.marks.append(tag("text", words, **attributes))
                return True
        return False

    def write(self) -> Markup:
        """The chart as an element of a page."""
        title, about = f"{self.key}-title", f"{self.key}-about"
        return tag(
            "svg",
            tag("title", self.title, id=title),
            tag("desc", self.description, id=about),
            self._grid(),
            *self.marks,
            viewBox=f"0 0 {self.width} {self.height}",
            role="img",
            aria_labelledby=f"{title} {about}",
        )

    def _is_inside(self, box: tuple[float, float, float, float]) -> bool:
        return self.left <= box[0] and box[2] <= self.width and box[1] >= TOP and box[3] <= self.height - BOTTOM

    def _is_free(self, box: tuple[float, float, float, float]) -> bool:
        return all(box[2] <= a or c <= box[0] or box[3] <= b or d <= box[1] for a, b, c, d in self.taken)

    def _name_at(self) -> float:
        """The middle of the name of the lower axis: that of the axis, unless the name would leave the picture there."""
        half = min(0.5 * WIDE_LETTER * len(self.x.name), 0.5 * self.width)
        return min((self.left + self.width - RIGHT) / 2, self.width - half)

    def _grid(self) -> Markup:
        bottom, right = self.height - BOTTOM, self.width - RIGHT
        parts = []
        for tick in self.x.ticks():
            a = _short(self.at(tick, self.y.low)[0])
            parts.append(tag("line", x1=a, x2=a, y1=TOP, y2=bottom, class_="grid"))
            parts.append(tag("text", self.x.form(tick), x=a, y=bottom + 15, text_anchor="middle", class_="tick"))
        for tick in self.y.ticks():
            b = self.at(self.x.low, tick)[1]
            parts.append(tag("line", x1=self.left, x2=right, y1=_short(b), y2=_short(b), class_="grid"))
            parts.append(tag("text", self.y.form(tick), x=self.left - GAP, y=_short(b + 4), text_anchor="end", class_="tick"))
        middle = (TOP + bottom) / 2
        parts.append(tag("text", self.x.name, x=_short(self._name_at()), y=self.height - 6, text_anchor="middle", class_="name"))
        turned = {"x": 12, "y": middle, "transform": f"rotate(-90 12 {middle})"}
        parts.append(tag("text", self.y.name, text_anchor="middle", class_="name", **turned))
        return tag("g", joined(*parts), aria_hidden="true")


def _named(name: str | None) -> list[Markup]:
    return [] if name is None else [tag("title", name)]


def _short(place: float | Floats) -> str:
    return f"{float(place):.1f}".removesuffix(".0")

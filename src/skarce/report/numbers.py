"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence

NONE = "–"  # in place of a number that is not known
MOST_FIXED = (-4, 6)  # from this power of ten to that one, numbers are written without an exponent
MOST_DIGITS = 12  # differences beyond are rounding errors
UNITS = ("bytes", "kB", "MB", "GB")


def rounded(value: float | None, digits: int = 4) -> str:
    """The number with this many significant digits, and thousands apart.

    Examples
    --------
    >>> rounded(54.32109), rounded(12345.678), rounded(0.00001234), rounded(3.0)
    ('54.32', '12,346', '1.234e-05', '3')
    """
    if value is None or not math.isfinite(value):
        return NONE
    if value == 0.0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if not MOST_FIXED[0] <= exponent <= MOST_FIXED[1]:
        return f"{value:.{digits - 1}e}"
    decimals = max(0, digits - 1 - exponent)
    written = f"{value:,.{decimals}f}"
    return written.rstrip("0").rstrip(".") if "." in written else written


def finite(value: float | None) -> float | None:
    """The number as JSON can hold it: None if it is infinite or not a number."""
    return value if value is not None and math.isfinite(value) else None


def fixed(value: float | None, form: str) -> str:
    """The number in a format such as ".3f", or with an exponent if it is large.

    Examples
    --------
    >>> fixed(-1.5, ".3f"), fixed(-2.0952e25, ".3f")
    ('-1.500', '-2.095e+25')
    """
    is_large = value is not None and abs(value) >= 10.0 ** (MOST_FIXED[1] + 1)
    return rounded(value) if is_large else written([value], form)[0]


def aligned(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """The numbers of a column with the same decimals: this many significant digits for the smallest."""
    return written(values, common_form(values, digits))


def common_form(values: Sequence[float | None], digits: int = 4) -> str:
    """The format with this many significant digits for the smallest number; with an exponent if one needs it."""
    known = [abs(value) for value in values if value and math.isfinite(value)]
    smallest, largest = min(known, default=1.0), max(known, default=1.0)
    low, high = (math.floor(math.log10(value)) for value in (smallest, largest))
    return f",.{max(0, digits - 1 - low)}f" if low >= MOST_FIXED[0] and high <= MOST_FIXED[1] else f".{digits - 1}e"


def written(values: Sequence[float | None], form: str) -> list[str]:
    """The numbers in one format."""
    return [NONE if value is None or not math.isfinite(value) else format(value, form) for value in values]


def apart(values: Sequence[float | None], digits: int = 4) -> list[str]:
    """The numbers of a column with as many digits as different ones need to look different.

    Examples
    --------
    >>> apart([-250.1234, -250.12341])
    ['-250.12340', '-250.12341']
    """
    different = len(set(values))
    for enough in range(digits, MOST_DIGITS + 1):
        if len(set(texts := aligned(values, enough))) == different:
            return texts
    return aligned(values, digits)


def percent(share: float | None, decimals: int = 1) -> str:
    """A share of one as a percentage."""
    return NONE if share is None else f"{100.0 * share:.{decimals}f} %"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it."""
    if value is None:
        return NONE
    return f"{value:.2f} s" if value >= 1.0 else f"{1000.0 * value:.3g} ms"


def size(n_bytes: float | None) -> str:
    """A number of bytes in the unit that suits it.

    Examples
    --------
    >>> size(512), size(23_456), size(7.2e6)
    ('512 bytes', '23 kB', '7.2 MB')
    """
    if n_bytes is None:
        return NONE
    power = min(int(math.log10(max(n_bytes, 1.0)) // 3), len(UNITS) - 1)
    scaled = n_bytes / 1000.0**power
    return f"{scaled:.0f} {UNITS[power]}" if scaled >= 10.0 or power == 0 else f"{scaled:.1f} {UNITS[power]}"


def plural(count: int, noun: str, several: str | None = None) -> str:
    """A count with its noun.

    Examples
    --------
    >>> plural(1, "row"), plural(2_000, "row"), plural(2, "class", "classes")
    ('1 row', '2,000 rows', '2 classes')
    """
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"

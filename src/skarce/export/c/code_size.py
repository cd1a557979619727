"""How large the code of headers is, as it was measured: 65 small models of all kinds in float and double, 43 in whole numbers."""

from __future__ import annotations

from typing import NamedTuple


class CodeSize(NamedTuple):
    """Bytes of code with the std, and with the arithmetic of the compiler: the median of the models, and the largest."""

    median: int
    largest: int


# gcc 12 for ARM with -Os. The Cortex-M0 has no floating-point unit, and that of the Cortex-M4 is for single precision.
MEASURED = {
    "float": {"Cortex-M0": CodeSize(4700, 6200), "Cortex-M4": CodeSize(800, 2000)},
    "double": {"Cortex-M0": CodeSize(9300, 11_600), "Cortex-M4": CodeSize(4500, 6900)},
    "q15": {"Cortex-M0": CodeSize(1100, 4500), "Cortex-M4": CodeSize(900, 4200)},
    "q31": {"Cortex-M0": CodeSize(1200, 4700), "Cortex-M4": CodeSize(1000, 4300)},
}


def usual_code(real: str) -> tuple[float, float]:
    """Return the bytes of code from the median on the core that needs least to the largest on the core that needs most."""
    sizes = MEASURED[real].values()
    return min(size.median for size in sizes), max(size.largest for size in sizes)


def code_remarks(real: str) -> list[str]:
    """Return lines that say how large the code is."""
    usual = ", ".join(f"{size.median} on a {core}" for core, size in MEASURED[real].items())
    largest = " and ".join(str(size.largest) for size in MEASURED[real].values())
    return [
        f"Code: not counted; usually about {usual}, at most {largest} bytes",
        "      in the models that were measured (gcc -Os, with the arithmetic of the compiler and the std)",
    ]

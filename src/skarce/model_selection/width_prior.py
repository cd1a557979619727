r"""A weak prior on each width, from the distinct values of its input.

A width g enters the kernel through :math:`g\,\delta_p`, with squared (or absolute) differences :math:`\delta_p` of input p. Let
:math:`\delta_s` be that of two neighboring values and :math:`\delta_r` that of the smallest and the largest value. The density of
:math:`\log g` is

.. math:: p(\log g) \propto e^{-g\delta_s}\Bigl(\frac{g\delta_r}{g\delta_r + \varepsilon}\Bigr)^{b} .

The first factor excludes kernels that make every value of the input a category of its own: the density falls by a factor of e for
each unit by which the kernel's exponent differs between neighboring values. The second factor is a mild descent of the density
toward kernels that are more than two hundred ranges wide. In between the density is flat.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from skarce._typing import Floats
from skarce.model_selection.width_data import Data, Scale

FAR = 1e-5  # epsilon: from this g delta_r on downward, the density falls; the rbf then is 220 ranges wide
DESCENT = 0.02  # b: the density of the logarithm falls with this power of g
SAME = 1e-9  # values of an input that differ by less than this share of the range count as equal


@dataclass(frozen=True)
class WidthPrior:
    """The prior of all widths of a search, in the units of the search.

    Attributes
    ----------
    spacings : delta of neighboring values, one for each width; 0 if the input does not vary
    spans : delta of the smallest and the largest value
    """

    spacings: Floats
    spans: Floats

    @classmethod
    def of(cls, data: Data, scale: Scale) -> WidthPrior:
        """Return the prior for these rows. One width for all inputs has the smallest spacing and the largest range of them."""
        measured = np.array([spacing_and_range(column) for column in data.X.T]) * scale.factors[:, None]
        deltas = np.abs(measured) if scale.is_absolute else measured**2
        spacings, spans = deltas.T
        if scale.one_for_all:
            varying = spacings[spans > 0.0]
            return cls(np.full(1, varying.min() if len(varying) else 0.0), spans.max(keepdims=True))
        return cls(spacings, spans)

    def at(self, log_widths: Floats) -> tuple[float, Floats]:
        """Return the log density, up to a constant, and its derivatives in the logarithms of the widths."""
        widths = np.exp(log_widths)
        near, far = widths * self.spacings, widths * self.spans
        varies = self.spans > 0.0
        ratio = np.divide(FAR, far, out=np.zeros(len(far)), where=varies)
        return -float(near.sum() + DESCENT * np.log1p(ratio).sum()), DESCENT * ratio / (1.0 + ratio) - near


def spacing_and_range(column: Floats) -> tuple[float, float]:
    """Return the median difference of neighboring distinct values, and the range. Both are 0 if there is only one value."""
    values = np.unique(column)
    span = float(values[-1] - values[0])
    gaps = np.diff(values)
    gaps = gaps[gaps > SAME * span]
    return (float(np.median(gaps)), span) if len(gaps) else (0.0, 0.0)

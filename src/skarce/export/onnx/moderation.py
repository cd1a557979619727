r"""Log odds of the mean probability, as ONNX operators. onnxruntime has no error function in double precision, so here is one.

With :math:`t\ge0`, :math:`\Phi(-\sqrt2\,t) = \tfrac12e^{-t^2}\operatorname{erfcx}(t)`. The function
:math:`(1 + 2t)\operatorname{erfcx}(t)` is smooth in :math:`y = (t - k)/(t + k)`, which is in [-1, 1), and a polynomial in y has it
to 14 digits.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from skarce._typing import Floats
from skarce.export.onnx.graph import Graph
from skarce.likelihoods.bernoulli import MIXTURE

TURN = 3.75  # k
DEGREE = 20
FURTHEST = {np.dtype(np.float64): 1e150, np.dtype(np.float32): 1e15}  # standard deviations, whose squares are still numbers


def add_moderated_log_odds(graph: Graph, mean: str, std: str) -> str:
    """Return the log odds of E g(f) for f ~ N(mean, std^2), shape (n_rows, n_functions) like both.

    See `skarce.likelihoods.moderated_log_odds`. The formula is odd in the mean, so the smaller of both sums is computed, and the
    larger is what it lacks to the sum of all shares.
    """
    shares, scales = MIXTURE.T
    last = np.array([-1])
    spread = graph.op("Add", graph.op("Mul", graph.op("Unsqueeze", std, last), graph.op("Unsqueeze", std, last)), scales**-2.0)
    distance = graph.op("Div", graph.op("Abs", graph.op("Unsqueeze", mean, last)), graph.op("Sqrt", spread))
    t = graph.op("Mul", graph.op("Min", distance, FURTHEST[graph.dtype]), np.sqrt(0.5))
    # The logarithm of each share times Phi(-distance), and of their sum.
    logs = graph.op("Sub", graph.op("Log", graph.op("Mul", _erfcx(graph, t), 0.5 * shares)), graph.op("Mul", t, t))
    smaller = graph.column_sum(logs, kind="ReduceLogSumExp", axis=-1, keepdims=False)
    larger = graph.op("Log", graph.op("Sub", shares.sum(), graph.op("Exp", smaller)))
    return graph.op("Mul", graph.op("Sign", mean), graph.op("Sub", larger, smaller))


def _erfcx(graph: Graph, t: str) -> str:
    """Return exp(t^2) erfc(t) for t >= 0."""
    y = graph.op("Div", graph.op("Sub", t, TURN), graph.op("Add", t, TURN))
    coefficients = _coefficients()
    value = graph.constant(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        value = graph.op("Add", graph.op("Mul", value, y), coefficient)
    return graph.op("Div", value, graph.op("Add", graph.op("Mul", t, 2.0), 1.0))


@cache
def _coefficients() -> Floats:
    """Return the coefficients of the polynomial in y, from the constant on. Its nodes are inside of (-1, 1)."""

    def scaled(y: Floats) -> Floats:
        t = TURN * (1.0 + y) / (1.0 - y)
        return np.asarray((1.0 + 2.0 * t) * erfcx(t))

    return np.asarray(chebyshev.cheb2poly(chebyshev.Chebyshev.interpolate(scaled, DEGREE).coef))

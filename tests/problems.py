"""Problems that tests of several rooms share."""

import numpy as np

from skarce.moments import ColumnGram, Moments, WholeGram


def moments_of(phi, t, kind="whole"):
    """What a design would say about these columns and this target, from memory."""
    gram = phi.T @ phi
    by_column = ColumnGram(gram.diagonal().copy(), lambda i: gram[i], lambda r, c: gram[np.ix_(r, c)])
    return Moments(WholeGram(gram) if kind == "whole" else by_column, phi.T @ t, t @ t, float(len(t)))

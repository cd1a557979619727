"""Problems that tests of several rooms share."""

import numpy as np
import scipy
from packaging.version import Version
from scipy import sparse

from skarce import KernelBasis
from skarce.designs import InMemoryDesign, Rows
from skarce.moments import ColumnGram, Moments, WholeGram


def random_sparse(shape, density, rng):
    """A sparse array of uniform numbers. SciPy before 1.15 has another name for the generator."""
    name = "rng" if Version(scipy.__version__) >= Version("1.15") else "random_state"
    return sparse.random_array(shape, density=density, format="csr", **{name: rng})


def moments_of(phi, t, kind="whole"):
    """What a design would say about these columns and this target, from memory."""
    gram = phi.T @ phi
    by_column = ColumnGram(gram.diagonal().copy(), lambda i: gram[i], lambda r, c: gram[np.ix_(r, c)])
    return Moments(WholeGram(gram) if kind == "whole" else by_column, phi.T @ t, t @ t, float(len(t)))


def kernel_moments(gamma, n=60, noise=0.1, weights=None, fit_intercept=True, seed=0, kind="whole"):
    """Moments of Gaussian kernels in two inputs, with Phi and t about the center and the weights in their square roots."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2.0, 2.0, (n, 2))
    targets = np.sin(2.0 * X[:, :1]) + X[:, 1:] + rng.normal(0.0, noise, (n, 1))
    design = InMemoryDesign(KernelBasis(gamma=gamma).fit(X), Rows(X, targets, weights), fit_intercept=fit_intercept)
    (moments,) = design.moments(kind)
    return moments, moments.rows.centered(np.arange(n)), moments.rows.target()

"""Polynomial chaos: products of polynomials that are orthonormal under the distributions of the inputs."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skarce._atomic import become, snapshot, unfitted_twin
from skarce._parallel import slices
from skarce._parameters import as_number, check_count
from skarce._scales import check_overflow
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import quietly_validated
from skarce.basis.input_distributions import InputDistribution, in_plain_words, input_distributions
from skarce.basis.multi_indices import multi_indices

ROWS = 1024  # at which polynomials of single inputs are evaluated at a time
PRODUCTS = 2**18  # that are multiplied at a time, so that they stay in the cache


class PolynomialChaosBasis(TransformerMixin, BaseEstimator):
    r"""Products of polynomials that are orthonormal under the distributions of the inputs.

    A sparse model on this basis is a sparse polynomial chaos expansion. Its terms are uncorrelated and have variance 1 under the
    distributions of the inputs. So a squared weight is the part of the variance of the output that a term explains, and
    `skarce.inspection.sobol_indices` reads the Sobol indices of the inputs from the weights.

    The constant term is not a column, because estimators have an intercept. The intercept is the mean of the output.

    Parameters
    ----------
    degree : int, default=3
        The largest total degree of a term.
    interaction_order : int or None, default=None
        The largest number of inputs in a term. None allows all inputs.
    q_norm : float, default=1.0
        A term with the degrees :math:`a_i` is in the basis if :math:`(\sum_i a_i^q)^{1/q}` is at most `degree`. 1 is the total
        degree. Smaller numbers (hyperbolic truncation, 0.5 to 0.75 are common) leave out terms with high degrees in several inputs.
    distributions : str, frozen scipy.stats distribution, dict, or list of these, default="uniform"
        The distributions of the independent inputs: one for all, or a list with one for each input. Possible are

        - the names ``"uniform"`` (on [-1, 1]), ``"normal"`` (mean 0, variance 1) and ``"exponential"`` (mean 1);
        - frozen distributions of scipy.stats with any loc and scale: ``uniform``, ``norm``, ``expon``, ``gamma`` and ``beta``;
        - dicts with ``"name"`` (``"uniform"``, ``"normal"``, ``"exponential"``, ``"gamma"`` or ``"beta"``) and all numbers of the
          distribution as scipy.stats calls them: ``{"name": "gamma", "a": 2.0, "loc": 0.0, "scale": 1.0}``.

        Pickled or saved bases hold dicts in place of frozen distributions: names and numbers are safe to load.

    Attributes
    ----------
    multi_indices_ : ndarray of shape (n_terms, `n_features_in_`)
        The degree of each input in each term. Terms of low total degree come first.
    distributions_ : list of dict
        The distribution of each input, as names and numbers.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during `fit`. Defined only if X has feature names that are all strings.

    See Also
    --------
    skarce.inspection.sobol_indices : Shares of the variance by input, with their uncertainty.
    sklearn.preprocessing.PolynomialFeatures : Monomials, which are not orthogonal.

    Notes
    -----
    The polynomials are those of Legendre (uniform), Hermite (normal), Laguerre (exponential, generalized for gamma) and Jacobi
    (beta), scaled to variance 1, with positive leading coefficients. With the coefficients of the recurrence of monic polynomials,

    .. math:: \sqrt{b_{n+1}}\,p_{n+1}(z) = (z - a_n)\,p_n(z) - \sqrt{b_n}\,p_{n-1}(z), \quad p_0 = 1.

    Values outside of the support raise a ValueError: polynomials grow quickly there, and the model says nothing about such rows.

    At most 200,000 terms are possible.

    References
    ----------
    Xiu, D. and Karniadakis, G. E. (2002). The Wiener-Askey polynomial chaos for stochastic differential equations. SIAM Journal on
    Scientific Computing 24, 619-644.

    Blatman, G. and Sudret, B. (2011). Adaptive sparse polynomial chaos expansion based on least angle regression. Journal of
    Computational Physics 230, 2345-2367.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import PolynomialChaosBasis, VBLSRegressor
    >>> basis = PolynomialChaosBasis(2)
    >>> basis.fit([[0.0, 0.0]]).get_feature_names_out().tolist()
    ['P1(x0)', 'P1(x1)', 'P2(x0)', 'P1(x0) P1(x1)', 'P2(x1)']
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (100, 2))
    >>> y = 1 + X[:, 0] + X[:, 0] * X[:, 1] + rng.normal(0, 0.01, 100)
    >>> model = VBLSRegressor(PolynomialChaosBasis(5)).fit(X, y)
    >>> print(model.get_feature_names_out(), round(model.intercept_, 2))
    ['P1(x0)' 'P1(x0) P1(x1)'] 1.0
    """

    def __init__(
        self, degree: int = 3, *, interaction_order: int | None = None, q_norm: float = 1.0, distributions: Any = "uniform"
    ) -> None:
        self.degree = degree
        self.interaction_order = interaction_order
        self.q_norm = q_norm
        self.distributions = distributions

    def fit(self, X: Any, y: Any = None) -> PolynomialChaosBasis:
        """List the terms, and check that X is in the support of its distributions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : None
            Ignored. It exists for the interface of scikit-learn.

        Returns
        -------
        self : PolynomialChaosBasis
            The fitted basis.
        """
        check_count("degree", self.degree)
        if self.interaction_order is not None:
            check_count("interaction_order", self.interaction_order)
        if not 0.0 < as_number(self.q_norm) <= 1.0:
            raise ValueError(f"q_norm must be above 0 and at most 1 (the total degree), got {quoted(self.q_norm)}.")
        twin = unfitted_twin(self)
        X = quietly_validated(twin, X, dtype=np.float64)
        distributions = input_distributions(self.distributions, X.shape[1])
        order = None if self.interaction_order is None else int(self.interaction_order)
        twin.multi_indices_ = multi_indices(X.shape[1], int(self.degree), order, float(self.q_norm))
        _check_support(X, distributions, getattr(twin, "feature_names_in_", None))
        twin.distributions_ = [one.as_dict() for one in distributions]
        return become(self, twin)

    def transform(self, X: Any) -> Floats:
        """Evaluate the terms at the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the support of the distributions.

        Returns
        -------
        phi : ndarray of shape (n_samples, n_terms)
            One column for each term.
        """
        fitted = snapshot(self)
        check_is_fitted(fitted, "multi_indices_")
        X = quietly_validated(fitted, X, dtype=np.float64, reset=False)
        distributions = input_distributions(fitted.distributions_, X.shape[1])
        _check_support(X, distributions, getattr(fitted, "feature_names_in_", None))
        largest = fitted.multi_indices_.max(axis=0, initial=0)
        factors = _factors(fitted.multi_indices_, largest)
        phi = np.empty((len(X), len(fitted.multi_indices_)))
        with np.errstate(over="ignore", invalid="ignore"):
            for rows in slices(len(X), ROWS):
                columns = zip(X[rows].T, distributions, largest, strict=True)
                table = np.concatenate([one.polynomials(values, degree) for values, one, degree in columns])
                _multiply(np.ascontiguousarray(table.T), factors, phi[rows])
        check_overflow(phi, "polynomials")
        return phi

    def select(self, indices: Any) -> PolynomialChaosBasis:
        """Return the fitted basis with only these of its terms.

        Parameters
        ----------
        indices : array-like of shape (n_selected,)
            Terms to keep.

        Returns
        -------
        basis : PolynomialChaosBasis
            A fitted basis that evaluates no other terms.
        """
        check_is_fitted(self, "multi_indices_")
        other = copy(self)
        other.multi_indices_ = self.multi_indices_[np.asarray(indices, dtype=np.intp)]
        return other

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names such as ``P2(x0) P1(x1)``: degree 2 in x0 and degree 1 in x1.

        The letters are P (Legendre), He (Hermite), L (Laguerre) and J (Jacobi).

        Parameters
        ----------
        input_features : array-like of shape (n_features,), default=None
            Names of the inputs. None takes those that `fit` has seen, or x0, x1 and so on.

        Returns
        -------
        names : ndarray of shape (n_terms,)
            Names of the terms.
        """
        check_is_fitted(self, "multi_indices_")
        inputs = _check_feature_names_in(self, input_features)
        letters = [one.family.letter for one in input_distributions(self.distributions_, len(inputs))]
        terms: list[list[str]] = [[] for _ in self.multi_indices_]
        for term, place in zip(*np.nonzero(self.multi_indices_), strict=True):
            terms[term].append(f"{letters[place]}{self.multi_indices_[term, place]}({inputs[place]})")
        return np.array([" ".join(factors) for factors in terms], dtype=object)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state with names and numbers in place of frozen distributions, which not every file may hold."""
        return {**super().__getstate__(), "distributions": in_plain_words(self.distributions)}


def _factors(terms: Indices, largest: Indices) -> Indices:
    """Return the columns of the table of polynomials that each term is a product of, shape (n_factors, n_terms).

    The table has the degrees 0 to `largest` of the first input, then those of the second, and so on. Terms with fewer factors than
    others have the constant, column 0, in place of the rest.
    """
    term, place = np.nonzero(terms)
    number = np.arange(len(term)) - np.searchsorted(term, term)  # of the factor in its term
    factors = np.zeros((number.max(initial=0) + 1, len(terms)), dtype=np.intp)
    factors[number, term] = (np.cumsum(largest + 1) - largest - 1)[place] + terms[term, place]
    return factors


def _multiply(table: Floats, factors: Indices, out: Floats) -> None:
    """Write the products of columns of the table into `out`."""
    for rows in slices(len(table), max(PRODUCTS // max(factors.shape[1], 1), 1)):
        part, product = table[rows], out[rows]
        np.take(part, factors[0], axis=1, out=product, mode="clip")  # the default mode would need a buffer
        for columns in factors[1:]:
            product *= np.take(part, columns, axis=1)


def _check_support(X: Floats, distributions: list[InputDistribution], names: Any) -> None:
    """Raise a ValueError for the first row with a value outside of the support of its distribution."""
    outside = np.column_stack([one.is_outside(values) for values, one in zip(X.T, distributions, strict=True)])
    if not outside.any():
        return
    row, column = np.argwhere(outside)[0]
    kind, (lower, upper) = distributions[column].name, distributions[column].support
    name = "" if names is None else f" ({quoted(names[column])})"
    raise ValueError(
        f"row {row} of {len(X)}, column {column}{name}: {X[row, column]:.10g} is outside of the support [{lower:g}, {upper:g}] of "
        f"its {kind} distribution. Scale the inputs, or pass their distributions, such as "
        "distributions=scipy.stats.uniform(loc, scale)."
    )

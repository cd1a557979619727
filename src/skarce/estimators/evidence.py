"""All candidates with one precision, by evidence."""

from __future__ import annotations

from typing import Any

from skarce._validation import check_weight_variance
from skarce.estimators.regressor import SparseRegressorBase
from skarce.methods.all_candidates import AllCandidates


class EvidenceRegressor(SparseRegressorBase):
    """All candidates, with one precision for their weights and the noise at the maximum of the evidence.

    The dense model beside which sparse ones are judged: a Bayesian ridge regression on the kernels, or a Gaussian process with
    covariance Phi Phi'. One decomposition of the Gram matrix makes the evidence a function of a single number, whose maximum is
    found to all digits. With ``KernelBasis(gamma="ard")`` the kernel widths are learned by the same evidence.

    Parameters
    ----------
    basis : "rbf", "passthrough" or transformer, default="rbf"
        What is in: ``"rbf"`` is `KernelBasis` at the training inputs, ``"passthrough"`` the inputs themselves, a transformer its
        output columns.
    weight_variance : "learned" or float, default="learned"
        The prior variance of every weight, in the squared units of the target over those of the candidates.
    fit_intercept : bool, default=True
        An unpenalised constant, integrated out; its uncertainty is part of the std.
    tol : float, default=1e-9
        The fit has converged when a step would raise the log evidence by no more than this.
    max_iter : int, default=100
        Steps at most; a fit that ends there warns.
    max_active : int, default=None
        Of the result only the functions of largest effect are kept, this many at most. With several targets, so many for each.
    max_time : float, default=None
        Seconds after which the best model so far is returned, with a warning.
    moments : {"auto", "whole", "columns"}, default="auto"
        The whole Gram matrix is needed in any case; ``"columns"`` computes it from Phi where that is stored.
    verbose : int, default=0
        2 prints a line for every step.
    random_state : int, RandomState or None, default=None
        Seeds landmarks and the learning of widths.

    Attributes
    ----------
    active_ : array of shape (n_active,)
        All candidates that are not constant (with an intercept) or zero; none where noise alone is as likely.
    weight_precision_ : array like `coef_`
        The same for all.
    criterion_ : float
        The log evidence: the log density of the targets (with an intercept: of their N - 1 contrasts), with all constants, summed
        over outputs.
    outcome_ : Outcome
        ``NOTHING_HELPS`` where the evidence is largest at no signal at all, ``NO_NOISE`` where it is largest at none that could be
        told from rounding: the precision is then at a bound, 1e-13 of the largest eigenvalue of Phi'Phi times that of the noise.
    trace_ : structured array
        One row per step of the search for the precision.
    coef_, intercept_, noise_variance_, relevance_, basis_, relevance_vectors_, posterior_, n_iter_, criterion_sense_
        As in `RelevanceVectorRegressor`.

    References
    ----------
    MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.
    Barrio, I., Romero, E. and Belanche, L. Search strategies guided by the evidence for the selection of basis functions in
    regression.
    Bo, L., Wang, L. and Jiao, L. Sparse Gaussian processes using backward elimination.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import EvidenceRegressor, KernelBasis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-5, 5, (200, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 200)
    >>> model = EvidenceRegressor(KernelBasis(gamma="evidence")).fit(X, y)
    >>> mean, std = model.predict([[1.5]], return_std=True)
    >>> print(f"{len(model.active_)} functions, {mean[0]:.2f} +- {std[0]:.2f}")
    200 functions, 1.00 +- 0.11
    """

    def __init__(
        self,
        basis: Any = "rbf",
        *,
        weight_variance: float | str = "learned",
        fit_intercept: bool = True,
        tol: float = 1e-9,
        max_iter: int = 100,
        max_active: int | None = None,
        max_time: float | None = None,
        moments: str = "auto",
        verbose: int = 0,
        random_state: Any = None,
    ) -> None:
        self.basis = basis
        self.weight_variance = weight_variance
        self.fit_intercept = fit_intercept
        self.tol = tol
        self.max_iter = max_iter
        self.max_active = max_active
        self.max_time = max_time
        self.moments = moments
        self.verbose = verbose
        self.random_state = random_state

    def _method(self) -> AllCandidates:
        return AllCandidates(check_weight_variance(self.weight_variance))

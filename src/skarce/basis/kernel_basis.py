"""Kernels at centers: the basis of the relevance vector machine and of similar models."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, copied, snapshot, unfitted_twin
from skarce._parameters import as_number, check_dict, generator_of
from skarce._scales import CANDIDATES, check_overflow, checked_counts, checked_scales, largest_of
from skarce._text import quoted
from skarce._typing import Floats, Indices
from skarce._validation import checked_array, quietly_validated, validated_weights
from skarce.basis import learners
from skarce.basis.candidates import ColumnsEvaluation, KernelEvaluation
from skarce.basis.centers import AUTO_LANDMARKS, Centers, choose_centers, is_auto
from skarce.basis.kernels import DISTANCE_KERNELS, FAR, OTHER_NAMES, PRODUCT_KERNELS, Kernel, Polynomial, make_kernel
from skarce.basis.on_device import DeviceEvaluation, kernels_on_device
from skarce.basis.widths import learned_rule, median_gamma, quick_options, scale_gamma

FIXED_SEED = 0  # of a basis that chooses its centers by itself, if random_state is None
GAMMA_RULES = ("scale", "auto", "median", "evidence", "ard", "learned")
LEARNED = ("learned", "evidence", "ard")  # these rules need the targets
AUTO_KERNEL = "auto"  # the kernel is chosen together with its widths
WIDTH_PARAMS = (
    *("covariance", "likelihood", "noise_share", "flatness", "robust"),
    *("n_starts", "max_rows", "max_iter", "tol", "callback"),
)


class KernelBasis(TransformerMixin, BaseEstimator):
    r"""Kernel functions at centers, as a scikit-learn transformer.

    Column j of the output is the kernel between each row and center j. This is the basis of the relevance vector machine and of
    similar models: each column is a candidate, and an estimator chooses a few of them.

    Parameters
    ----------
    kernel : str or callable, default="rbf"
        The kernel function: ``"auto"``, ``"rbf"``, ``"laplacian"``, ``"matern32"``, ``"matern52"``, ``"polynomial"`` (or
        ``"poly"``), ``"linear"``, ``"sigmoid"``, ``"cosine"`` or ``"precomputed"``. The Notes give the formulas. ``"auto"``
        chooses ``"rbf"``, ``"matern52"`` or ``"matern32"`` together with the width, by the evidence; it needs a learned `gamma`.
        With ``"precomputed"``, X is the kernel matrix itself, which must be square in `fit`. A callable is called as
        ``k(X, C, **kernel_params)`` and returns an array of shape (n_samples, n_centers).
    gamma : float, array-like of shape (n_features,), "scale", "auto", "median", "evidence", "ard" or "learned", default="scale"
        Inverse squared width of the kernel.

        - ``"scale"`` is ``1 / (n_features * X.var())``, or ``1 / (n_features * X.std())`` for ``"laplacian"``.
        - ``"auto"`` is ``1 / n_features``, as in scikit-learn's support vector machines.
        - ``"median"`` is 1 over the median squared distance between rows that differ, or over the median sum of absolute
          differences for ``"laplacian"``.
        - ``"evidence"`` learns one width for all inputs from the targets.
        - ``"ard"`` learns one width for each input from the targets.
        - ``"learned"`` is ``"ard"`` for up to 100 inputs and ``"evidence"`` for more, learned quickly: from at most 500 rows, by
          the evidence of a Gaussian process. For kernels whose width cannot be learned it is ``"scale"``.
        - An array has one number for each input.

        Widths are learned by `skarce.model_selection.learn_widths`. Learned widths and arrays are for the distance kernels only:
        ``"rbf"``, ``"laplacian"``, ``"matern32"`` and ``"matern52"``.
    degree : float, default=3
        Degree of the polynomial kernel. Other kernels ignore it.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels. Other kernels ignore it.
    kernel_params : dict, default=None
        Keyword arguments for a callable kernel.
    width_params : dict, default=None
        Options for learned widths: `covariance`, `likelihood`, `noise_share`, `flatness`, `n_starts`, `max_rows`, `max_iter`, `tol`
        and `callback` of `skarce.model_selection.learn_widths`.
    centers : "auto", None, int or array-like of shape (n_centers, n_features), default="auto"
        Where the kernels are.

        - ``"auto"`` takes the distinct training rows of positive weight if there are at most 2000. If there are more, it takes 1000
          landmarks from them, and `outcome_` of a fit that converged is ``ON_LANDMARKS``. Estimators whose steps are slow take
          landmarks earlier, and fewer of them; their pages say how many.
        - None takes all distinct training rows of positive weight, however many there are.
        - An integer takes that many landmarks from these rows, chosen by k-means++ seeding.
        - An array gives the centers.
    random_state : int, RandomState instance or None, default=None
        Seed for the choice of landmarks, and for the rows and starts that widths are learned from. With ``centers="auto"``, None is
        a fixed seed, so that the same data give the same model.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, n_features)
        The centers.
    kernel_ : str or callable
        The kernel in use: what ``kernel="auto"`` chose, or `kernel` itself. ``"poly"`` is ``"polynomial"``.
    gamma_ : float, ndarray of shape (n_features,) or None
        The inverse squared width in use. None for a precomputed kernel.
    center_indices_ : ndarray of shape (n_centers,) or None
        The training rows that are the centers. None if `centers` is an array.
    center_choice_ : str
        How the centers were chosen: ``"all"`` distinct rows, ``"landmarks"`` among them, or ``"given"`` by the user.
    candidate_numbers_ : ndarray of shape (n_centers,)
        The number of each center among all centers of `fit`. It differs from 0, 1, 2, ... after `select`.
    origin_ : ndarray of shape (n_features,)
        The mean of all centers. Distances are computed relative to it, so that inputs far from zero do not lose digits.
    n_candidates : int
        The number of centers.
    n_features_in_ : int
        Number of features seen during `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during `fit`. Defined only if X has feature names that are all strings.

    See Also
    --------
    ProcessBasis : Functions that make a Gaussian process with the kernel as its covariance.
    skarce.model_selection.learn_widths : Learns the widths for ``gamma="evidence"`` and ``gamma="ard"``.
    skarce.RelevanceVectorRegressor : Sparse regression on any basis.

    Notes
    -----
    The kernels between a row x and a center c are, with :math:`\gamma` for gamma and :math:`s = \sqrt{2\gamma}\,\|x - c\|`,

    ==============  ==========================================================
    ``rbf``         :math:`\exp(-\gamma\|x - c\|^2)`
    ``laplacian``   :math:`\exp(-\gamma\|x - c\|_1)`
    ``matern32``    :math:`(1 + \sqrt3\,s)\exp(-\sqrt3\,s)`
    ``matern52``    :math:`(1 + \sqrt5\,s + 5s^2/3)\exp(-\sqrt5\,s)`
    ``polynomial``  :math:`(\gamma\,x^Tc + c_0)^d`, with coef0 and degree
    ``linear``      :math:`x^Tc`
    ``sigmoid``     :math:`\tanh(\gamma\,x^Tc + c_0)`
    ``cosine``      :math:`x^Tc / (\|x\|\,\|c\|)`
    ==============  ==========================================================

    The Matern kernels have the length scale :math:`1/\sqrt{2\gamma}`, so that a given gamma means about the same width as in
    ``"rbf"``. If there is one gamma for each input, :math:`\gamma\|x - c\|^2` becomes :math:`\sum_p\gamma_p(x_p - c_p)^2`, and
    :math:`\gamma\|x - c\|_1` becomes :math:`\sum_p\gamma_p|x_p - c_p|`.

    Sample weights count: a row of weight 2 is like two equal rows, and a row of weight 0 is never a center. The landmarks of
    ``centers="auto"`` are seeded from a random sample of 10 distinct rows for each, in which every row counts once. So they do not
    change if a row of weight 2 is replaced by two rows, as long as distinct rows keep their order. The time is linear in the
    number of rows.

    References
    ----------
    Tipping, M. E. (2001). Sparse Bayesian learning and the relevance vector machine. Journal of Machine Learning Research 1,
    211-244.

    Rasmussen, C. E. and Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press. Chapter 4 has the Matern
    kernels.

    Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of careful seeding. Proceedings of the 18th Annual ACM-SIAM
    Symposium on Discrete Algorithms, 1027-1035.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis
    >>> basis = KernelBasis(gamma=0.5).fit(np.array([[0.0], [1.0], [1.0], [3.0]]))
    >>> basis.centers_.ravel()
    array([0., 1., 3.])
    >>> basis.transform(np.array([[1.0], [2.0]])).round(4)
    array([[0.6065, 1.    , 0.1353],
           [0.1353, 0.6065, 0.6065]])

    Keep one center only:

    >>> basis.select([1]).transform(np.array([[1.0], [2.0]])).round(4)
    array([[1.    ],
           [0.6065]])
    """

    def __init__(
        self,
        kernel: Any = "rbf",
        *,
        gamma: Any = "scale",
        degree: float = 3,
        coef0: float = 1.0,
        kernel_params: dict[str, Any] | None = None,
        width_params: dict[str, Any] | None = None,
        centers: Any = "auto",
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.width_params = width_params
        self.centers = centers
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelBasis:
        """Choose the centers and the width.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows. With ``kernel="precomputed"``, the square kernel matrix of the training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Targets. They are needed only if `gamma` is ``"evidence"`` or ``"ard"``.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None gives all rows weight 1.

        Returns
        -------
        self : KernelBasis
            The fitted basis.
        """
        twin = unfitted_twin(self)
        X = checked_scales(quietly_validated(twin, X))
        weights = None
        if sample_weight is not None:
            weights = checked_counts(validated_weights(sample_weight, X))
        return become(self, twin.fit_checked(X, weights, y))

    def fit_checked(
        self, X: Floats, weights: Floats | None, y: Any = None, n_landmarks: int = AUTO_LANDMARKS, **learning: Any
    ) -> KernelBasis:
        """Fit to rows and weights that were checked. Called on an unfitted twin.

        ``centers="auto"`` takes `n_landmarks` if there are many rows, and `learning` are options of `learn_widths`.
        """
        self.n_features_in_ = X.shape[1]
        self._check_kernel()
        self.kernel_: Any = OTHER_NAMES.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        rng = generator_of(self._seed())
        if self.kernel == "precomputed":
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    f'kernel="precomputed" needs the square kernel matrix of the training rows in fit, got shape {X.shape}.'
                )
            self.gamma_ = None
            rows = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
            self._take(Centers(rows[:, None].astype(X.dtype), rows, "all"))
        else:
            gamma = None if self.learns_width else self._resolve_gamma(X, weights, rng)
            self._take(choose_centers(self.centers, X, weights, rng, n_landmarks))
            self.gamma_ = gamma
            if gamma is None:
                learned = self._learned(X, weights, y, learning)
                self.kernel_, self.gamma_ = learned.kernel, learned.gamma
        self.candidate_numbers_ = np.arange(len(self.centers_))
        self.origin_ = self.centers_.mean(axis=0)
        self._check_narrowness()
        self._check_underflow()
        return self

    def _take(self, chosen: Centers) -> None:
        self.centers_: Floats = chosen.centers
        self.center_indices_: Indices | None = chosen.rows
        self.center_choice_: str = chosen.choice

    def _seed(self) -> Any:
        """Return random_state, or a fixed seed if the basis chooses its centers by itself: the same data give the same model."""
        return FIXED_SEED if self.random_state is None and is_auto(self.centers) else self.random_state

    def transform(self, X: Any) -> Floats:
        """Evaluate the kernels between the rows of X and the centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. With ``kernel="precomputed"``, the kernel between these rows and the training rows.

        Returns
        -------
        phi : ndarray of shape (n_samples, n_centers)
            One column for each center.
        """
        fitted = snapshot(self)
        check_is_fitted(fitted)
        X = quietly_validated(fitted, X, reset=False)
        evaluation = fitted.on(X)
        with np.errstate(over="ignore", invalid="ignore"):
            phi = evaluation.columns(np.arange(evaluation.n_candidates))
        if fitted.kernel_ in PRODUCT_KERNELS:  # kernels of distances cannot overflow
            check_overflow(phi, "kernels")
        return phi

    def select(self, indices: Any) -> KernelBasis:
        """Return the same basis with only some centers.

        Parameters
        ----------
        indices : array-like of shape (n_selected,)
            Numbers of the centers to keep, in the order in which they are kept.

        Returns
        -------
        basis : KernelBasis
            A fitted basis.
        """
        if not hasattr(self, "centers_"):  # the check of scikit-learn takes longer than all that follows
            check_is_fitted(self)
        indices = np.asarray(indices, dtype=np.intp)
        chosen = copied(self)
        chosen.centers_ = self.centers_[indices]
        chosen.center_indices_ = None if self.center_indices_ is None else self.center_indices_[indices]
        chosen.candidate_numbers_ = self.candidate_numbers_[indices]
        return chosen

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return names like ``rbf7``: the name of the kernel, and the number of the center among the candidates.

        Parameters
        ----------
        input_features : array-like of shape (n_features,), default=None
            Ignored. It exists for the interface of scikit-learn.

        Returns
        -------
        names : ndarray of shape (n_centers,)
            Names of the output columns.
        """
        check_is_fitted(self)
        return self.names_of(self.candidate_numbers_)

    def names_of(self, numbers: Any) -> Any:
        """Return the names of the candidates with these numbers, whether they were selected or not."""
        name = self.kernel_ if isinstance(self.kernel_, str) else "kernel"
        return np.array([f"{name}{i}" for i in numbers], dtype=object)

    @property
    def n_candidates(self) -> int:
        """The number of centers."""
        return len(self.centers_)

    def on(self, X: Floats) -> KernelEvaluation | ColumnsEvaluation:
        """Return the candidates at validated rows. The evaluation computes blocks of them on demand."""
        if self.kernel_ == "precomputed":
            columns = self.center_indices_
            whole = columns is None or len(columns) == X.shape[1]
            return ColumnsEvaluation(X if whole else X[:, columns])
        X = X.astype(np.result_type(X, self.centers_), copy=False)
        same = isinstance(self.kernel_, str) and np.array_equal(X, self.centers_)
        return KernelEvaluation(self.make_kernel(), X, self.centers_.astype(X.dtype, copy=False), symmetric=same)

    def on_device(self, X: Any) -> DeviceEvaluation:
        """Return the candidates at validated rows on a device. The evaluation computes rows of them on demand, there."""
        if self.kernel_ == "precomputed":
            raise ValueError('kernel="precomputed" takes a kernel matrix in the memory of the host: pass a NumPy array.')
        return kernels_on_device(self.make_kernel(), X, self.centers_)

    def make_kernel(self) -> Kernel:
        """Return the kernel with the fitted width."""
        return make_kernel(self.kernel_, self.gamma_, self.degree, self.coef0, self.kernel_params, self.origin_)

    @property
    def learns_width(self) -> bool:
        """Whether the width is learned from the targets."""
        if not (isinstance(self.gamma, str) and self.gamma in LEARNED):
            return False
        return self.gamma != "learned" or (isinstance(self.kernel, str) and self.kernel in (AUTO_KERNEL, *DISTANCE_KERNELS))

    @property
    def takes_every_row(self) -> bool:
        """Whether each distinct row is a center because none were given: `centers` is None, or ``"auto"`` with few rows."""
        return self.centers is None or (is_auto(self.centers) and self.center_choice_ == "all")

    @property
    def is_on_landmarks(self) -> bool:
        """Whether ``centers="auto"`` found too many rows and chose landmarks."""
        return is_auto(self.centers) and self.center_choice_ == "landmarks"

    def _check_kernel(self) -> None:
        known = [AUTO_KERNEL, *DISTANCE_KERNELS, *PRODUCT_KERNELS, *OTHER_NAMES, "precomputed"]
        if not callable(self.kernel) and not (isinstance(self.kernel, str) and self.kernel in known):
            raise ValueError(f"kernel must be one of {known} or a callable k(X, C), got {quoted(self.kernel)}.")
        check_learned(self.kernel, self.gamma)
        for name in ("degree", "coef0"):
            if not abs(as_number(getattr(self, name))) < np.inf:
                raise ValueError(f"{name} must be a finite number, got {quoted(getattr(self, name))}.")
        for name in ("kernel_params", "width_params"):
            check_dict(name, getattr(self, name))

    def _check_narrowness(self) -> None:
        """Raise a ValueError if gamma is so large that squared distances between centers would overflow."""
        if not isinstance(self.kernel_, str) or self.kernel_ not in DISTANCE_KERNELS:
            return
        gamma = np.asarray(self.gamma_, dtype=np.float64)
        factors, most = gamma if self.kernel_ == "laplacian" else np.sqrt(gamma), FAR[self.centers_.dtype.char]
        if float(factors.max()) * _length(differences := self.centers_ - self.origin_) < most:  # no difference is longer than all
            return
        reach = float(np.max(np.broadcast_to(factors, len(self.origin_)) * largest_of(differences)))
        if not reach < most:
            raise ValueError(
                f"gamma={gamma.max():.3g} is too large for these inputs: centers are {reach:.3g} widths apart, but at "
                f'most {most:g} can be computed. Choose a smaller gamma, or gamma="scale".'
            )

    def _check_underflow(self) -> None:
        """Raise a ValueError if every polynomial kernel is so small that its power may underflow to zero."""
        if not (isinstance(self.kernel_, str) and PRODUCT_KERNELS.get(self.kernel_) is Polynomial):
            return
        norm = float(np.sqrt(self.centers_.shape[1])) * float(np.abs(self.centers_).max())
        largest = abs(float(self.gamma_ or 0.0)) * norm * norm + abs(self.coef0)
        if norm > 0.0 and (largest == 0.0 or float(self.degree) * np.log10(largest) < np.log10(CANDIDATES.smallest)):
            raise ValueError(
                f"every polynomial kernel is at most {largest:.3g}**{self.degree:g}, but kernels must be in the range "
                f'{CANDIDATES}. Use gamma="scale", or a larger gamma or coef0.'
            )

    def _learned(self, X: Floats, weights: Floats | None, y: Any, learning: dict[str, Any]) -> Any:
        """Return what `learn_widths` finds: the kernel and its widths."""
        if y is None:
            raise ValueError(
                f"KernelBasis requires y to be passed, but the target y is None: gamma={self.gamma!r} is learned from the targets. "
                "Pass y to fit, or choose gamma='scale' or a number."
            )
        learning = learning or learners.handed()
        chosen = {**(quick_options(learning) if self.gamma == "learned" else {}), **(self.width_params or {})}
        if unknown := chosen.keys() - WIDTH_PARAMS:
            raise ValueError(f"width_params has no {sorted(unknown)}; choose from {list(WIDTH_PARAMS)}.")
        of_process = chosen.get("covariance") == "kernel"  # a process has neither centers nor weights
        rule = learned_rule(self.gamma, X.shape[1])
        # A process has no weights, and one width for all inputs is too little to explain labels without noise.
        left_out = {"weight_variance"} if of_process else set()
        left_out |= {"likelihood", "noise_share"} if rule == "evidence" else set()
        learning = {name: value for name, value in learning.items() if name not in left_out}
        return learners.learn_widths(
            X,
            y,
            gamma=rule,
            kernel=self.kernel,
            centers=None if of_process or self.takes_every_row else self.centers_,
            sample_weight=weights,
            random_state=self._seed(),
            **{**learning, **chosen},
        )

    def _resolve_gamma(self, X: Floats, weights: Floats | None, rng: np.random.RandomState) -> Any:
        gamma = self.gamma
        if isinstance(gamma, str) and gamma in GAMMA_RULES:
            absolute = self.kernel == "laplacian"
            if gamma == "auto":
                return 1.0 / X.shape[1]
            return median_gamma(X, weights, rng, absolute) if gamma == "median" else scale_gamma(X, weights, absolute)
        if isinstance(gamma, Real) and not isinstance(gamma, (bool, np.bool_)):
            if not 0.0 < as_number(gamma) < np.inf:
                raise ValueError(f"gamma must be positive and finite, got {quoted(gamma)}.")
            return float(gamma)
        if isinstance(gamma, str) or np.ndim(gamma) == 0:
            raise ValueError(f"gamma must be a number, one number per input, or one of {list(GAMMA_RULES)}, got {quoted(gamma)}.")
        gammas = checked_array(gamma, "gamma", ensure_2d=False, dtype=np.float64)
        if self.kernel not in DISTANCE_KERNELS:
            raise ValueError(f"one gamma per input is for {list(DISTANCE_KERNELS)}, not for kernel={quoted(self.kernel)}.")
        if gammas.shape != (X.shape[1],):
            raise ValueError(f"gamma must have one entry for each of the {X.shape[1]} inputs, got shape {gammas.shape}.")
        if (gammas < 0.0).any():
            raise ValueError(f"gamma must not be negative, got {gammas.min()}.")
        return gammas

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.target_tags.required = self.learns_width
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a basis. One that was saved before kernels could be chosen has no `kernel_`: it is the one that was asked for."""
        super().__setstate__(state)
        if hasattr(self, "centers_") and not hasattr(self, "kernel_"):
            self.kernel_ = self.kernel


def _length(values: Floats) -> float:
    """Return the Euclidean length of all values together. It may be infinite, or NaN."""
    flat = values.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.sqrt(flat @ flat))


def check_learned(kernel: Any, gamma: Any) -> None:
    """Raise a ValueError if the kernel is to be chosen but its width is not learned: the evidence chooses both."""
    if isinstance(kernel, str) and kernel == AUTO_KERNEL and not (isinstance(gamma, str) and gamma in LEARNED):
        raise ValueError(
            'kernel="auto" is chosen together with learned widths: it needs gamma="learned", "ard" or "evidence", got '
            f"{quoted(gamma)}."
        )

"""Kernel dimension reduction as a transformer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import become, snapshot, unfitted_twin
from skarce._parallel import blas_threads
from skarce._parameters import as_number, check_choice, check_count, check_verbose, is_count, seeded
from skarce._progress import shown
from skarce._scales import SQUARED, center_and_spread, check_targets, checked_scales, standardized_inputs
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import numeric_targets, quietly_validated
from skarce.estimators.callbacks import CallbackSupport, called_back
from skarce.estimators.classifier import checked_labels
from skarce.estimators.rows_in_memory import FIT_A_SAMPLE, takes_rows_in_memory
from skarce.methods.dimension_reduction import (
    Plan,
    choose_n_components,
    draw_landmarks,
    enough_components,
    label_features,
    number_features,
    reduce_inputs,
)

TARGET_KERNELS = ("auto", "rbf", "labels")
MOST_COMPONENTS = 5  # that "auto" tries
FEWEST_ROWS = 3  # of which the directions can be learned
MOST_STARTS = 10_000
SMALLEST, LARGEST = 1e-10, 1e10  # of widths and the regularization
NOT_CONVERGED = "The directions have not converged. Raise max_iter, or use a larger tol."


class KernelDimensionReduction(ClassNamePrefixFeaturesOutMixin, TransformerMixin, CallbackSupport, BaseEstimator):
    r"""The directions of the inputs on which the target depends, in any way.

    Given the projections of the inputs on these directions, the target shall not depend on the rest of the inputs [1]_. The
    dependence may be curved, and it may be one of the noise. The result is a linear map to a few columns, in front of any model.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of directions. ``"auto"`` tries 1, 2, ... up to 5 and stops if one more does not lower the error of left-out rows, in
        three folds, by 2 %.
    width : float, default=0.5
        Width of the Gaussian kernel of projections, divided by the square root of the number of directions. Inputs are divided by
        their standard deviations first.
    annealing : sequence of float, default=(4.0, 2.0)
        Before the kernel has its width, the directions are found with this many times the width, one after the other. Wide kernels
        have fewer local minima. ``()`` is the width alone.
    regularization : float, default=1e-3
        The regularization :math:`\epsilon` of the kernel. Larger values are smoother.
    target_kernel : {"auto", "rbf", "labels"}, default="auto"
        ``"rbf"`` is a Gaussian kernel of targets that are numbers, of width one in units of their standard deviations. ``"labels"``
        is one for equal targets and zero for others. ``"auto"`` is ``"rbf"`` for numbers and ``"labels"`` for text and booleans.
    n_starts : int, default=5
        Number of starts, at most 10,000. The first one is linear, and the others are random.
    n_landmarks : int, default=100
        If there are more rows, kernels are spanned by those at this many rows, drawn at random (Nystroem's method). If there are
        not, kernels are exact.
    max_rows : int, default=2000
        If there are more rows, the directions are found with this many of them, drawn at random.
    tol : float, default=1e-4
        The search ends if the gradient of the contrast along the subspaces has at most this norm.
    max_iter : int, default=500
        Largest number of steps from each start, for all widths together.
    random_state : int, RandomState instance or None, default=None
        Seed for starts, folds, landmarks and rows. None is a fixed seed: the same data give the same directions.
    verbose : int, default=0
        With 1, progress on standard error.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, as orthonormal rows, in units of the scaled inputs.
    mean_ : ndarray of shape (n_features,)
        Means of the inputs.
    scale_ : ndarray of shape (n_features,)
        Standard deviations of the inputs. A column that does not vary has the scale 1 or its absolute value.
    n_components_ : int
        Number of directions.
    contrast_ : float
        The share of the target's kernel that the projections leave unexplained, penalty included, between 0 and 1.
    start_contrasts_ : ndarray of shape (n_starts,)
        The same for each start. If few of them agree with the least, more starts may help.
    errors_ : dict
        Error of left-out rows for each number of directions that was tried. It is empty if the number is given.
    n_iter_ : int
        Steps of the best start.
    n_features_in_ : int
        Number of features seen during :term:`fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of features seen during :term:`fit`. Defined only when `X` has feature names that are all strings.

    See Also
    --------
    JointFactorRegressor : Factors that explain inputs and targets, by a linear model.
    KernelBasis : With ``gamma="ard"`` it finds out which inputs matter, one by one.

    Notes
    -----
    With the centered kernels :math:`G_Y` of the targets and :math:`G_B` of the projections :math:`XB`, the contrast is

    .. math:: \mathrm{tr}\left[G_Y(G_B + n\epsilon I)^{-1}\right],

    divided by its value without projections, and minimized over all subspaces with :math:`B^TB = I`. Its gradient is exact, also
    with landmarks. Steps are those of a quasi-Newton method in coordinates of the Grassmann manifold.

    References
    ----------
    .. [1] Fukumizu, K., Bach, F. R. and Jordan, M. I. (2009). Kernel dimension reduction in regression. Annals of Statistics, 37,
       1871-1905.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelDimensionReduction
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 6))
    >>> y = (X[:, 0] + X[:, 1]) ** 2 + rng.normal(0, 0.1, 200)
    >>> reduction = KernelDimensionReduction().fit(X, y)
    >>> reduction.n_components_
    1
    >>> np.abs(reduction.components_).round(1)
    array([[0.7, 0.7, 0. , 0. , 0. , 0. ]])
    >>> reduction.transform(X).shape
    (200, 1)
    """

    def __init__(
        self,
        n_components: Any = "auto",
        *,
        width: float = 0.5,
        annealing: Any = (4.0, 2.0),
        regularization: float = 1e-3,
        target_kernel: str = "auto",
        n_starts: int = 5,
        n_landmarks: int = 100,
        max_rows: int = 2000,
        tol: float = 1e-4,
        max_iter: int = 500,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_components = n_components
        self.width = width
        self.annealing = annealing
        self.regularization = regularization
        self.target_kernel = target_kernel
        self.n_starts = n_starts
        self.n_landmarks = n_landmarks
        self.max_rows = max_rows
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    @takes_rows_in_memory(FIT_A_SAMPLE)
    def fit(self, X: Any, y: Any) -> Any:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training inputs.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets: numbers, or labels.

        Returns
        -------
        self : object
            Fitted transformer.
        """
        plan, rng = self._plan(), seeded(self.random_state)
        with called_back(self, X, y, None) as tell:
            with shown(self.verbose), blas_threads(1):
                twin = self._fitted_twin(X, y, plan, rng)
            tell(twin)
        if not twin._is_converged:
            warnings.warn(NOT_CONVERGED, ConvergenceWarning, stacklevel=2)
        return become(self, twin)

    def transform(self, X: Any) -> Floats:
        """Project rows on the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs.

        Returns
        -------
        projections : ndarray of shape (n_samples, n_components)
            Projections of the scaled inputs.
        """
        check_is_fitted(self)
        model = snapshot(self)
        X = np.asarray(quietly_validated(model, X, reset=False), dtype=np.float64)
        return standardized_inputs(X, model.mean_, model.scale_) @ model.components_.T

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that `fit` needs targets."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _fitted_twin(self, X: Any, y: Any, plan: Plan, rng: np.random.RandomState) -> Any:
        """Return a twin with all fitted attributes. This estimator does not change."""
        twin = unfitted_twin(self)
        X, y = quietly_validated(twin, X, y, multi_output=True, ensure_min_samples=FEWEST_ROWS)
        X = checked_scales(np.asarray(X, dtype=np.float64), SQUARED)
        self._check_room(X.shape[1])
        if (X[:1] == X).all():
            raise ValueError("X does not vary, so no direction of it says anything. Pass rows with at least two different inputs.")
        targets = self._checked_targets(y)
        rows = draw_landmarks(len(X), int(self.max_rows), rng)
        twin.mean_, twin.scale_ = center_and_spread(X)
        inputs = (X[rows] - twin.mean_) / twin.scale_
        twin._learn(inputs, self._features(targets[rows], rng), plan, rng)
        return twin

    def _learn(self, inputs: Floats, targets: Floats, plan: Plan, rng: np.random.RandomState) -> None:
        """Set all fitted attributes but the scales of inputs."""
        self.errors_: dict[int, float] = {}
        if isinstance(self.n_components, str):
            most = min(MOST_COMPONENTS, inputs.shape[1])
            self.errors_ = choose_n_components(inputs, targets, plan, most, rng)
            plan = plan.with_components(enough_components(self.errors_))
        found = reduce_inputs(inputs, targets, plan, rng)
        self.components_, self.n_components_ = found.directions.T, plan.n_components
        self.contrast_, self.start_contrasts_, self.n_iter_ = found.contrast, found.start_contrasts, found.n_iter
        self._is_converged = found.is_converged

    def _plan(self) -> Plan:
        """Return how directions are searched. Raise a ValueError if a parameter is wrong."""
        check_count("n_starts", self.n_starts, most=MOST_STARTS)
        check_count("n_landmarks", self.n_landmarks)
        check_count("max_iter", self.max_iter)
        check_verbose(self.verbose)
        check_count("max_rows", self.max_rows, FEWEST_ROWS)
        check_choice("target_kernel", self.target_kernel, TARGET_KERNELS)
        for name in ("width", "regularization", "tol"):
            if not SMALLEST <= as_number(getattr(self, name)) <= LARGEST:
                given = quoted(getattr(self, name))
                raise ValueError(f"{name} must be a number from {SMALLEST:g} to {LARGEST:g}, got {given}.")
        is_auto = isinstance(self.n_components, str) and self.n_components == "auto"
        if not (is_auto or is_count(self.n_components)):
            raise ValueError(f'n_components must be "auto" or a whole number of at least 1, got {quoted(self.n_components)}.')
        return Plan(
            n_components=1 if is_auto else int(self.n_components),
            width=float(self.width),
            annealing=_checked_factors(self.annealing),
            ridge=float(self.regularization),
            n_starts=int(self.n_starts),
            n_landmarks=int(self.n_landmarks),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
        )

    def _check_room(self, n_features: int) -> None:
        if not isinstance(self.n_components, str) and self.n_components > n_features:
            raise ValueError(f"n_components={quoted(self.n_components)} must be at most the number of columns of X, {n_features}.")

    def _checked_targets(self, y: Any) -> Any:
        """Return labels, or numbers in a matrix. Raise a ValueError if they do not vary."""
        is_number = np.asarray(y).dtype.kind in "iuf" if self.target_kernel == "auto" else self.target_kernel == "rbf"
        targets = numeric_targets(y) if is_number else np.asarray(y)
        targets = targets.reshape(len(targets), -1)
        if is_number:
            check_targets(targets)
        else:
            for column in targets.T:
                checked_labels(column)
        if (targets == targets[:1]).all():
            raise ValueError("y does not vary, so no direction of X matters to it. Pass targets with at least two values.")
        return targets

    def _features(self, targets: Any, rng: np.random.RandomState) -> Floats:
        if targets.dtype.kind != "f" or self.target_kernel == "labels":
            return label_features(targets)
        center, scale = center_and_spread(targets)
        landmarks = draw_landmarks(len(targets), int(self.n_landmarks), rng)
        return number_features((targets - center) / scale, landmarks, float(np.sqrt(targets.shape[1])))


def _checked_factors(annealing: Any) -> tuple[float, ...]:
    """Return the factors of the width as numbers. Raise a ValueError if they are none."""
    try:
        factors = [as_number(factor) for factor in annealing]
    except TypeError:
        factors = [float("nan")]
    if not all(1.0 <= factor <= LARGEST for factor in factors):
        raise ValueError(f"annealing must be a sequence of numbers from 1 to {LARGEST:g}, got {quoted(annealing)}.")
    return tuple(factors)

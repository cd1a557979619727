"""Kernel widths by the evidence: one for all inputs, or one for each input."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length

from skarce._device import is_dispatched, is_on_device
from skarce._parallel import blas_threads
from skarce._parameters import as_number, check_choice, check_count, check_finite_share, generator_of
from skarce._progress import progress
from skarce._scales import check_targets, checked_counts, checked_scales
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_array, validated_weights
from skarce.designs.device_rows import DeviceRows
from skarce.model_selection.kernel_slopes import NAMES
from skarce.model_selection.outliers import learned_without_outliers
from skarce.model_selection.width_data import Data, Scale
from skarce.model_selection.width_effort import Effort, Progress
from skarce.model_selection.width_evidence import COVARIANCES
from skarce.model_selection.width_objective import BERNOULLI, GAUSSIAN, Model, Widths
from skarce.model_selection.width_search import Search

RULES = ("evidence", "ard")
AUTO = ("matern52", "rbf", "matern32")  # the kernels that kernel="auto" chooses from


def learn_widths(
    X: Any,
    y: Any,
    *,
    gamma: str = "ard",
    kernel: str = "rbf",
    centers: Any = None,
    sample_weight: Any = None,
    fit_intercept: bool = True,
    covariance: str = "weights",
    weight_variance: Any = None,
    noise_share: float | None = None,
    likelihood: str = GAUSSIAN,
    flatness: float = 0.0,
    robust: bool = False,
    n_starts: int = 3,
    max_rows: int = 1000,
    max_iter: int = 200,
    max_time: float | None = None,
    tol: float = 1e-2,
    callback: Callable[[Progress], object] | None = None,
    random_state: Any = None,
    device: Any = None,
) -> Widths:
    r"""Learn kernel widths that maximize the log evidence of the model with all candidates and one weight precision.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Training rows.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        Targets. Several outputs share the widths and the ratio of signal to noise.
    gamma : {"ard", "evidence"}, default="ard"
        ``"ard"`` learns one width for each input, and ``"evidence"`` learns one width for all inputs.
    kernel : {"auto", "rbf", "laplacian", "matern32", "matern52"}, default="rbf"
        The kernel function; `KernelBasis` has the formulas. ``"auto"`` learns widths for ``"rbf"``, ``"matern52"`` and
        ``"matern32"`` and keeps the kernel with the largest log evidence.
    centers : array-like of shape (n_centers, n_features), default=None
        Where the kernels are. None takes the distinct rows. Of more than `max_rows` centers, a random sample is used.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows; None gives all rows weight 1. Weights count: a row of weight 2 is like two equal rows. But if their
        average is above one, they are scaled down to one on average, and rows that repeat both inputs and targets are joined into
        one row: an exact repetition would prove that there is no noise.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior. The evidence is then that of the contrasts of the targets.
    covariance : {"weights", "kernel"}, default="weights"
        ``"weights"`` is the model of the estimators: the signal has the covariance Phi Phi'. ``"kernel"`` takes Phi itself as the
        covariance, the usual Gaussian process. This costs half as much, but these are the widths of another model.
    weight_variance : float or array-like of shape (n_outputs,), default=None
        The prior variance of the weights, in the squared units of the targets. None learns it. Only for ``covariance="weights"``.
    noise_share : float, default=None
        The variance of the noise as a share of the variance of each target, if it is not to be learned; see the Notes.
    likelihood : {"gaussian", "bernoulli"}, default="gaussian"
        How targets arise: with normal noise, or as labels. Every column of labels has two values, and the larger one is a one. The
        evidence of labels is that of the approximation of Laplace; see the Notes. `noise_share` and `weight_variance` do not go
        with it.
    flatness : float, default=0.0
        Strength of a prior against kernels that are almost the same number at all rows. The density is one minus the mean of the
        kernel, to this power. Sparse models need it, because functions that look alike are hard to select from.
    robust : bool, default=False
        Whether rows whose targets are outliers may be left out; see the Notes. The regressors set it.
    n_starts : int, default=3
        The number of starts of the optimizer. The first three have equal widths; more are drawn at random.
    max_rows : int, default=1000
        The largest number of rows to use. If there are more rows, a random sample is used.
    max_iter : int, default=200
        The largest number of iterations for each start.
    max_time : float, default=None
        The time limit in seconds. At the limit, the best widths so far are returned with a warning. None sets no limit.
    tol : float, default=1e-2
        A start ends after an iteration that raises the log evidence by at most this amount, if the next one promises no more.
    callback : callable, default=None
        A function that is called with a `Progress` after every iteration. If it raises `StopIteration`, learning ends with the best
        widths so far.
    random_state : int, RandomState instance or None, default=None
        Seed for the samples of rows and for the random starts. None uses a fixed seed.
    device : array on a device, default=None
        An array of PyTorch or CuPy that says where pairs of rows and centers are computed if there are at least 2,000 rows, so that
        `max_rows` can be 10,000 or more. None computes on the host. If X is on a device itself, under
        ``sklearn.config_context(array_api_dispatch=True)``, then so are its pairs. The likelihood of labels stays on the host.

    Returns
    -------
    widths : Widths
        The widths, the log evidence, the noise variance and the weight precision. ``widths.gamma`` can be passed to `KernelBasis`.

    See Also
    --------
    skarce.KernelBasis : Calls this function if gamma is ``"evidence"`` or ``"ard"``.
    width_by_bound : One width by the variational bound of a `VBLSRegressor`.
    skarce.CriterionSearch : Chooses any parameter by the criterion of a model.

    Notes
    -----
    With the kernels :math:`\Phi` at the centers, targets are :math:`t\sim N(0, \sigma^2(I + \Phi\Phi^T/\rho))`. The noise
    variance is set to its optimum :math:`a/n` with :math:`a = t^T(I + \Phi\Phi^T/\rho)^{-1}t`, and the log evidence is

    .. math:: L = -\tfrac n2\log a - \tfrac12\log|I + \Phi\Phi^T/\rho| + \text{const}.

    Three weak priors exclude maxima that do not predict. `log_evidence` does not include them.

    - Each width g (gamma, for squared or absolute differences) has the density
      :math:`p(\log g)\propto e^{-g\delta_s}\,(1 + \varepsilon/(g\delta_r))^{-b}` with :math:`\varepsilon = 10^{-5}` and b = 0.02.
      Here :math:`\delta_s` is the squared (absolute) difference of neighboring distinct values of the input, by the median of the
      differences, and :math:`\delta_r` that of its smallest and largest value. So kernels that make every value of a grid a
      category of its own are unlikely. Between the spacing and two hundred times the range the density is flat, and inputs that
      do not matter can be switched off. One width for all inputs has the smallest spacing and the largest range of them. An input
      that does not vary has no say, and gamma 0.
    - With :math:`m_i`, the sum of the kernels between row i and all other places, the share of rows with neighbors is the mean of
      :math:`m_i/(1 + m_i)`. Its tenth power is a prior density. If no row sees another one, the signal imitates noise.
    - The noise has the prior :math:`p(\sigma^2)\propto\sigma^{2c}` with :math:`c = \min(2, n/4)`.

    A target that has lost its decimal point can be worth more to L than all others. So with ``robust=True``, of 30 or more rows at
    most one in a hundred is left out if its targets are outliers: more than ten robust standard deviations from the median of its
    ten nearest neighbors, or from what the learned process predicts for it from the other rows. Widths without them are kept if L
    of the other rows, with the log probability of the outliers, is larger than L of all rows. Each row is an outlier with
    probability 1/n, and outliers have a normal distribution about the mean of the others, with a variance of their own.

    A quasi-Newton method maximizes L with the priors over the logarithms of the widths and of the ratio of signal to noise,
    :math:`\operatorname{tr}(\Phi\Phi^T)/(n\rho)`, with analytic derivatives and within bounds.

    All starts race on few rows (20 for each width, at least 250 and at most 400), with the kernel itself as the covariance. This is
    cheaper, and it has fewer local maxima. In one of the first three starts, each kernel is as wide as the standard deviation of
    its input. The best two then continue with all rows, at most `max_rows`, and with the covariance that was asked for; they take
    over the curvature that the race has learned. A start ends early if it runs into the maximum of another one. For rbf kernels,
    :math:`\Phi\Phi^T` is about as wide as :math:`\Phi` with half the gamma, so ``covariance="kernel"`` finds about half the gamma
    of ``covariance="weights"``.

    With ``kernel="auto"``, the starts race with one kernel, and the other kernels go on from what it found. The best kernel is
    finished first, and the others from there, as long as they can win.

    Labels are not numbers with normal noise: one that is the same at two rows does not say that there is no noise. The logistic
    likelihood of labels t in {0, 1}, expanded to second order about the share p of the ones, is that of targets t - p with noise of
    variance p(1 - p), which is the variance of the targets. So for labels ``noise_share=1`` makes L an approximate evidence of a
    classifier, with the expansion of Laplace at a constant latent function instead of the mode. But this signal has to be a label
    itself, flat within a class and steep between classes, so its kernels are too narrow. With ``likelihood="bernoulli"`` only the
    starts race with it, and the best ones are finished with the expansion at the mode (Rasmussen and Williams, section 3.4). Log
    odds have a constant with standard deviation 10, and the prior variance v of the signal has the density exp(-v/200).
    `noise_variance` is then 1/(p(1 - p)), averaged over classes as 1/noise_variance, and `weight_precision` is that of log odds.

    References
    ----------
    MacKay, D. J. C. (1992). Bayesian interpolation. Neural Computation 4, 415-447.

    Rasmussen, C. E. and Williams, C. K. I. (2006). Gaussian Processes for Machine Learning. MIT Press. Chapter 5.

    Nocedal, J. and Wright, S. J. (2006). Numerical Optimization. Springer. Chapters 6 and 18.

    Examples
    --------
    The second input does not matter, and its gamma becomes almost zero:

    >>> import numpy as np
    >>> from skarce.model_selection import learn_widths
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (100, 2))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 100)
    >>> learned = learn_widths(X, y)
    >>> bool(learned.gamma[0] > 1000 * learned.gamma[1])
    True
    >>> print(f"{learned.noise_variance**0.5:.2f}")
    0.12
    """
    deadline = None if max_time is None else time.monotonic() + max_time
    if is_on_device(X) and is_dispatched():
        X, y, sample_weight, device = _moved(X, y, sample_weight, max_rows, random_state)
    _check_choices(gamma, kernel, covariance, n_starts, max_rows, centers)
    X = checked_array(X, "X", dtype=np.float64)
    y = checked_array(y, "y", ensure_2d=False, dtype=np.float64)
    check_consistent_length(X, y)
    _check_weight_variance(weight_variance, covariance, 1 if y.ndim == 1 else y.shape[1])
    check_finite_share("flatness", flatness)
    _check_likelihood(likelihood, noise_share, weight_variance)
    if likelihood == BERNOULLI:
        y = _signs(y)
    X, weights = checked_scales(X), None
    check_targets(y.reshape(len(y), -1))
    if sample_weight is not None:
        weights = checked_counts(validated_weights(sample_weight, X))
    centers = None if centers is None else _checked_centers(centers, X.shape[1])
    rng = generator_of(0 if random_state is None else random_state)
    data = _of_positive_weight(X, y.reshape(len(y), -1), weights, centers).without_repeats().thinned(max_rows, rng)
    scale = Scale.of(data, kernel, one_for_all=gamma == "evidence")
    effort = Effort(tol, max_iter, deadline, callback)
    kernels = AUTO if kernel == "auto" else (kernel,)
    model = Model(kernels[0], fit_intercept, covariance, weight_variance, noise_share, flatness, likelihood, device)
    models = [model._replace(kernel=name) for name in kernels]

    def learned_from(rows: Data) -> Widths:
        return Search.of(rows, scale, effort, n_starts, rng).learn(models)

    with blas_threads(1), progress("learning widths", unit="evaluations", deadline=deadline) as effort.part:
        found = learned_without_outliers(learned_from, data, scale, model) if robust else learned_from(data)
    if effort.has_run_out:
        warnings.warn(
            "The time limit was reached while kernel widths were learned; these are the best widths so far. Raise max_time, or "
            "lower n_starts or max_rows.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return (
        found if y.ndim > 1 else replace(found, noise_variance=found.noise_variance[0], weight_precision=found.weight_precision[0])
    )


def _moved(X: Any, y: Any, sample_weight: Any, max_rows: int, random_state: Any) -> tuple[Any, Any, Any, Any]:
    """Move as many rows as are used to the host, drawn by their weights, and return where they were."""
    check_count("max_rows", max_rows, 2)
    drawn = DeviceRows.of(X, y, sample_weight).sample(0 if random_state is None else random_state, int(max_rows))
    return drawn.X, drawn.y, drawn.row_weights, X


def _of_positive_weight(X: Floats, targets: Floats, weights: Floats | None, centers: Floats | None) -> Data:
    places = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
    return Data(X[places], targets[places], None if weights is None else weights[places], centers)


def _check_weight_variance(variance: Any, covariance: str, n_outputs: int) -> None:
    if variance is None:
        return
    if covariance != "weights":
        raise ValueError('weight_variance needs covariance="weights": a process has no weights.')
    if np.shape(variance) not in ((), (1,), (n_outputs,)):
        raise ValueError(
            f"weight_variance must be one number, or one for each of the {n_outputs} targets; got shape {np.shape(variance)}."
        )
    if not (np.all(np.asarray(variance) > 0.0) and np.isfinite(variance).all()):
        raise ValueError(f"weight_variance must be positive and finite, or None to learn it; got {quoted(variance)}.")


def _check_likelihood(likelihood: str, noise_share: float | None, weight_variance: Any) -> None:
    if noise_share is not None and not 0.0 < as_number(noise_share) < np.inf:
        raise ValueError(f"noise_share must be positive and finite, or None to learn the noise; got {quoted(noise_share)}.")
    check_choice("likelihood", likelihood, (GAUSSIAN, BERNOULLI))
    if likelihood == BERNOULLI and not (noise_share is None and weight_variance is None):
        raise ValueError('noise_share and weight_variance need likelihood="gaussian": labels have no noise of their own.')


def _signs(labels: Floats) -> Floats:
    """Return +1 for the larger and -1 for the smaller of the two values of each column."""
    low, high = labels.min(axis=0), labels.max(axis=0)
    if not ((labels == low) | (labels == high)).all():
        raise ValueError('y has a column with more than two values; likelihood="bernoulli" needs one column for each class.')
    return np.where(labels == high, 1.0, -1.0)


def _checked_centers(centers: Any, n_features: int) -> Floats:
    centers = checked_array(centers, "centers", dtype=np.float64)
    if centers.shape[1] != n_features:
        raise ValueError(f"centers must have {n_features} columns like X, got shape {centers.shape}.")
    return np.asarray(checked_scales(centers, name="centers"))


def _check_choices(gamma: str, kernel: Any, covariance: str, n_starts: int, max_rows: int, centers: Any) -> None:
    for name, value, known in (("gamma", gamma, RULES), ("covariance", covariance, COVARIANCES)):
        check_choice(name, value, known)
    if not (isinstance(kernel, str) and kernel in ("auto", *NAMES)):
        raise ValueError(f"widths can be learned for the distance kernels {list(NAMES)}, not for kernel={quoted(kernel)}.")
    if covariance == "kernel" and centers is not None:
        raise ValueError('covariance="kernel" uses the kernel between the rows: it takes no centers.')
    for name, number, least in (("n_starts", n_starts, 1), ("max_rows", max_rows, 2)):
        check_count(name, number, least)

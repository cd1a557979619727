"""Kernel widths by evidence: one for all inputs, or one for each."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import _check_sample_weight, check_array

from skarce._parallel import blas_threads
from skarce._typing import Floats
from skarce.basis.kernel_basis import distinct_rows
from skarce.model_selection.kernel_slopes import NAMES, KernelSlopes
from skarce.model_selection.width_evidence import COVARIANCES, Value, WeightedTargets, WidthEvidence

RULES = ("evidence", "ard")
# In units in which all inputs together vary by one: below, an input does not matter; above, no two rows meet.
WIDTH_BOUNDS = (1e-6, 1e6)
RATIO_BOUNDS = (1e-6, 1e8)  # of the prior variance of the signal to that of the noise
FIRST_RATIO = 10.0
FACTORS = (1.0, 0.1, 10.0)  # the first starts: all inputs together vary by this much; further ones are drawn about the first
SPREAD = 1.5  # standard deviation of those, in the logarithms of the widths
NARROWER = (0.0, np.log(10.0))  # added to the logarithms of widths learned under a free prior, for starts under a given one
RACE_LOOSENESS = 10.0  # there an iteration may be the last while it still gains so many times `tol`
RACE_ROWS = 300  # the starts run on this many rows at most; only the best of them goes on with all


class Progress(NamedTuple):
    """What the callback of `learn_widths` is told after every iteration."""

    start: int  # counted from 0
    n_rows: int
    n_evaluations: int  # of all starts so far
    log_evidence: float
    gamma: Any


@dataclass(frozen=True)
class Widths:
    """What `learn_widths` found.

    Attributes
    ----------
    gamma : float, or array of shape (n_features,)
        As `KernelBasis` takes it; 0 for an input that does not vary, where there is one for each.
    log_evidence : float
        The log density of the targets of the rows it was learned on, with all constants, summed over outputs.
    noise_variance, weight_precision : float, or array of shape (n_outputs,)
        With ``covariance="kernel"`` the precision is the inverse variance of the process.
    n_evaluations : int
        Of the evidence and its gradient, all starts together.
    n_rows : int
        How many rows they were learned on.
    """

    gamma: Any
    log_evidence: float
    noise_variance: Any
    weight_precision: Any
    n_evaluations: int
    n_rows: int


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
    n_starts: int = 3,
    max_rows: int = 1000,
    max_iter: int = 200,
    max_time: float | None = None,
    tol: float = 1e-2,
    callback: Callable[[Progress], object] | None = None,
    random_state: Any = None,
) -> Widths:
    """Kernel widths that maximise the log evidence of the model with all candidates and one weight precision.

    The noise is profiled out and the precision moves with the widths, by their analytic gradient (L-BFGS-B within bounds). The
    starts race on at most 300 rows and with the kernel itself as covariance, which is cheaper and has fewer local maxima; the
    best goes on with all rows, at most `max_rows`, and with the covariance that was asked for.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        Several outputs share the widths and the ratio of signal to noise.
    gamma : {"ard", "evidence"}, default="ard"
        One width for each input, or one for all.
    kernel : {"rbf", "laplacian", "matern32", "matern52"}, default="rbf"
    centers : None or array of shape (n_centers, n_features), default=None
        Where the kernels are; None takes the distinct inputs. More than `max_rows` are thinned out at random.
    sample_weight : array of shape (n_samples,), optional
        Counts: weight 2 equals the row twice.
    fit_intercept : bool, default=True
        A constant under a flat prior: the evidence is that of the contrasts of the targets.
    covariance : {"weights", "kernel"}, default="weights"
        ``"weights"`` is the model of the estimators, whose signal has covariance Phi Phi'. ``"kernel"`` takes Phi itself, the usual
        Gaussian process: half the price, but the widths are those of another model (an rbf of about half the gamma).
    weight_variance : float or array of shape (n_outputs,), default=None
        The prior variance of the weights where it is known, in the squared units of the targets; None learns it. Only for
        ``covariance="weights"``.
    n_starts : int, default=3
    max_rows : int, default=1000
        Of more rows, a random sample.
    max_iter : int, default=200
        Iterations at most for each start.
    max_time : float, default=None
        Seconds after which the best widths so far are returned.
    tol : float, default=1e-2
        An iteration that raises the log evidence by no more than this is the last of its start.
    callback : callable, default=None
        Called with a `Progress` after every iteration; raising `StopIteration` ends the learning with the best widths so far.
    random_state : int, RandomState or None, default=None
        Draws rows and starts; None uses a fixed seed.

    Returns
    -------
    Widths

    Examples
    --------
    >>> import numpy as np
    >>> from skarce.model_selection import learn_widths
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-3, 3, (100, 2))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 100)
    >>> learned = learn_widths(X, y)
    >>> bool(learned.gamma[0] > 1000 * learned.gamma[1])
    True
    >>> print(f"{learned.noise_variance**0.5:.2f}")
    0.11
    """
    deadline = None if max_time is None else time.monotonic() + max_time
    _check_choices(gamma, kernel, covariance, n_starts, max_rows, centers)
    X = check_array(X, dtype=np.float64)
    y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y")
    check_consistent_length(X, y)
    _check_weight_variance(weight_variance, covariance, 1 if y.ndim == 1 else y.shape[1])
    weights = None if sample_weight is None else _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    rng = check_random_state(0 if random_state is None else random_state)
    places = np.arange(len(X)) if weights is None else np.flatnonzero(weights > 0.0)
    data = _Data(X[places], y.reshape(len(y), -1)[places], None if weights is None else weights[places], centers)
    data = data.thinned(max_rows, rng)
    scale = _Scale.of(data, kernel, one_for_all=gamma == "evidence")
    effort = _Effort(tol, max_iter, deadline, callback)
    with blas_threads(1):
        found = _learn(data, scale, _Model(kernel, fit_intercept, covariance, weight_variance), effort, n_starts, rng)
    return (
        found if y.ndim > 1 else replace(found, noise_variance=found.noise_variance[0], weight_precision=found.weight_precision[0])
    )


class _Model(NamedTuple):
    kernel: str
    fit_intercept: bool
    covariance: str
    weight_variance: Any  # None where it is learned


class _Data(NamedTuple):
    """Rows of positive weight, targets (n_rows, n_outputs), weights or None, and centres where they are not the rows."""

    X: Floats
    targets: Floats
    weights: Floats | None
    centers: Floats | None

    def thinned(self, n_rows: int, rng: np.random.RandomState) -> _Data:
        """At most so many rows, and so many centres, drawn at random."""
        data = self
        if len(self.X) > n_rows:
            kept = np.sort(rng.choice(len(self.X), n_rows, replace=False))
            data = _Data(self.X[kept], self.targets[kept], None if self.weights is None else self.weights[kept], self.centers)
        if data.centers is not None and len(data.centers) > n_rows:
            kept = np.sort(rng.choice(len(data.centers), n_rows, replace=False))
            data = data._replace(centers=data.centers[kept])
        return data


@dataclass(frozen=True)
class _Scale:
    """Inputs in which widths of one are a first guess: all together vary by one, each alike or (one width) as they are.

    gamma = width * unit; an input that does not vary has unit 0.
    """

    origin: Floats
    units: Floats
    factors: Floats  # multiply the inputs: sqrt(unit), or the unit itself for absolute differences
    one_for_all: bool

    @classmethod
    def of(cls, data: _Data, kernel: str, *, one_for_all: bool) -> _Scale:
        origin = np.average(data.X, axis=0, weights=data.weights)
        with np.errstate(over="ignore", invalid="ignore"):
            variances = np.average((data.X - origin) ** 2, axis=0, weights=data.weights)
        if not np.isfinite(variances).all():
            raise ValueError("X is so large that its variance overflows. Scale the inputs, for instance by StandardScaler.")
        # Rounding of the mean is no variance.
        variances[variances <= 1e-24 * (variances + origin**2)] = 0.0
        if one_for_all:
            variances = np.full(len(variances), variances.mean())
        varies = variances > 0.0
        lengths = np.sqrt(np.where(varies, variances, 1.0))
        if kernel == "laplacian":
            factors = varies / (len(variances) * lengths)
            return cls(origin, factors, factors, one_for_all)
        factors = varies / (np.sqrt(len(variances)) * lengths)
        return cls(origin, factors**2, factors, one_for_all)

    def inputs(self, X: Floats) -> Floats:
        return (X - self.origin) * self.factors

    def gamma(self, log_widths: Floats) -> Any:
        if not self.one_for_all:
            return np.exp(log_widths) * self.units
        # Inputs that do not vary have no width to learn: any will do.
        return float(np.exp(log_widths[0]) * self.units[0]) or 1.0

    @property
    def n_widths(self) -> int:
        return 1 if self.one_for_all else len(self.units)


class _Objective:
    """The evidence of some rows as the optimiser sees it, and the best it has seen; targets are scaled to unit variance."""

    def __init__(self, data: _Data, scale: _Scale, model: _Model) -> None:
        targets = WeightedTargets.of(data.targets, data.weights, fit_intercept=model.fit_intercept)
        self.n_rows, self._scale, self.covariance = len(data.X), scale, model.covariance
        self._n_samples = targets.n_samples
        energies = np.einsum("no,no->o", targets.values, targets.values)
        raw = np.einsum("no,no->o", data.targets, data.targets)
        self._varies = energies > 1e-24 * raw
        self.can_tell = bool(self._n_samples > 0.0 and self._varies.any() and (scale.units > 0.0).any())
        self._lengths = np.sqrt(energies[self._varies] / max(self._n_samples, 1e-300))
        rows = scale.inputs(data.X)
        centers = rows[distinct_rows(rows)] if data.centers is None else scale.inputs(data.centers)
        if model.covariance == "kernel":
            centers = rows
        scaled = replace(targets, values=targets.values[:, self._varies] / self._lengths)
        given = None
        if model.weight_variance is not None:
            given = np.broadcast_to(np.asarray(model.weight_variance, dtype=np.float64), self._varies.shape)
            given = given[self._varies] / self._lengths**2
        self._evidence = WidthEvidence(KernelSlopes(model.kernel, rows, centers), scaled, model.covariance, given)
        self.n_evaluations = 0
        self.best_at: Floats | None = None
        self._best: Value | None = None

    def __call__(self, at: Floats) -> tuple[float, Floats]:
        """The negative log evidence and its gradient, in the logarithms of the widths and of the ratio."""
        widths = np.broadcast_to(np.exp(at[:-1]), self._scale.units.shape)
        value = self._evidence.at(widths, float(np.exp(at[-1])))
        self.n_evaluations += 1
        if self._best is None or value.log_evidence > self._best.log_evidence:
            self._best, self.best_at = value, at.copy()
        by_widths = value.by_widths.sum(keepdims=True) if self._scale.one_for_all else value.by_widths
        return -value.log_evidence, -np.append(by_widths, value.by_ratio)

    def start_from_process(self, at: Floats) -> Floats:
        """Where a Gaussian process has been is a start for weights: Phi Phi' is about as wide as Phi of twice the gamma."""
        return self.start_at(at[:-1] + np.log(2.0))

    def start_at(self, log_widths: Floats) -> Floats:
        """These widths, with the ratio of largest evidence."""
        log_widths = np.clip(log_widths, *np.log(WIDTH_BOUNDS))
        ratio = self._evidence.best_ratio(np.broadcast_to(np.exp(log_widths), self._scale.units.shape))
        return np.append(log_widths, np.log(np.clip(ratio, *RATIO_BOUNDS)))

    @property
    def log_evidence(self) -> float:
        """The best so far, in user units."""
        assert self._best is not None
        return self._best.log_evidence - self._n_samples * float(np.log(self._lengths).sum())

    def widths(self, n_evaluations: int) -> Widths:
        assert self._best is not None
        assert self.best_at is not None
        noise, precision = np.zeros(len(self._varies)), np.full(len(self._varies), np.inf)
        noise[self._varies] = self._best.noise_variances * self._lengths**2
        precision[self._varies] = self._best.ridge / noise[self._varies]
        gamma = self._scale.gamma(self.best_at[:-1])
        return Widths(gamma, self.log_evidence, noise, precision, n_evaluations, self.n_rows)


def _learn(data: _Data, scale: _Scale, model: _Model, effort: _Effort, n_starts: int, rng: np.random.RandomState) -> Widths:
    whole = _Objective(data, scale, model)
    if not whole.can_tell:
        n_outputs = data.targets.shape[1]
        gamma = scale.gamma(np.zeros(scale.n_widths))
        return Widths(gamma, np.inf, np.zeros(n_outputs), np.full(n_outputs, np.inf), 0, len(data.X))
    starts = _starts(scale.n_widths, n_starts, rng)
    few = data.thinned(RACE_ROWS, rng)
    free = whole if model.weight_variance is None else _Objective(data, scale, model._replace(weight_variance=None))
    n_evaluations = _race_and_climb(free, few, scale, model, effort, starts)
    if free is not whole:
        n_evaluations = _climb_under_prior(whole, free, scale, effort, starts, n_evaluations)
    return whole.widths(n_evaluations)


def _race_and_climb(whole: _Objective, few: _Data, scale: _Scale, model: _Model, effort: _Effort, starts: list[Floats]) -> int:
    """Race the starts on few rows and with the kernel as covariance, then go on from the best with all; evaluations so far."""
    race = _Objective(few, scale, model._replace(covariance="kernel", weight_variance=None))
    if not race.can_tell:
        race = whole
    for number, start in enumerate(starts):
        effort.climb(race, scale, start, number, 0, looseness=RACE_LOOSENESS)
    assert race.best_at is not None
    start = race.best_at if race.covariance == model.covariance else whole.start_from_process(race.best_at)
    effort.climb(whole, scale, start, len(starts), race.n_evaluations)
    return race.n_evaluations + (0 if race is whole else whole.n_evaluations)


def _climb_under_prior(
    whole: _Objective, free: _Objective, scale: _Scale, effort: _Effort, starts: list[Floats], n_before: int
) -> int:
    """A given prior has local maxima that a free one has not, and few rows do not show them: all starts with all rows.

    The first are where a free prior has been, and there with narrower kernels: more functions have to share a signal.
    """
    assert free.best_at is not None
    for number, start in enumerate([*(whole.start_at(free.best_at[:-1] + shift) for shift in NARROWER), *starts]):
        effort.climb(whole, scale, start, number, n_before, looseness=RACE_LOOSENESS)
    assert whole.best_at is not None
    effort.climb(whole, scale, whole.best_at, len(starts) + len(NARROWER), n_before)
    return n_before + whole.n_evaluations


def _starts(n_widths: int, n_starts: int, rng: np.random.RandomState) -> list[Floats]:
    """Logarithms of widths and ratio: all inputs alike at first, then drawn about the first guess."""
    ratio = np.log(FIRST_RATIO)
    starts = [np.append(np.full(n_widths, np.log(factor)), ratio) for factor in FACTORS[:n_starts]]
    drawn = rng.normal(0.0, SPREAD, (max(n_starts - len(FACTORS), 0), n_widths))
    return starts + [np.append(widths, ratio) for widths in drawn]


@dataclass
class _Effort:
    """How hard each start tries, and whether there is time for another step."""

    tol: float
    max_iter: int
    deadline: float | None
    callback: Callable[[Progress], object] | None
    is_over: bool = False

    def climb(
        self, objective: _Objective, scale: _Scale, start: Floats, number: int, n_before: int, looseness: float = 1.0
    ) -> None:
        """From one start to a maximum, or one evaluation where the time is over and there was none yet."""
        value, _ = objective(start) if not self.is_over or objective.best_at is None else (np.nan, None)
        if self.is_over or self._is_late():
            return

        def after_iteration(intermediate_result: Any) -> None:
            if self.callback is not None:
                n_evaluations = n_before + objective.n_evaluations
                gamma = scale.gamma(intermediate_result.x[:-1])
                self.callback(Progress(number, objective.n_rows, n_evaluations, objective.log_evidence, gamma))
            if self._is_late():
                raise StopIteration

        bounds = [tuple(np.log(WIDTH_BOUNDS))] * scale.n_widths + [tuple(np.log(RATIO_BOUNDS))]
        tol = looseness * self.tol
        options = {"ftol": tol / max(abs(value), 1.0), "gtol": 0.1 * tol, "maxiter": self.max_iter, "maxcor": 20}
        result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, callback=after_iteration, options=options)
        self.is_over = self.is_over or result.status == 99

    def _is_late(self) -> bool:
        return self.deadline is not None and time.monotonic() >= self.deadline


def _check_weight_variance(variance: Any, covariance: str, n_outputs: int) -> None:
    if variance is None:
        return
    if covariance != "weights":
        raise ValueError('weight_variance is for covariance="weights": a process has no weights.')
    if np.shape(variance) not in ((), (1,), (n_outputs,)):
        raise ValueError(f"give one weight_variance, or one for each of the {n_outputs} targets; got shape {np.shape(variance)}.")
    if not (np.all(np.asarray(variance) > 0.0) and np.isfinite(variance).all()):
        raise ValueError(f"weight_variance must be positive and finite, or None to learn it; got {variance!r}.")


def _check_choices(gamma: str, kernel: Any, covariance: str, n_starts: int, max_rows: int, centers: Any) -> None:
    for name, value, known in (("gamma", gamma, RULES), ("covariance", covariance, COVARIANCES)):
        if value not in known:
            raise ValueError(f"{name} must be one of {list(known)}, got {value!r}.")
    if callable(kernel) or kernel not in NAMES:
        raise ValueError(f"widths are learned for kernels of distances, {list(NAMES)}, not for kernel={kernel!r}.")
    if covariance == "kernel" and centers is not None:
        raise ValueError('covariance="kernel" takes the kernel between the rows: it has no centers.')
    for name, number, least in (("n_starts", n_starts, 1), ("max_rows", max_rows, 2)):
        if not isinstance(number, (int, np.integer)) or number < least:
            raise ValueError(f"{name} must be a whole number of at least {least}, got {number!r}.")

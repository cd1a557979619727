"""`partial_fit` for streams that bring one row at a time: what a batch always needs, and nothing else.

A batch of one row that is plainly in order (an array of finite doubles of ordinary size, as many as before, for the same
parameters) needs none of the general checks, because they would all pass. Every other batch takes the general way, and so does
every error.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from skarce._blas import blas_threads
from skarce.basis.default import INPUTS
from skarce.designs import StreamDesign
from skarce.estimators.base import Prepared
from skarce.estimators.streaming import Streaming
from skarce.methods.variational.method import VariationalLeastSquares
from skarce.methods.variational.row_steps import FollowedModel

FEW = 32  # functions whose factorization uses one thread in any case
MOST_ROWS = 64  # rows that a model follows before pruned candidates are tested again
GROWTH = 0.125  # the same, as a share of all rows
FADED = 0.1  # the same, as the share of the older rows that is forgotten
ORDINARY = 1e-30, 1e30  # absolute values of inputs and targets that need no further look; zero does not either
UNCHANGING = (str, int, float, bool, type(None))


class Following(NamedTuple):
    """What the next row goes on from.

    Attributes
    ----------
    model : the model
    parameters : the names and values of all parameters that the last batch has checked
    n_last : rows that had come when pruned candidates were tested
    """

    model: FollowedModel
    parameters: tuple[tuple[str, Any], ...]
    n_last: float


def _is_ordinary(values: Any, n_dimensions: int) -> bool:
    """Tell whether this is one row, or its target, of finite doubles that are far from the limits of all checks."""
    if type(values) is not np.ndarray or values.dtype != np.float64 or values.ndim != n_dimensions or len(values) != 1:
        return False
    sizes = np.abs(values)
    return bool(((sizes >= ORDINARY[0]) & (sizes <= ORDINARY[1]) | (values == 0.0)).all())  # NaN fails


class RowByRow(Streaming):
    """A quick `partial_fit` for single rows, if the model follows the stream and the candidates are the inputs."""

    _following_rows: Following | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return the state to save. The next batch makes again what single rows go on from."""
        return {name: value for name, value in super().__getstate__().items() if name != "_following_rows"}

    def _remember(self, prepared: Prepared) -> None:
        super()._remember(prepared)
        n_seen = prepared.design.n_seen
        self._following_rows = None if n_seen is None else self._next_rows(prepared, n_seen)

    def _next_rows(self, prepared: Prepared, n_seen: float) -> Following | None:
        """Return what the next row goes on from, or None if it needs the general way."""
        parameters = tuple((name, getattr(self, name)) for name in self._get_param_names())
        method = self._method()
        if not (
            isinstance(method, VariationalLeastSquares)
            and method.follows_rows
            and self.basis == INPUTS
            and all(type(value) in UNCHANGING for _, value in parameters)
            and not self.verbose
            and self.max_active is self.max_time is self.effective_samples is None
            and not (isinstance(self.posterior_, list) or hasattr(self, "feature_names_in_"))
            and len(self.active_)
            and ORDINARY[0] < self.noise_variance_ < ORDINARY[1]
        ):
            return None
        return Following(FollowedModel.of(self.posterior_, prepared.problems[0]), parameters, n_seen)

    def _after_row(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any] | None:
        """Return all attributes after a batch of one row, or None if the batch takes the general way."""
        following, stream, state = self._following_rows, self._stream, vars(self)
        if (
            following is None
            or stream is None
            or sample_weight is not None
            or not (_is_ordinary(X, 2) and _is_ordinary(y, 1))
            or X.shape[1] != self.n_features_in_
            or not all(state.get(name) is value for name, value in following.parameters)
        ):
            return None
        after = stream.with_row(X[0], float(y[0]), self.forgetting)
        if after.is_due or self._tests_are_due(after, following.n_last):
            return None
        if len(self.active_) <= FEW:
            return self._kept_after(after, following, X[0], float(y[0]))
        with blas_threads(1):
            return self._kept_after(after, following, X[0], float(y[0]))

    def _tests_are_due(self, stream: StreamDesign, n_last: float) -> bool:
        """Tell whether so many rows have come that pruned candidates may have become better than those of the model."""
        n_rows = stream.n_seen - n_last
        return bool(n_rows >= min(MOST_ROWS, GROWTH * stream.n_samples) or n_rows * (1.0 - self.forgetting) > FADED)

    def _kept_after(self, stream: StreamDesign, following: Following, row: Any, target: float) -> dict[str, Any] | None:
        recent, active, n = stream.recent, self.active_, stream.n_samples
        means, target_mean = np.zeros(len(active)), 0.0
        if self.fit_intercept:
            row, target, means = recent.deviations[-1], recent.target_deviations[-1], recent.candidate_means[active]
            target_mean, n = recent.target_mean, n - 1.0
        model = following.model.after_row(row[active], target, self.forgetting, n)
        if model is None:
            return None
        posterior = model.posterior(self.posterior_, means, target_mean, stream.n_samples)
        relevance = np.zeros(len(self.relevance_))
        relevance[active] = model.precisions.determined
        return {
            **vars(self),
            "posterior_": posterior,
            "_weights": posterior.mean,
            "weight_precision_": posterior.weight_precision,
            "intercept_": posterior.intercept,
            "noise_variance_": posterior.noise_variance,
            "relevance_": relevance,
            "criterion_": posterior.criterion,
            "outcome_": posterior.outcome,
            "trace_": posterior.trace,
            "n_iter_": posterior.n_iter,
            "n_effective_": stream.n_samples,
            "_stream": stream,
            "_following_rows": following._replace(model=model),
        }

"""`score` on Dask data and `RowBlocks`: each part makes a few sums, and the score of all rows follows from their total."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from scipy.special import xlogy
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils.validation import check_is_fitted

from skarce._atomic import copied, snapshot
from skarce._text import listed
from skarce._typing import Floats
from skarce.designs import DeviceRows, RowBlocks
from skarce.designs.dask import answered, naming_partition
from skarce.designs.dask_partitions import Partitions, is_dask
from skarce.estimators.on_dask import asked, check_columns, shape_and_kind
from skarce.moments import Sums
from skarce.moments.block_sums import checked_block
from skarce.moments.sums import CONSTANT

Function = TypeVar("Function", bound=Callable[..., Any])
DEVIANCE_RANGE = 1e-300, 1e300  # of predictions that are scored: sums of their deviances are numbers
NO_EVENT = "D^2 is not defined without any event in y."


class Score(NamedTuple):
    """A score that follows from sums over the rows.

    Attributes
    ----------
    terms : callable
        (targets, predictions) -> what is added up: terms of shape (n_rows, n_terms), and targets of shape (n_rows, n_outputs).
    of : callable
        The sums over all rows, with terms in place of candidates -> score.
    has_labels : bool
        Whether targets are labels.
    """

    terms: Callable[[Any, Any], tuple[Floats, Floats]]
    of: Callable[[Sums], float]
    has_labels: bool = False


def score_on_dask(kind: Score) -> Callable[[Function], Function]:
    """Decorate the method `score` of a model. With Dask data and `RowBlocks` it returns this score from one pass over them."""

    def decorated(method: Function) -> Function:
        @wraps(method)
        def scored(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
            if isinstance(X, RowBlocks):
                return kind.of(_total_of_blocks(snapshot(self), X, y, sample_weight, kind))
            if y is None:
                raise ValueError("y is None: pass the targets of X to score.")
            if not is_dask(X):
                return float(method(self, X, y, sample_weight))
            model = snapshot(self)
            check_is_fitted(model)
            partitions = Partitions(X, y, sample_weight)
            check_columns(model, partitions.X)
            shape_and_type = shape_and_kind(model, "predict", partitions.X)
            total = partitions.total(_summed, Sums.total, model, kind, shape_and_type, label="scoring")
            if not total.n_samples > 0.0:
                raise ValueError(f"there are no rows of positive weight in {partitions}.")
            return kind.of(total)

        return cast(Function, scored)

    return decorated


def _summed(
    number: int, X: Any, y: Any, sample_weight: Any, model: Any, kind: Score, shape_and_type: tuple[tuple[int, ...], Any]
) -> Sums:
    """Return the sums of a partition."""
    rows = checked_block(X, y, sample_weight, f"partition {number}", is_array=False, has_labels=kind.has_labels)
    predictions = answered(partial(asked, model, "predict", (), {}), X, number, *shape_and_type)
    with naming_partition(number):
        return _sums_of(kind, rows, predictions)


def _total_of_blocks(model: Any, blocks: RowBlocks, y: Any, sample_weight: Any, kind: Score) -> Sums:
    """Return the sums of all row blocks, from one pass."""
    check_is_fitted(model)
    if isinstance(blocks, DeviceRows):
        raise TypeError("score takes RowBlocks in the memory of the host, got DeviceRows. Pass the arrays X and y of the device.")
    if not (y is None and sample_weight is None):
        raise ValueError("with RowBlocks, y and sample_weight come from the blocks: do not pass them to score.")
    model = _for_blocks(model, blocks)
    parts = [_sums_of(kind, rows, model.predict(rows.X)) for rows in blocks.reading("scoring", has_labels=kind.has_labels)]
    total = Sums.total(parts) if parts else Sums.empty(1, 1)
    if not total.n_samples > 0.0:
        raise ValueError("there are no rows of positive weight in the row blocks.")
    return total


def _for_blocks(model: Any, blocks: RowBlocks) -> Any:
    """Return a model that takes the arrays of blocks. If both have names of columns, they are compared here."""
    if blocks.feature_names is None or not hasattr(model, "feature_names_in_"):
        return model
    names = list(blocks.feature_names)
    if names != model.feature_names_in_.tolist():
        expected = listed(model.feature_names_in_.tolist())
        raise ValueError(f"the row blocks have the columns {listed(names)}, but the model was fitted on {expected}, in this order.")
    twin = copied(model)
    del twin.feature_names_in_
    return twin


def _sums_of(kind: Score, rows: Any, predictions: Any) -> Sums:
    """Return the sums of checked rows."""
    terms, targets = kind.terms(rows.targets, predictions)
    sums = Sums.empty(terms.shape[1], targets.shape[1])
    with np.errstate(over="ignore"):  # squares of terms may overflow, and only those of residuals are used
        sums.absorb_parts([(np.array(terms, dtype=np.float64, order="C"), targets, rows.weights)])
    return sums


def _residuals(targets: Floats, predictions: Floats) -> tuple[Floats, Floats]:
    if predictions.size != targets.size:
        raise ValueError(f"y has {targets.shape[1]} targets, but the model predicts {predictions[:1].size}.")
    return targets - predictions.reshape(targets.shape), targets


def _explained(sums: Sums) -> float:
    """Return R^2, averaged over the outputs. That of a constant target is 1 if the predictions are perfect, and else 0."""
    left, energies = sums.raw_squares, sums.target_energies
    varies = energies > CONSTANT * (energies + sums.n_samples * sums.target_means**2)
    return float(np.where(varies, 1.0 - left / np.where(varies, energies, 1.0), left == 0.0).mean())


def _hits(labels: Any, predictions: Any) -> tuple[Floats, Floats]:
    hits = (labels[:, 0] == predictions).astype(np.float64)[:, None]
    return hits, hits


def _share(sums: Sums) -> float:
    return float(sums.candidate_means[0])


def _deviances(counts: Floats, rates: Floats) -> tuple[Floats, Floats]:
    rates = np.clip(rates.astype(np.float64)[:, None], *DEVIANCE_RANGE)
    return np.hstack([xlogy(counts, counts / rates) - counts + rates, xlogy(counts, counts)]), counts


def _explained_deviance(sums: Sums) -> float:
    """Return 1 - (mean deviance) / (mean deviance from the mean rate)."""
    mean, (deviance, information) = float(sums.target_means[0]), sums.candidate_means
    if not mean > 0.0:
        warnings.warn(NO_EVENT, UndefinedMetricWarning, stacklevel=3)
        return float("nan")
    return float(1.0 - np.divide(deviance, information - xlogy(mean, mean)))


R2, ACCURACY = Score(_residuals, _explained), Score(_hits, _share, has_labels=True)
EXPLAINED_DEVIANCE = Score(_deviances, _explained_deviance)

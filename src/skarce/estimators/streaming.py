"""`partial_fit` on whole moments, for every estimator whose candidates are fixed in advance."""

from __future__ import annotations

import time
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from skarce._atomic import become, unfitted_twin
from skarce._available import available_if
from skarce._parallel import blas_threads
from skarce._parameters import check_forgetting
from skarce._progress import shown
from skarce._text import quoted
from skarce._typing import Floats
from skarce._validation import checked_array
from skarce.basis import KernelBasis, fit_basis
from skarce.basis.centers import is_auto
from skarce.basis.default import INPUTS, stands_for_kernels
from skarce.basis.fingerprint import fingerprint
from skarce.basis.transformers import candidates_counted, check_fitted, transformer_of
from skarce.designs import Design, Rows, StreamDesign, Worth
from skarce.estimators.base import SEEN, Prepared, SparseEstimator
from skarce.estimators.rows_in_memory import FIT_OR_BATCHES, check_in_memory
from skarce.methods.method import Method
from skarce.moments import FoldSums, Sums
from skarce.posteriors.augmentation import Augmentation


def can_stream(estimator: Any) -> bool:
    """Whether neither the candidates nor the weights of rows depend on later rows."""
    basis = estimator.basis
    is_kernel = isinstance(basis, KernelBasis)
    if stands_for_kernels(basis) or (
        is_kernel and (basis.centers is None or is_auto(basis.centers) or basis.kernel == "precomputed")
    ):
        raise AttributeError(
            "partial_fit needs candidates that are fixed in advance, but these are centered at the training rows. Use "
            'KernelBasis(centers=500), an array of centers, or basis="passthrough".'
        )
    estimator._check_streaming()
    return True


def check_same_intercept(estimator: SparseEstimator, stream: Design | None) -> None:
    """Raise a ValueError if earlier batches had an intercept and this one does not, or the other way round."""
    if stream is not None and stream.fit_intercept != estimator.fit_intercept:
        raise ValueError(
            f"fit_intercept={estimator.fit_intercept}, but earlier batches had {stream.fit_intercept}. Begin again with "
            "clone(model)."
        )


def check_landmarks(basis: Any, candidates: Any) -> None:
    """Raise a ValueError if the first batch has fewer distinct rows than the basis is to have landmarks: they stay for good."""
    if isinstance(basis, KernelBasis) and isinstance(basis.centers, Integral) and candidates.n_candidates < basis.centers:
        raise ValueError(
            f"centers={basis.centers} asks for that many landmarks, and all of them come from the first batch of a stream, which "
            f"has {candidates.n_candidates} distinct rows of positive weight. Pass a larger first batch, or an array of centers."
        )


def worth_of_batch(estimator: SparseEstimator) -> Worth:
    """Return what the rows of a batch are worth. Raise a ValueError if that depends on rows that have not come yet."""
    worth = estimator._worth()
    if worth.needs_order or (worth.n_effective is not None and worth.n_effective >= 1.0):
        raise ValueError(
            f"effective_samples={quoted(estimator.effective_samples)} is about all rows together, but partial_fit does not know "
            "how many will come. Give the share of independent observations among the rows, such as 0.1: n_effective_ of a fit, "
            "divided by its number of rows."
        )
    return worth


def worth_of_sums(estimator: SparseEstimator) -> Worth:
    """Return what rows are worth of which only sums are left. Raise a ValueError if that would take the rows."""
    worth = estimator._worth()
    if worth.is_relative or worth.needs_order:
        raise ValueError(
            'sums have counted their rows already, and do not tell in which order they came. Use weights="counts", and for '
            f"effective_samples None, a number or a share, got weights={quoted(estimator.weights)} and "
            f"effective_samples={quoted(estimator.effective_samples)}."
        )
    return worth


def _with_basis(estimator: SparseEstimator, basis: Any) -> SparseEstimator:
    """Return the estimator with another basis, which some choices of its method depend on."""
    other = copy(estimator)
    other.basis = basis
    return other


def uses_folds(estimator: SparseEstimator, basis: Any, n_rows: int) -> bool:
    """Tell whether `fit_moments` calibrates the std if sums of so many rows for this basis have folds."""
    return _with_basis(estimator, basis)._wants_folds(n_rows)


def _seen_by(basis: Any, candidates: Any) -> dict[str, Any]:
    """Return the number and the names of the inputs of a fitted basis, as far as it knows them."""
    if isinstance(basis, str):
        return {"n_features_in_": candidates.n_candidates}
    return {name: getattr(basis, name) for name in SEEN if hasattr(basis, name)}


def _kind_of(basis: Any) -> Any:
    """Return what two bases have in common if batches of rows for one are checked like those for the other."""
    return basis if isinstance(basis, str) else type(basis)


def _checked_sums(sums: Any, basis: Any) -> Sums:
    """Return the sums over all rows. Raise an error if there are none, or if they were not made with this basis."""
    if not isinstance(sums, (Sums, FoldSums)):
        raise TypeError(f"sums must be what skarce.moments.block_sums returns, or a total of it, got {type(sums).__name__}.")
    whole = sums.whole() if isinstance(sums, FoldSums) else sums
    if not whole.n_samples > 0.0:
        raise ValueError("the sums are over no rows: at least one block needs a row of positive weight.")
    check_fitted(basis)
    if None not in (whole.made_with, own := fingerprint(basis)) and whole.made_with != own:
        raise ValueError("the sums were made with another basis: its kernel, centers or widths differ. Pass the one of block_sums.")
    return whole


def _standing_for_all(sample: Floats, stream: StreamDesign) -> Rows:
    """Return a sample of the inputs as rows that together weigh as much as all rows. Their targets are not known."""
    weights = np.full(len(sample), stream.n_samples / len(sample))
    return stream.rows._replace(X=sample, targets=np.zeros((len(sample), stream.n_outputs)), weights=weights)


class Streaming(SparseEstimator):
    """Adds `partial_fit` to an estimator that needs only moments."""

    forgetting: float = 1.0
    _stream: StreamDesign | None = None

    def _check_streaming(self) -> None:
        """Raise an AttributeError if the method needs the rows, because a stream does not keep them. Default: it does not."""

    @available_if(can_stream)
    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Update the model with a batch of rows.

        A batch is added as a whole or not at all: if the call raises, the model stays as it was, and the batch can be given again.
        Only moments are kept, so memory does not grow with the stream. After `fit`, the batch is added to the rows of `fit`. The
        method is available if the candidates are fixed in advance: ``basis="passthrough"``, a transformer, or kernels at given
        centers or landmarks. Landmarks, widths and all else that a basis learns come from the first batch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the batch.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of the batch.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times that each row counts. None counts each row once. With ``weights="relative"``, the rows of positive
            weight in this batch count once on average.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        after_row = self._after_row(X, y, sample_weight)
        if after_row is not None:
            self.__dict__ = after_row
            return self
        check_in_memory(self, X, "partial_fit", FIT_OR_BATCHES)
        started = time.monotonic()
        self._check_limits()
        method = self._method()
        with shown(self.verbose), blas_threads(1):
            stream, seen = self._absorbed(X, y, sample_weight, method)
            following = self._following(method, stream)
            fitted = self._fitted_on(Prepared(stream, stream.problems(self._likelihood()), seen), following, started)
        return become(self, fitted)

    def _after_row(self, X: Any, y: Any, sample_weight: Any) -> dict[str, Any] | None:
        """Return all attributes after a batch of one row, if there is a quick way. Default: None, there is none."""
        return None

    def fitted_basis(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Fit the basis to a sample of rows, as `fit` does, for `skarce.moments.block_sums` and `fit_moments`.

        The estimator does not change.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Inputs of the sample.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets of the sample. Kernel widths may be learned from them.
        sample_weight : array-like of shape (n_samples,), default=None
            Number of times that each row counts. None counts each row once.

        Returns
        -------
        basis : fitted transformer or "passthrough"
            The candidates.
        """
        self._check_limits()
        recipe = self._recipe(unfitted_twin(self), X, self._method(), worth_of_sums(self))
        if recipe.basis is None:
            return INPUTS
        with shown(self.verbose), blas_threads(1):
            return transformer_of(recipe.candidates(recipe.check(X, y, sample_weight)))

    def fit_moments(self, basis: Any, sums: Any, sample: Any = None) -> Any:
        """Fit the model to sums of rows that were made elsewhere, by `skarce.moments.block_sums`.

        The model is the one that `fit` finds for all these rows at the same candidates. The parameter `basis` of the estimator is
        not used. The std can be calibrated if the sums have folds, by ``block_sums(..., folds=True)``: ``calibrate_std=True`` does
        so, and ``"auto"`` if the basis learned its widths and the weights add up to at most 50,000. For ``std="augmented"``, pass a
        sample of the rows. `partial_fit` can go on from here if the parameter `basis` is of the type of this one.

        Parameters
        ----------
        basis : fitted transformer or "passthrough"
            The candidates that the sums were made with.
        sums : skarce.moments.Sums or skarce.moments.FoldSums
            The total over all blocks of rows.
        sample : array-like of shape (n_sampled, n_features), default=None
            Inputs of a random sample of the rows. ``predict(X, return_std=True, std="augmented")`` needs to know where rows are; at
            most 1000 are kept. None leaves this std out.

        Returns
        -------
        self : object
            Fitted estimator.
        """
        started = time.monotonic()
        self._check_limits()
        self._check_streaming()
        whole = _checked_sums(sums, basis)
        with shown(self.verbose), blas_threads(1):
            candidates = candidates_counted(basis, len(whole.candidate_means))
            share = worth_of_sums(self).share(whole.n_samples)
            stream = StreamDesign.of_sums(candidates, whole.faded(share), fit_intercept=self.fit_intercept)
            if isinstance(sums, FoldSums) and uses_folds(self, basis, int(whole.n_samples)):
                stream.fold_sums = sums.faded(share)
            if sample is not None:
                stream.rows = _standing_for_all(checked_array(sample, "sample"), stream)
            prepared = Prepared(stream, stream.problems(self._likelihood()), _seen_by(basis, candidates))
            fitted = self._fitted_on(prepared, _with_basis(self, basis)._method(), started)
        if _kind_of(basis) != _kind_of(self.basis):
            fitted._stream = None
        return become(self, fitted)

    def _remember(self, prepared: Prepared) -> None:
        self._stream = prepared.design.stream(prepared.problems) if hasattr(self, "partial_fit") else None

    def _following(self, method: Method[Any], stream: StreamDesign) -> Method[Any]:
        """Return the method that continues from the last model, or the method itself if it is time to solve from scratch."""
        if hasattr(self, "posterior_") and not stream.is_due:
            return method.following(self._posteriors())
        stream.n_solved = stream.n_seen
        return method

    def _absorbed(self, X: Any, y: Any, sample_weight: Any, method: Method[Any]) -> tuple[StreamDesign, dict[str, Any]]:
        """Return the stream after a batch, with an updated sample of rows, and what validation found out about X."""
        stream = self._stream
        if stream is None and hasattr(self, "posterior_"):
            raise ValueError(
                "partial_fit can continue after fit only if fit computed the whole Gram matrix in at most 16 MiB. Use "
                'moments="whole" with fewer than 1448 candidates, or begin with partial_fit. After fit_moments, the parameter '
                "basis must be of the same type as the basis of the sums."
            )
        forgetting = check_forgetting(self.forgetting)
        check_same_intercept(self, stream)
        probe = copy(self)  # with the names and the number of features of earlier batches
        worth = worth_of_batch(self)
        rows = worth.of_dependent(self._checked_rows(probe, X, y, sample_weight, is_first=stream is None))
        if stream is None:
            landmarks = method.n_landmarks(len(rows.targets))
            options = self._width_options(rows, method, self._input_names(probe))
            candidates = fit_basis(self._seeded_basis(), rows.X, rows.y, rows.weights, landmarks, **options)
            check_landmarks(self.basis, candidates)
            stream = StreamDesign(candidates, rows.targets.shape[1], fit_intercept=self.fit_intercept)
        elif stream.n_outputs != rows.targets.shape[1]:
            raise ValueError(f"y has {rows.targets.shape[1]} outputs, but earlier batches had {stream.n_outputs}.")
        stream, earlier = stream.after_batch(rows, forgetting), getattr(self, "_augmentation_rows", None)
        stream.rows = Augmentation.joined(earlier, rows, forgetting)
        if isinstance(stream.candidates, KernelBasis) and self._stream is not None and earlier is None:  # it began with sums
            stream.rows = rows._replace(X=rows.X[:0], targets=rows.targets[:0], weights=None)
        return stream, {name: getattr(probe, name) for name in SEEN if hasattr(probe, name)}

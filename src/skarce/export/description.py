"""A fitted model or pipeline as plain numbers, which every exporter starts from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, softmax
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from skarce._text import quoted
from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.estimators.inside import model_inside
from skarce.estimators.joint_factor import JointFactorRegressor
from skarce.estimators.on_basis import OnBasis
from skarce.estimators.primal_svm import PrimalSVMClassifier
from skarce.export import careful
from skarce.export.columns import Columns, Number
from skarce.export.heads import Head
from skarce.export.inputs import Input, coded, decoded, inputs_of
from skarce.export.query_kernels import QueryKernels
from skarce.export.stages import Chain, Kernels, pruned, simplified, values_of
from skarce.export.transformers import ExportError, Raw, Reader, UnknownModelError, read_basis
from skarce.likelihoods import moderated_log_odds

NUMBERS, CLASSES, COUNTS, MARGINS = "numbers", "classes", "counts", "margins"
NEEDS_BASIS = "an export needs an estimator of skarce with a basis (LWPRRegressor has none)"


@dataclass(frozen=True)
class Described:
    """A fitted model or pipeline as plain numbers.

    Attributes
    ----------
    title : name of the estimator
    inputs : the raw columns, of which `used` enter the first stage, in this order
    used : places of the raw columns that the model needs
    stages : from those columns to the functions of the model
    heads : one for each target; two classes have one, more have one each
    target : ``"numbers"``, ``"counts"``, ``"classes"`` with probabilities, or ``"margins"`` of classes without probabilities
    classes : labels of classes, else empty
    temperature : number that log odds are divided by, or factor on the variance of counts
    class_log_odds : log odds of the shares of the classes, which that division leaves as they are
    query_kernels : what ``std="augmented"`` adds for each target; None if the model has no such std
    is_one : whether predictions of numbers have one dimension
    is_moderated : whether the uncertainty of the latent functions draws probabilities towards one half; margins are not moderated
    in_pairs : whether kernels and weights are computed in pairs of floats, see `skarce.export.careful`
    """

    title: str
    inputs: tuple[Input, ...]
    used: tuple[int, ...]
    stages: Chain
    heads: tuple[Head, ...]
    target: str = NUMBERS
    classes: tuple[Any, ...] = ()
    temperature: float = 1.0
    class_log_odds: Floats | None = None
    query_kernels: tuple[QueryKernels, ...] | None = None
    is_one: bool = True
    is_moderated: bool = True
    in_pairs: bool = False

    @property
    def has_classes(self) -> bool:
        """Whether it predicts classes, with probabilities or without."""
        return self.target in (CLASSES, MARGINS)

    def std_of(self, std: Any) -> Any:
        """Return which std its predictions need if this one is asked for: probabilities have one inside, margins have none."""
        return self.target == CLASSES if self.has_classes else std

    @property
    def n_functions(self) -> int:
        """The number of functions in the model."""
        return self.stages[-1].n_outputs

    def coded(self, X: Any) -> Floats:
        """Return the raw rows that Python takes as numbers: text becomes its code, -1 if it was not seen in training."""
        return coded(self.inputs, X)

    def decoded(self, rows: Floats) -> Any:
        """Return rows of numbers as the rows that Python takes."""
        return decoded(self.inputs, rows)

    def functions(self, rows: Floats) -> Floats:
        """Return the functions of the model at coded rows, in their precision, shape (n_rows, n_functions)."""
        return values_of(self.stages, rows[:, list(self.used)])

    def latent_means(self, rows: Floats) -> Floats:
        """Return the mean of each head at coded rows, in their precision, shape (n_rows, n_heads)."""
        prepared = values_of(self.stages[:-1], rows[:, list(self.used)])
        if self.in_pairs:
            functions = self._pairs(prepared)
            return np.stack([careful.mean(head, *functions) for head in self.heads], axis=1)
        phi = self.stages[-1].values(prepared)
        return np.stack([head.mean(phi) for head in self.heads], axis=1)

    def latent(self, rows: Floats, *, is_augmented: bool = False) -> tuple[Floats, Floats]:
        """Return mean and variance of each head at coded rows, in their precision, shapes (n_rows, n_heads)."""
        prepared = values_of(self.stages[:-1], rows[:, list(self.used)])
        if self.in_pairs:
            return self._latent_in_pairs(prepared)
        phi = self.stages[-1].values(prepared)
        means, variances = [head.mean(phi) for head in self.heads], [head.variance(phi) for head in self.heads]
        if is_augmented:
            if self.query_kernels is None:
                raise ExportError("std='augmented' needs a regressor on named kernels that was fitted to rows. Use std=True.")
            extra = [kernels.extra_variance(prepared, phi) for kernels in self.query_kernels]
            variances = [variance + more for variance, more in zip(variances, extra, strict=True)]
        return np.stack(means, axis=1), np.stack(variances, axis=1)

    def _latent_in_pairs(self, prepared: Floats) -> tuple[Floats, Floats]:
        functions = self._pairs(prepared)
        found = [careful.mean_and_variance(head, *functions) for head in self.heads]
        return np.stack([mean for mean, _ in found], axis=1), np.stack([variance for _, variance in found], axis=1)

    def _pairs(self, prepared: Floats) -> tuple[Floats, Floats]:
        assert isinstance(self.stages[-1], Kernels)
        return careful.kernels(self.stages[-1], prepared)

    def means(self, rows: Floats) -> Floats:
        """Return the mean of numbers or counts, or margins, at coded rows, in their precision, shape (n_rows, n_targets)."""
        mean = self.latent_means(rows)
        return np.exp(mean) if self.target == COUNTS else mean

    def predict(self, rows: Floats, *, is_augmented: bool = False) -> tuple[Floats, Floats]:
        """Return mean and std of numbers or counts at coded rows, in their precision, shapes (n_rows, n_targets)."""
        mean, variance = self.latent(rows, is_augmented=is_augmented)
        if self.target == COUNTS:
            rate, kind = np.exp(mean), rows.dtype.type
            return rate, np.sqrt(kind(self.temperature) * (rate + variance * rate * rate))
        return mean, np.sqrt(variance)

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class at coded rows, shape (n_rows, n_classes)."""
        if self.is_moderated:
            mean, variance = (part.astype(np.float64) for part in self.latent(rows))
            log_odds = moderated_log_odds(mean, np.sqrt(variance))
        else:
            log_odds = self.latent_means(rows).astype(np.float64)
        if self.temperature != 1.0 and self.class_log_odds is not None:
            log_odds = self.class_log_odds + (log_odds - self.class_log_odds) / self.temperature
        if len(self.heads) == 1:
            return np.column_stack([expit(-log_odds[:, 0]), expit(log_odds[:, 0])])
        return np.asarray(softmax(log_expit(log_odds), axis=1))


def describe(estimator: Any) -> Described:
    """Return a fitted model, pipeline, search or `TransformedTargetRegressor` as plain numbers.

    Raise an `ExportError` that names the part if something in it cannot be exported.
    """
    reader = Reader()
    try:
        n_inputs = int(getattr(estimator, "n_features_in_", 0) or _n_features(estimator))
        found = model_inside(estimator, NEEDS_BASIS, (OnBasis, JointFactorRegressor))
    except TypeError as error:
        raise UnknownModelError(str(error)) from None
    raw: list[Raw | None] = [Raw(place) for place in range(n_inputs)]
    described = _of_model(found.model, reader, _stages_before(found.pipelines, reader, raw), n_inputs)
    for step in reversed(found.target_steps):
        described = _with_target(described, step)
    return replace(described, inputs=inputs_of(estimator, n_inputs, reader.texts, reader.keys, reader.gaps))


def _n_features(estimator: Any) -> int:
    check_is_fitted(estimator)
    raise ExportError(f"{quoted(estimator)} does not tell its number of inputs (n_features_in_), so it cannot be exported.")


def _stages_before(pipelines: tuple[Pipeline, ...], reader: Reader, raw: list[Raw | None]) -> tuple[Chain, list[Raw | None]]:
    """Return the stages of the steps before a model, and what is known about its inputs."""
    chain: Chain = (Columns.identity(len(raw)),)
    for pipeline in pipelines:
        for _, step in pipeline.steps:
            stages, raw = reader.read(step, raw)
            chain = (*chain, *stages)
    return chain, raw


def _of_model(model: Any, reader: Reader, before: tuple[Chain, list[Raw | None]], n_inputs: int) -> Described:
    chain, raw = before
    if isinstance(model, JointFactorRegressor):
        return _of_factors(model, chain)
    whole = simplified((*chain, *read_basis(reader, model.basis_, raw)))
    stages, used = pruned(whole, np.arange(whole[-1].n_outputs))
    scales = model._scales() if hasattr(model, "_scales") else np.ones(len(model._places))
    targets = zip(model._posteriors(), model._places, scales, strict=True)
    described = Described(
        title=type(model).__name__,
        inputs=(),
        used=tuple(int(place) for place in used),
        stages=simplified(stages),
        heads=tuple(Head.of(posterior, places, float(scale)) for posterior, places, scale in targets),
        temperature=float(getattr(model, "temperature_", 1.0)),
    )
    if isinstance(model, PrimalSVMClassifier):
        return _of_margins(model, described)
    if hasattr(model, "classes_"):
        log_odds = np.broadcast_to(getattr(model, "_class_log_odds", 0.0), len(described.heads)).astype(np.float64)
        return replace(described, target=CLASSES, classes=tuple(model.classes_.tolist()), class_log_odds=log_odds)
    if not hasattr(model, "_scales"):
        return replace(described, target=COUNTS)
    kernels = _query_kernels(model, whole)
    return replace(described, query_kernels=kernels, is_one=not isinstance(model.posterior_, list))


def _of_margins(model: PrimalSVMClassifier, described: Described) -> Described:
    """Return a model whose probabilities come from margins, or which has margins only."""
    classes = tuple(model.classes_.tolist())
    if np.isnan(described.temperature):
        return replace(described, target=MARGINS, classes=classes, temperature=1.0, is_moderated=False)
    return replace(described, target=CLASSES, classes=classes, class_log_odds=np.zeros(len(described.heads)), is_moderated=False)


def _of_factors(model: JointFactorRegressor, chain: Chain) -> Described:
    """Return a model that is linear in its inputs, with the same std at all rows without gaps."""
    weights, n_inputs = np.atleast_2d(model.coef_), model.n_features_in_
    mean, std = (np.ravel(part) for part in model.predict(model.x_mean_[None], return_std=True))
    noise = np.sqrt(np.ravel(model.noise_variance_))
    heads = [
        Head.linear(own, model.x_mean_, level=mean[place], std=std[place], deviation=model.y_scale_[place], noise=noise[place])
        for place, own in enumerate(weights)
    ]
    stages, used = pruned(simplified((*chain, Columns.identity(n_inputs))), np.arange(n_inputs))
    return Described(
        title=type(model).__name__,
        inputs=(),
        used=tuple(int(place) for place in used),
        stages=simplified(stages),
        heads=tuple(heads),
        is_one=np.ndim(model.intercept_) == 0,
    )


def _query_kernels(model: Any, stages: Chain) -> tuple[QueryKernels, ...] | None:
    """Return what the augmented std adds for each target, or None if there is no such std."""
    if not isinstance(model.basis_, KernelBasis) or getattr(model, "_augmentation_rows", None) is None:
        return None
    augmentation = model._augmentation()
    pairs = zip(model._posteriors(), model._places, strict=True)
    return tuple(QueryKernels.of(posterior, place, model.basis_, augmentation, stages[-1]) for posterior, place in pairs)


def _with_target(described: Described, step: Any) -> Described:
    """Return predictions in the units that a transformer of the target undoes."""
    if described.target != NUMBERS:
        raise ExportError(f"{described.title} in a TransformedTargetRegressor cannot be exported. Export the model itself.")
    numbers = _shifts_and_scales(step, len(described.heads))
    if len(numbers) != len(described.heads):
        raise ExportError(
            f"a target transformed by {quoted(step)} cannot be exported, because its std is that of the transformed target. Use a "
            "transformer that shifts and scales, or export the regressor inside."
        )
    heads = tuple(head.scaled(item.center, item.factor) for head, item in zip(described.heads, numbers, strict=True))
    kernels = described.query_kernels
    if kernels is not None:
        kernels = tuple(own.scaled(item.factor) for own, item in zip(kernels, numbers, strict=True))
    return replace(described, heads=heads, query_kernels=kernels)


def _shifts_and_scales(step: Any, n_targets: int) -> list[Number]:
    """Return a transformer of targets as one number for each, or none if it does something else."""
    try:
        chain = simplified(Reader().read(step, [None] * n_targets)[0])
    except ExportError:
        return []
    items = chain[0].items if len(chain) == 1 and isinstance(chain[0], Columns) else ()
    return [item for item in items if isinstance(item, Number) and np.isinf(item.lower) and np.isinf(item.upper)]

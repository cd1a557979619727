"""A set of receptive fields in the units of the user: learning, and predictions with their uncertainty."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from skarce._progress import QUIET, Quiet, progress
from skarce._typing import Floats
from skarce.methods.lwpr.field import FIRST_PROJECTIONS
from skarce.methods.lwpr.layout import Layout, Settings
from skarce.methods.lwpr.learning import learn

BACKGROUND = 1e-3  # the weight of the linear model of all rows next to the activations of the fields
FADED = 0.5  # how much what was seen counts in the next pass over the same rows
PRIOR_ROWS = 1.0  # the noise of a field starts from that of all rows, with the weight of this many rows
NUMBERS_AT_ONCE = 2**20  # in the largest array of a prediction


class Lines(NamedTuple):
    """All fields as linear models: level + slopes'(x - mean), with the variance of this value and of the noise."""

    means: Floats
    levels: Floats
    slopes: Floats
    scores: Floats  # (n_fields, max_projections, n_inputs): products with x - mean are s_r / sqrt(SS_r)
    weights: Floats
    noise: Floats

    def at(self, x: Floats) -> Floats:
        """Return the prediction of every field for every row, of shape (n_rows, n_fields)."""
        return x @ self.slopes.T + (self.levels - np.einsum("kd,kd->k", self.means, self.slopes))

    def variance_at(self, x: Floats) -> Floats:
        """Return the variance of a new target by every field: its noise times 1 + 1/W + the sum of s^2 / SS."""
        offsets = np.einsum("kd,krd->kr", self.means, self.scores)
        scores = np.einsum("nd,krd->nkr", x, self.scores, optimize=True) - offsets
        return self.noise * (1.0 + 1.0 / self.weights + np.einsum("nkr,nkr->nk", scores, scores))


@dataclass(frozen=True)
class LocalModels:
    """Receptive fields, the linear model of all rows behind them, and the units of inputs and targets.

    Attributes
    ----------
    state : array of shape (n_fields, layout.size)
        The fields.
    background : array of shape (1, layout.size), or (0, layout.size) before the first row
        A field with D = 0, which is active everywhere and has no neighbors. It takes over where no other field is active.
    max_projections : int
        Largest number of projections in a field.
    is_full : bool
        Whether metrics are whole matrices, and not diagonal.
    input_offset, input_scale : arrays of shape (n_inputs,)
        Fields see (x - offset) / scale.
    target_offset, target_scale : float
        Fields see (y - offset) / scale.
    """

    state: Floats
    background: Floats
    max_projections: int
    is_full: bool
    input_offset: Floats
    input_scale: Floats
    target_offset: float
    target_scale: float

    @classmethod
    def empty(cls, max_projections: int, is_full: bool, inputs: tuple[Floats, Floats], target: tuple[float, float]) -> LocalModels:
        """Return a model without fields. `inputs` and `target` are offsets and scales."""
        none = np.zeros((0, Layout(len(inputs[0]), max_projections, is_full).size))
        return cls(none, none, max_projections, is_full, *inputs, *target)

    @property
    def layout(self) -> Layout:
        """What the numbers of a field mean."""
        return Layout(len(self.input_scale), self.max_projections, self.is_full)

    @property
    def n_fields(self) -> int:
        """The number of fields, without the background."""
        return len(self.state)

    def scaled(self, X: Floats) -> Floats:
        """Return inputs in the units of the fields."""
        return np.ascontiguousarray((X - self.input_offset) / self.input_scale)

    def learned(self, X: Floats, y: Floats, settings: Settings, part: Quiet = QUIET, **options: Any) -> LocalModels:
        """Return the model after these rows, in this order. The part of the work is told how many are learned."""
        x, t = self.scaled(X), np.ascontiguousarray((y - self.target_offset) / self.target_scale)
        everywhere = replace(settings, initial_metric=0.0, learning_rate=0.0)
        return replace(
            self,
            state=learn(self.state, self.layout, x, t, settings, part=part, **options),
            background=learn(self.background, self.layout, x, t, everywhere, **options),
        )

    def trained(self, X: Floats, y: Floats, settings: Settings, n_passes: int, rng: np.random.RandomState) -> LocalModels:
        """Return the model after several passes over these rows, each in another random order.

        All that was seen counts half as much in the next pass. So each row is in the sums about twice, however many passes there
        are, and left-out errors take that into account.
        """
        model, copies = self, 0.0
        with progress("learning", n_passes * len(y), "rows") as part:
            for _ in range(n_passes):
                copies = FADED * copies + 1.0
                order = rng.permutation(len(y))
                model = model.faded().learned(X[order], y[order], replace(settings, copies=copies), part)
        return model

    def faded(self) -> LocalModels:
        """Return the same fields with less weight on all that they have seen."""
        shares = np.ones(self.layout.size)
        shares[self.layout.first_sum :] = FADED
        return replace(self, state=self.state * shares, background=self.background * shares)

    def predict(self, X: Floats, settled_weight: float, *, with_variance: bool = False) -> tuple[Floats, Floats | None]:
        r"""Return the means of new targets at rows of X, and perhaps their variances.

        The fields are a mixture with weights p_k = w_k / sum of w, eq. 1 of the paper:

        .. math::
            \hat y = \sum_k p_k \hat y_k, \quad
            \sigma^2 = \sum_k p_k \left[(\hat y_k - \hat y)^2 + s_k^2\left(1 + q_k'P_kq_k\right)\right]

        The paper divides this variance by the sum of w, as if overlapping fields were independent. But they have seen the same
        rows, and where the sum is small the background takes over.
        """
        lines = self._lines(settled_weight)
        means, variances = np.empty(len(X)), np.empty(len(X)) if with_variance else None
        for rows in self._parts(len(X)):
            x = self.scaled(X[rows])
            shares, values = self._shares(x), lines.at(x)
            mean = np.einsum("nk,nk->n", shares, values)
            means[rows] = self.target_offset + self.target_scale * mean
            if variances is not None:
                spread = (values - mean[:, None]) ** 2 + lines.variance_at(x)
                variances[rows] = self.target_scale**2 * np.einsum("nk,nk->n", shares, spread)
        return means, variances

    def activations(self, X: Floats) -> Floats:
        """Return w of every field at every row, of shape (n_rows, n_fields)."""
        return np.exp(-0.5 * self._squared_distances(self.scaled(X)))

    def _shares(self, x: Floats) -> Floats:
        active = np.exp(-0.5 * self._squared_distances(x))
        weights = np.column_stack([active, np.full(len(x), BACKGROUND)])
        return weights / weights.sum(axis=1, keepdims=True)

    def _squared_distances(self, x: Floats) -> Floats:
        offsets = x[:, None] - self.layout.part(self.state, "center")
        metric = self.layout.part(self.state, "metric")
        scaled = np.einsum("kij,nkj->nki", metric, offsets, optimize=True) if self.is_full else metric * offsets
        return np.einsum("nki,nki->nk", scaled, scaled)

    def _lines(self, settled_weight: float) -> Lines:
        """Return all fields as linear models, and the background as the last of them."""
        state = np.vstack([self.state, self.background])
        parts = {name: self.layout.part(state, name) for name in self.layout.shapes}
        inverse = np.divide(1.0, parts["squares"], out=np.zeros_like(parts["squares"]), where=parts["squares"] > 0.0)
        in_use = np.arange(self.max_projections) < _n_trusted(parts, settled_weight)[:, None]
        directions = _on_inputs(parts["directions"], parts["loadings"] * inverse[..., None]) * in_use[..., None]
        slopes = np.einsum("kr,krd->kd", parts["products"] * inverse, directions)
        return Lines(
            means=parts["mean"],
            levels=parts["level"],
            slopes=slopes,
            scores=directions * np.sqrt(inverse)[..., None],
            weights=parts["weight"],
            noise=_noise(parts["noise"], parts["evidence"]),
        )

    def _parts(self, n_rows: int) -> Iterator[slice]:
        largest = (self.n_fields + 1) * max(len(self.input_scale), self.max_projections)
        step = max(1, NUMBERS_AT_ONCE // largest)
        return (slice(start, start + step) for start in range(0, n_rows, step))


def _n_trusted(parts: dict[str, Floats], settled_weight: float) -> Floats:
    """Return how many projections of each field count: all, or all but those that came last if they have seen too little."""
    n = parts["n_projections"]
    earlier = np.where(n > FIRST_PROJECTIONS, n - 1.0, 0.0)
    return np.where(parts["evidence"] >= settled_weight, n, earlier)


def _on_inputs(directions: Floats, loadings: Floats) -> Floats:
    """Return v such that the scores are s_r = v_r'(x - mean): directions see inputs less what earlier scores explain."""
    lengths = np.sqrt(np.einsum("krd,krd->kr", directions, directions))[..., None]
    units = np.divide(directions, lengths, out=np.zeros_like(directions), where=lengths > 0.0)
    found = units.copy()
    for r in range(directions.shape[1]):
        for earlier in range(r):
            found[:, r] -= np.einsum("kd,kd->k", loadings[:, earlier], units[:, r])[:, None] * found[:, earlier]
    return found


def _noise(sums: Floats, evidence: Floats) -> Floats:
    """Return the variance of the noise in each field. The last one is the background, which the others start from."""
    everywhere = sums[-1] / evidence[-1] if evidence[-1] > 0.0 else 0.0
    noise = (sums + PRIOR_ROWS * everywhere) / (evidence + PRIOR_ROWS)
    noise[-1] = everywhere
    return np.asarray(noise)

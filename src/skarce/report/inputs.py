"""Which inputs matter to a model, and which rows are far from all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.neighbors import NearestNeighbors

from skarce._typing import Floats, Indices
from skarce.basis import KernelBasis
from skarce.basis.kernels import DISTANCE_KERNELS
from skarce.datasets import TargetKind
from skarce.inspection.inputs import InputRelevance, input_relevance
from skarce.inspection.shuffling import shuffled_inputs

FENCE = 3.0  # interquartile ranges above the third quartile: far out, as Tukey has it
MOST_FAR = 10  # far rows that are listed
MOST_NEIGHBORS = 20_000  # rows among which neighbors are looked for


@dataclass(frozen=True)
class Input:
    """How much an input matters, such as by how much an error grows if it is shuffled, and the spread of that number."""

    name: str
    value: float
    spread: float = 0.0

    def as_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def inputs_that_matter(pipeline: Any, X: Any, y: Any, kind: TargetKind) -> list[Input]:
    """The inputs of a fitted pipeline, by what shuffling adds to its loss, those that matter most first.

    Rows are those of the table, so text counts as one input.
    """
    found = shuffled_inputs(pipeline, X, y, kind)
    return [Input(*each) for each in zip(found.names, found.rises.tolist(), found.spreads.tolist(), strict=True)]


def widths_of_inputs(pipeline: Any) -> InputRelevance | None:
    """How narrow the kernels of a fitted pipeline are in each input; None if it has no width for each."""
    basis: Any = pipeline[-1].basis_
    if not isinstance(basis, KernelBasis) or basis.kernel_ not in DISTANCE_KERNELS:
        return None
    return input_relevance(pipeline) if np.ndim(np.asarray(basis.gamma_)) == 1 else None


@dataclass(frozen=True)
class FarRows:
    """Rows far from all others, the farthest first, with their distance over that of a usual row."""

    rows: Indices
    ratios: Floats

    def as_list(self, places: Sequence[str]) -> list[dict[str, Any]]:
        """The farthest rows, as many as there are places, ready for JSON."""
        shown = zip(places, self.rows.tolist(), self.ratios.tolist(), strict=False)
        return [{"row": row, "place": place, "ratio": ratio if np.isfinite(ratio) else None} for place, row, ratio in shown]


def far_rows(model: Any, prepared: Floats) -> FarRows:
    """Rows whose nearest neighbor is far out, by the distance that the kernels of the model measure, or that of scaled inputs."""
    scaled = prepared * _widths(model)
    rows = np.sort(np.unique(scaled, axis=0, return_index=True)[1])  # a copy of a row is no neighbor
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_NEIGHBORS)).astype(np.intp))]
    if len(rows) < 3:
        return FarRows(np.empty(0, np.intp), np.empty(0))
    distances = NearestNeighbors(n_neighbors=1).fit(scaled[rows]).kneighbors()[0][:, 0]
    lower, middle, upper = np.quantile(distances, [0.25, 0.5, 0.75])
    far = np.flatnonzero(distances > upper + FENCE * (upper - lower))
    far = far[np.argsort(-distances[far], kind="stable")]
    return FarRows(rows[far], distances[far] / middle if middle > 0.0 else np.full(len(far), np.inf))


def _widths(model: Any) -> Floats | float:
    """What kernels multiply differences of inputs with; one for models without kernels."""
    basis = model.basis_
    if not isinstance(basis, KernelBasis) or basis.gamma_ is None:
        return 1.0
    return np.sqrt(np.asarray(basis.gamma_, dtype=np.float64))

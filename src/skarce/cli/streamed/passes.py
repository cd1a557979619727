"""A fit of classes or counts to rows that are read in blocks, as often as the search needs them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import xlogy
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce.cli.fit_remarks import fitted
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say
from skarce.cli.streamed.files import DataFiles
from skarce.cli.streamed.progress import rows_progress, shown_progress
from skarce.cli.streamed.summary import READERS, Summary, summarize
from skarce.comparison import Method
from skarce.datasets import TargetKind
from skarce.datasets.tables import TableError
from skarce.datasets.training import inputs
from skarce.designs import RowBlocks

Rows = tuple[Any, Any]  # preprocessed inputs, and targets
METHODS = {  # others change the weights of the rows again and again, so they need them in memory
    TargetKind.CLASSES: ("frvm", "rvm", "psvm"),
    TargetKind.COUNTS: ("frvm", "rvm"),
}


@dataclass(frozen=True)
class FitByPasses:
    """What is to be fitted to which files.

    Attributes
    ----------
    data : DataFiles
        The files, with the columns of inputs and target.
    target : str
        The column to predict.
    method : Method
        The method, with its basis and its rule for widths.
    options : dict
        Parameters of the model.
    kind : TargetKind
        Classes or counts.
    """

    data: DataFiles
    target: str
    method: Method
    options: Mapping[str, Any]
    kind: TargetKind

    def run(self) -> tuple[SavedModel, float, int]:
        """Fit the model. Return it with its score on all rows, and their number."""
        methods = METHODS[self.kind]
        if self.method.name not in methods:
            remedy = f"use --method {' or '.join(methods)}, or --no-stream if they fit"
            raise TableError(f"--method {self.method.name} needs all rows in memory for {self.kind.value}; {remedy}.")
        with rows_progress("Summarizing", self.data.n_rows) as on_rows:
            summary = summarize(self.data, self.target, self.kind, on_rows)
        for note in summary.notes:
            say(f"Note: {note}")
        with shown_progress():
            model = fitted(self.method.name, lambda: self._model(summary))
        score = (accuracy if self.kind is TargetKind.CLASSES else explained_deviance)(model, self._rows(summary))
        pipeline = Pipeline([("preprocessing", summary.preprocessing), ("model", model)])
        return SavedModel(pipeline, self.target, summary.kinds, __version__), score, summary.n_rows

    def _model(self, summary: Summary) -> Any:
        model = self.method.prepared(summary.preprocessing.transform(summary.sample.X), **self.options)
        return model.fit(RowBlocks(lambda: self._rows(summary)))

    def _rows(self, summary: Summary) -> Iterator[Rows]:
        for block in self.data.blocks(summary.text_columns):
            X = summary.preprocessing.transform(inputs(block.table, summary.kinds))
            yield np.ascontiguousarray(X), READERS[self.kind](block.table, self.target)


def accuracy(model: Any, rows: Iterator[Rows]) -> float:
    """The share of rows whose class is predicted."""
    counts = np.array([(np.sum(model.predict(X) == y), len(y)) for X, y in rows])
    n_right, n_rows = counts.sum(axis=0)
    return float(n_right / n_rows)


def explained_deviance(model: Any, rows: Iterator[Rows]) -> float:
    """D2 of the Poisson deviance: 1 - sum(y log(y/mu) - y + mu) / sum(y log(y/mean)), with the mean of y over all rows."""
    sums = np.zeros(4)
    for X, y in rows:
        mean = model.predict(X)
        sums += [len(y), y.sum(), xlogy(y, y).sum(), (mean - y - xlogy(y, mean)).sum()]
    n_rows, total, log_total, rest = sums
    return float(1.0 - (log_total + rest) / (log_total - xlogy(total, total / n_rows)))

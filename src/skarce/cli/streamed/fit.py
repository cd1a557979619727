"""A fit to rows that are read in blocks: one pass to summarize them, one to add them up, and a search on the sums."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from skarce import __version__
from skarce._memory import fits, memory_budget
from skarce._whole_file import OutputError
from skarce.basis.transformers import candidates_of
from skarce.cli.fit_remarks import fitted
from skarce.cli.model_file import SavedModel
from skarce.cli.rendering import say
from skarce.cli.streamed.files import BEGINNING, ChangedFileError, DataFiles
from skarce.cli.streamed.progress import OnRows, rows_progress, working
from skarce.cli.streamed.state import AnySums, FitState, StateFile
from skarce.cli.streamed.summary import Summary, summarize
from skarce.comparison import Method
from skarce.datasets import TargetKind
from skarce.datasets.columns import TEXT, numbers
from skarce.datasets.tables import TableError
from skarce.datasets.training import inputs
from skarce.estimators.streaming import uses_folds
from skarce.moments import FoldSums, Sums
from skarce.moments.block_sums import CheckedBlock, sums_of_folds, sums_of_rows
from skarce.posteriors.augmentation import KEPT_ROWS


@dataclass(frozen=True)
class StreamedFit:
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
    kind : TargetKind or None
        What the target holds, if the user said it. If not, classes are refused.
    """

    data: DataFiles
    target: str
    method: Method
    options: Mapping[str, Any] = field(default_factory=dict)
    kind: TargetKind | None = None

    def run(self, file: StateFile) -> tuple[SavedModel, float]:
        """Fit the model, from the state in the file if there is one. Return it with its R2 on all rows."""
        state = file.load()
        if state is None:
            state = self._start()
            file.save(state)
        else:
            say(f"{state.n_done:,} of {state.n_rows:,} rows are already in {file.path}; continuing from there.")
        with _kept_in(file, state):
            with rows_progress("Adding up", state.n_rows, state.n_done) as on_rows:
                self._add_up(state, file, on_rows)
            with working(f"Fitting {self.method.name} to the sums of {state.n_rows:,} rows"):
                return self._model(state)

    def _start(self) -> FitState:
        """Read all rows once, and choose the candidates."""
        with rows_progress("Summarizing", self.data.n_rows) as on_rows:
            summary = summarize(self.data, self.target, self.kind, on_rows)
        for note in summary.notes:
            say(f"Note: {note}")
        basis = self._basis(summary)
        kept = summary.preprocessing.transform(summary.sample.least(KEPT_ROWS).X)
        n_candidates = candidates_of(basis, kept).n_candidates
        _require_room(n_candidates)
        has_folds = uses_folds(self.method.prepared(kept, **self.options), basis, summary.n_rows)
        sums = (FoldSums if has_folds else Sums).empty(n_candidates, 1)
        return FitState(summary.kinds, summary.preprocessing, basis, kept, summary.n_rows, BEGINNING, sums)

    def _basis(self, summary: Summary) -> Any:
        """The candidates, from the sample of the rows."""
        sample = summary.sample
        with working(f"Choosing candidates from {len(sample.y):,} rows"):
            X = summary.preprocessing.transform(sample.X)
            return fitted(self.method.name, lambda: self.method.prepared(X, **self.options).fitted_basis(X, sample.y))

    def _add_up(self, state: FitState, file: StateFile, on_rows: OnRows) -> None:
        """Add all blocks from the place of the state on. The state is written between blocks, and after each file.

        A block has sums of its own until it is whole, so an interrupt finds the state as it was after the last block.
        """
        candidates = candidates_of(state.basis, state.kept)
        sums_of: Callable[[Any, Any], AnySums] = sums_of_folds if isinstance(state.sums, FoldSums) else sums_of_rows
        texts = [name for name, kind in state.kinds.items() if kind == TEXT]
        for block in self.data.blocks(texts, state.place):
            if block.after.file != state.place.file:
                file.save(state)
            X = np.ascontiguousarray(state.preprocessing.transform(inputs(block.table, state.kinds)))
            rows = CheckedBlock(X, numbers(block.table, self.target)[:, None], None)
            state.go_on(state.sums + sums_of(candidates, rows), block.after)  # type: ignore[operator]
            on_rows(state.n_done)
            file.save_now_and_then(state)
        file.save(state)

    def _model(self, state: FitState) -> tuple[SavedModel, float]:
        model = self.method.prepared(state.kept, **self.options)
        regressor = fitted(self.method.name, lambda: model.fit_moments(state.basis, state.sums, state.kept))
        pipeline = Pipeline([("preprocessing", state.preprocessing), ("model", regressor)])
        return SavedModel(pipeline, self.target, state.kinds, __version__), explained_share(regressor, state.whole)


def explained_share(regressor: Any, sums: Sums) -> float:
    """R2 of a model with an intercept, on the rows of the sums: 1 - |t - Phi w|^2 / |t|^2 about the means."""
    posterior = regressor.posterior_
    active, w = posterior.active, posterior.mean
    gained = 2.0 * w @ sums.projections[active, 0] - w @ sums.gram[np.ix_(active, active)] @ w
    return float(gained / sums.target_energies[0])


def _require_room(n_candidates: int) -> None:
    """Raise if the products of all candidates do not fit into memory: they are what is added up."""
    if not fits(n_candidates, n_candidates):
        most, budget = int((memory_budget() / 8.0) ** 0.5), memory_budget() / 2**20
        reason = f"sums over {n_candidates:,} candidates do not fit into the memory budget of {budget:.0f} MiB"
        raise TableError(f"{reason}; use at most {most:,} --centers or columns.")


@contextmanager
def _kept_in(file: StateFile, state: FitState) -> Iterator[None]:
    """Let an interrupt write the state, and say how many rows are in it. A second one ends the writing; the last state stays.

    If a file has changed, the error says that the state no longer fits.
    """
    try:
        yield
    except ChangedFileError as error:
        raise file.error_of_change(error) from None
    except KeyboardInterrupt as interrupt:
        with suppress(KeyboardInterrupt, OutputError):
            file.save(state)
        if file.path is not None:
            word = (str(interrupt) or "Interrupted;").partition(";")[0]
            kept = f"The sums of {file.n_saved:,} of {state.n_rows:,} rows are in {file.path}"
            interrupt.args = (f"{word}; no model was written. {kept}: the same command goes on.",)
        raise

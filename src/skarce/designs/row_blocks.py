"""Rows that are read in blocks: files, memory maps, or anything else that can be read several times."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, ClassVar

from skarce._parallel import slices
from skarce._parameters import check_choice, check_count, generator_of
from skarce._progress import counted
from skarce.designs.blocks import BlockDesign
from skarce.designs.choice import IN_BATCHES, KINDS, Access
from skarce.designs.design import Recipe, Rows
from skarce.designs.fold_sums import require_room
from skarce.designs.labels import Codes
from skarce.designs.passes import HasPasses, coded
from skarce.designs.sampling import SAMPLE_ROWS, RowSample
from skarce.moments import Moments
from skarce.moments.block_sums import checked_block, sums_of_folds
from skarce.moments.passes import Block, check_candidates, moments_from_sums

if TYPE_CHECKING:
    from skarce.designs.arrow import ArrowRows
    from skarce.designs.parquet import ParquetRows


class RowBlocks:
    r"""Training data in blocks of rows, in place of X and y.

    ``model.fit(RowBlocks(read))`` fits a model to more rows than fit into memory. At most one block is in memory at a time.

    Parameters
    ----------
    factory : callable
        A function without arguments. It is called at the start of every pass over the data, and returns an iterable of ``(X, y)``
        or ``(X, y, sample_weight)``. Every call must give the same rows in the same order. X has shape (n_rows, n_features), y has
        shape (n_rows,) or (n_rows, n_outputs), and sample_weight has shape (n_rows,). Blocks may have different numbers of rows. If
        a pass gives another number of rows than the one before, `fit` raises a ValueError.

    Attributes
    ----------
    factory : callable
        The function given as parameter.
    feature_names : tuple of str or None
        The names of the columns of X, if the blocks come from Parquet or Arrow data. A model gets them as `feature_names_in_`.
    n_rows : int or None
        The number of rows, if arrays or Parquet files tell it, or after the first pass. Else None.

    See Also
    --------
    skarce.KernelBasis : Kernels at centers. For many rows, give a number of centers.
    skarce.RelevanceVectorRegressor : A regressor that takes row blocks in `fit`.

    Notes
    -----
    The basis is fitted on a uniform sample of at most 20,000 rows. Then the selection needs sums over all rows,

    .. math:: \Phi^TW\Phi, \quad \Phi^TWt, \quad t^TWt, \quad \textstyle\sum_i w_i,

    with the candidates :math:`\Phi` and targets t about their means, and the sample weights W. Sums over two parts a and b of the
    rows add up: with the difference d of their means, :math:`S = S_a + S_b + dd^T n_an_b/(n_a + n_b)`. So one pass gives all of
    :math:`\Phi^T\Phi`. If this matrix does not fit into the memory budget, columns of it are computed when a method asks for them,
    with one more pass for each request.

    References
    ----------
    Chan, T. F., Golub, G. H. and LeVeque, R. J. (1979). Updating formulae and a pairwise algorithm for computing sample variances.
    Technical Report STAN-CS-79-773, Stanford University.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import KernelBasis, RelevanceVectorRegressor
    >>> from skarce.designs import RowBlocks
    >>> def read():
    ...     for part in range(10):
    ...         x = np.linspace(part, part + 1, 200, endpoint=False)[:, None]
    ...         yield x, np.sin(x[:, 0]) + 0.1 * np.cos(1e4 * x[:, 0])
    >>> model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=40, random_state=0))
    >>> model = model.fit(RowBlocks(read))
    >>> bool(abs(model.predict([[1.5]])[0] - np.sin(1.5)) < 0.02)
    True
    """

    feature_names: tuple[str, ...] | None = None
    n_rows: int | None = None

    def __init__(self, factory: Callable[[], Iterable[tuple[Any, ...]]]) -> None:
        if not callable(factory):
            raise TypeError(
                "RowBlocks needs a function that returns an iterable of (X, y[, sample_weight]) each time it is called, "
                f"got {type(factory).__name__}. For arrays and memory maps use RowBlocks.from_arrays(X, y)."
            )
        self.factory = factory

    @classmethod
    def from_arrays(cls, X: Any, y: Any, sample_weight: Any = None, *, block_rows: int = 8192) -> RowBlocks:
        """Make row blocks from arrays or from `numpy.memmap`, one slice of rows at a time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows. They must support slices and `len`.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None gives all rows weight 1.
        block_rows : int, default=8192
            The number of rows in a block.

        Returns
        -------
        blocks : RowBlocks
            The data for `fit`.
        """
        check_slices(X, y, sample_weight)
        check_count("block_rows", block_rows)

        def read() -> Iterator[tuple[Any, ...]]:
            for rows in slices(len(X), block_rows):
                if sample_weight is None:
                    yield X[rows], y[rows]
                else:
                    yield X[rows], y[rows], sample_weight[rows]

        blocks = cls(read)
        blocks.n_rows = len(X)
        return blocks

    @classmethod
    def from_parquet(
        cls, paths: Any, *, target: Any, features: Any = None, weight: str | None = None, batch_rows: int = 65_536
    ) -> RowBlocks:
        """Make row blocks from Parquet files. This needs pyarrow: ``pip install "skarce[parquet]"``.

        Only the columns that are needed are read. One file is open at a time, and memory does not grow with the number of rows.

        Parameters
        ----------
        paths : path-like or list of path-like
            Files, folders, or patterns such as ``"data/2024-*.parquet"``. Of a folder, all files below it that end in ``.parquet``
            or ``.pq`` are read. Names that begin with ``_`` or ``.`` are left out. Folders named ``key=value`` (Hive partitions)
            below a given folder, or from the first wildcard of a pattern on, add a column with this name and value. Files are read
            in the order of their paths. The list of files is made once.
        target : str or list of str
            The column of the target, or the columns of several targets.
        features : list of str, default=None
            The columns of X, in this order. None takes all columns of the first file but target, weight, and the index of a pandas
            data frame. All files must have them, in any order.
        weight : str, default=None
            The column of the sample weights. None gives all rows weight 1.
        batch_rows : int, default=65536
            The number of rows in a block. Blocks do not depend on how rows are spread over files.

        Returns
        -------
        blocks : RowBlocks
            The data for `fit`. X is in single precision if all features are, in all files, and else in double precision.

        Notes
        -----
        Columns hold numbers of any width, booleans or decimals. A single target may also be text or a dictionary of texts: labels
        for a classifier. Other types, nulls, NaN and infinite values raise a ValueError that names file and column. So does a file
        that has changed between two passes.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> import numpy as np
        >>> import pyarrow as pa
        >>> import pyarrow.parquet as pq
        >>> from skarce import RelevanceVectorRegressor
        >>> from skarce.designs import RowBlocks
        >>> x = np.linspace(0, 10, 1000)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pq.write_table(pa.table({"x": x, "y": 3.0 * x + np.cos(1e4 * x)}), Path(folder, "rows.parquet"))
        ...     model = RelevanceVectorRegressor("passthrough").fit(RowBlocks.from_parquet(folder, target="y"))
        >>> model.feature_names_in_.tolist(), model.coef_.round(1).tolist()
        (['x'], [3.0])
        """
        from skarce.designs.arrow_columns import Columns
        from skarce.designs.parquet import ParquetRows

        check_count("batch_rows", batch_rows)
        return cls._named(ParquetRows.of(paths, Columns.of(target, features, weight), int(batch_rows)))

    @classmethod
    def from_arrow(
        cls, open_stream: Any, *, target: Any, features: Any = None, weight: str | None = None, batch_rows: int = 65_536
    ) -> RowBlocks:
        """Make row blocks from Arrow data of any package. This needs pyarrow: ``pip install "skarce[parquet]"``.

        Parameters
        ----------
        open_stream : callable or object
            A function without arguments that returns an object with ``__arrow_c_stream__``, such as a `pyarrow.RecordBatchReader`.
            It is called once for the names of the columns, and at the start of every pass over the data. Every call must return a
            new stream of the same rows in the same order. An object that can be read several times, such as a `pyarrow.Table` or a
            `polars.DataFrame`, can be passed as it is.
        target : str or list of str
            The column of the target, or the columns of several targets.
        features : list of str, default=None
            The columns of X, in this order. None takes all columns but target, weight, and the index of a pandas data frame.
        weight : str, default=None
            The column of the sample weights. None gives all rows weight 1.
        batch_rows : int, default=65536
            The number of rows in a block. Blocks do not depend on the batches of the stream.

        Returns
        -------
        blocks : RowBlocks
            The data for `fit`. X is in single precision if all features are, and else in double precision.

        Notes
        -----
        Columns hold numbers, and labels may be text, as in `from_parquet`. A `pyarrow.dataset.Dataset` has no stream of its own:
        pass ``lambda: dataset.scanner().to_reader()``.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from skarce.designs import RowBlocks
        >>> table = pa.table({"a": [1.0, 2.0, 3.0], "b": [0, 1, 0], "y": [2.0, 4.0, 6.0]})
        >>> blocks = RowBlocks.from_arrow(lambda: table.to_reader(), target="y", batch_rows=2)
        >>> [rows.X.tolist() for rows in blocks]
        [[[1.0, 0.0], [2.0, 1.0]], [[3.0, 0.0]]]
        """
        from skarce.designs.arrow import ArrowRows
        from skarce.designs.arrow_columns import Columns

        check_count("batch_rows", batch_rows)
        return cls._named(ArrowRows.of(open_stream, Columns.of(target, features, weight), int(batch_rows)))

    @classmethod
    def _named(cls, rows: ParquetRows | ArrowRows) -> RowBlocks:
        blocks = cls(rows.read)
        blocks.feature_names, blocks.n_rows = rows.columns.features, rows.n_rows
        return blocks

    def __iter__(self) -> Iterator[Rows]:
        return self.reading("reading")

    def reading(self, label: str, *, has_labels: bool = False) -> Iterator[Rows]:
        """Yield checked blocks, and show the progress of the pass if `fit` is verbose.

        Parameters
        ----------
        label : str
            What the pass does.
        has_labels : bool, default=False
            Whether targets are labels, which may be text.

        Yields
        ------
        rows : Rows
            A block.
        """
        n_rows = 0
        for rows in counted(self._checked_blocks(has_labels), lambda rows: rows.X.shape[0], label, self.n_rows, "rows"):
            yield rows
            n_rows += rows.X.shape[0]
        self._check_same_rows(n_rows)
        self.n_rows = n_rows

    def coded_blocks(self, label: str, codes: Codes | None, factor: float) -> Iterator[Any]:
        """Yield checked blocks with numbers in place of labels, and their weights times a factor.

        Parameters
        ----------
        label : str
            What the pass does.
        codes : Codes or None
            How labels become numbers. None if targets are numbers.
        factor : float
            The factor.

        Yields
        ------
        rows : object
            A block.
        """
        return (coded(rows, codes, factor) for rows in self.reading(label, has_labels=codes is not None))

    def _check_same_rows(self, n_rows: int) -> None:
        """Raise a ValueError if a pass gave another number of rows than those before."""
        if self.n_rows in (None, n_rows):
            return
        found = f"the row blocks gave {n_rows:,} rows in this pass, but {self.n_rows:,} in the one before"
        remedy = "Each call of the function must read the same rows again, from the first one on"
        raise ValueError(f"{found}. {remedy}. If the data have changed, make the RowBlocks again, and fit again.")

    def __repr__(self) -> str:
        rows = "an unknown number of rows" if self.n_rows is None else f"{self.n_rows:,} rows"
        features = "" if self.feature_names is None else f", {len(self.feature_names)} features"
        return f"RowBlocks({rows}{features})"

    def _checked_blocks(self, has_labels: bool) -> Iterator[Rows]:
        """Yield checked blocks. An error message names its block."""
        n_features = n_outputs = None
        blocks = self.factory()
        if not isinstance(blocks, Iterable):
            raise TypeError(f"the factory of row blocks must return an iterable of blocks, got {type(blocks).__name__}.")
        for number, parts in enumerate(blocks):
            rows = _checked(number, parts, has_labels)
            if not len(rows.X):
                continue
            n_features, n_outputs = n_features or rows.X.shape[1], n_outputs or rows.targets.shape[1]
            if (rows.X.shape[1], rows.targets.shape[1]) != (n_features, n_outputs):
                raise ValueError(
                    f"row block {number} has {rows.X.shape[1]} inputs and {rows.targets.shape[1]} targets, but the blocks before "
                    f"it have {n_features} and {n_outputs}."
                )
            yield rows

    def sample(self, random_state: Any = None, n_rows: int = SAMPLE_ROWS, *, has_labels: bool = False) -> RowSample:
        """Draw a sample of the rows by their weights, in one pass.

        Parameters
        ----------
        random_state : int, RandomState instance or None, default=None
            Seed of the sample.
        n_rows : int, default=20000
            The largest size of the sample.
        has_labels : bool, default=False
            Whether targets are labels, which are counted.

        Returns
        -------
        sample : RowSample
            The rows, and how many there are.
        """
        rng = generator_of(random_state)
        drawn: list[RowSample] = []
        for rows in self.reading("sampling", has_labels=has_labels):
            uniform = rng.random_sample(len(rows.X))
            drawn.append(RowSample.of(rows.X, rows.y, rows.weights, uniform, has_labels=has_labels))
            if sum(len(part.keys) for part in drawn) > 2 * n_rows:
                drawn = [RowSample.total_of(drawn, n_rows)]
        if not drawn:
            raise ValueError("there are no rows: the factory of row blocks yielded nothing.")
        return RowSample.total_of(drawn, n_rows)


class RowBlocksDesign(HasPasses, BlockDesign):
    """Candidates at the rows of `RowBlocks`.

    Parameters
    ----------
    candidates : object
        The fitted basis, with `on(X)` and `n_candidates`.
    blocks : RowBlocks
        The rows.
    sample : Rows
        A sample of the rows.
    n_rows : int
        The number of all rows.
    fit_intercept : bool, default=True
        Whether to integrate out a constant under a flat prior.
    factor : float, default=1.0
        Factor on the weights of all rows. Those of the sample have it already.
    in_folds : bool, default=False
        Whether sums are made for each fold, too.
    codes : Codes or None, default=None
        How labels become numbers. None if targets are numbers.
    """

    counts_worth: ClassVar[bool] = True
    kind_of_rows: ClassVar[str] = "RowBlocks"  # for messages

    def __init__(
        self,
        candidates: Any,
        blocks: RowBlocks,
        sample: Rows,
        n_rows: int,
        *,
        fit_intercept: bool = True,
        factor: float = 1.0,
        in_folds: bool = False,
        codes: Codes | None = None,
    ) -> None:
        super().__init__(candidates, sample, n_rows, fit_intercept=fit_intercept)
        self._blocks, self._factor, self._in_folds, self._codes = blocks, factor, in_folds, codes
        if in_folds:
            require_room(candidates.n_candidates)

    @classmethod
    def takes(cls, X: Any) -> bool:
        return isinstance(X, RowBlocks)

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, recipe: Recipe) -> RowBlocksDesign:
        """Fit the basis on a sample of the rows."""
        sample = X.sample(recipe.seed, has_labels=recipe.codes is not None)
        recipe.check_centers(sample.n_rows, cls.kind_of_rows)
        codes = recipe.codes_of_sample(sample)
        rows, factor = recipe.rows_of_sample(sample, codes)
        recipe.name_inputs(X.feature_names)
        return cls(
            recipe.candidates(rows),
            X,
            rows,
            sample.n_rows,
            fit_intercept=recipe.fit_intercept,
            factor=factor,
            in_folds=recipe.wants_folds(sample.n_rows),
            codes=codes,
        )

    @property
    def n_samples(self) -> float:  # type: ignore[override]
        return super().n_samples if self._spread is None else self._spread.total

    def total(self, work: Callable[[Any], Any], add: Callable[[list[Any]], Any]) -> Any:
        parts = (work(rows) for rows in self._blocks.coded_blocks("adding up", self._codes, self._factor))
        return reduce(lambda before, part: add([before, part]), parts)

    def moments(self, kind: str = "auto", access: Access = IN_BATCHES) -> list[Moments]:
        """Return one `Moments` for each output. With folds they are whole, and each row goes into the sums of its fold."""
        if not self._in_folds:
            return super().moments(kind, access)
        check_choice("moments", kind, KINDS)
        parts = (sums_of_folds(self.candidates, rows) for rows in self._blocks.reading("adding up"))
        self.fold_sums = reduce(add, parts).faded(self._factor)
        sums = self.fold_sums.whole()
        check_candidates(sums.raw_squares, sums.n_samples, lambda: (block.evaluation for block in self._read()))
        moments, self._center = moments_from_sums(sums, self._read, fit_intercept=self.fit_intercept)
        self._n_samples = sums.n_samples
        return moments

    def _read(self) -> Iterator[Block]:
        for rows in self._blocks.reading("adding up"):
            weights = rows.weights if self._factor == 1.0 else self._factor * rows.row_weights
            yield Block(self.candidates.on(rows.X), rows.targets, weights)


def check_slices(X: Any, y: Any, sample_weight: Any) -> None:
    """Raise unless these are arrays of as many rows, which can be sliced."""
    given = {"X": X, "y": y} if sample_weight is None else {"X": X, "y": y, "sample_weight": sample_weight}
    for name, values in given.items():
        if not (hasattr(values, "__len__") and hasattr(values, "__getitem__")) or isinstance(values, Mapping):
            raise TypeError(f"{name} must be an array with rows that can be sliced, got {type(values).__name__}.")
    if len(X) != len(y):
        raise ValueError(f"X and y must have the same number of rows, got {len(X)} and {len(y)}.")


def _checked(number: int, parts: Any, has_labels: bool) -> Rows:
    if not isinstance(parts, tuple) or len(parts) not in (2, 3):
        raise ValueError(f"row block {number} must be (X, y) or (X, y, sample_weight), got {type(parts).__name__}.")
    X, y, sample_weight = (*parts, None)[:3]
    return Rows(*checked_block(X, y, sample_weight, f"row block {number}", has_labels=has_labels))

"""Rows that are summed on a device: arrays that are there, blocks made there, or rows of the host that are copied there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from skarce._device import device_of, doubles, is_on_device, namespace, namespace_named, package_of, taken, to_host, where
from skarce._parameters import check_choice, generator_of
from skarce._scales import NEGLIGIBLE_WEIGHT, SQUARED, check_largest, checked_counts
from skarce._typing import Floats
from skarce.designs.design import Rows
from skarce.designs.feeding import Feed
from skarce.designs.labels import Codes, label_totals
from skarce.designs.passes import coded
from skarce.designs.row_blocks import RowBlocks, check_slices
from skarce.designs.sampling import SAMPLE_ROWS, RowSample, places_in
from skarce.moments.block_sums import CheckedBlock

LIBRARIES = ("torch", "cupy", "array_api_strict")
BLOCK_BYTES = 2**24  # of rows of the host, copied at a time: enough to hide what starting a copy takes
NUMBERS = ("bool", "integral", "real floating")  # kinds of numbers in the words of the array API


class DeviceRows(RowBlocks):
    """Training data that are summed on a GPU, in place of X and y.

    ``model.fit(X, y)`` takes arrays of PyTorch or CuPy as they are, under ``sklearn.config_context(array_api_dispatch=True)``. This
    class is for rows in the memory of the host or in files, which are copied to the device block by block (`from_arrays`,
    `from_blocks`), and for blocks that are made on the device (the constructor).

    Parameters
    ----------
    factory : callable
        A function without arguments. It is called at the start of every pass over the data, and returns an iterable of ``(X, y)``
        or ``(X, y, sample_weight)``, arrays on one device. Every call must give the same rows in the same order.

    Attributes
    ----------
    factory : callable
        The function given as parameter.
    feature_names : tuple of str or None
        The names of the columns of X, if the rows come from Parquet or Arrow data.
    n_rows : int or None
        The number of rows, if it is known before the first pass, or after it.

    See Also
    --------
    RowBlocks : The same for the cores of the host.

    Examples
    --------
    Rows of the host, summed by PyTorch. On a GPU, use ``device="cuda"``:

    >>> import numpy as np
    >>> from skarce import KernelBasis, RelevanceVectorRegressor
    >>> from skarce.designs import DeviceRows
    >>> x = np.linspace(0, 10, 2000)[:, None]
    >>> y = np.sin(x[:, 0]) + 0.1 * np.cos(1e4 * x[:, 0])
    >>> model = RelevanceVectorRegressor(KernelBasis(gamma=0.5, centers=40, random_state=0))
    >>> rows = DeviceRows.from_arrays(x, y, device="cpu", library="torch")  # doctest: +SKIP
    >>> model.fit(rows).predict([[1.5]]).round(1)  # doctest: +SKIP
    array([1.])
    """

    like: Any = None  # an array on the device, if it is known before the first pass

    @classmethod
    def from_arrays(  # type: ignore[override]
        cls,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        device: Any = "cuda",
        library: str = "torch",
        block_rows: int | None = None,
    ) -> DeviceRows:
        """Make rows from arrays in the memory of the host, or from `numpy.memmap`. They are copied to the device block by block.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Targets or labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows. None gives all rows weight 1.
        device : str or device, default="cuda"
            The device, as the library names it.
        library : {"torch", "cupy", "array_api_strict"}, default="torch"
            The package that computes.
        block_rows : int, default=None
            The number of rows that are copied at a time. None takes as many as fit into 16 MiB. With PyTorch on a GPU, the next
            block is copied while this one is summed.

        Returns
        -------
        rows : DeviceRows
            The data for `fit`.
        """
        check_slices(X, y, sample_weight)
        blocks = RowBlocks.from_arrays(X, y, sample_weight, block_rows=_rows_of_a_block(X, y) if block_rows is None else block_rows)
        return cls.from_blocks(blocks, device=device, library=library)

    @classmethod
    def from_blocks(cls, blocks: RowBlocks, *, device: Any = "cuda", library: str = "torch") -> DeviceRows:
        """Make rows from `RowBlocks`, such as those of Parquet files. Each block is copied to the device.

        Parameters
        ----------
        blocks : RowBlocks
            The rows.
        device : str or device, default="cuda"
            The device, as the library names it.
        library : {"torch", "cupy", "array_api_strict"}, default="torch"
            The package that computes.

        Returns
        -------
        rows : DeviceRows
            The data for `fit`.
        """
        check_choice("library", library, LIBRARIES)
        if not isinstance(blocks, RowBlocks) or isinstance(blocks, DeviceRows):
            raise TypeError(f"blocks must be RowBlocks in the memory of the host, got {type(blocks).__name__}.")
        return FedRows(blocks, Feed.to(namespace_named(library), library, device))

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any) -> DeviceRows:
        """Take arrays that are on a device. They are one block."""
        if y is None:
            raise ValueError(f"X is {where(X)}, but the target y is None. Pass y on the same device.")
        rows = cls(lambda: ((X, y) if sample_weight is None else (X, y, sample_weight),))
        rows.n_rows, rows.like = X.shape[0] if len(X.shape) else None, X
        return rows

    def _checked_blocks(self, has_labels: bool) -> Iterator[Any]:
        shape = None
        for number, parts in enumerate(self._blocks()):
            if not isinstance(parts, tuple) or len(parts) not in (2, 3):
                raise ValueError(f"row block {number} must be (X, y) or (X, y, sample_weight), got {type(parts).__name__}.")
            rows = checked_on_device(*parts, has_labels=has_labels)
            if not rows.X.shape[0]:
                continue
            shape = shape or (rows.X.shape[1], rows.targets.shape[1])
            if (rows.X.shape[1], rows.targets.shape[1]) != shape:
                raise ValueError(
                    f"row block {number} has {rows.X.shape[1]} inputs and {rows.targets.shape[1]} targets, but the blocks before "
                    f"it have {shape[0]} and {shape[1]}."
                )
            yield rows

    def _blocks(self) -> Iterable[Any]:
        blocks = self.factory()
        if not isinstance(blocks, Iterable):
            raise TypeError(f"the factory of device rows must return an iterable of blocks, got {type(blocks).__name__}.")
        return blocks

    def sample(self, random_state: Any = None, n_rows: int = SAMPLE_ROWS, *, has_labels: bool = False) -> RowSample:
        """Draw a sample as `RowBlocks.sample` does, and move it to the host. Labels are counted on the host, too."""
        rng = generator_of(random_state)
        drawn: list[RowSample] = []
        for rows in self.reading("sampling", has_labels=has_labels):
            drawn = [RowSample.total_of([*drawn, _drawn(rows, rng, n_rows, has_labels)], n_rows)]
        if not drawn:
            raise ValueError("there are no rows on the device.")
        return drawn[0]


class FedRows(DeviceRows):
    """Blocks of rows of the host, copied to a device one after the other.

    Parameters
    ----------
    blocks : RowBlocks
        The rows.
    feed : Feed
        What copies them.
    """

    def __init__(self, blocks: RowBlocks, feed: Feed) -> None:
        super().__init__(blocks.factory)
        self._host, self._feed, self.like = blocks, feed, feed.like
        self.feature_names, self.n_rows = blocks.feature_names, blocks.n_rows

    def reading(self, label: str, *, has_labels: bool = False) -> Iterator[Any]:
        """Yield checked blocks on the device. Labels must be numbers: text is coded before it is copied (`coded_blocks`)."""
        yield from self._feed(CheckedBlock(*rows[:3]) for rows in self._host.reading(label, has_labels=has_labels))
        self.n_rows = self._host.n_rows

    def coded_blocks(self, label: str, codes: Codes | None, factor: float) -> Iterator[Any]:
        blocks = self._host.reading(label, has_labels=codes is not None)
        yield from self._feed(coded(CheckedBlock(*rows[:3]), codes, factor) for rows in blocks)

    def sample(self, random_state: Any = None, n_rows: int = SAMPLE_ROWS, *, has_labels: bool = False) -> RowSample:
        return self._host.sample(random_state, n_rows, has_labels=has_labels)


def _rows_of_a_block(X: Any, y: Any) -> int:
    """Return how many rows of arrays on the host are copied at a time."""
    row_bytes = sum(np.asarray(values[:1]).nbytes for values in (X, y))
    return max(1, BLOCK_BYTES // max(row_bytes, 1))


def _drawn(rows: Rows, rng: np.random.RandomState, most: int, has_labels: bool) -> RowSample:
    """Return a sample of a block. Only its rows, and the weights and labels of all rows, are moved to the host."""
    n = rows.X.shape[0]
    uniform, weights = rng.random_sample(n), None if rows.weights is None else to_host(rows.weights)
    if weights is None:  # the smallest numbers give the smallest keys
        chosen = np.arange(n) if n <= most else np.sort(np.argpartition(uniform, most)[:most])
        keys = -np.log1p(-uniform[chosen])
    else:
        every = RowSample.of(None, None, weights, uniform)
        chosen = np.arange(n) if n <= most else np.sort(np.argpartition(every.keys, most)[:most])
        keys = every.keys[chosen]
    total, n_counted = (float(n), n) if weights is None else (float(weights.sum()), int(np.count_nonzero(weights)))
    labels = label_totals(to_host(rows.targets)[:, 0], weights) if has_labels else {}
    X, y = to_host(taken(rows.X, chosen)), to_host(taken(rows.targets, chosen))
    y = y[:, 0] if rows.targets.shape[1] == 1 and rows.is_one_output else y
    counts = np.ones(len(keys)) if weights is None else weights[chosen]
    return RowSample(X, y, counts, keys, places_in(0, chosen), n, n_counted, total, labels)


def checked_on_device(X: Any, y: Any, sample_weight: Any = None, *, has_labels: bool = False) -> Any:
    """Check arrays on one device. Return X as it is, targets with a column for each output, and weights, both as doubles.

    Labels keep their type.
    """
    _check_places(X, y, sample_weight)
    if len(X.shape) != 2 or not X.shape[1]:
        raise ValueError(f"X must have rows and columns, got shape {tuple(X.shape)}.")
    if len(y.shape) not in (1, 2) or y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, but y has shape {tuple(y.shape)}.")
    check_inputs(X)
    check_finite_on_device(y, "y")
    if has_labels and len(y.shape) == 2 and y.shape[1] != 1:
        raise ValueError(f"y must have one label for each row, got shape {tuple(y.shape)}.")
    targets = y[:, None] if len(y.shape) == 1 else y
    if not has_labels:
        targets = doubles(targets)
        check_largest(_largest(targets), SQUARED, "y" if targets.shape[1] == 1 else "column {} of y", "Multiply y by {}.")
    weights = None if sample_weight is None else _checked_weights(sample_weight, X.shape[0])
    return Rows(X, targets, weights, is_one_output=len(y.shape) == 1)


def check_inputs(X: Any) -> None:
    """Raise a ValueError if inputs on a device are not finite, or so large that their squares overflow."""
    check_finite_on_device(X, "X")
    remedy = "Scale the inputs: multiply the column by {}, or use StandardScaler."
    check_largest(_largest(X), SQUARED, "column {} of X", remedy)


def check_finite_on_device(values: Any, name: str) -> None:
    """Raise unless an array on a device holds finite real numbers. The message names the row."""
    xp = namespace(values)
    if not xp.isdtype(values.dtype, NUMBERS):
        raise TypeError(f"{name} must hold real numbers, got {where(values)} of type {values.dtype}.")
    if not xp.isdtype(values.dtype, "real floating") or bool(xp.all(xp.isfinite(values))):
        return
    places = np.argwhere(~np.isfinite(to_host(values)))[0]
    place = ", column ".join(str(number) for number in places)
    raise ValueError(f"{name} must hold finite numbers, got NaN or infinity in row {place}. Drop or fill such rows.")


def _check_places(X: Any, y: Any, sample_weight: Any) -> None:
    """Raise a TypeError unless all arrays are on the device of X. Nothing is moved silently."""
    if not is_on_device(X):
        raise TypeError(f"blocks of device rows must be arrays on a device, but X is {where(X)}. Use DeviceRows.from_arrays.")
    _check_doubles(X)
    for name, values in (("y", y), ("sample_weight", sample_weight)):
        if values is None and name == "sample_weight":
            continue
        if not is_on_device(values) or package_of(values) != package_of(X) or device_of(values) != device_of(X):
            raise TypeError(
                f"X is {where(X)}, but {name} is {where(values)}, and nothing is moved between devices silently. Move one of them, "
                "so that both are on one device."
            )


def _check_doubles(X: Any) -> None:
    """Raise a TypeError if the device has no double precision, in which all sums are made."""
    xp = namespace(X)
    try:
        xp.zeros(1, dtype=xp.float64, device=device_of(X))
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"sums are made in double precision, which {where(X)} cannot hold: {error}. Use another device.") from None


def _checked_weights(sample_weight: Any, n_rows: int) -> Any:
    """Return weights as doubles. Negligible ones are zero."""
    if tuple(sample_weight.shape) != (n_rows,):
        raise ValueError(f"X has {n_rows} rows, but sample_weight has shape {tuple(sample_weight.shape)}.")
    check_finite_on_device(sample_weight, "sample_weight")
    weights = doubles(sample_weight)
    if not n_rows:
        return weights
    xp = namespace(weights)
    least, most = float(xp.min(weights)), float(xp.max(weights))
    if least < 0.0:
        raise ValueError(f"sample_weight must not be negative, got {least:.6g}.")
    checked_counts(np.array([most]), is_all=False)
    return xp.where(weights < NEGLIGIBLE_WEIGHT * most, xp.zeros_like(weights), weights)


def _largest(values: Any) -> Floats:
    """Return the largest absolute value of each column, on the host."""
    xp = namespace(values)
    if not values.shape[0] or not xp.isdtype(values.dtype, "real floating"):
        return np.zeros(values.shape[1])
    return np.maximum(to_host(xp.max(values, axis=0)), -to_host(xp.min(values, axis=0))).astype(np.float64)

"""The fold of a row, which is a hash of its inputs.

So equal rows are in one fold, a row of weight 2 is like the row twice, and neither the order of the rows nor their division into
blocks matters. No generator of random numbers is involved: the folds are the same in every run and on every machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import numpy as np
from scipy import sparse

from skarce._parallel import slices
from skarce._typing import Floats, Indices
from skarce.basis.kernel_basis import KernelBasis

N_FOLDS = 5
HASH_BYTES = 8
DENSE_BYTES = 2**23  # rows of a sparse matrix are made dense in blocks of about this size
BETWEEN = "\x1f"  # the separator of units in ASCII, between the columns of a row of text


def fold_numbers(X: Any, candidates: Any = None) -> Indices:
    """Return the fold of each row of X, from 0 to 4.

    A row of a precomputed kernel has one value for each training row, in their order. It is sorted first.
    """
    is_precomputed = isinstance(candidates, KernelBasis) and candidates.kernel == "precomputed"
    rows = bytes_of(np.sort(X, axis=1) if is_precomputed else X)
    digests = (blake2b(row, digest_size=HASH_BYTES).digest() for row in rows)
    return np.array([int.from_bytes(digest, "little") % N_FOLDS for digest in digests], dtype=np.intp)


def bytes_of(X: Any) -> Iterator[bytes]:
    """Yield each row as bytes, which are equal exactly if the rows are: 0 equals -0, and a number equals its float."""
    if sparse.issparse(X):
        return _bytes_of_sparse(X)
    values = np.asarray(X)
    values = values.reshape(len(values), -1)
    if values.dtype.kind in "fiub":
        return (row.tobytes() for row in _canonical(values))
    return (BETWEEN.join(map(_text_of, row)).encode(errors="surrogatepass") for row in values)


def _canonical(values: Any) -> Floats:
    numbers = np.ascontiguousarray(values, dtype="<f8") + 0.0  # -0.0 becomes 0.0
    return np.where(np.isnan(numbers), np.nan, numbers).astype("<f8", copy=False)


def _bytes_of_sparse(X: Any) -> Iterator[bytes]:
    """Yield the bytes of the dense rows, so that folds do not depend on the format. A few rows at a time are made dense."""
    matrix = sparse.csr_array(X)
    for part in slices(matrix.shape[0], max(1, DENSE_BYTES // (8 * matrix.shape[1]))):
        yield from bytes_of(matrix[part].toarray())


def _text_of(value: Any) -> str:
    try:
        return repr(float(value) + 0.0)
    except (TypeError, ValueError):
        return str(value)

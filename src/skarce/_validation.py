"""Checks of inputs in addition to those of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import _check_sample_weight, _num_samples, assert_all_finite, check_array, validate_data

from skarce._device import PACKAGES, is_dispatched
from skarce._text import LONGEST_LINE, one_line, quoted
from skarce._typing import Floats
from skarce._unusable_columns import columns_of, naming_columns

# What to call on data of other packages. Nothing loads, computes or copies them silently. The first entry is the root of the module
# that defines the class, or one that it is derived from. The second is the name of the class, or None for all classes.
FOREIGN: tuple[tuple[str, str | None, str], ...] = (
    ("dask", None, ".compute()"),
    ("dask_expr", None, ".compute()"),
    ("polars", "LazyFrame", ".collect()"),
    ("pyarrow", "Table", ".to_pandas()"),
    ("pyarrow", "RecordBatch", ".to_pandas()"),
    ("pyarrow", None, ".to_numpy(zero_copy_only=False)"),
    ("torch", None, ".numpy(), or .cpu().numpy() if it is on a GPU,"),
    ("array_api_strict", None, "numpy.from_dlpack"),
    ("tensorflow", None, ".numpy()"),
    ("jax", None, "numpy.asarray"),
    ("jaxlib", None, "numpy.asarray"),
    ("cupy", None, ".get()"),
    ("cudf", None, ".to_pandas()"),
    ("pyspark", None, ".toPandas()"),
)
SPARSE_REFUSED = (
    "X is a sparse matrix, but kernels need dense inputs. Use X.toarray() if that fits into memory, a TruncatedSVD in front in a "
    'pipeline, or a linear model with basis="passthrough", which takes sparse matrices.'
)
DENSE_NEEDED = "X is a sparse matrix, but {} needs dense inputs. Use X.toarray() if that fits into memory."

# How messages of NumPy begin if a value cannot become a number. They do not say which array has it.
CONVERSIONS = ("could not convert", "setting an array element", "float() argument", "must be real number", "invalid literal")


def validated(estimator: Any, X: Any, y: Any, *, reset: bool = True, **options: Any) -> tuple[Any, Any]:
    """Validate X and y as scikit-learn's `validate_data` does with these options, but faster for plain arrays.

    With a few hundred rows the general check takes a good part of the time of a fit. Finite arrays of doubles with matching shapes
    do not need it. Everything else, and every error, is left to scikit-learn.
    """
    if _is_plain(y, 1) and _are_plain_inputs(estimator, X, len(y), reset=reset):
        return X, y
    return quietly_validated(estimator, X, y, reset=reset, multi_output=True, y_numeric=True, **options)


def validated_with_labels(estimator: Any, X: Any, y: Any, *, reset: bool = True, **options: Any) -> tuple[Any, Any]:
    """Validate X and labels as `quietly_validated` does with these options, but faster for plain arrays."""
    if are_plain_labels(y) and _are_plain_inputs(estimator, X, len(y), reset=reset):
        return X, y
    X, y = quietly_validated(estimator, X, y, reset=reset, **options)
    return X, y


def are_plain_labels(y: Any) -> bool:
    """Tell whether these are labels that need no check and no conversion: an array of whole numbers or booleans."""
    return type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iub"


def _are_plain_inputs(estimator: Any, X: Any, n_rows: int, *, reset: bool) -> bool:
    """Tell whether X has `n_rows` rows and needs no check. If it needs none, set what scikit-learn's check would set."""
    if not _is_plain(X, 2) or len(X) != n_rows or X.shape[1] == 0:
        return False
    if not reset:
        return not hasattr(estimator, "feature_names_in_") and X.shape[1] == estimator.n_features_in_
    if len(X) < 2:
        return False
    estimator.n_features_in_ = X.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    return True


def validated_queries(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate rows to predict as `quietly_validated` does, but faster for plain arrays.

    For a few rows the general check takes longer than a prediction. Finite doubles in as many columns as the model has, all of them
    without names, do not need it.
    """
    is_like_training = getattr(X, "shape", (0,))[-1:] == (estimator.n_features_in_,) and not hasattr(estimator, "feature_names_in_")
    return X if is_like_training and _is_plain(X, 2) else quietly_validated(estimator, X, reset=False, **options)


def quietly_validated(estimator: Any, *data: Any, **options: Any) -> Any:
    """Validate as scikit-learn's `validate_data` does, for arrays of doubles or singles. Targets are not sparse.

    It sums values to see whether all are finite. The sum of huge values may overflow, and NumPy would warn. X is sparse only with
    the option `accept_sparse`.
    """
    for values, name in zip(data, ("X", "y"), strict=False):
        check_kind(values, name)
    if issparse(data[0]) and not options.get("accept_sparse"):
        has_kernels = hasattr(estimator, "basis") or hasattr(estimator, "kernel")
        raise TypeError(SPARSE_REFUSED if has_kernels else DENSE_NEEDED.format(type(estimator).__name__))
    with in_brief("X" if len(data) == 1 else "X and y"), naming_columns(data[0]), np.errstate(over="ignore", invalid="ignore"):
        checked = validate_data(estimator, *data, **{"dtype": [np.float64, np.float32], **options})
    return checked if len(data) == 1 else (checked[0], numeric_targets(checked[1]) if options.get("y_numeric") else checked[1])


def numeric_targets(y: Any) -> Floats:
    """Return targets as finite doubles. scikit-learn lets text, sparse matrices, and objects such as None pass."""
    check_dense(y)
    check_kind(y, "y")
    with in_brief("y"), np.errstate(over="ignore", invalid="ignore"):
        values = np.asarray(y, dtype=np.float64)
        assert_all_finite(values, input_name="y")
    return values


def checked_array(values: Any, name: str, **options: Any) -> Any:
    """Check one array as scikit-learn's `check_array` does, for doubles or singles."""
    check_kind(values, name)
    with in_brief(name), naming_columns(values, name), np.errstate(over="ignore", invalid="ignore"):
        return check_array(values, **{"dtype": [np.float64, np.float32], "input_name": name, **options})


def checked_table(estimator: Any, X: Any, *, reset: bool = True) -> Any:
    """Check the names and the number of columns of an X that goes to a transformer of others as it is."""
    check_container(X, "X")
    with in_brief("X"):
        if _num_samples(X) == 0:
            raise ValueError("X has no rows: found 0 sample(s), while a minimum of 1 is required.")
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    return X


def validated_weights(sample_weight: Any, X: Any) -> Floats:
    """Return sample weights as an array of finite doubles that are not negative, one for each row of X."""
    check_container(sample_weight, "sample_weight")
    with in_brief("sample_weight"), np.errstate(over="ignore", invalid="ignore"):
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.isfinite(weights).all():  # one number for all rows is not checked
        raise ValueError(f"sample_weight must be finite, got {quoted(sample_weight)}.")
    return np.asarray(weights)


def check_dense(y: Any) -> None:
    """Raise a TypeError if targets are a sparse matrix, which scikit-learn accepts for some kinds of targets."""
    if issparse(y):
        raise TypeError("y is a sparse matrix, but dense targets are required. Use y.toarray().")


def check_kind(values: Any, name: str) -> None:
    """Raise for data of other packages, and for dates and times."""
    check_container(values, name)
    check_no_dates(values, name)


def check_container(values: Any, name: str) -> None:
    """Raise a TypeError for data of other packages that NumPy would load, compute or copy silently. It names what to call.

    The packages are known by the modules of their classes, and are not imported.
    """
    for kind in type(values).__mro__[:-1]:
        root = kind.__module__.partition(".")[0]
        for package, class_name, call in FOREIGN:
            if root == package and class_name in (None, kind.__name__):
                raise TypeError(
                    f"{name} is of type {root}.{type(values).__name__}, which is not turned into an array silently. Call {call} on "
                    f"it, and pass the result.{_instead(root)}"
                )


def _instead(package: str) -> str:
    """Say what else can be done with lazy data, and with arrays of a package that computes on devices."""
    if package in ("dask", "dask_expr"):
        return " Rows in memory are needed here. To fit a pipeline to Dask data, give its transformers to the model as basis=."
    if package not in PACKAGES or is_dispatched():
        return ""
    return " Or fit and predict under sklearn.config_context(array_api_dispatch=True): then it is computed on its own device."


def check_no_dates(values: Any, name: str) -> None:
    """Raise a ValueError for dates and times. NumPy would make numbers of them, and a large negative number of a missing one."""
    if hasattr(values, "columns") and hasattr(values, "dtypes"):  # a data frame
        for column, kind in zip(values.columns, values.dtypes, strict=True):
            _check_kind(kind, f"column {quoted(column)} of {name}")
    elif hasattr(values, "dtype"):
        _check_kind(values.dtype, name)


def _check_kind(kind: Any, name: str) -> None:
    is_temporal = getattr(kind, "is_temporal", None)  # the types of polars have this method instead of a letter
    if getattr(kind, "kind", "") in ("m", "M") or (is_temporal is not None and is_temporal()):
        raise ValueError(f"{name} holds dates or times ({kind}). Convert them to numbers, such as days since the first one.")


@contextmanager
def in_brief(name: str) -> Iterator[None]:
    """Raise errors of scikit-learn's checks again, in at most `LONGEST_LINE` characters. What NumPy says also needs the name."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{name} must hold numbers below 1e308: {error}.") from None
    except (ValueError, TypeError) as error:
        text = str(error)
        if text.startswith(CONVERSIONS):
            text = f"{name} must hold numbers, in rows of one length: {one_line(text, LONGEST_LINE // 2)}"
        elif text.startswith(("Expected 2D array", "Found array with")):
            text = f"{name}: {' '.join(text.split())}"
        if text == str(error) and len(text) <= LONGEST_LINE:
            raise
        raise type(error)(_whole_sentences(text)) from None


def _whole_sentences(text: str) -> str:
    """Return the first sentences of a text in one line of bounded length."""
    if len(text) <= LONGEST_LINE:
        return text
    first = " ".join(text.split())[:LONGEST_LINE].rpartition(". ")[0]
    return f"{first}." if first else one_line(text)


def is_missing(label: Any) -> bool:
    """Tell whether a label is None, NaN, or what pandas uses in their place."""
    is_nan = isinstance(label, (float, np.floating)) and bool(np.isnan(label))
    return label is None or is_nan or type(label).__name__ in ("NAType", "NaTType")


class Unusable(NamedTuple):
    """A value of inputs that is missing or infinite, with its row, and the quoted name or the number of its column."""

    row: int
    column: str
    value: Any

    def __str__(self) -> str:
        return f"{self.value} in row {self.row}, column {self.column}"


def first_unusable(X: Any) -> Unusable | None:
    """Return the first value of inputs that is missing or infinite, or None if there is none."""
    if issparse(X):
        return None
    found = [
        Unusable(row, column, value)
        for column, values in columns_of(X)
        for row, value in enumerate(values.tolist())
        if is_missing(value) or (isinstance(value, float) and np.isinf(value))
    ]
    return min(found, key=lambda unusable: unusable.row, default=None)


def _is_plain(values: Any, n_dimensions: int) -> bool:
    """Tell whether this is a C-ordered array of finite doubles."""
    if type(values) is not np.ndarray or values.dtype != np.float64 or values.ndim != n_dimensions:
        return False
    if not (values.flags.c_contiguous and values.size):
        return False
    with np.errstate(over="ignore", invalid="ignore"):  # if the sum is finite, all its terms are
        return bool(np.isfinite(values.sum()))

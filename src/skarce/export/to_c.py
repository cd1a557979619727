"""Fitted models as C99."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from skarce._parameters import check_choice
from skarce._text import quoted
from skarce._typing import Floats
from skarce._whole_file import check_output, replacing
from skarce.export import advice
from skarce.export.c.code_size import code_remarks
from skarce.export.c.fixed_header import FixedHeader
from skarce.export.c.fixed_numbers import FORMATS
from skarce.export.c.fixed_point import fixed_point
from skarce.export.c.header import Examples, Header, Size
from skarce.export.c.levels import BETTER, check_levels
from skarce.export.c.names import check_name
from skarce.export.c.tables import REALS
from skarce.export.careful import has_pairs
from skarce.export.checks import N_RANDOM, TOLERANCES, Compared, against_itself, comparison, spread_out
from skarce.export.columns import Columns
from skarce.export.description import CLASSES, COUNTS, MARGINS, Described, describe
from skarce.export.likely_rows import likely_rows
from skarce.export.stages import Kernels, Products, Splines
from skarce.export.transformers import ExportError, ImpreciseError

N_EXAMPLES = 5  # rows of the self-test
WORDS = {CLASSES: "probabilities", MARGINS: "margins"}
KINDS = (*REALS, *FORMATS)
MOST_OF_NOISE = 0.1  # what fixed-point arithmetic may add, as a share of the std of the noise
MOST_OF_PROBABILITY = 0.005  # what it may add to a probability
OF_TARGET, OF_COUNT = "of the std of the target", "of the std of a count"
IN_PAIRS = " in pairs, because weights of both signs nearly cancel"
_FLOAT_REMARKS = (
    "Missing numbers are NaN, so do not compile with -ffast-math. To move tables, or to use exp and sqrt of a library, define",
    "before the include:",
)
_FIXED_REMARKS = (
    "Inputs and outputs are whole numbers: the number times its scale below. Keep that product in -INT32_MAX to INT32_MAX before",
    "it becomes a whole number, because C does not define what it is beyond. To move tables, define before the include:",
)


@dataclass(frozen=True, repr=False)
class ExportedC:
    """A model in C, and what it costs.

    Attributes
    ----------
    text : the header
    size : bytes of tables and stack, and multiplications in one prediction
    error : the largest difference to Python, as a share of the std of the target or of a count (of 1 for probabilities and margins)
    n_rows : how many rows were compared
    where : what they are: given rows, training rows in the model, and random points
    path : where it was written, if it was
    unit : the unit of the error, in words
    """

    text: str
    size: Size
    error: float
    n_rows: int
    where: str
    path: Path | None = None
    unit: str = OF_TARGET

    def __repr__(self) -> str:
        """Return what there is to know, without the text."""
        where = "" if self.path is None else f"path={str(self.path)!r}, "
        return f"ExportedC({where}table_bytes={self.size.table_bytes}, error={self.error:.2g}, n_rows={self.n_rows})"

    def __str__(self) -> str:
        """Return the same in a sentence."""
        where = "" if self.path is None else f"{self.path}: "
        return f"{where}{self.size.table_bytes} bytes of tables, largest error {self.error:.2g} at {self.where}"


def to_c(model: Any, path: Any, *, name: str = "model", real: str = "float", std: Any = True, X: Any = None) -> ExportedC:
    """Write a fitted model or pipeline as one C99 header without dependencies.

    Scalers, imputers and encoders of the pipeline are in the header, so its functions take the raw row. Before the file is
    written, the arithmetic of the header is compared with `predict`.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce, or a pipeline, search or `TransformedTargetRegressor` around one.
    path : path-like
        Where the header is written, as a whole or not at all.
    name : str, default="model"
        How all names in the header begin.
    real : {"float", "double", "q15", "q31"}, default="float"
        The type of numbers. ``"q15"`` and ``"q31"`` are whole numbers with tables of 16 and 32 bits, for cores without a
        floating-point unit: models on columns or on kernels of distances, if this adds at most a tenth of the std of the noise, or
        0.005 to a probability.
    std : {True, False, "augmented"}, default=True
        Whether regressors also return the std of a new observation. ``"augmented"`` is that of ``predict(std="augmented")``, which
        needs a table of training rows. Classifiers always have what their probabilities need.
    X : array-like of shape (n_samples, n_features), default=None
        Rows that the header is checked at, such as the training rows, beside random points and training rows that the model keeps:
        kernels have some, other models have none. Some of them are in its self-test.

    Returns
    -------
    exported : ExportedC
        The text of the header, its size, and its largest error.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from skarce import KernelBasis, RelevanceVectorRegressor
    >>> from skarce.export import to_c
    >>> X = np.linspace(-5, 5, 100)[:, None]
    >>> y = np.sin(X[:, 0]) + np.random.default_rng(0).normal(0, 0.1, 100)
    >>> model = RelevanceVectorRegressor(KernelBasis(gamma=0.3)).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     exported = to_c(model, Path(folder) / "sine.h", name="sine", X=X)
    >>> exported.size.table_bytes < 400, exported.error < 1e-5
    (True, True)
    """
    if path is None:
        raise ValueError("path must be the name of a file, such as 'model.h', got None.")
    path = Path(path)
    check_output(path)
    exported = c_source(model, name=name, real=real, std=std, X=X)
    with replacing(path) as draft:
        draft.write_text(exported.text, encoding="ascii")
    return replace(exported, path=path)


def c_source(model: Any, *, name: str = "model", real: str = "float", std: Any = True, X: Any = None) -> ExportedC:
    """Return what `to_c` writes, after the same checks."""
    check_name(name)
    check_choice("real", real, KINDS)
    if not (isinstance(std, (bool, np.bool_)) or std == "augmented"):
        raise ValueError(f"std must be True, False or 'augmented', got {quoted(std)}.")
    described = described_for(describe(model), std)
    std = described.std_of(std)
    compared = comparison(model, described, X, std)
    check_levels(described, compared.rows, real, std)
    plain, (described, found) = described, _computed(described, compared, real, std)
    error = compared.largest_error(found)
    _check_error(plain, compared, found, real, std)
    header = _header(described, compared.rows, name=name, real=real, std=std)
    remarks = _remarks(described, header, compared, error, name=name, real=real, std=std)
    text, unit = header.text(_examples(compared), remarks), _unit(described)
    return ExportedC(text, header.size, error, len(compared.rows), compared.where, unit=unit)


def _computed(described: Described, compared: Compared, real: str, std: Any) -> tuple[Described, Floats]:
    """Return what a header computes at rows, and the description with the arithmetic that it needs.

    In float, kernels and weights are computed in pairs if weights nearly cancel.
    """
    if real in FORMATS:
        return described, fixed_point(described, compared.rows, real, std).predict(compared.rows)
    found = _emulated(described, compared.rows, std, REALS[real].dtype)
    may_pair = real == "float" and std != "augmented" and has_pairs(described.stages)
    if may_pair and not compared.largest_error(found) <= TOLERANCES[real]:
        described = replace(described, in_pairs=True)
        found = _emulated(described, compared.rows, std, REALS[real].dtype)
    return described, found


def _header(described: Described, rows: Floats, *, name: str, real: str, std: Any) -> Header | FixedHeader:
    """Return the writer of a header."""
    if real in FORMATS:
        return FixedHeader(fixed_point(described, rows, real, std), name)
    return Header(described, name, REALS[real], has_std=std is not False, is_augmented=std == "augmented")


def _check_error(described: Described, compared: Compared, found: Floats, real: str, std: Any) -> None:
    """Raise if the header would be too far from Python."""
    error, most = _error(described, compared, found, real)
    if error <= most:
        return
    unit = "" if described.has_classes else f" of the std of its {'target' if real in TOLERANCES else 'noise'}"
    raise ImpreciseError(
        f"in {real} arithmetic this model differs from Python by {error:.2g}{unit}, and at most {most:g} is allowed",
        f"Use {' or '.join(_remedies(described, compared, found, real, std))}.{_reason(described, compared, real, std)}",
    )


def _error(described: Described, compared: Compared, found: Floats, real: str) -> tuple[float, float]:
    """Return the largest error, and the largest that is allowed, both in the same unit."""
    if real in TOLERANCES:
        return compared.largest_error(found), TOLERANCES[real]
    if described.has_classes:
        return compared.largest_error(found), MOST_OF_PROBABILITY
    units = spread_out([head.noise_unit for head in described.heads], found)
    return replace(compared, units=units).largest_error(found), MOST_OF_NOISE


def _remedies(described: Described, compared: Compared, found: Floats, real: str, std: Any) -> list[str]:
    """Return what would do: types that are precise enough, and no std if the mean alone is."""
    remedies = [f'real="{other}"' for other in BETTER.get(real, ()) if _would_do(described, compared, other, std)]
    half = found.shape[1] // 2
    if not described.has_classes and std is not False:
        mean = replace(compared, expected=compared.expected[:, :half], units=compared.units[:, :half])
        error, most = _error(described, mean, found[:, :half], real)
        remedies += ["std=False"] if error <= most else []
    return [*remedies, *advice.remedies(described, compared, real, std)]


def _would_do(described: Described, compared: Compared, real: str, std: Any) -> bool:
    try:
        error, most = _error(described, compared, _computed(described, compared, real, std)[1], real)
    except ExportError:
        return False
    return error <= most


def table_bytes(model: Any, real: str = "float", std: Any = True) -> int:
    """Return the bytes of the constant tables of a fitted model in C, without those of its self-test.

    Whether the arithmetic is precise enough is not checked; `to_c` does that.
    """
    described = described_for(describe(model), std)
    std, rows = described.std_of(std), likely_rows(described, N_RANDOM)
    if real not in FORMATS:
        described = _computed(described, against_itself(described, rows, _emulated(described, rows, std)), real, std)[0]
    return _header(described, rows, name="model", real=real, std=std).size.table_bytes


def described_for(described: Described, std: Any) -> Described:
    """Return a description with what this std needs. Raise if there is no such std."""
    if described.has_classes:
        if std == "augmented":
            raise ExportError(f"{described.title} predicts {WORDS[described.target]}, which have no augmented std. Use std=True.")
        return described
    if std == "augmented" and described.query_kernels is None:
        raise ExportError(
            "std='augmented' adds a kernel at each query point, so it needs a regressor on named kernels that was fitted to rows, "
            f"but this is {described.title}. Use std=True."
        )
    return described


def _emulated(described: Described, rows: Floats, std: Any, precision: Any = np.float64) -> Floats:
    """Return what the header computes in a precision. Rows beyond its range become infinite."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        rows = rows.astype(precision)
        if described.target == CLASSES:
            return described.probabilities(rows)
        if std is False:
            return described.means(rows)
        return np.column_stack(described.predict(rows, is_augmented=std == "augmented"))


def _reason(described: Described, compared: Compared, real: str, std: Any) -> str:
    """Return a further sentence if float cannot hold the target or the inputs themselves."""
    of_target = advice.reason(described, compared, real, std)
    if of_target or real != "float":
        return of_target
    with np.errstate(over="ignore"):
        rows = compared.rows.astype(np.float32).astype(np.float64)
    if compared.largest_error(_emulated(described, rows, std)) <= TOLERANCES[real]:
        return ""
    return (
        " In float, the inputs alone lose too many digits: scale them to common sizes, or subtract a constant from inputs that are "
        "large beside their range, before the fit and on the device."
    )


def _examples(compared: Compared) -> Examples:
    """Return a few rows without missing numbers, the given ones first."""
    whole = np.flatnonzero(~np.isnan(compared.rows).any(axis=1) & np.isfinite(compared.expected).all(axis=1))
    given = whole[whole < compared.n_given]
    chosen = given if len(given) >= N_EXAMPLES else whole
    chosen = chosen[np.linspace(0, len(chosen) - 1, min(N_EXAMPLES, len(chosen))).astype(np.intp)] if len(chosen) else chosen
    return Examples(compared.rows[chosen], compared.expected[chosen])


def _remarks(described: Described, header: Header | FixedHeader, compared: Compared, error: float, **options: Any) -> list[str]:
    """Return the comment on top of the header."""
    size, std, is_fixed = header.size, options["std"], options["real"] in FORMATS
    what = {True: "", False: " Without the std.", "augmented": " With the augmented std."}[std]
    what = " Without probabilities." if described.target == MARGINS else what
    pairs = IN_PAIRS if described.in_pairs else ""
    return [
        f"{described.title} as C99, written by skarce {version('skarce')}.{what}",
        "",
        f"Use: {_call(described, options['name'], std)}",
        f"Functions: {described.n_functions}, {_kinds(described)}",
        f"Inputs: {len(described.inputs)}, {', '.join(_input(one) for one in described.inputs)}",
        f"Flash: {size.table_bytes} bytes of tables, and the code",
        *code_remarks(options["real"]),
        f"RAM: 0 bytes; about {size.stack_bytes} bytes of buffers on the stack",
        f"Arithmetic: {options['real']}{pairs}, about {size.n_multiplications} multiplications a prediction",
        f"Accuracy: at most {error:.1e} {_unit(described)} from Python, at {compared.where}",
        "",
        "Everything is static, const and reentrant; nothing is allocated, and no library is needed.",
        *(_FIXED_REMARKS if is_fixed else _FLOAT_REMARKS),
        ", ".join(header.macros) + ".",
    ]


def _unit(described: Described) -> str:
    return "of 1" if described.has_classes else OF_COUNT if described.target == COUNTS else OF_TARGET


def _call(described: Described, name: str, std: Any) -> str:
    """Return how the header is called."""
    if described.target == CLASSES:
        return (
            f"{name}_predict_proba(x, proba) for the probabilities of {len(described.classes)} classes, {name}_predict(x) for one"
        )
    if described.target == MARGINS:
        return f"{name}_decision_function(x, margins) for {name.upper()}_N_OUTPUTS margins, {name}_predict(x) for the class"
    return f"{name}_predict(x, mean{'' if std is False else ', std'}), where x is a row of {name.upper()}_N_INPUTS numbers"


def _input(one: Any) -> str:
    return one.name if one.categories is None else f"{one.name} (a code)"


def _kinds(described: Described) -> str:
    words = []
    for stage in described.stages:
        if isinstance(stage, Kernels):
            words.append(f"{stage.kind} kernels of {stage.n_inputs} columns")
        elif isinstance(stage, (Products, Splines)):
            words.append("products of polynomials" if isinstance(stage, Products) else "splines")
    is_plain = all(isinstance(stage, Columns) for stage in described.stages)
    return ", ".join(words) or ("columns" if is_plain else "columns of several kinds")

"""The weights of a model as a table: how large they are, how uncertain, and how far from zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import stats

from skarce._typing import Floats
from skarce.basis import KernelBasis
from skarce.estimators.primal_svm import PrimalSVMClassifier
from skarce.estimators.tested_coefficients import check_level, interval_reach
from skarce.inspection.unwrapping import unwrapped

COLUMNS = ("coefficient", "std", "t", "p", "lower", "upper", "relevance")
INTERCEPT = "intercept"
AFTER_SELECTION = (
    "The p values and intervals assume that the functions of the model were given: functions that were selected by the same rows "
    "look more significant than they are, so test them on other rows."
)
OF_MARGINS = (
    "A margin has no likelihood, so its weights have no tests and no intervals. std says how far a weight may move at little cost, "
    "by the curvature of the objective."
)


def summary(model: Any, level: float = 0.95, *, all_columns: bool = False) -> Any:
    """Return a table of the weights of a fitted model, with their uncertainty.

    The p values and intervals assume that the functions of the model were given: functions that were selected by the same rows look
    more significant than they are, so test them on other rows.

    Parameters
    ----------
    model : estimator
        A fitted estimator of skarce, a pipeline that ends in one, or a search (`CriterionSearch`, `GridSearchCV`) whose best
        estimator is one. In a `TransformedTargetRegressor` the weights are those of the transformed target.
    level : float, default=0.95
        Probability that an interval contains its weight, between 0 and 1.
    all_columns : bool, default=False
        Whether to also list the columns or kernels that are not in the model. Their coefficient and relevance are 0, and the other
        values are NaN.

    Returns
    -------
    table : pandas.DataFrame
        One row for the intercept, if the model has one, and one for each column or kernel. The index has their names: those of the
        inputs as far as they are known, also behind the other steps of a pipeline, or names such as ``rbf7`` for the kernel at
        candidate 7. With several targets or more than two classes, the index has two levels, the target or class and the name. The
        columns are

        ``coefficient``
            The weight: an entry of `coef_`, or of `dual_coef_` for kernels. Those of classes are on the scale of log odds, and
            those of counts on the scale of log rates.
        ``std``
            Its standard deviation, by the full covariance. `std_scale_` is not a factor on it.
        ``t``, ``p``
            The ratio of the two, and the two-sided p value of the test against zero: Student's t with the degrees of freedom that
            are left for the noise, or normal if there is no noise to estimate.
        ``lower``, ``upper``
            Ends of the interval of the weight, by the same distribution as p: it excludes zero exactly if p is below
            ``1 - level``.
        ``relevance``
            How well the data determine the weight, from 0 (the prior does) to 1. NaN for the intercept.

        Margins (`PrimalSVMClassifier`) have no likelihood: ``t``, ``p``, ``lower`` and ``upper`` are NaN, and ``std`` says how far
        a weight may move at little cost.

        ``table.attrs`` has the ``title`` and the ``note`` that are printed with the table, the ``level``, and the
        ``degrees_of_freedom``, one for each target or class.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is not one of skarce.
    ImportError
        If pandas is not installed.

    See Also
    --------
    skarce.VBLSRegressor.coef_tests : The tests of a linear model as arrays.

    Notes
    -----
    Weights that a prior shrinks have a posterior mean and std, and t is their ratio. For least squares
    (``VBLSRegressor(prior="none")``, `StepwiseRegressor`) the table is that of textbooks. The variance of the intercept is that of
    the level at the center of the data, plus that of the weights times the center.

    Examples
    --------
    >>> import numpy as np
    >>> from skarce import StepwiseRegressor
    >>> from skarce.inspection import summary
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 5))
    >>> y = 1.0 + 3.0 * X[:, 1] - 2.0 * X[:, 3] + rng.normal(0, 0.5, 100)
    >>> table = summary(StepwiseRegressor().fit(X, y))
    >>> table[["coefficient", "std"]].round(2)
               coefficient   std
    intercept         1.01  0.05
    x1                3.04  0.05
    x3               -1.97  0.04
    """
    frame = _frame_class()
    check_level(level)
    found = unwrapped(model, "summary")
    fitted, input_names = found.model, found.input_names
    posteriors, names = fitted._posteriors(), candidate_names(fitted, input_names)
    tested = has_tests(fitted)
    rows = [_rows(posterior, level, names, all_columns=all_columns, tested=tested) for posterior in posteriors]
    table = frame(np.vstack([values for _, values in rows]), columns=list(COLUMNS), index=_index(fitted, [ns for ns, _ in rows]))
    table.attrs = {
        "title": f"{_in_brief(fitted)}, {100.0 * level:.4g} % intervals" if tested else _in_brief(fitted),
        "note": AFTER_SELECTION if tested else OF_MARGINS,
        "level": float(level),
        "degrees_of_freedom": [float(posterior.degrees_of_freedom) if tested else np.nan for posterior in posteriors],
    }
    return table


def _frame_class() -> Any:
    try:
        from skarce.inspection.captioned_frame import CaptionedFrame
    except ImportError as error:
        raise ImportError("summary returns a data frame of pandas, which is not installed. Run: pip install pandas") from error
    return CaptionedFrame


def _in_brief(model: Any) -> str:
    kind = "kernels" if isinstance(model.basis_, KernelBasis) else "columns"
    return f"{type(model).__name__}: {len(model.active_)} of {len(model.relevance_)} {kind}"


def candidate_names(model: Any, input_names: Any) -> Any:
    """Return the names of all candidates."""
    numbers = range(len(model.relevance_))
    if isinstance(model.basis_, KernelBasis):
        return model.basis_.names_of(numbers)
    try:
        return model._column_names(None if hasattr(model, "feature_names_in_") else input_names)
    except AttributeError:  # a transformer without names
        return np.array([f"column{number}" for number in numbers], dtype=object)


def _rows(posterior: Any, level: float, names: Any, *, all_columns: bool, tested: bool) -> tuple[list[str], Floats]:
    """Return names and values of one target or class."""
    values = weight_values(posterior, level, tested=tested)
    first, values = values[: int(posterior.fit_intercept)], values[int(posterior.fit_intercept) :]
    listed = posterior.active
    if all_columns:
        listed, chosen = np.arange(len(names)), values
        values = np.full((len(names), len(COLUMNS)), np.nan)
        values[:, [COLUMNS.index("coefficient"), COLUMNS.index("relevance")]] = 0.0
        values[posterior.active] = chosen
    return [INTERCEPT] * len(first) + list(names[listed]), np.vstack([first, values])


def has_tests(model: Any) -> bool:
    """Whether weights of a fitted model have tests and intervals. Those of margins do not, because margins have no likelihood."""
    return not isinstance(model, PrimalSVMClassifier)


def weight_values(posterior: Any, level: float, *, tested: bool) -> Floats:
    """Return the values in `COLUMNS` of the intercept, if there is one, and of the functions of one posterior, one row each.

    Without `tested`, the tests and the ends of intervals are NaN.
    """
    tests = posterior.coefficient_tests()
    mean, std, statistic, p = posterior.mean, posterior.coefficient_std, tests.statistic, tests.p_value
    relevance = posterior.well_determined
    if posterior.fit_intercept:
        constant, its_std = posterior.intercept, posterior.intercept_std
        ratio = _ratio(constant, its_std) if tests.degrees_of_freedom > 0.0 else np.nan
        its_p = 2.0 * stats.t.sf(abs(ratio), tests.degrees_of_freedom)
        mean, std, statistic = np.append(constant, mean), np.append(its_std, std), np.append(ratio, statistic)
        p, relevance = np.append(its_p, p), np.append(np.nan, relevance)
    reach = interval_reach(level, tests.degrees_of_freedom) * std
    values = np.column_stack([mean, std, statistic, p, mean - reach, mean + reach, relevance])
    if not tested:
        values[:, [COLUMNS.index(name) for name in ("t", "p", "lower", "upper")]] = np.nan
    return values


def _ratio(value: float, std: float) -> float:
    if value == 0.0:
        return 0.0
    return value / std if std > 0.0 else float(np.copysign(np.inf, value))


def _index(model: Any, names: list[list[str]]) -> Any:
    """Return the names, under their target or class if there are several."""
    import pandas as pd

    if not isinstance(model.posterior_, list):
        return pd.Index(names[0])
    outputs = model.classes_ if hasattr(model, "classes_") else np.arange(len(names))
    pairs = [(output, name) for output, own in zip(outputs, names, strict=True) for name in own]
    return pd.MultiIndex.from_tuples(pairs, names=["class" if hasattr(model, "classes_") else "target", "name"])

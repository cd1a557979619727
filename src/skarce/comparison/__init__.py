"""Methods by name, cross-validated side by side."""

from skarce.comparison.counting import count_bytes, count_functions
from skarce.comparison.cross_validation import FoldModel, MethodResult, cross_validate
from skarce.comparison.out_of_fold import Answers, Observer, OutOfFold
from skarce.comparison.registry import (
    METHODS,
    Method,
    UnknownMethodError,
    choices,
    find_methods,
    find_own_method,
    own_names,
)
from skarce.comparison.scores import ALIGNED, SECONDS, Fold, Metric
from skarce.comparison.tasks import CLASSIFICATION, COUNTS, REGRESSION, TASKS, Task, TooFewRowsError, task_for
from skarce.comparison.width_rules import WIDTH_RULES

__all__ = [
    "ALIGNED",
    "CLASSIFICATION",
    "COUNTS",
    "METHODS",
    "REGRESSION",
    "SECONDS",
    "TASKS",
    "WIDTH_RULES",
    "Answers",
    "Fold",
    "FoldModel",
    "Method",
    "MethodResult",
    "Metric",
    "Observer",
    "OutOfFold",
    "Task",
    "TooFewRowsError",
    "UnknownMethodError",
    "choices",
    "count_bytes",
    "count_functions",
    "cross_validate",
    "find_methods",
    "find_own_method",
    "own_names",
    "task_for",
]

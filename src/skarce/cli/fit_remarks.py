"""What a fit says besides its result: errors and warnings, in one line each."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skarce.cli.rendering import say
from skarce.datasets.tables import TableError
from skarce.report.outcome_words import command_line_words


def fitted(name: str, fit: Callable[[], Any]) -> Any:
    """The result of a fit. A warning that only repeats the outcome of the fit is not printed, because the outcome is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        try:
            model = fit()
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            raise TableError(f"{name} cannot be fitted to this table: {' '.join(str(error).split())}") from None
    outcome = getattr(model, "outcome_", None)
    for message in dict.fromkeys(str(warning.message) for warning in caught):
        if outcome is None or message != outcome.value:
            say(f"Note: {command_line_words(message)}")
    return model

"""A linear problem for the packages that use our models, and a filter for their own warnings."""

import numpy as np
import pytest

WEIGHTS = np.array([0.0, 2.0, 0.0, -1.5, 0.0, 0.0])


def pytest_collection_modifyitems(items):
    """Warnings of other packages about other packages are not our faults."""
    for item in items:
        if "/clients/" in str(item.path).replace("\\", "/"):
            for kind in (DeprecationWarning, FutureWarning, PendingDeprecationWarning, UserWarning):
                item.add_marker(pytest.mark.filterwarnings(f"ignore::{kind.__name__}"))


@pytest.fixture
def linear():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 6))
    return X, X @ WEIGHTS + 1.0 + 0.3 * rng.normal(size=200)

"""Data shared by tests: synthetic problems, and real tables where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def data_folder():
    """The folder named by SKARCE_DATA; tests that need it are skipped where it is not set."""
    folder = os.environ.get("SKARCE_DATA")
    if not folder:
        pytest.skip("needs real data: set SKARCE_DATA to the folder that holds boston.csv and its companions")
    if not Path(folder).is_dir():
        pytest.fail(f"SKARCE_DATA names {folder!r}, which is not a folder")
    return Path(folder)

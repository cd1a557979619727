"""A folder of its own for each test, with a table and a model in it."""

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import N_ROWS, run


@pytest.fixture
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")


@pytest.fixture
def houses(in_a_folder_of_its_own):
    """Numbers, whole numbers, text and booleans; the price depends on all of them."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "size": rng.uniform(30, 200, N_ROWS).round(1),
            "age": rng.integers(0, 80, N_ROWS),
            "town": rng.choice(["Bonn", "Kiel", "Ulm"], N_ROWS),
            "garden": rng.choice([True, False], N_ROWS),
        }
    )
    frame["price"] = 2.0 * frame["size"] - frame["age"] + 50.0 * (frame["town"] == "Bonn") + rng.normal(0, 8, N_ROWS)
    frame.to_csv("houses.csv", index=False)
    return frame


@pytest.fixture
def model(houses):
    assert run("fit", "houses.csv", "--target", "price", "--out", "houses.skops").exit_code == 0
    return "houses.skops"

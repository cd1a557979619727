"""Data shared by tests: synthetic problems, and real tables if they are at hand."""

import gc
import signal
import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from skarce import datasets


def pytest_configure(config):
    """Listen to Ctrl-C, and give each process of a parallel run one BLAS thread.

    In the background of a script, tests start with Ctrl-C ignored, and so would every process that they start and interrupt.
    There is a process per core, and more threads would fight.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        # threadpoolctl lets the thread that sets the number keep others from setting it, so this one ends at once.
        setter = threading.Thread(target=threadpool_limits, kwargs={"limits": 1, "user_api": "blas"})
        setter.start()
        setter.join()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def sinc(rng):
    """Noisy values of sin(x) / x at 120 inputs. Tests that need another size define a fixture of this name."""
    X = rng.uniform(-10, 10, (120, 1))
    return X, np.sinc(X[:, 0] / np.pi) + rng.normal(0, 0.1, 120)


@pytest.fixture
def rows_in_passes(monkeypatch):
    """Latent functions take passes over data of any size, also if the sample holds all rows."""
    monkeypatch.setattr("skarce.designs.passes.HasPasses.has_all_rows", False)


@pytest.fixture
def no_collection():
    """Cycles stay in memory during a test, so that its peak does not depend on when a version of Python collects them."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture(scope="session")
def data_folder():
    """The folder named by SKARCE_DATA; tests that need it are skipped if it is not set."""
    folder = datasets.data_folder()
    if folder is None:
        pytest.skip("needs real data: set SKARCE_DATA to the folder that holds boston.csv and its companions")
    return folder

"""What compiled parts promise: they start in phases, keep nothing between calls, and may be called from many threads at once."""

import ctypes
import importlib.util
import sysconfig
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from skarce import RelevanceVectorRegressor
from skarce.basis import _columns, _rbf
from skarce.methods.latent import _mode
from skarce.methods.lwpr import _lwpr
from skarce.searches import _climb

MODULES = {module.__name__.rpartition(".")[2]: module for module in (_rbf, _columns, _climb, _lwpr, _mode)}
FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def made_again(module):
    """The same module, loaded a second time."""
    spec = importlib.util.spec_from_file_location(module.__name__, module.__file__)
    again = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(again)
    return again


@pytest.mark.parametrize("name", MODULES)
def test_modules_start_in_phases(name):
    """Then the first call returns a definition, which each interpreter makes its own module of."""
    start = getattr(ctypes.PyDLL(MODULES[name].__file__), f"PyInit_{name}")
    start.restype = ctypes.c_void_p  # borrowed
    assert type(ctypes.cast(start(), ctypes.py_object).value).__name__ == "moduledef"


@pytest.mark.parametrize("name", MODULES)
def test_modules_can_be_made_twice(name):
    again = made_again(MODULES[name])
    assert again is not MODULES[name]
    assert vars(again).keys() == vars(MODULES[name]).keys()


@pytest.mark.skipif(FREE_THREADED, reason="Python without the interpreter lock has no limited API")
@pytest.mark.parametrize("name", MODULES)
def test_modules_serve_later_versions_of_python(name):
    file = MODULES[name].__file__
    assert ".abi3." in file or file.endswith(f"{name}.pyd"), f"{file} was built for one version only; remove it and install again"


@pytest.mark.skipif(not _rbf.TILE, reason="the compiler has no vector types, so NumPy does this work")
def test_kernels_of_many_threads_do_not_mix(rng):
    problems = [(rng.normal(size=(60, 2)), rng.normal(size=(300, 2))) for _ in range(40)]

    def values(problem):
        u, v = problem
        rows = np.column_stack([2.0 * u, -np.sum(u**2, axis=1), np.ones(60)])
        centers = np.column_stack([v, np.ones(300), -np.sum(v**2, axis=1)])
        out = np.empty((60, 300))
        _rbf.fill(rows, centers, out)
        return out

    with ThreadPoolExecutor(8) as threads:
        for (u, v), out in zip(problems, threads.map(values, problems), strict=True):
            np.testing.assert_allclose(out, np.exp(-np.sum((u[:, None] - v) ** 2, axis=2)), rtol=1e-12)


def test_fits_of_many_threads_do_not_mix(rng):
    problems = [(X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=50)) for X in rng.uniform(-3, 3, (12, 50, 1))]

    def weights(problem):
        return RelevanceVectorRegressor().fit(*problem).dual_coef_

    alone = [weights(problem) for problem in problems]
    with ThreadPoolExecutor(4) as threads:
        for one, other in zip(alone, threads.map(weights, problems), strict=True):
            np.testing.assert_array_equal(one, other)

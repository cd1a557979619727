import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from skarce import RelevanceVectorRegressor, _parallel
from skarce._parallel import add_squares, for_each, product, squares
from skarce.searches import compiled


@pytest.fixture(params=["inline", "threads"])
def way(request, monkeypatch):
    monkeypatch.setattr(_parallel, "WORTH_THREADS", 1e30 if request.param == "inline" else 0.0)
    monkeypatch.setattr(_parallel, "n_cores", lambda: 3)
    _parallel._threads.cache_clear()
    yield
    _parallel._threads.cache_clear()


@pytest.mark.usefixtures("way")
def test_products_on_all_cores_are_products(rng):
    left, right = rng.normal(size=(30, 40)), rng.normal(size=(40, 333))
    np.testing.assert_allclose(product(left, right), left @ right)
    phi = rng.normal(size=(50, 700))
    gram = np.zeros((700, 700))
    add_squares(phi[:20], gram)
    add_squares(phi[20:], gram)
    np.testing.assert_allclose(gram, phi.T @ phi, atol=1e-10)
    np.testing.assert_allclose(squares(phi), gram, atol=1e-10)


@pytest.mark.usefixtures("way")
def test_an_error_in_one_item_is_raised():
    def work(item):
        if item == 2:
            raise OSError("item 2")

    with pytest.raises(OSError, match="item 2"):
        for_each(work, range(5), operations=1.0)


@pytest.mark.usefixtures("way")
def test_work_that_asks_for_threads_again_does_not_wait_for_itself():
    done = []
    for_each(lambda outer: for_each(done.append, [outer] * 4, operations=1e9), range(8), operations=1e9)
    assert sorted(done) == sorted(list(range(8)) * 4)


@pytest.fixture
def lock_is_not_taken_away():
    """A thread keeps the interpreter lock until it gives it up by itself."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("lock_is_not_taken_away")
def test_other_threads_run_during_compiled_steps(rng, monkeypatch):
    X = rng.uniform(size=(400, 5))
    y = np.sin(5 * X[:, 0]) * X[:, 1] + rng.normal(size=400) * 0.1
    climb, now = compiled._climb.climb, SimpleNamespace(is_inside=False, is_done=False, n_turns=0)

    def watched(*arguments):
        now.is_inside = True
        result = climb(*arguments)
        now.is_inside = False
        return result

    def count():
        while not now.is_done:
            now.n_turns += now.is_inside
            time.sleep(1e-5)

    monkeypatch.setattr(compiled, "_climb", SimpleNamespace(climb=watched))
    watcher = threading.Thread(target=count)
    watcher.start()
    for _ in range(100):  # a busy machine may give the watcher no turn during one fit
        RelevanceVectorRegressor("rbf", solver="sequential").fit(X, y)
        if now.n_turns:
            break
    now.is_done = True
    watcher.join()
    assert now.n_turns

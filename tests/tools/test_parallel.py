import threading
import time

import numpy as np
import pytest

from skarce import RelevanceVectorRegressor, _parallel
from skarce._parallel import add_squares, for_each, product


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


def test_other_threads_run_while_a_model_is_fitted(rng):
    X = rng.uniform(size=(900, 5))
    y = np.sin(5 * X[:, 0]) * X[:, 1] + rng.normal(size=900) * 0.1
    turns, done = [], threading.Event()

    def count():
        while not done.is_set():
            turns.append(time.perf_counter())
            time.sleep(0.0005)

    watcher = threading.Thread(target=count)
    watcher.start()
    started = time.perf_counter()
    RelevanceVectorRegressor().fit(X, y)
    ended = time.perf_counter()
    done.set()
    watcher.join()
    during = np.array([t for t in turns if started <= t <= ended])
    # Held all along, the lock would leave the watcher no turn but the first and the last.
    assert len(during) > 5

"""The number of BLAS threads of the process: whoever changes it, and in whatever order, the former number comes back."""

import linecache
import os
import sys
import threading

import pytest
from threadpoolctl import ThreadpoolController

from skarce import RelevanceVectorRegressor
from skarce._parallel import blas_threads, on_one_blas_thread

BEFORE = 3  # unlike the numbers that the tests ask for


def now():
    return {library.num_threads for library in ThreadpoolController().select(user_api="blas").lib_controllers}


@pytest.fixture(autouse=True)
def three_threads():
    before = now()
    tell(BEFORE)
    if now() != {BEFORE}:
        pytest.skip("this BLAS cannot be told how many threads to use")
    yield
    tell(max(before))


def tell(n_threads):
    """Set the number on a thread that ends at once: threadpoolctl lets the thread that sets it keep others from doing so."""
    run_together(lambda: ThreadpoolController().limit(limits=n_threads, user_api="blas"))


def test_two_threads_that_overlap_restore_the_number():
    first_is_in, second_is_in, first_is_out = threading.Event(), threading.Event(), threading.Event()
    seen = []

    def first():
        with blas_threads(1):
            first_is_in.set()
            second_is_in.wait(30)
        seen.append(now())
        first_is_out.set()

    def second():
        first_is_in.wait(30)
        with blas_threads(1):
            second_is_in.set()
            first_is_out.wait(30)
            seen.append(now())

    run_together(first, second)
    assert seen == [{1}, {1}]  # the second still holds the limit when the first is out
    assert now() == {BEFORE}


def test_many_threads_in_predict_restore_the_number(sinc):
    X, y = sinc
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        run_together(*[lambda: [model.predict(X, return_std=True) for _ in range(50)]] * 4)
    finally:
        sys.setswitchinterval(before)
    assert now() == {BEFORE}


def test_the_smallest_number_holds():
    with blas_threads(2):
        assert now() == {2}
        with blas_threads(1):
            with blas_threads(2):
                assert now() == {1}
            assert now() == {1}
        assert now() == {2}
    assert now() == {BEFORE}


def test_a_number_that_somebody_else_has_set_since_is_kept():
    with blas_threads(1):
        tell(2)
    assert now() == {2}


def test_an_error_restores_the_number():
    with pytest.raises(ZeroDivisionError), blas_threads(1):
        1 / 0  # noqa: B018
    assert now() == {BEFORE}


def test_an_interrupt_at_any_line_restores_the_number():
    """Raise KeyboardInterrupt at the n-th line that runs inside the limit, for all n. The next use completes what was cut short."""

    @on_one_blas_thread
    def body():
        return sum(range(3))

    n_lines, was_interrupted = 0, True
    while was_interrupted:
        n_lines += 1
        was_interrupted = interrupted_at(n_lines, body)
        with blas_threads(2):
            assert now() == {2}, f"after an interrupt at line {n_lines}"
        assert now() == {BEFORE}, f"after an interrupt at line {n_lines}"
    assert n_lines > 20


def test_a_holder_that_vanishes_does_not_hold_for_ever():
    vanishing = blas_threads(1)
    vanishing.__enter__()
    del vanishing
    with blas_threads(2):
        assert now() == {2}
    assert now() == {BEFORE}


def test_a_holder_that_vanishes_while_another_one_looks_does_no_harm():
    """Another thread may lose one at any time, also while this one looks for the smallest number."""
    lost = [blas_threads(2)]
    lost[0].__enter__()

    class LosesOne(int):
        def __lt__(self, other):
            lost.clear()
            return int(self) < other

    with blas_threads(LosesOne(1)):
        assert now() == {1}
    assert now() == {BEFORE}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forgets_the_limits_of_threads_that_it_does_not_have():
    is_in, may_go = threading.Event(), threading.Event()

    def other():
        with blas_threads(1):
            is_in.set()
            may_go.wait(30)

    thread = threading.Thread(target=other)
    thread.start()
    is_in.wait(30)
    in_child = asked_in_child(lambda: now() == {BEFORE})
    with blas_threads(2):
        nested_in_child = asked_in_child(lambda: now() == {2})
    may_go.set()
    thread.join()
    assert in_child
    assert nested_in_child
    assert now() == {BEFORE}


def run_together(*bodies):
    threads = [threading.Thread(target=body) for body in bodies]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def interrupted_at(n_lines, body):
    """Whether the body was interrupted at its n-th line, not counting this file."""
    n_seen, before = 0, sys.gettrace()

    def trace(frame, event, argument):
        nonlocal n_seen
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).lstrip()
        # No signal is handled between the body of a with statement and the release of its lock, but tracing stops there.
        if frame.f_code.co_filename == __file__ or event != "line" or source.startswith("with "):
            return trace
        n_seen += 1
        if n_seen == n_lines:
            raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        body()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def asked_in_child(question):
    """What a forked child answers."""
    child = os.fork()
    if child == 0:
        os._exit(0 if question() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

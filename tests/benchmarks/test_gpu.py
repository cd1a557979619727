"""The benchmark of GPUs: when rivals stop, what is not counted, and what its files say of the machine."""

import sys
import types

import pytest

torch = pytest.importorskip("torch")

from benchmarks import gpu, gpu_rivals  # noqa: E402
from benchmarks.gpu_work import Machine  # noqa: E402
from tests.devices import dispatched, needs_dispatch  # noqa: E402


class Clock:
    """A clock that goes on only when a rival trains."""

    def __init__(self):
        self.now = 0.0

    def perf_counter(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(gpu_rivals, "time", clock)
    return clock


@pytest.fixture
def machine():
    return Machine("cpu", 1.0)


def test_rivals_warm_up_and_stop_at_our_error_or_less(clock, machine):
    """The first step starts up for 100 s, each other one takes a second, and the errors fall by a tenth."""
    test, begun = (torch.zeros((50, 1)), torch.zeros(50)), []

    def begin():
        begun.append(1)
        for error in (1.2, 1.1, 1.005, 0.9, 0.8):
            clock.now += 100.0 if len(begun) == 1 else 1.0
            yield lambda rows, error=error: (torch.full((50,), error), torch.ones(50))

    found = gpu_rivals.rival_row(machine, "rival", begin, test, 7, error=1.0)
    assert (found["seconds"], found["error"], found["functions"]) == (4.0, pytest.approx(0.9), 7)
    assert found["coverage"] == 1.0
    assert "stopped" not in found
    assert begun == [1, 1]


def test_rivals_that_do_not_reach_our_error_say_so(clock, machine):
    def begin():
        for _ in range(100):
            clock.now += 15.0
            yield lambda rows: (torch.ones(50), None)

    found = gpu_rivals.rival_row(machine, "rival", begin, (torch.zeros((50, 1)), torch.zeros(50)), 7, error=0.5)
    assert found["seconds"] == 45.0
    assert found["stopped"]
    assert gpu.line_of(found).endswith("error 1  functions 7  stopped there")


@needs_dispatch
def test_installed_packages_take_part(monkeypatch, capsys):
    """A stand-in for a package that needs a GPU."""
    ridge = types.ModuleType("cuml.kernel_ridge")

    class KernelRidge:
        def __init__(self, **options):
            assert options["gamma"] == gpu_rivals.GAMMA

        def fit(self, X, y):
            assert abs(float(y.mean())) < 0.5  # targets are centered
            return self

        def predict(self, X):
            return torch.zeros(len(X))

    ridge.KernelRidge = KernelRidge
    monkeypatch.setitem(sys.modules, "cuml", types.ModuleType("cuml"))
    monkeypatch.setitem(sys.modules, "cuml.kernel_ridge", ridge)
    monkeypatch.setattr(gpu_rivals, "find_spec", lambda name: True if name == "cuml" else None)
    with dispatched(monkeypatch):
        ours, theirs = gpu_rivals.rivals(Machine("cpu", 1e-4))
    assert ours["what"].startswith("skarce")
    assert theirs["what"] == "cuML KernelRidge, 200 rows"
    assert "coverage" not in gpu.line_of(theirs)
    assert "gpytorch is not installed" in capsys.readouterr().out


def test_files_say_on_what_machine_and_from_which_code(tmp_path, monkeypatch):
    monkeypatch.setattr(gpu, "TESTS", ("--version",))
    assert gpu.run_tests(tmp_path, "cpu") == 0
    gpu.save(tmp_path, {"machine": gpu.about("cpu"), "rate": 1e12, "rows": [], "profiles": {"sums": "a table"}})
    for name in ("tests.txt", "gpu.txt"):
        text = (tmp_path / name).read_text()
        names = [line.partition(":")[0] for line in text.splitlines()]
        assert names[:4] == ["device", "date", "commit", "python"]
        assert {"skarce", "numpy", "scipy", "sklearn", "torch"} <= set(names)
    assert text.endswith("a table\n")


def test_work_has_a_profile_and_counted_operations(machine):
    left = torch.ones((50, 50), dtype=torch.float64)
    assert machine.profiled("a product", lambda: left @ left) == 2 * 50**3
    assert machine.profiles["a product"].startswith("a product: ")
    assert "aten::mm" in machine.profiles["a product"]

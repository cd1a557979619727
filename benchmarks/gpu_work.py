"""The rows of `benchmarks.gpu`: sums, searches, predictions, widths and classes on a device, with their profiles.

Shares are of the rate of a large float64 product. The operations of sums and predictions are known; of the other rows, those are
counted that PyTorch's profiler counts.
"""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import sklearn
import torch

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce._atomic import unfitted_twin
from skarce._parallel import blas_threads
from skarce.designs import DeviceRows, as_design
from skarce.likelihoods import Gaussian
from skarce.model_selection import learn_widths
from skarce.states.outcome import Outcome

GAMMA, NOISE, N_INPUTS = 0.1, 1.0, 10
MILLION, BLOCK_ROWS, REPEATS = 1_000_000, 4_000_000, 3
PAYS_ROWS = (1_000, 10_000, 100_000, 1_000_000)  # where a GPU begins to pay
SMALL, MOST_SECONDS = 1000, 100.0  # candidates whose search is repeated; where a search is stopped
Row = dict[str, Any]


class Machine:
    """A device, the data on it, and its clock."""

    def __init__(self, device: str, scale: float) -> None:
        self.device, self._scale = device, scale
        self.generator = torch.Generator(device).manual_seed(0)
        self.profiles: dict[str, str] = {}

    def n(self, n_rows: float) -> int:
        return max(200, round(n_rows * self._scale))

    def m(self, n_candidates: int) -> int:
        return max(20, round(n_candidates * min(1.0, 30.0 * self._scale)))

    def limit(self, seconds: float) -> float:
        return seconds * min(1.0, 30.0 * self._scale)

    def friedman(self, n_rows: int) -> tuple[Any, Any]:
        """Standardized inputs and targets of Friedman's first function with unit noise, made on the device."""
        options = {"generator": self.generator, "device": self.device, "dtype": torch.float64}
        X = torch.rand((n_rows, N_INPUTS), **options)
        y = 10 * torch.sin(torch.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
        return (X - 0.5) * 12**0.5, y + NOISE * torch.randn(n_rows, **options)

    def wait(self) -> None:
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()

    def seconds(self, work: Callable[[], Any], repeats: int = REPEATS, warm_up: bool = True) -> tuple[float, Any]:
        """Return the median time of some runs, after one that warms up, and the last result."""
        times, result = [], None
        for run in range(0 if warm_up else 1, repeats + 1):
            self.wait()
            started = time.perf_counter()
            with warnings.catch_warnings(), blas_threads(1):
                warnings.simplefilter("ignore")
                result = work()
            self.wait()
            times += [time.perf_counter() - started] if run else []
        return statistics.median(times), result

    def product_rate(self) -> float:
        """Return the operations per second of a large float64 product. All shares are of this rate."""
        size = 8192 if self.device.startswith("cuda") else 1024
        left = torch.randn((size, size), generator=self.generator, device=self.device, dtype=torch.float64)
        self._rate = 2.0 * size**3 / self.seconds(lambda: left @ left)[0]
        return self._rate

    def share(self, operations: float, seconds: float) -> float:
        return operations / (seconds * self._rate)

    def profiled(self, what: str, work: Callable[[], Any]) -> float:
        """Keep which operations of PyTorch take the time of some work. Return how many operations its products and sums have.

        Factorizations are not counted. What the device does not do is left to the host.
        """
        on_gpu = self.device.startswith("cuda")
        kinds = [torch.profiler.ProfilerActivity.CPU, *([torch.profiler.ProfilerActivity.CUDA] if on_gpu else [])]
        with torch.profiler.profile(activities=kinds, with_flops=True) as seen:
            seconds, _ = self.seconds(work, repeats=1, warm_up=False)
        events = seen.key_averages()
        there = [
            event.self_device_time_total for event in events if "CUDA" in str(event.device_type)
        ]  # kernels, not who calls them
        busy = 1e-6 * sum(there if on_gpu else [event.self_cpu_time_total for event in events])
        table = events.table(sort_by="self_cuda_time_total" if on_gpu else "self_cpu_time_total", row_limit=15)
        self.profiles[what] = f"{what}: {seconds:.4f} s with the profiler, {busy:.4f} s of them in PyTorch's operations\n{table}"
        return float(sum(event.flops for event in events))


def regressor(X: Any, n_centers: int) -> RelevanceVectorRegressor:
    centers = X[:n_centers].cpu().numpy()
    return RelevanceVectorRegressor(KernelBasis(gamma=GAMMA, centers=centers), calibrate_std=False)


def design_of(model: Any, X: Any, y: Any) -> Any:
    """The design of a fit, before any sums."""
    method = model._method()
    with sklearn.config_context(array_api_dispatch=True, working_memory=4096):
        return as_design(X, y, None, model._recipe(unfitted_twin(model), X, method, model._worth()))


def sums_and_search(machine: Machine, n_rows: int, m: int, limits: tuple[float, float], *, from_host: bool) -> Iterator[Row]:
    X, y = machine.friedman(n_rows)
    model, where = regressor(X, m), "on the device"
    if from_host:
        where = "from host memory"
        X, y = DeviceRows.from_arrays(X.cpu().numpy(), y.cpu().numpy(), device=machine.device), None
    design = design_of(model, X, y)
    operations, factor = 2.0 * n_rows * m**2, 1.5 if from_host else 1.0
    what = f"{n_rows:,} rows x {m:,} centers {where}"
    with sklearn.config_context(working_memory=4096):
        seconds, _ = machine.seconds(design.moments)
        machine.profiled(f"sums, {what}", design.moments)
        yield row(f"sums, {what}", seconds, factor * limits[0], machine.share(operations, seconds))
        if from_host and m > SMALL:
            return  # the search for the same sums takes the same time
        problems, method = design.problems(Gaussian()), model.set_params(max_time=machine.limit(MOST_SECONDS))._method()
        work = lambda: method.run_all(problems, model._budget(time.monotonic()))  # noqa: E731
        seconds, fits = machine.seconds(work, repeats=1, warm_up=m <= SMALL)
        stopped = {"stopped": True} if fits[0].outcome is Outcome.TIME_LIMIT else {}
        operations = machine.profiled(f"search, {what}", work)
        found = row(f"search, {what}", seconds, factor * limits[1], machine.share(operations, seconds))
        yield found | {"functions": len(fits[0].active)} | stopped


def generated_rows(machine: Machine) -> Row:
    """Rows that are made on the device, block by block, and never kept."""
    n, m = machine.n(100 * MILLION), machine.m(500)

    def blocks() -> Iterator[tuple[Any, Any]]:
        machine.generator.manual_seed(1)
        for start in range(0, n, BLOCK_ROWS):
            yield machine.friedman(min(BLOCK_ROWS, n - start))

    design = design_of(regressor(machine.friedman(m)[0], m), DeviceRows(blocks), None)
    seconds, _ = machine.seconds(design.moments, repeats=1)
    what = f"sums, {n:,} rows x {m:,} centers, made on the device"
    machine.profiled(what, design.moments)
    return row(what, seconds, 5.0, machine.share(2.0 * n * m**2, seconds))


def predictions(machine: Machine) -> Row:
    X, y = machine.friedman(machine.n(10 * MILLION))
    few = min(len(X), 20_000)
    model = regressor(X, 400).set_params(max_active=100).fit(X[:few].cpu().numpy(), y[:few].cpu().numpy())
    with sklearn.config_context(array_api_dispatch=True):
        size, work = len(model.active_), lambda: model.predict(X, return_std=True)
        what = f"predict with std, {len(X):,} rows x {size} functions"
        seconds, _ = machine.seconds(work)
        machine.profiled(what, work)
    return row(what, seconds, 0.3, machine.share(2.0 * len(X) * size**2, seconds))


def widths(machine: Machine) -> Row:
    n = machine.n(10_000)
    X, y = machine.friedman(n)
    with sklearn.config_context(array_api_dispatch=True):
        what, work = f"widths per input from {n:,} rows", lambda: learn_widths(X, y, max_rows=n, random_state=0)
        seconds, found = machine.seconds(work, repeats=1)
        share = machine.share(machine.profiled(what, work), seconds)
    return row(what, seconds, 10.0, share) | {"evaluations": found.n_evaluations}


def classes(machine: Machine) -> Row:
    X, y = machine.friedman(machine.n(MILLION))
    m = machine.m(1000)
    model = RelevanceVectorClassifier(KernelBasis(gamma=GAMMA, centers=X[:m].cpu().numpy()), calibrate_proba=False)
    labels = (y > 14.4).to(torch.int64)
    with sklearn.config_context(array_api_dispatch=True, working_memory=4096):
        what, work = f"classifier, {len(X):,} rows x {m:,} candidates", lambda: model.fit(X, labels)
        seconds, fitted = machine.seconds(work, repeats=1)
        share = machine.share(machine.profiled(what, work), seconds)
    return row(what, seconds, 5.0, share) | {"functions": len(fitted.active_)}


def where_it_pays(machine: Machine) -> Iterator[Row]:
    """The same fits with NumPy and on the device."""
    for n in (machine.n(rows) for rows in PAYS_ROWS):
        X, y = machine.friedman(n)
        model, host = regressor(X, machine.m(500)), (X.cpu().numpy(), y.cpu().numpy())
        seconds, _ = machine.seconds(lambda model=model, host=host: model.fit(*host), repeats=1)
        yield row(f"fit with NumPy, {n:,} rows x {machine.m(500)} centers", seconds)
        with sklearn.config_context(array_api_dispatch=True):
            seconds, _ = machine.seconds(lambda model=model, X=X, y=y: model.fit(X, y), repeats=1)
        yield row(f"fit on the device, {n:,} rows x {machine.m(500)} centers", seconds)


def single_precision(machine: Machine) -> Row:
    """Rows in single precision, which are evaluated and summed in double precision. The error is that of the diagonal."""
    X, y = machine.friedman(machine.n(MILLION))
    model = regressor(X, machine.m(1000))
    exact, rounded = (design_of(model, rows, y).moments()[0].gram.diagonal for rows in (X, X.to(torch.float32)))
    design = design_of(model, X.to(torch.float32), y)
    seconds, _ = machine.seconds(design.moments)
    what = f"sums of inputs in single precision, {len(X):,} rows x {machine.m(1000):,} centers"
    return row(what, seconds) | {"error": float(np.abs(exact - rounded).max() / exact.max())}


def row(what: str, seconds: float, at_most: float | None = None, share: float | None = None) -> Row:
    return {"what": what, "seconds": seconds, "at_most": at_most, "share": share}


def sums(machine: Machine) -> Iterator[Row]:
    for m, limits in ((1000, (0.1, 1.0)), (4000, (1.0, 5.0))):
        for from_host in (False, True):
            yield from sums_and_search(machine, machine.n(MILLION), machine.m(m), limits, from_host=from_host)


def one(work: Callable[[Machine], Row]) -> Callable[[Machine], Iterator[Row]]:
    return lambda machine: iter([work(machine)])


WORKS: dict[str, Callable[[Machine], Iterator[Row]]] = {
    "sums": sums,
    "single": one(single_precision),
    "generated": one(generated_rows),
    "predict": one(predictions),
    "widths": one(widths),
    "classes": one(classes),
    "pays": where_it_pays,
}

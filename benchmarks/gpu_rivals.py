"""Rivals beside our model on the same device: time to our held-out error, error, coverage of intervals and size.

They are GPyTorch's sparse processes, Falkon, and cuML's kernel ridge regression, as far as they are installed. Each warms up with a
first step that is not counted, as ours does, because packages load and compile kernels then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import sklearn
import torch

from benchmarks.gpu_work import GAMMA, MILLION, NOISE, Machine, Row, regressor, row

N_TEST, INDUCING, BATCH = 20_000, (500, 1000), 4096
MOST_SECONDS = 40.0  # for a rival that does not reach our error
SGPR_ROWS = 100_000  # SGPR has all rows in one product; so many are enough for our error, and more have not been tried
RIDGE_ROWS = 20_000  # kernel ridge regression has a number for each pair of rows
PENALTIES = (1e-4, 1e-6, 1e-8)  # of Falkon, per row
Data = tuple[Any, Any]  # inputs and targets


def rivals(machine: Machine) -> Iterator[Row]:
    """Yield our model, and then those of the rivals that are installed."""
    n, n_test = machine.n(MILLION), machine.n(N_TEST)
    X, y = machine.friedman(n + n_test)
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    ours, error = our_row(machine, train, test)
    yield ours
    for package, rows in (("gpytorch", gpytorch_rows), ("falkon", falkon_rows), ("cuml", cuml_rows)):
        if find_spec(package) is None:
            print(f"{package} is not installed, and takes no part.")
        else:
            yield from rows(machine, train, test, error)


def gpytorch_rows(machine: Machine, train: Data, test: Data, error: float) -> Iterator[Row]:
    few = first(train, machine.n(SGPR_ROWS))
    for size in map(machine.m, INDUCING):
        for name, rows, steps in (("SGPR", few, sgpr_steps), ("SVGP", train, svgp_steps)):
            what = f"GPyTorch {name}, {len(rows[0]):,} rows x {size} inducing points"
            yield rival_row(machine, what, lambda rows=rows, steps=steps, size=size: steps(rows, size), test, size, error)


def falkon_rows(machine: Machine, train: Data, test: Data, error: float) -> Iterator[Row]:
    for size in map(machine.m, INDUCING):
        what = f"Falkon, {len(train[0]):,} rows x {size} centers"
        yield rival_row(machine, what, lambda size=size: falkon_steps(train, size), test, size, error)


def cuml_rows(machine: Machine, train: Data, test: Data, error: float) -> Iterator[Row]:
    few = first(train, machine.n(RIDGE_ROWS))
    size = len(few[0])
    yield rival_row(machine, f"cuML KernelRidge, {size:,} rows", lambda: cuml_steps(few), test, size, error)


def first(rows: Data, n: int) -> Data:
    return rows[0][:n], rows[1][:n]


def our_row(machine: Machine, train: Data, test: Data) -> tuple[Row, float]:
    model = regressor(train[0], machine.m(1000))
    with sklearn.config_context(array_api_dispatch=True, working_memory=4096):
        seconds, fitted = machine.seconds(lambda: model.fit(*train), repeats=1)
        mean, std = fitted.predict(test[0], return_std=True)
    error, coverage = scores(mean, std, test[1])
    found = row(f"skarce, {len(train[0]):,} rows x {machine.m(1000):,} candidates", seconds)
    return found | {"error": error, "coverage": coverage, "functions": len(fitted.active_)}, error


def scores(mean: Any, std: Any, y: Any) -> tuple[float, float | None]:
    """Return the root mean square error, and the share of targets in 95 % intervals if there is a std."""
    inside = None if std is None else float(((mean - y).abs() <= 1.96 * std).double().mean())
    return float(((mean - y) ** 2).mean().sqrt()), inside


def rival_row(machine: Machine, what: str, begin: Callable[[], Iterator[Any]], test: Data, size: int, error: float) -> Row:
    """Train until the error is ours or less, and no longer than `MOST_SECONDS`. The time of tests along the way is not counted.

    `begin` starts to train, and gives a way to predict after each step.
    """
    next(begin())(test[0])  # warms up
    steps, spent, best = begin(), 0.0, None
    while spent < machine.limit(MOST_SECONDS):
        machine.wait()
        started = time.perf_counter()
        predict = next(steps, None)
        machine.wait()
        spent += time.perf_counter() - started
        if predict is None:
            break
        best = scores(*predict(test[0]), test[1])
        if best[0] <= error:
            break
    assert best is not None
    found = row(what, spent) | {"error": best[0], "coverage": best[1], "functions": size}
    return found if best[0] <= error else found | {"stopped": True}


def _predicted(model: Any, likelihood: Any, center: Any) -> Any:
    import gpytorch

    def predict(X: Any) -> tuple[Any, Any]:
        model.eval(), likelihood.eval()
        with torch.no_grad(), gpytorch.settings.fast_pred_var():
            seen = likelihood(model(X))
            found = seen.mean + center, seen.variance.sqrt()
        model.train(), likelihood.train()
        return found

    return predict


def _kernel(n_inputs: int) -> Any:
    import gpytorch

    base = gpytorch.kernels.RBFKernel(ard_num_dims=n_inputs)
    base.lengthscale = (0.5 / GAMMA) ** 0.5
    return gpytorch.kernels.ScaleKernel(base)


def sgpr_steps(train: Data, n_inducing: int) -> Iterator[Any]:
    """Yield a way to predict after every ten steps of Adam on all rows."""
    import gpytorch

    X, center = train[0], train[1].mean()
    y = train[1] - center

    class Process(gpytorch.models.ExactGP):
        def __init__(self, likelihood: Any) -> None:
            super().__init__(X, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            inducing = X[:n_inducing].clone()
            self.covar_module = gpytorch.kernels.InducingPointKernel(_kernel(X.shape[1]), inducing, likelihood)

        def forward(self, rows: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(rows), self.covar_module(rows))

    likelihood = gpytorch.likelihoods.GaussianLikelihood().to(X)
    model = Process(likelihood).to(X)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    while True:
        for _ in range(10):
            optimizer.zero_grad()
            (-objective(model(X), y)).backward()
            optimizer.step()
        yield _predicted(model, likelihood, center)


def svgp_steps(train: Data, n_inducing: int) -> Iterator[Any]:
    """Yield a way to predict after every hundred batches."""
    import gpytorch

    X, center = train[0], train[1].mean()
    y = train[1] - center

    class Process(gpytorch.models.ApproximateGP):
        def __init__(self) -> None:
            distribution = gpytorch.variational.CholeskyVariationalDistribution(n_inducing)
            inducing = X[:n_inducing].clone()
            super().__init__(gpytorch.variational.VariationalStrategy(self, inducing, distribution))
            self.mean_module, self.covar_module = gpytorch.means.ConstantMean(), _kernel(X.shape[1])

        def forward(self, rows: Any) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean_module(rows), self.covar_module(rows))

    likelihood, model = gpytorch.likelihoods.GaussianLikelihood().to(X), Process().to(X)
    objective = gpytorch.mlls.VariationalELBO(likelihood, model, num_data=len(y))
    optimizer = torch.optim.Adam([*model.parameters(), *likelihood.parameters()], lr=0.01)
    while True:
        for _ in range(100):
            places = torch.randint(len(y), (min(BATCH, len(y)),), device=X.device)
            optimizer.zero_grad()
            (-objective(model(X[places]), y[places])).backward()
            optimizer.step()
        yield _predicted(model, likelihood, center)


def falkon_steps(train: Data, n_centers: int) -> Iterator[Any]:
    """Yield a way to predict after each penalty, from strong to weak. There is no std."""
    import falkon

    X, center = train[0], train[1].mean()
    options = falkon.FalkonOptions(keops_active="no", use_cpu=not X.is_cuda)
    for penalty in PENALTIES:
        kernel = falkon.kernels.GaussianKernel(sigma=(0.5 / GAMMA) ** 0.5, opt=options)
        model = falkon.Falkon(kernel=kernel, penalty=penalty, M=n_centers, seed=0, options=options)
        model.fit(X, (train[1] - center)[:, None])
        yield lambda rows, model=model: (model.predict(rows)[:, 0] + center, None)


def cuml_steps(train: Data) -> Iterator[Any]:
    """Yield a way to predict after the only step. There is no std. The ridge is the noise variance for weights of unit variance."""
    from cuml.kernel_ridge import KernelRidge

    X, center = train[0], train[1].mean()
    model = KernelRidge(kernel="rbf", gamma=GAMMA, alpha=NOISE**2, output_type="cupy").fit(X, train[1] - center)
    yield lambda rows: (torch.as_tensor(model.predict(rows), device=rows.device).reshape(-1) + center, None)

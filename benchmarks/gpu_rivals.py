"""GPyTorch's sparse processes beside our model on the same device: time to our held-out error, error, coverage and size."""

from __future__ import annotations

import time
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

import sklearn
import torch

from benchmarks.gpu_work import GAMMA, MILLION, Machine, Row, regressor, row

N_TEST, INDUCING, BATCH = 20_000, (500, 1000), 4096
MOST_SECONDS = 40.0  # for a rival that does not reach our error
SGPR_ROWS = 100_000  # SGPR has all rows in one product, and no more of them fit into 140 GB
TOLERANCE = 1.01  # times our error counts as the same


def rivals(machine: Machine) -> Iterator[Row]:
    """Yield our model, and then those of GPyTorch if it is installed."""
    n, n_test = machine.n(MILLION), machine.n(N_TEST)
    X, y = machine.friedman(n + n_test)
    train, test = (X[:n], y[:n]), (X[n:], y[n:])
    ours, error = our_row(machine, train, test)
    yield ours
    if find_spec("gpytorch") is None:
        print("GPyTorch is not installed: no rivals.")
        return
    for n_inducing in map(machine.m, INDUCING):
        few = tuple(values[: machine.n(SGPR_ROWS)] for values in train)
        yield rival_row(machine, "SGPR", sgpr_steps(few, n_inducing), test, n_inducing, error)
        yield rival_row(machine, "SVGP", svgp_steps(train, n_inducing), test, n_inducing, error)


def our_row(machine: Machine, train: tuple[Any, Any], test: tuple[Any, Any]) -> tuple[Row, float]:
    model = regressor(train[0], machine.m(1000))
    with sklearn.config_context(array_api_dispatch=True, working_memory=4096):
        seconds, fitted = machine.seconds(lambda: model.fit(*train), repeats=1)
        mean, std = fitted.predict(test[0], return_std=True)
    error, coverage = scores(mean, std, test[1])
    found = row(f"skarce, {len(train[0]):,} rows x {machine.m(1000):,} candidates", seconds)
    return found | {"error": error, "coverage": coverage, "functions": len(fitted.active_)}, error


def scores(mean: Any, std: Any, y: Any) -> tuple[float, float]:
    """Return the root mean square error, and the share of targets in 95 % intervals."""
    return float(((mean - y) ** 2).mean().sqrt()), float(((mean - y).abs() <= 1.96 * std).double().mean())


def rival_row(machine: Machine, name: str, steps: Iterator[Any], test: tuple[Any, Any], size: int, error: float) -> Row:
    """Train until our error is reached, and no longer than `MOST_SECONDS`. The time of the tests along the way is not counted."""
    spent, best = 0.0, None
    while spent < MOST_SECONDS:
        machine.wait()
        started = time.perf_counter()
        predict = next(steps, None)
        machine.wait()
        spent += time.perf_counter() - started
        if predict is None:
            break
        best = scores(*predict(test[0]), test[1])
        if best[0] <= TOLERANCE * error:
            break
    assert best is not None
    return row(f"GPyTorch {name}, {size} inducing points", spent) | {"error": best[0], "coverage": best[1], "functions": size}


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


def sgpr_steps(train: tuple[Any, Any], n_inducing: int) -> Iterator[Any]:
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


def svgp_steps(train: tuple[Any, Any], n_inducing: int) -> Iterator[Any]:
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

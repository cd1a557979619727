"""What other packages write in C: support vector machines by m2cgen, a neural network by emlearn, if they are installed.

emlearn has trees, neural networks, naive Bayes, mixtures and nearest neighbors, and neither support vector machines nor Gaussian
processes: ``emlearn.convert(SVR())`` is refused. So its neural network stands here.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.neural_network import MLPRegressor
from sklearn.svm import SVR

SVR_GRID = {"C": [1.0, 10.0, 100.0], "gamma": [0.1, 0.3, 1.0], "epsilon": [0.1, 0.5, 1.0]}
NETWORK_GRID = {"hidden_layer_sizes": [(8,), (16,), (32,)], "alpha": [1.0, 10.0, 30.0]}
TUNING = {"cv": 5, "scoring": "neg_mean_squared_error"}


@dataclass(frozen=True)
class Contender:
    """A model in C: its code, how one prediction is called, and which row it gets.

    Attributes
    ----------
    folders : where its code looks for headers
    """

    name: str
    source: str
    call: str
    row: str
    rmse: float
    n_functions: int
    table_bytes: int | None
    folders: tuple[str, ...] = ()


def error(model: Any, test: tuple[Any, Any]) -> float:
    return float(np.sqrt(np.mean((model.predict(test[0]) - test[1]) ** 2)))


def tuned_svr(X: Any, y: Any) -> SVR:
    return GridSearchCV(SVR(), SVR_GRID, **TUNING).fit(X, y).best_estimator_


def of_m2cgen(svr: SVR, ours: Any, X: Any, y: Any, test: tuple[Any, Any]) -> list[Contender]:
    """Two machines, which compute in double: as it is tuned, and on inputs scaled by our widths, to be as accurate as ours."""
    try:
        import m2cgen
    except ImportError:
        return []
    scales = np.sqrt(ours.basis_.gamma_)
    scaled = tuned_svr(X * scales, y)
    cases = [
        ("SVR, m2cgen, no std", svr, X[0], error(svr, test)),
        ("SVR, our widths, m2cgen", scaled, X[0] * scales, error(scaled, (test[0] * scales, test[1]))),
    ]
    return [
        Contender(
            name=name,
            source=m2cgen.export_to_c(machine) + "\nstatic volatile double sink;",
            call="sink = score((double *)row);",
            row=f"static const double row[] = {{ {', '.join(f'{value:.17g}' for value in row)} }};",
            rmse=rmse,
            n_functions=len(machine.support_),
            table_bytes=None,
        )
        for name, machine, row, rmse in cases
    ]


def of_emlearn(X: Any, y: Any, test: tuple[Any, Any]) -> list[Contender]:
    """A tuned neural network with one hidden layer, which computes in float with functions of the library."""
    try:
        import emlearn
    except ImportError:
        return []
    network = MLPRegressor(activation="tanh", solver="lbfgs", max_iter=1000, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        best = GridSearchCV(network, NETWORK_GRID, **TUNING).fit(X, y).best_estimator_
    with TemporaryDirectory() as folder:
        path = Path(folder) / "net.h"
        emlearn.convert(best, method="loadable", return_type="regressor").save(name="net", file=str(path))
        source = path.read_text()
    n_hidden = best.coefs_[0].shape[1]
    floats = ", ".join(f"{value:.9g}f" for value in X[0])
    return [
        Contender(
            name="network, emlearn, no std",
            source=f"{source}\nstatic volatile float sink;",
            call=f"sink = net_regress1(row, {X.shape[1]});",
            row=f"static const float row[] = {{ {floats} }};",
            rmse=error(best, test),
            n_functions=n_hidden,
            table_bytes=None,
            folders=(emlearn.includedir,),
        )
    ]

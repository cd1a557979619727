"""Draw the pictures of the pages: python -m benchmarks.pictures [--out docs/images] [names ...].

Nearly all are made by one display of `skarce.inspection`, on data that are generated or come with scikit-learn. Each is drawn
twice, as NAME.png and on a dark background as NAME-dark.png, which the website shows on dark pages.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.stats import uniform
from sklearn.datasets import load_diabetes, load_iris, make_friedman1, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.picture import noisy_sinc, save_small
from skarce import (
    BackwardEliminationRegressor,
    CriterionSearch,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    KernelBasis,
    KernelMatchingPursuitRegressor,
    LaplacePriorRegressor,
    LWPRRegressor,
    OrthogonalLeastSquaresRegressor,
    PolynomialChaosBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    VBLSRegressor,
)
from skarce.inspection import FunctionsDisplay, InputsDisplay, IntervalsDisplay, PathDisplay, PredictionDisplay
from skarce.inspection.palette import palette_on
from skarce.reproduce.runner.figures import hide_frame

STYLES = {"default": "", "dark_background": "-dark"}  # of matplotlib, with what ends the names of their files
N_COLORS = 160  # of a file: maps have many


def friedman(n_rows: int) -> tuple[Any, np.ndarray]:
    X, y = make_friedman1(n_rows, n_features=8, noise=1.0, random_state=0)
    return pd.DataFrame(X, columns=[f"x{place}" for place in range(8)]), y


def prediction_curve() -> Any:
    X, y = noisy_sinc()
    return PredictionDisplay.from_estimator(RelevanceVectorRegressor().fit(X, y), X, y)


def prediction_map() -> Any:
    rng = np.random.default_rng(0)
    X = rng.normal(0, [1.0, 1.4], (120, 2))
    X = pd.DataFrame(X, columns=["longitude", "latitude"])
    y = pd.Series(np.sin(2 * X["longitude"]) + 0.4 * X["latitude"] + rng.normal(0, 0.2, 120), name="height")
    return PredictionDisplay.from_estimator(RelevanceVectorRegressor().fit(X, y), X, y)


def prediction_average() -> Any:
    data = load_diabetes(as_frame=True, scaled=False)
    model = make_pipeline(StandardScaler(), RelevanceVectorRegressor()).fit(data.data, data.target)
    return PredictionDisplay.from_estimator(model, data.data, data.target, features=["bmi", "s5", "bp"])


def prediction_rate() -> Any:
    rng = np.random.default_rng(0)
    hours = np.sort(rng.uniform(0, 24, 200))
    calls = pd.Series(rng.poisson(np.exp(1.2 + np.sin((hours - 8) / 24 * 2 * np.pi))), name="calls per minute")
    X = pd.DataFrame({"hour": hours})
    return PredictionDisplay.from_estimator(RelevanceVectorPoissonRegressor().fit(X, calls), X, calls)


def prediction_classes() -> Any:
    X, labels = make_moons(150, noise=0.25, random_state=0)
    data, kinds = load_iris(return_X_y=True, as_frame=True)
    kinds = load_iris().target_names[kinds]
    data = data[["petal length (cm)", "sepal width (cm)"]]
    _, axes = plt.subplots(1, 2, figsize=(10.4, 4.0), layout="constrained")
    PredictionDisplay.from_estimator(RelevanceVectorClassifier().fit(X, labels), X, labels, ax=axes[0])
    return PredictionDisplay.from_estimator(RelevanceVectorClassifier().fit(data, kinds), data, kinds, ax=axes[1])


def path_sizes() -> Any:
    X, y = noisy_sinc()
    model = OrthogonalLeastSquaresRegressor(KernelBasis(gamma=0.1), keep_path=True, patience=12).fit(X[::2], y[::2])
    return PathDisplay.from_estimator(model, X[1::2], y[1::2])


def path_steps() -> Any:
    X, y = friedman(200)
    return PathDisplay.from_estimator(RelevanceVectorRegressor(KernelBasis(gamma=1.0)).fit(X, y))


def path_pursuit() -> Any:
    X, y = noisy_sinc()
    return PathDisplay.from_estimator(KernelMatchingPursuitRegressor(KernelBasis(gamma=0.1)).fit(X, y))


def path_floating() -> Any:
    X, y = friedman(300)
    return PathDisplay.from_estimator(EvidenceSearchRegressor(KernelBasis(gamma=1.0), search="floating").fit(X, y))


def path_elimination() -> Any:
    X, y = friedman(1200)
    model = BackwardEliminationRegressor(keep_path=True).fit(X[:200], y[:200])
    return PathDisplay.from_estimator(model, X[200:], y[200:])


def path_gcv() -> Any:
    X, y = noisy_sinc()
    return PathDisplay.from_estimator(FastGCVRegressor(KernelBasis(gamma=0.1)).fit(X, y))


def scores_by_width() -> Any:
    rng = np.random.default_rng(0)
    X, new_X = rng.uniform(-10, 10, (150, 1)), np.linspace(-10, 10, 500)[:, None]
    y, truth = np.sin(X[:, 0]) + rng.normal(0, 0.2, 150), np.sin(new_X[:, 0])
    gammas = np.geomspace(1e-3, 30, 25)
    search = CriterionSearch(RelevanceVectorRegressor(), {"basis__gamma": gammas}).fit(X, y)
    models = [RelevanceVectorRegressor(KernelBasis(gamma=gamma)).fit(X, y) for gamma in gammas]
    errors = [np.sqrt(np.mean((model.predict(new_X) - truth) ** 2)) for model in models]
    figure, axes = plt.subplots(1, 2, figsize=(9.6, 3.6), layout="constrained")
    for ax, values, name in zip(
        axes, (search.results_["criterion"], errors), ("log evidence", "error against the truth"), strict=True
    ):
        colors = palette_on(ax.get_facecolor())
        ax.axvline(search.best_params_["basis__gamma"], color=colors.accent, linestyle="--", label="largest log evidence")
        ax.plot(gammas, values, "o-", color=colors.main, markersize=4)
        ax.set(xscale="log", xlabel="gamma of the kernel", ylabel=name)
        hide_frame(ax)
    axes[0].legend(frameon=False)
    return SimpleNamespace(figure_=figure)


def path_penalty() -> Any:
    X, y = noisy_sinc()
    return PathDisplay.from_estimator(LaplacePriorRegressor(KernelBasis(gamma=0.1)).fit(X, y))


def functions() -> Any:
    X, y = noisy_sinc()
    return FunctionsDisplay.from_estimator(RelevanceVectorRegressor().fit(X, y), max_functions=6)


def inputs() -> Any:
    X, y = friedman(200)
    data = load_diabetes(as_frame=True, scaled=False)
    linear = VBLSRegressor().fit(data.data, data.target)
    chaos = VBLSRegressor(PolynomialChaosBasis(3, distributions=uniform(0, 1))).fit(X, y)
    _, axes = plt.subplots(2, 2, figsize=(9.6, 6.4), layout="constrained")
    kernels, (new_X, new_y) = RelevanceVectorRegressor().fit(X, y), friedman(800)
    InputsDisplay.from_estimator(linear, data.data, ax=axes[0, 0])
    InputsDisplay.from_estimator(kernels, ax=axes[0, 1])
    InputsDisplay.from_estimator(chaos, ax=axes[1, 0])
    return InputsDisplay.from_estimator(kernels, new_X[200:], new_y[200:], ax=axes[1, 1])


def inputs_linear() -> Any:
    data = load_diabetes(as_frame=True, scaled=False)
    return InputsDisplay.from_estimator(VBLSRegressor().fit(data.data, data.target), data.data)


def inputs_widths() -> Any:
    return InputsDisplay.from_estimator(RelevanceVectorRegressor().fit(*friedman(200)))


def inputs_sobol() -> Any:
    return InputsDisplay.from_estimator(VBLSRegressor(PolynomialChaosBasis(3, distributions=uniform(0, 1))).fit(*friedman(200)))


def prediction_fields() -> Any:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (2000, 1))
    y = np.sin(3 * X[:, 0]) + rng.normal(0, 0.1, 2000)
    model = LWPRRegressor(random_state=0).fit(X, y)
    return PredictionDisplay.from_estimator(model, X[:300], y[:300])


def intervals() -> Any:
    X, y = friedman(800)
    return IntervalsDisplay.from_estimator(RelevanceVectorRegressor().fit(X[:120], y[:120]), X[120:], y[120:])


PICTURES: dict[str, Callable[[], Any]] = {
    "prediction-curve": prediction_curve,
    "prediction-map": prediction_map,
    "prediction-average": prediction_average,
    "prediction-rate": prediction_rate,
    "prediction-classes": prediction_classes,
    "prediction-fields": prediction_fields,
    "path-sizes": path_sizes,
    "path-steps": path_steps,
    "path-pursuit": path_pursuit,
    "path-floating": path_floating,
    "path-elimination": path_elimination,
    "path-penalty": path_penalty,
    "path-gcv": path_gcv,
    "scores-by-width": scores_by_width,
    "functions": functions,
    "inputs": inputs,
    "inputs-linear": inputs_linear,
    "inputs-widths": inputs_widths,
    "inputs-sobol": inputs_sobol,
    "intervals": intervals,
}


def draw(names: list[str], folder: Path) -> None:
    for style, ending in STYLES.items():
        with plt.style.context(style):
            for name in names:
                figure = PICTURES[name]().figure_
                save_small(figure, folder / f"{name}{ending}.png", N_COLORS)
                plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Draw the pictures of the pages.")
    parser.add_argument("names", nargs="*", choices=[[], *PICTURES], metavar="name", help=f"which ones: {', '.join(PICTURES)}")
    parser.add_argument("--out", type=Path, default=Path("docs/images"))
    arguments = parser.parse_args()
    draw(arguments.names or list(PICTURES), arguments.out)

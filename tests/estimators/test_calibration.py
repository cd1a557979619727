"""Are the probabilities right?"""

import numpy as np
import pandas as pd
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import (
    KernelBasis,
    RelevanceVectorClassifier,
)


def reliability(probability, happened):
    """The largest distance between the mean probability of a tenth of the rows and how often it happened there."""
    tenths = np.array_split(np.argsort(probability), 10)
    return max(abs(probability[rows].mean() - happened[rows].mean()) for rows in tenths)


def test_two_classes_are_calibrated():
    def draw(n, rng):
        X = rng.uniform(-3, 3, (n, 2))
        latent = 2.0 * np.sin(1.5 * X[:, 0]) + X[:, 1]
        return X, rng.uniform(size=n) < expit(latent)

    rng = np.random.default_rng(0)
    model = RelevanceVectorClassifier("rbf").fit(*draw(3000, rng))
    X, y = draw(200_000, rng)
    assert reliability(model.predict_proba(X)[:, 1], y) < 0.03


def test_three_classes_are_calibrated():
    def draw(n, rng):
        X = rng.uniform(-3, 3, (n, 2))
        latent = np.column_stack([1.5 * np.sin(X[:, 0]), X[:, 1], 0.2 * X[:, 0] * X[:, 1]])
        odds = np.exp(latent)
        thresholds = np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
        return X, (rng.uniform(size=n)[:, None] > thresholds).sum(axis=1)

    rng = np.random.default_rng(0)
    model = RelevanceVectorClassifier("rbf").fit(*draw(10_000, rng))
    X, y = draw(200_000, rng)
    probability = model.predict_proba(X)
    for k in range(3):
        assert reliability(probability[:, k], y == k) < 0.03


def test_ripley_is_near_ten_percent(data_folder):
    train, test = (pd.read_csv(data_folder / f"synth_{part}.csv") for part in ("tr", "te"))
    model = RelevanceVectorClassifier(KernelBasis(gamma=4.0)).fit(train[["xs", "ys"]], train["yc"])
    assert 1.0 - model.score(test[["xs", "ys"]], test["yc"]) < 0.11
    assert len(model.active_) < 10


def test_iris():
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), RelevanceVectorClassifier("rbf"))
    assert cross_val_score(model, X, y, cv=5).mean() > 0.93
    assert -cross_val_score(model, X, y, cv=5, scoring="neg_log_loss").mean() < 0.2

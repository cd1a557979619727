"""feature-engine selects columns by our weights, optuna tunes our parameters, mapie wraps our predictions."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from skarce import KernelBasis, RelevanceVectorRegressor, VBLSRegressor


def test_feature_engine_drops_the_columns_that_do_not_matter(linear):
    selection = pytest.importorskip("feature_engine.selection", reason="feature-engine is not installed")
    X, y = linear
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = selection.RecursiveFeatureElimination(VBLSRegressor(), scoring="r2", cv=3, threshold=0.01)
    assert set(selector.fit(frame, pd.Series(y)).features_to_drop_) == set("acef")


def test_optuna_tunes_a_nested_parameter(linear):
    optuna = pytest.importorskip("optuna", reason="optuna is not installed")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    X, y = linear

    def r2(trial):
        gamma = trial.suggest_float("gamma", 1e-3, 10.0, log=True)
        model = RelevanceVectorRegressor(KernelBasis(), calibrate_std=False).set_params(basis__gamma=gamma)
        return cross_val_score(model, X, y, cv=3).mean()

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.GridSampler({"gamma": [0.01, 10.0]}))
    study.optimize(r2, n_trials=2)
    assert study.best_params == {"gamma": 0.01}


def test_mapie_makes_intervals_from_a_held_out_part(linear):
    regression = pytest.importorskip("mapie.regression", reason="mapie is not installed")
    X, y = linear
    conformal = regression.SplitConformalRegressor(VBLSRegressor(), confidence_level=0.9, prefit=False)
    conformal.fit(X[:80], y[:80]).conformalize(X[80:140], y[80:140])
    mean, intervals = conformal.predict_interval(X[140:])
    np.testing.assert_allclose(mean, VBLSRegressor().fit(X[:80], y[:80]).predict(X[140:]))
    lower, upper = intervals[:, 0, 0], intervals[:, 1, 0]
    assert np.mean((lower <= y[140:]) & (y[140:] <= upper)) > 0.75


def test_river_learns_row_by_row(linear):
    compat = pytest.importorskip("river.compat", reason="river is not installed")
    stream = pytest.importorskip("river.stream", reason="river is not installed")
    X, y = linear
    model = compat.convert_sklearn_to_river(VBLSRegressor())
    for row, target in stream.iter_array(X[:60], y[:60]):
        model.learn_one(row, target)
    streamed = [model.predict_one(row) for row, _ in stream.iter_array(X[60:])]
    np.testing.assert_allclose(streamed, VBLSRegressor().fit(X[:60], y[:60]).predict(X[60:]), atol=1e-3)

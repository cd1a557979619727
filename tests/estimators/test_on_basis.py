"""Wrong limits are named by every estimator in the same words; parameters reach the basis behind a name."""

import numpy as np
import pandas as pd
import pytest

from skarce import (
    BackwardEliminationRegressor,
    KernelBasis,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseRegressor,
)
from skarce.searches import PlusTakeAway


@pytest.mark.parametrize("make", [RelevanceVectorRegressor, BackwardEliminationRegressor, RelevanceVectorClassifier])
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        *(("tol", value) for value in ("x", None, [0.1], True, -1.0, np.nan)),
        *(("max_time", value) for value in ("x", -1.0, False)),
        *(("max_iter", value) for value in (0, 1.5, True)),
        *(("max_active", value) for value in (0, "x")),
        ("fit_intercept", "no"),
        ("verbose", "x"),
    ],
)
def test_wrong_limits_are_named(make, name, wrong):
    X, y = np.arange(6.0)[:, None], np.array([0, 1, 0, 1, 1, 0])
    with pytest.raises(ValueError, match=rf"{name} must be .*, got "):
        make(**{name: wrong}).fit(X, y)


def test_parameters_of_the_kernels_behind_a_name():
    for model in (RelevanceVectorRegressor("passthrough"), RelevanceVectorRegressor("rbf"), RelevanceVectorRegressor()):
        for name in ("rbf", "auto"):
            basis = model.set_params(basis=name, basis__gamma=0.1).basis
            assert (basis.kernel, basis.gamma) == ("rbf", 0.1)
    learned = RelevanceVectorRegressor().set_params(basis__centers=7, basis__gamma="ard").basis
    assert (learned.kernel, learned.gamma, learned.centers) == ("auto", "ard", 7)
    assert RelevanceVectorRegressor().set_params(basis__kernel="matern32").basis.gamma == "learned"
    assert RelevanceVectorRegressor("rbf").set_params(basis__gamma=0.2).basis.gamma == 0.2
    with pytest.raises(ValueError, match="basis='passthrough' has no parameters"):
        RelevanceVectorRegressor("passthrough").set_params(basis__gamma=0.1)
    with pytest.raises(ValueError, match="has no parameters, so"):
        RelevanceVectorRegressor("rbf").set_params(basis="passthrough", basis__gamma=0.1)


def test_parts_without_parameters_are_named():
    for wrong in ({"basis": None, "basis__gamma": 1.0}, {"basis": 3, "basis__gamma": 1.0}):
        with pytest.raises(ValueError, match=r"no parameters, so basis__gamma cannot be set. Pass basis=KernelBasis\(gamma=1.0\)"):
            SparseRegressor("rbf").set_params(**wrong)
    for wrong in ({"criterion__lowest_ridge": 1.0}, {"search": PlusTakeAway(), "search__plus": 3}):
        with pytest.raises(ValueError, match=r"has no parameters, so .* Pass a new object"):
            SparseRegressor("rbf").set_params(**wrong)
    with pytest.raises(ValueError, match="Invalid parameter 'kernels'"):
        SparseRegressor("rbf").set_params(kernels__gamma=1.0)
    model = SparseRegressor("rbf")
    with pytest.raises(ValueError, match="Invalid parameter 'width' for estimator KernelBasis"):
        model.set_params(basis__width=1.0)
    assert SparseRegressor("passthrough").set_params(basis="rbf", basis__gamma=2.0, tol=0.1).basis.gamma == 2.0


@pytest.mark.parametrize("basis", ["rbf", KernelBasis(gamma="ard"), KernelBasis(centers=5, random_state=0)], ids=str)
def test_names_of_inputs_reach_the_kernels(basis):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["height", "weight"])
    y = frame["height"] + 0.1 * rng.normal(size=40)
    model = RelevanceVectorRegressor(basis, calibrate_std=False).fit(frame, y)
    assert list(model.basis_.feature_names_in_) == ["height", "weight"]
    np.testing.assert_array_equal(model.basis_.transform(frame), model.basis_.transform(frame[["height", "weight"]]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.basis_.transform(frame[["weight", "height"]])
    again = model.fit(frame.to_numpy(), y)
    assert not hasattr(again.basis_, "feature_names_in_")


@pytest.mark.parametrize("basis", [KernelBasis(gamma="ard"), ProcessBasis()], ids=str)
def test_the_report_on_widths_has_the_names_of_inputs(basis, capsys):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2)), columns=["height", "weight"])
    RelevanceVectorRegressor(basis, verbose=1).fit(frame, frame["height"] + 0.1 * rng.normal(size=40))
    assert "gamma: height " in capsys.readouterr().err

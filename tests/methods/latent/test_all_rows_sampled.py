"""Latent functions of blocks and Dask data that are so few that the sample holds all rows: the models are those in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.preprocessing import PolynomialFeatures

from skarce import KernelBasis, RelevanceVectorClassifier, RelevanceVectorPoissonRegressor
from skarce.designs import RowBlocks

N = 400
RNG = np.random.default_rng(1)
X = RNG.normal(size=(N, 3))
Y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * RNG.normal(size=N)
COUNTS = RNG.poisson(np.exp(Y))
LABELS = (2.0 * Y + RNG.logistic(size=N) > 0).astype(int)
THREE = np.digitize(2.0 * Y + RNG.logistic(size=N), [-1.0, 1.0])
WEIGHTS = RNG.integers(0, 3, N).astype(float)
BASES = {
    "kernels": KernelBasis(gamma=0.5, centers=40, random_state=0),
    "many kernels": KernelBasis(gamma=0.5, centers=100, random_state=0),
    "passthrough": "passthrough",
    "transformer": PolynomialFeatures(2, include_bias=False),
}
CASES = {
    "two classes": (RelevanceVectorClassifier(calibrate_proba=False), LABELS),
    "three classes": (RelevanceVectorClassifier(calibrate_proba=False), THREE),
    "balanced": (RelevanceVectorClassifier(class_weight="balanced", calibrate_proba=False), THREE),
    "counts": (RelevanceVectorPoissonRegressor(calibrate_proba=False), COUNTS),
}


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(found, expected):
    np.testing.assert_array_equal(found.active_, expected.active_)
    assert found.criterion_ == pytest.approx(expected.criterion_, rel=1e-12)
    for one, other in zip(found.latent(X), expected.latent(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)
    assert found.n_effective_ == pytest.approx(expected.n_effective_, rel=1e-12)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
@pytest.mark.parametrize("basis", BASES.values(), ids=BASES)
@pytest.mark.parametrize(("model", "targets"), CASES.values(), ids=CASES)
def test_blocks_and_dask_arrays_have_the_model_in_memory(model, targets, basis, weights):
    """Also where passes would end in another maximum, as for two classes on kernels."""
    model = clone(model).set_params(basis=basis)
    expected = clone(model).fit(X, targets, weights)
    assert_same(clone(model).fit(RowBlocks.from_arrays(X, targets, weights, block_rows=90)), expected)
    lazy = None if weights is None else da.from_array(weights, chunks=90)
    assert_same(clone(model).fit(da.from_array(X, chunks=(90, 3)), da.from_array(targets, chunks=90), lazy), expected)


@pytest.mark.parametrize("kind", ["relative", "effective"])
def test_weights_of_rows_that_depend_on_each_other(kind):
    params = {"weights": "relative"} if kind == "relative" else {"effective_samples": 0.5}
    model = RelevanceVectorClassifier(BASES["kernels"], calibrate_proba=False, **params)
    expected = clone(model).fit(X, LABELS, WEIGHTS)
    assert_same(clone(model).fit(RowBlocks.from_arrays(X, LABELS, WEIGHTS, block_rows=90)), expected)


def test_frames_with_text_as_labels():
    frame = pd.DataFrame(X, columns=list("pqr")).assign(label=np.where(LABELS > 0, "yes", "no"))
    model = RelevanceVectorClassifier(BASES["kernels"], calibrate_proba=False)
    found = clone(model).fit(dd.from_pandas(frame, npartitions=4), "label")
    expected = clone(model).fit(frame[list("pqr")], frame["label"])
    np.testing.assert_array_equal(found.predict_proba(frame[list("pqr")]), expected.predict_proba(frame[list("pqr")]))

"""Joint factors of row blocks and Dask data: one pass of sums gives the model of the rows in memory."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from skarce import JointFactorRegressor
from skarce.designs import RowBlocks
from skarce.methods.factors import Spread, standardized, standardized_sums
from skarce.moments import block_sums

N = 500
RNG = np.random.default_rng(0)
FACTORS = RNG.normal(size=(N, 2))
UNITS = np.array([1e-3, 1.0, 1.0, 50.0, 1.0, 1e4])
X = 100.0 + UNITS * (FACTORS @ RNG.normal(size=(2, 6)) + RNG.normal(0.0, 0.5, (N, 6)))
Y = FACTORS * [1.0, -3.0] + [0.0, 5.0] + 0.5 * RNG.normal(size=(N, 2))
WEIGHTS = RNG.integers(0, 4, N).astype(float)
NAMES = list("abcdef")
PARAMS = [
    {"n_factors": 2},
    {"n_factors": "bic"},
    {"n_factors": 2, "noise": "isotropic"},
    {"n_factors": 1, "solver": "em"},
]


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="synchronous"):
        yield


def everywhere(y, weights):
    """The same rows as blocks, as Dask arrays, and as a frame with names of columns."""
    chunks = (90, *y.shape[1:])
    lazy_weights = None if weights is None else da.from_array(weights, chunks=90)
    names = ["y", "z"][: y[:1].size]
    frame = pd.DataFrame(X, columns=NAMES).assign(w=1.0 if weights is None else weights)
    frame[names] = y.reshape(N, -1)
    return [
        (RowBlocks.from_arrays(X, y, weights, block_rows=77),),
        (da.from_array(X, chunks=(90, 2)), da.from_array(y, chunks=chunks), lazy_weights),
        (dd.from_pandas(frame, npartitions=4), names if y.ndim > 1 else "y", "w"),
    ]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weights"])
@pytest.mark.parametrize("y", [Y[:, 0], Y], ids=["one target", "two targets"])
@pytest.mark.parametrize("params", PARAMS, ids=str)
def test_the_model_is_that_of_the_rows_in_memory(params, y, weights):
    model = JointFactorRegressor(**params)
    expected = clone(model).fit(X, y, weights)
    gaps = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    for data in everywhere(y, weights):
        found = clone(model).fit(*data)
        assert found.n_factors_ == expected.n_factors_
        assert found.log_likelihood_ == pytest.approx(expected.log_likelihood_, rel=1e-9)
        assert found.coef_.shape == expected.coef_.shape
        assert list(found.scores_) == list(expected.scores_)
        inputs = pd.DataFrame(gaps, columns=NAMES) if hasattr(found, "feature_names_in_") else gaps
        for one, other in zip(found.predict(inputs, return_std=True), expected.predict(gaps, return_std=True), strict=True):
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-6 * y.std())


def test_standardized_sums_are_those_of_the_rows():
    columns = np.column_stack([X, Y, np.full(N, 0.1), np.zeros(N)])
    rows, center, scale = standardized(columns, WEIGHTS)
    spread, by_sums = Spread.of(rows, WEIGHTS), standardized_sums(block_sums("passthrough", columns, Y[:, 0], WEIGHTS))
    np.testing.assert_allclose(by_sums[0].covariance(), spread.covariance(), atol=1e-10)
    assert (by_sums[0].n_samples, by_sums[0].rank()) == (WEIGHTS.sum(), spread.rank())
    np.testing.assert_allclose(by_sums[1], center, rtol=1e-12)
    np.testing.assert_allclose(by_sums[2], scale, rtol=1e-10)
    np.testing.assert_array_equal(by_sums[3], [True] * 8 + [False] * 2)


def test_names_of_frames_are_kept_and_constant_targets_stay():
    frame = dd.from_pandas(pd.DataFrame(X, columns=NAMES).assign(y=7.0), npartitions=3)
    model = JointFactorRegressor(1).fit(frame, "y")
    assert list(model.feature_names_in_) == NAMES
    assert model.y_scale_.tolist() == [0.0]
    np.testing.assert_allclose(model.predict(frame[NAMES]).compute(), 7.0)


def test_what_sums_cannot_do_says_what_to_use():
    blocks, lazy, _ = everywhere(Y[:, 0], None)
    for data in (blocks, lazy):
        with pytest.raises(TypeError, match=r'takes rows in memory, .* n_factors="cv" .* Use n_factors="bic" or a number'):
            JointFactorRegressor().fit(*data)
    model = JointFactorRegressor(2).fit(X, Y[:, 0])
    before, missing = model.predict(X), np.where(np.arange(N)[:, None] == 95, np.nan, X)
    cases = [
        ((*blocks, Y[:, 0]), "y and sample_weight come from the blocks"),
        ((RowBlocks(lambda: ()),), "there are no rows"),
        ((lazy[0], lazy[1], da.zeros(N, chunks=90)), "no rows of positive weight"),
        (
            (da.from_array(missing, chunks=(90, 6)), lazy[1]),
            "X of partition 1 .* in row 5",
        ),
        ((dd.from_pandas(pd.DataFrame({"p": ["a", "b"], "y": [1.0, 2.0]}), npartitions=1), "y"), "column 'p' of X holds text"),
    ]
    for data, message in cases:
        with pytest.raises(ValueError, match=message):
            model.fit(*data)
        np.testing.assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="n_factors=9 must be smaller"):
        JointFactorRegressor(9).fit(*lazy)

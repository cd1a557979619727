"""The paper on variational least squares: its data, its stand-ins, its tables."""

from itertools import chain, combinations

import numpy as np
import pytest

from skarce.estimators import LWPRRegressor
from skarce.inspection.palette import LIGHT
from skarce.reproduce.papers.vbls import paper
from skarce.reproduce.papers.vbls.contenders import LINEAR, ON_KERNELS, n_beyond
from skarce.reproduce.papers.vbls.data import mixed_inputs, neurons, ratings, sinc
from skarce.reproduce.papers.vbls.model_search import ModelSearch
from skarce.reproduce.papers.vbls.pictures import draw
from skarce.reproduce.papers.vbls.tables import overview
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run


def test_mixed_inputs_are_relevant_redundant_and_irrelevant_in_this_order(rng):
    X, y, X_test, exact = mixed_inputs(30, 60, 0.8)(rng)
    assert X.shape == (1000, 100)
    assert X_test.shape == (2000, 100)
    both = np.vstack([X, X_test])
    shares, residual, *_ = np.linalg.lstsq(both[:, :10], both[:, 10:40], rcond=None)
    np.testing.assert_allclose(residual, 0, atol=1e-20 * 3000)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert (shares >= -1e-12).all()
    # The exact targets are linear in the first ten, and in nothing else.
    _, residual, *_ = np.linalg.lstsq(X_test[:, :10], exact, rcond=None)
    assert residual[0] < 1e-16 * (exact @ exact)
    assert np.abs(np.corrcoef(X_test[:, 40:].T, exact)[-1, :-1]).max() < 0.12
    weights = np.linalg.lstsq(X[:, :10], y, rcond=None)[0]
    assert 1 - np.var(y - X[:, :10] @ weights) / np.var(y) == pytest.approx(0.8, abs=0.04)


def test_ratings_do_not_contain_the_one_that_is_asked_for(rng):
    X, y, X_test, y_test = ratings(rng)
    assert X.shape == (6524, 1767)
    assert X_test.shape == (725, 1767)
    assert set(np.unique(np.concatenate([y, y_test]))) <= {1.0, 2.0, 3.0, 4.0, 5.0}
    assert np.mean(X != 0) < 0.1
    # All that the first rows say of a user is in the ratings of other items.
    assert np.corrcoef(X[:, 1412:].sum(axis=1), y)[0, 1] ** 2 < 0.5


def test_each_muscle_is_driven_by_the_first_ten_neurons(rng):
    X, y, *_ = neurons(0.9)(np.random.default_rng(0), 3)
    assert X.shape == (1160, 71)
    assert (X >= 0).all()
    some = np.column_stack([X[:, :10], np.ones(len(X))])
    residual = np.linalg.lstsq(some, y, rcond=None)[1][0]
    assert 1 - residual / len(y) / y.var() == pytest.approx(0.9, abs=0.03)
    other = neurons(0.9)(np.random.default_rng(0), 4)[1]
    assert abs(np.corrcoef(y, other)[0, 1]) < 0.999


def test_sinc_has_100_equidistant_points_and_exact_test_targets(rng):
    X, y, X_test, exact = sinc(rng)
    np.testing.assert_allclose(np.diff(X[:, 0]), 20 / 99)
    assert np.abs(y - np.sin(X[:, 0]) / X[:, 0]).max() <= 0.2
    np.testing.assert_allclose(exact, np.sin(X_test[:, 0]) / X_test[:, 0])


def test_the_exhaustive_search_finds_the_subset_of_least_bic(rng):
    X = rng.normal(size=(40, 6))
    t = X[:, 1] - 0.5 * X[:, 4] + 0.7 * rng.normal(size=40)
    t -= t.mean()
    X -= X.mean(axis=0)

    def bic(subset):
        some = X[:, list(subset)]
        rest = t - some @ np.linalg.lstsq(some, t, rcond=None)[0] if subset else t
        return 40 * np.log(rest @ rest) + len(subset) * np.log(40)

    subsets = chain.from_iterable(combinations(range(6), k) for k in range(7))
    best = list(min(subsets, key=bic))
    model = ModelSearch(6).fit(X + 3, t + 1)
    np.testing.assert_array_equal(model.active_, best)
    np.testing.assert_allclose(model.coef_, np.linalg.lstsq(X[:, best], t, rcond=None)[0])
    np.testing.assert_allclose(model.predict(X + 3).mean(), 1.0)
    assert n_beyond(10, model) == 0


def test_lwpr_stands_beside_the_methods_on_kernels_with_the_numbers_of_the_paper():
    """It has nothing to tune, and makes ten passes over the rows of each trial."""
    whole = paper()
    lwpr = next(contender for contender in whole.contenders if contender.name == "lwpr")
    model = lwpr.make(None)
    assert isinstance(model, LWPRRegressor)
    assert (model.n_passes, model.initial_metric) == (10, "auto")
    assert not lwpr.choices
    assert whole.label("lwpr") == "LWPR"
    assert {name: row["lwpr"].error for name, row in whole.printed.items() if "lwpr" in row} == {
        "sinc": 0.0124,
        "boston": 0.0846,
        "abalone": 0.4056,
    }
    assert {e.name for e in whole.experiments if "lwpr" in e.methods} == {"sinc", "boston", "abalone"}


def test_only_the_methods_of_an_experiment_run_and_the_page_holds_them(tmp_path):
    pytest.importorskip("matplotlib")
    whole = paper(quick=True)
    chosen = ["mixed-0-90-0.9", "sinc"]
    run = Run(whole, Store(tmp_path / "records.jsonl"), Options(repeats=1, n_jobs=1), chosen)
    run.run()
    records = run.records()
    assert {r.method for r in records if r.experiment == "sinc"} == set(ON_KERNELS)
    assert {r.method for r in records if r.experiment == "mixed-0-90-0.9"} == set(LINEAR)
    assert all(record.failure is None for record in records)
    found = findings(whole, records)
    page = "\n\n".join(overview(found))
    assert "Section 6.1, r2 = 0.9" in page
    assert "Section 6.1, r2 = 0.8" not in page
    assert "(0.0134)" in page  # what the paper prints for the RVM on sinc
    assert "(0.0124)" in page  # and for LWPR
    vbls = found[0].summary("vbls")
    assert f"{vbls.n_functions:.1f} / {vbls.extras['beyond 10']:.1f}" in page
    assert draw(found, tmp_path) == ["mixed-0.9.png", "sinc.png"]
    assert all(0 < (tmp_path / name).stat().st_size < 200_000 for name in ("mixed-0.9.png", "sinc.png"))
    seen = picture_colors(tmp_path / "mixed-0.9.png")
    assert {LIGHT.series_color(place).lower() for place in range(len(LINEAR))} <= seen  # one color for each method
    assert len(LINEAR) <= len(LIGHT.series)


def picture_colors(path):
    from matplotlib.colors import to_hex
    from matplotlib.image import imread

    return {to_hex(color) for color in np.unique(imread(path)[..., :3].reshape(-1, 3), axis=0)}

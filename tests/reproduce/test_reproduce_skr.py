"""The experiments of the paper on sparse kernel regression."""

import numpy as np
import pytest
from sklearn.base import clone

from skarce.reproduce.papers import find_paper
from skarce.reproduce.papers.skr.contenders import TubeSVR, tube
from skarce.reproduce.papers.skr.data import simulated, true_mean
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.page import markdown
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run
from tests.oracles import l1_violation, rbf


def test_the_simulated_example_is_the_papers(rng):
    draws = [simulated(rng) for _ in range(200)]
    X, _, X_test, mean = draws[0]
    assert X.shape == X_test.shape == (100, 1)
    np.testing.assert_allclose(mean, 1 + X_test[:, 0] + np.sin(2 * np.pi * X_test[:, 0]))
    noise = np.concatenate([y - true_mean(X[:, 0]) for X, y, *_ in draws])
    assert noise.mean() == pytest.approx(0.0, abs=0.03)
    assert noise.var() == pytest.approx(1.0, abs=0.05)
    assert X.min() > 0
    assert X.max() < 1


def test_the_tube_follows_the_noise_and_the_rows(rng):
    X = rng.uniform(size=(2000, 1))
    y = np.sin(6 * X[:, 0]) + 0.5 * rng.normal(size=2000)
    assert tube(X, y) == pytest.approx(3 * 0.5 * np.sqrt(np.log(2000) / 2000), rel=0.2)
    nearest = np.abs(X - X.T).argsort(axis=1)[:, :3]
    residual = y - y[nearest].mean(axis=1)
    freedom = 2000 - 2000 / (2000**0.2 * 3)
    assert tube(X, y) == pytest.approx(3 * np.sqrt(residual @ residual / freedom * np.log(2000) / 2000))
    assert tube(X, 10 * y) == pytest.approx(10 * tube(X, y))
    model = TubeSVR(10.0, 3.0).fit(X[:100], y[:100])
    assert model.epsilon == tube(X[:100], y[:100])
    assert clone(model).get_params() == {"C": 10.0, "gamma": 3.0}


def test_skr_is_the_minimizer_at_the_penalty_and_width_of_least_gcv(rng):
    X, y, *_ = simulated(rng)
    paper = find_paper("skr", quick=True)
    search = next(contender for contender in paper.contenders if contender.name == "skr").make(None).fit(X, y)
    model = search.best_estimator_
    phi = rbf(X, X, search.best_params_["basis__gamma"])
    weights = np.zeros(100)
    weights[model.active_] = model.dual_coef_
    assert model.intercept_ == 0.0
    assert l1_violation(phi, y, weights, model.penalty_) < 2e-6 * model.penalty_
    assert model.criterion_ == search.results_["criterion"].min()


def test_a_run_has_all_methods_and_the_printed_numbers(tmp_path):
    paper = find_paper("skr", quick=True)
    assert paper.n_folds == 10
    run = Run(paper, Store.open(tmp_path / "records.jsonl"), Options(repeats=1, n_jobs=1), ["simulated"])
    run.run()
    records = run.records()
    assert [record.method for record in records] == ["svm", "rvm", "skr", "skr-irwls", "skr-cut", "skr-active"]
    assert all(record.failure is None and record.error < 1.0 for record in records)
    by_name = {record.method: record for record in records}
    assert by_name["skr-irwls"].n_functions > by_name["skr"].n_functions
    assert by_name["skr-cut"].extras["mu"] >= 0.01
    assert by_name["skr-cut"].extras["sigma^2"] >= 0.1
    page = markdown(paper, findings(paper, records), {}, [])
    assert "0.0551" in page
    assert "54.32" in page
    assert "numbers of kernels, and what was chosen" in page
    assert "cross validation in ten folds" in page
    names = paper.pictures[0](findings(paper, records), tmp_path)
    assert names == ["fits.png"]
    assert (tmp_path / "fits.png").stat().st_size > 10_000

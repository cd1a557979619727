"""Searches against all sets: what is done with the scores. Nothing is timed here."""

import json

import pytest

from benchmarks import exhaustive
from skarce.searches import Exhaustive, Floating


def row(surplus):
    return {"criterion": "GCV", "searches": {"Floating": {"found": 0.5, "shortfall": 1.0, "surplus": surplus}}}


def test_a_search_that_is_better_is_told_although_it_is_worse_on_average():
    assert exhaustive.beaten_by({"kernels": [row(0.0), row(1e-9)]}) == []
    assert exhaustive.beaten_by({"kernels": [row(0.0), row(2.5)]}) == ["Floating by 2.5 (kernels, GCV)"]


def test_shortfalls_of_both_signs_do_not_cancel(monkeypatch):
    scores = {Exhaustive: [0.0, 0.0], Floating: [-3.0, 3.0]}
    problems = [exhaustive.correlated_inputs(seed) for seed in range(2)]
    fits = {search: iter(values) for search, values in scores.items()}

    class Fitted:
        active_ = relevance_ = ()

        def __init__(self, search):
            self.score = next(fits[type(search)])

    monkeypatch.setattr(exhaustive, "SEARCHES", (Floating(),))
    monkeypatch.setattr(exhaustive, "fitted", lambda problem, criterion, search: Fitted(search))
    monkeypatch.setattr(exhaustive, "score", lambda model: model.score)
    measured = exhaustive.compare(problems, exhaustive.CRITERIA[0])["searches"]["Floating"]
    assert (measured["shortfall"], measured["surplus"]) == (1.5, 3.0)


def test_the_benchmark_fails_if_a_search_is_better(monkeypatch, tmp_path):
    monkeypatch.setattr("sys.argv", ["exhaustive", "--out", str(tmp_path), "--problems", "1"])
    monkeypatch.setattr(exhaustive, "CRITERIA", exhaustive.CRITERIA[:1])
    monkeypatch.setattr(exhaustive, "compare", lambda problems, criterion: {**row(2.5), "n_sets": 1, "seconds": 0.0})
    with pytest.raises(SystemExit, match="better than Exhaustive: Floating by"):
        exhaustive.main()
    assert json.loads((tmp_path / "exhaustive.json").read_text())["kinds"]

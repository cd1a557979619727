"""The papers, and how experiments are named and chosen."""

from dataclasses import replace

import pytest

from skarce.datasets import DataNotFoundError
from skarce.reproduce.papers import PAPERS, find_paper
from skarce.reproduce.papers.fgcv import experiments as fgcv
from skarce.reproduce.runner.selection import UnknownExperimentError, check_data, experiment_names, with_data
from tests.cli.commands import assert_one_line, run
from tests.reproduce.tiny_paper import TINY


@pytest.mark.parametrize("quick", [True, False])
@pytest.mark.parametrize("name", PAPERS)
def test_every_paper_is_whole(name, quick):
    paper = find_paper(name, quick)
    methods = [contender.name for contender in paper.contenders]
    assert paper.name == name
    assert set(paper.claims) <= {experiment.name for experiment in paper.experiments}
    for claim in (claim for claims in paper.claims.values() for claim in claims):
        assert set(claim.pair) <= set(methods)
        assert claim.better in (None, *claim.pair)
    assert paper.baseline in methods


def test_the_fast_gcv_paper_has_its_printed_sizes():
    paper = fgcv.paper()
    assert {e.name: e.n_repeats for e in paper.experiments} == {"friedman2": 100, "friedman3": 100, "boston": 100, "abalone": 10}
    assert len(paper.contenders[0].choices) == 9
    split = paper.experiments[0].split(0, 0)
    assert (split.X_train.shape, split.X_test.shape) == ((200, 4), (1000, 4))


def test_the_fast_gcv_paper_splits_real_tables(data_folder):
    sizes = {e.name: tuple(len(part) for part in e.split(0, 0)[::2]) for e in fgcv.EXPERIMENTS}
    assert (sizes["boston"], sizes["abalone"]) == ((481, 25), (3000, 1177))


def test_names_are_found_or_listed():
    assert experiment_names(TINY, ["two ", "one"]) == ["one", "two"]
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'three'; tiny has one, two"):
        experiment_names(TINY, ["one", "three"])
    with pytest.raises(UnknownExperimentError, match="'three': not part of --quick, only of the whole paper; tiny has one, two"):
        experiment_names(TINY, ["one", "three"], elsewhere=["one", "two", "three"])
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'three', 'four'; tiny has"):
        experiment_names(TINY, ["three", "four"], elsewhere=["three"])
    with pytest.raises(UnknownExperimentError, match="unknown paper 'moby dick'; choose from fgcv"):
        find_paper("moby dick")


def test_experiments_are_chosen_by_pattern_or_beginning():
    assert experiment_names(TINY, ["*o*"]) == ["one", "two"]
    assert experiment_names(TINY, ["t*"]) == ["two"]
    paper = find_paper("ssge")
    sizes = [f"kin8nm-{size}" for size in (64, 128, 256, 512, 1024)]
    assert experiment_names(paper, ["kin8nm"]) == experiment_names(paper, ["kin8nm-*"]) == sizes
    assert experiment_names(paper, ["kin8nm-*4", "kin8nm-64"]) == ["kin8nm-64", "kin8nm-1024"]
    with pytest.raises(UnknownExperimentError, match="unknown experiment 'kin8'"):
        experiment_names(paper, ["kin8"])


def test_quick_says_what_it_leaves_out(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_one_line(run("reproduce", "ssge", "--quick", "--only", "kin8nm-1024"), "'kin8nm-1024': not part of --quick")


def test_missing_data_name_what_can_still_run():
    def nowhere(rng):
        raise DataNotFoundError("data set 'lost' was not found.")

    paper = replace(TINY, experiments=(*TINY.experiments, replace(TINY.experiments[0], name="lost", draw=nowhere)))
    with pytest.raises(DataNotFoundError, match=r"'lost' was not found. Ready to run: --only one,two\."):
        check_data(paper, ["one", "two", "lost"], 0)
    check_data(paper, ["one", "two"], 0)
    names = [f"ready-{number}" for number in range(30)]
    many = replace(paper, experiments=(*(replace(TINY.experiments[0], name=name) for name in names), paper.experiments[-1]))
    assert with_data(many, [*names, "lost"], 0)[0] == names
    with pytest.raises(DataNotFoundError, match=r"'lost' was not found. Leave these experiments out of --only\."):
        check_data(many, [*names, "lost"], 0)  # a longer list would be cut, and nobody could paste it

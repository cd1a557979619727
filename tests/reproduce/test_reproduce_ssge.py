"""The paper on searches guided by the evidence: how its tasks are cut, what is counted, and its tables."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from skarce import EvidenceRegressor, EvidenceSearchRegressor, KernelBasis
from skarce.datasets.real import DataSet
from skarce.reproduce.papers import ssge
from skarce.reproduce.papers.ssge import tables as ssge_tables
from skarce.reproduce.papers.ssge.contenders import (
    EVIDENCE,
    OPERATIONS,
    QUICK_SVM_CHOICES,
    REJECTED,
    SEARCHES,
    GaussianKernel,
    n_operations,
    n_taken_back,
)
from skarce.reproduce.papers.ssge.data import PROTOTASKS, delve_task
from skarce.reproduce.papers.ssge.pictures import COLORS, _lines
from skarce.reproduce.papers.ssge.printed import ADDED_AND_REMOVED, FUNCTIONS, WORSE
from skarce.reproduce.runner.findings import findings
from skarce.reproduce.runner.page import markdown
from skarce.reproduce.runner.pictures import draw_all
from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.run import Options, Run
from skarce.reproduce.runner.units import Record
from tests.oracles import rbf

METHODS = [contender.name for contender in ssge.paper().contenders]


@pytest.fixture
def robots(monkeypatch):
    """Tables of the right shape in place of the real ones; the target tells the row."""

    def load(name):
        rng = np.random.default_rng(len(name))
        X = rng.uniform(-1, 1, (8192, 8))
        y = np.sin(2 * X[:, 0]) + X[:, 1] + rng.normal(0, 0.2, 8192)
        return DataSet(X, y, tuple("abcdefgh"), "made up")

    monkeypatch.setattr("skarce.datasets.load", load)


def record(task, repeat, method, error=0.5, **others):
    return Record(task, repeat, method, "", tuned=True, **{"error": error, "n_functions": 3, "fit_seconds": 0.1, **others})


# Tasks --------------------------------------------------------------------------------------------------------------------


def test_the_paper_has_forty_tasks_and_eight_methods():
    paper = ssge.paper()
    assert len(paper.experiments) == 40
    assert len(METHODS) == 8
    assert {e.n_repeats for e in paper.experiments if e.name.endswith("-1024")} == {4}
    assert {e.n_repeats for e in paper.experiments if not e.name.endswith("-1024")} == {8}


@pytest.mark.parametrize("size", [64, 512, 1024])
def test_instances_share_no_rows(robots, size):
    task = delve_task("kin8nm", size)
    splits = [task.split(instance, 0, (-1.0, 1.0)) for instance in range(task.n_repeats)]
    parts = [part for split in splits for part in (split.y_train, split.y_test)]
    assert len(np.unique(np.concatenate(parts))) == sum(map(len, parts))
    assert {len(split.y_train) for split in splits} == {size}
    assert {len(split.y_test) for split in splits} == {1024 if size == 1024 else 512}
    assert all((split.X_train.min(), split.X_train.max()) == pytest.approx((-1.0, 1.0)) for split in splits)


def test_there_is_no_ninth_instance(robots):
    with pytest.raises(ValueError, match="no rows left for instance 8"):
        delve_task("kin8nm", 512).split(8, 0)


def test_the_real_tables_can_be_cut(data_folder):
    for prototask in PROTOTASKS:
        split = delve_task(prototask, 1024).split(3, 0)
        assert (split.X_train.shape, split.X_test.shape) == ((1024, 8), (1024, 8))


# Methods ------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (90, 3))
    y = np.sin(3 * X[:, 0]) * X[:, 1] + rng.normal(0, 0.1, 90)
    return {search: EvidenceSearchRegressor(KernelBasis(gamma=1.0), search=search).fit(X, y) for search in ("forward", "floating")}


def test_forward_selection_makes_as_many_steps_as_the_stopping_rule_says(fitted):
    n_best = len(fitted["forward"].active_)
    assert n_operations(fitted["forward"]) == n_best + round(max(15, 0.3 * n_best)) + 1
    assert n_taken_back(fitted["forward"]) == 0


def test_rejected_removals_are_counted_apart(fitted):
    """Every row but those, replayed, gives the sizes that the trace notes."""
    model = fitted["floating"]
    size, rejected = 0, 0
    for before, step in itertools.pairwise([None, *model.trace_]):
        if step["action"] == "undo":
            assert before["action"] == "delete"
            rejected += 1
            size += 1
        else:
            size += 1 if step["action"] == "add" else -1
        assert size == step["n_active"]
    assert n_taken_back(model) == rejected > 0
    sffs = next(contender for contender in ssge.paper().contenders if contender.name == "sffs")
    kept = [step for step in model.trace_ if step["action"] != "undo"]
    assert sffs.extras[OPERATIONS](model) + sffs.extras[REJECTED](model) == len(kept)


def test_the_kernel_of_the_support_vector_machine_is_that_of_the_others(rng):
    X, C, gamma = rng.normal(size=(7, 2)), rng.normal(size=(5, 2)), (0.3, 1.7)
    np.testing.assert_allclose(GaussianKernel(gamma)(X, C), rbf(X * np.sqrt(gamma), C * np.sqrt(gamma), 1.0))
    np.testing.assert_allclose(GaussianKernel(gamma)(X, C), KernelBasis(gamma=np.array(gamma), centers=C).fit_transform(X))


def test_one_instance_runs_through_with_the_widths_of_all_functions(robots, tmp_path):
    paper = replace(ssge.paper(quick=True), experiments=(delve_task("puma8nh", 64),), repeats={"puma8nh-64": 1})
    made = Run(paper, Store.open(tmp_path / "records.jsonl"), Options(n_jobs=1))
    made.run()
    records = {r.method: r for r in made.records()}
    assert list(records) == METHODS
    assert not any(r.failure for r in records.values())
    split = paper.experiments[0].split(0, 0, (-1.0, 1.0))
    low, high = split.y_train.min(), split.y_train.max()
    y = 2 * (split.y_train - low) / (high - low) - 1
    dense = EvidenceRegressor(KernelBasis(gamma="ard"), fit_intercept=False, random_state=0).fit(split.X_train, y)
    np.testing.assert_allclose(records["abf"].learned, dense.basis_.gamma_, rtol=1e-6)
    forward = EvidenceSearchRegressor(KernelBasis(gamma=dense.basis_.gamma_), fit_intercept=False).fit(split.X_train, y)
    np.testing.assert_allclose(records["pta10"].extras[EVIDENCE], forward.criterion_, rtol=1e-6)
    assert records["pta10"].n_functions == len(forward.active_)
    assert records["svm"].choice in QUICK_SVM_CHOICES
    assert records["oscillating5"].extras[EVIDENCE] >= records["pta10"].extras[EVIDENCE]


# Tables -------------------------------------------------------------------------------------------------------------------


@pytest.fixture
def page():
    """Two tasks: on one of them SFFS is always worse than PTA(1,0) by about the same, on the other nothing differs."""
    rng = np.random.default_rng(0)
    records = []
    for task, repeat, method in itertools.product(("puma8fh-1024", "kin8nm-64"), range(4), METHODS):
        worse = 0.2 * (method == "sffs" and task == "puma8fh-1024")
        noise = rng.normal(0, 0.01)
        extras = {OPERATIONS: 50.0 + repeat, EVIDENCE: -10.0 + (method == "sffs")} if method in SEARCHES else {}
        records.append(record(task, repeat, method, 0.5 + worse + noise, extras=extras))
    return findings(ssge.paper(), records)


def test_significant_differences_are_counted_by_task(page):
    counts = ssge_tables.worse_counts(page)
    first, second = (finding.comparisons["pta10", "sffs"] for finding in page)
    assert counts["sffs"]["pta10"] == (first.is_significant and first.better == "pta10") + (
        second.is_significant and second.better == "pta10"
    )
    assert counts["sffs"]["pta10"] >= 1
    total = sum(comparison.is_significant for finding in page for comparison in finding.comparisons.values())
    assert sum(n for row in counts.values() for n in row.values()) == total


def test_the_printed_tables_stand_beside_ours(page):
    parts = "\n".join(ssge_tables.overview(page))
    of_forward = [line for line in parts.splitlines() if line.startswith("| PTA(1,0) ")]
    assert of_forward[1].split("|")[2].strip() == "3 (39)"
    assert of_forward[2].split("|")[2].strip() == "51.5 (56)"
    assert "over 8 instances of all tasks: PTA(1,0) 0, PTA(2,1) 0, SFFS 8, Oscillating(5) 0." in parts
    assert "(21)" in ssge_tables.worse_table(page).splitlines()[-1]
    assert "SFFS, PTA(2,1), then PTA(1,0) and Oscillating(5)" in parts


def test_every_printed_number_has_its_place():
    assert all(set(row) == set(METHODS) - {name} for name, row in WORSE.items())
    assert set(WORSE) == set(METHODS)
    assert all(len(row) == len(PROTOTASKS) for row in (*FUNCTIONS.values(), *ADDED_AND_REMOVED.values()))
    last = ssge.paper().printed["kin8nm-1024"]["sffs"]
    assert (last.n_functions, last.extras[OPERATIONS]) == (159, 5892)


def test_the_order_is_by_geometric_means(page):
    errors = [finding.summary("sffs").mean for finding in page]
    np.testing.assert_allclose(ssge_tables.typical(page, "sffs", lambda s: s.mean), np.sqrt(errors[0] * errors[1]))
    last = ssge_tables.order_table(page).splitlines()[-1]
    assert last.split("|")[2].split(",")[-1].strip().startswith("SFFS")


def test_the_page_and_pictures_are_made_of_what_there_is(page, tmp_path):
    pytest.importorskip("matplotlib")
    paper, records = page[0].paper, [r for finding in page for r in finding.records]
    names = draw_all(paper, records, tmp_path)
    assert names == ["errors.png", "functions.png"]
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in names)
    text = markdown(paper, page, {"seed": "0"}, names)
    assert "![errors](errors.png)" in text
    assert "Only the SVM has a constant" in text
    blocks = [block.splitlines() for block in text.split("\n\n") if block.startswith("|")]
    assert all(len({len(line) for line in block}) == 1 for block in blocks)


def test_equal_sizes_hide_no_line(page):
    """PTA(1,0) and Oscillating(5) have the same sizes: the one below is broad enough to be seen under the other."""
    pytest.importorskip("matplotlib")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    axes = figure.subplots()
    own = [replace(page[0], experiment=replace(page[0].experiment, name=f"puma8fh-{size}")) for size in (64, 1024)]
    _lines(axes, own, lambda finding, method: 10.0 if method in ("pta10", "oscillating5") else None)
    axes.axis("off")
    seen = {}
    for method, line in zip(COLORS, axes.lines, strict=True):
        canvas.draw()
        both = np.asarray(canvas.buffer_rgba()).copy()
        line.set_visible(False)
        canvas.draw()
        seen[method] = (both != np.asarray(canvas.buffer_rgba())).any(axis=2).sum()
        line.set_visible(True)
    assert seen["pta10"] > 1.5 * seen["oscillating5"] > 1000


def test_a_small_run_says_that_its_tables_are_of_another_size(page):
    small = [finding for finding in page if finding.experiment.name == "kin8nm-64"]
    assert "64 training rows (the paper has 1024; its numbers are not shown)" in "\n".join(ssge_tables.overview(small))

"""Comparisons by pairs, verdicts, tables, pictures and results."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import wilcoxon

from skarce.reproduce.runner import pictures, report
from skarce.reproduce.runner.findings import findings, verdict_counts
from skarce.reproduce.runner.page import markdown
from skarce.reproduce.runner.pair_tests import signed_rank_test
from skarce.reproduce.runner.pairs import Comparison, Verdict, comparisons, verdict
from skarce.reproduce.runner.paper import Claim
from skarce.reproduce.runner.summary_table import summary_table
from skarce.reproduce.runner.units import Record
from tests.reproduce.tiny_paper import RIDGE, TINY, finished, record


def test_p_values_are_those_of_scipy_and_name_the_better_method(rng):
    first, second = rng.normal([[0.0], [0.8]], size=(2, 25))
    records = [record(i, "ridge", error) for i, error in enumerate(first)] + [record(i, "plain", e) for i, e in enumerate(second)]
    ours = comparisons(records, ["ridge", "plain"])["ridge", "plain"]
    np.testing.assert_allclose(ours.p_value, wilcoxon(first, second).pvalue)
    assert (ours.better, ours.n_pairs) == ("ridge", 25)
    assert ours.is_significant


def test_ten_pairs_have_their_exact_least_p_value():
    p_value, sign = signed_rank_test(np.arange(1.0, 11.0))
    np.testing.assert_allclose(p_value, 2 / 1024)
    assert sign == 1


def test_equal_errors_differ_in_nothing():
    assert signed_rank_test(np.zeros(8)) == (1.0, 0)
    assert signed_rank_test(np.array([])) == (None, 0)


def test_differences_of_zero_are_left_out():
    p_value, sign = signed_rank_test(np.array([0.0, 0.0, *-np.arange(1.0, 9.0)]))
    assert sign == -1
    assert p_value < 0.05


def test_only_splits_that_both_have_done_are_compared():
    records = [record(repeat, "ridge", 1.0 + repeat) for repeat in range(5)] + [record(3, "plain", 9.0), record(4, "plain", None)]
    ours = comparisons(records, ["ridge", "plain"])["ridge", "plain"]
    assert (ours.n_pairs, ours.better) == (1, "ridge")


@pytest.mark.parametrize(
    ("better", "ours", "expected"),
    [
        ("a", Comparison(("a", "b"), 0.01, "a", 10), Verdict.AGREES),
        ("b", Comparison(("a", "b"), 0.01, "a", 10), Verdict.OPPOSITE),
        ("a", Comparison(("a", "b"), 0.2, "a", 10), Verdict.NOT_SIGNIFICANT),
        (None, Comparison(("a", "b"), 0.01, "a", 10), Verdict.WINNER_NOT_STATED),
        ("a", Comparison(("a", "b"), 0.06, "a", 5), Verdict.TOO_FEW),
        ("a", None, Verdict.TOO_FEW),
    ],
)
def test_verdicts(better, ours, expected):
    assert verdict(Claim(("a", "b"), 0.001, better), ours) is expected


# Tables and pictures ----------------------------------------------------------------------------------------------------


@pytest.fixture
def ten():
    """Ten repeats in which ridge is better and takes twice the time."""
    rng = np.random.default_rng(0)
    ridge = [record(i, "ridge", 0.1 + 0.01 * rng.random(), choice=0.1, fit_seconds=0.2, tuned=i < 4) for i in range(10)]
    return ridge + [record(i, "plain", 0.2 + 0.3 * rng.random(), n_functions=9) for i in range(10)]


def test_summaries_are_those_of_numpy(ten):
    (finding,) = findings(TINY, ten)
    summary = finding.summary("ridge")
    errors = [r.error for r in ten if r.method == "ridge"]
    np.testing.assert_allclose(summary.quartiles, np.quantile(errors, [0.25, 0.5, 0.75]))
    np.testing.assert_allclose((summary.mean, summary.time_ratio), (np.mean(errors), 2.0))
    assert (summary.n_repeats, summary.n_tuned, summary.n_functions, summary.n_failed) == (10, 4, 3.0, 0)


def test_a_method_without_results_has_a_row_that_says_so(ten):
    broken = [replace(r, error=None, failure="no") for r in ten if r.method == "plain"]
    (finding,) = findings(TINY, [*ten[:10], *broken])
    _, rows = summary_table(finding)
    assert rows[1] == ["PLAIN", *["-"] * 7, "0", "0", "10 failed"]
    assert verdict_counts([finding]) == {Verdict.TOO_FEW: 1}


def test_tables_line_up(ten):
    page = markdown(TINY, findings(TINY, ten), {"seed": "0"}, ["one.png"])
    blocks = [block.splitlines() for block in page.split("\n\n") if block.startswith("|")]
    assert len(blocks) == 3
    for block in blocks:
        assert len({len(line) for line in block}) == 1
        assert len({tuple(i for i, c in enumerate(line) if c == "|") for line in block}) == 1


def test_p_values_are_said_to_be_the_papers_only_where_they_are(ten):
    without = replace(TINY, claims={})
    for paper, caption in ((TINY, "p-values, ours and the paper's; each cell"), (without, "Our p-values; each cell")):
        page = markdown(paper, findings(paper, ten), {"seed": "0"}, [])
        assert ("(paper" in page) == (paper is TINY)
        assert caption in page


def test_the_page_says_what_was_run_and_which_claims_hold(ten):
    page = markdown(TINY, findings(TINY, ten), {"seed": "0"}, ["one.png"])
    for expected in (
        "Repeats: 10 of the paper's 4 were run, 4 of them tuned.",
        "![First](one.png)",
        "0.002 RIDGE (paper 0.01)",
        "Of 1 differences that the paper found significant: agrees 1.",
        "RIDGE needs more than PLAIN in the paper; here 3 and 9 (does not agree)",
        "fit time of RIDGE over PLAIN: 1 to 2 in the paper; here 2.00 (agrees)",
    ):
        assert expected in page
    assert "## Second" not in page


def test_the_least_median_is_marked(ten):
    (finding,) = findings(TINY, ten)
    marked = [row[1].endswith("*") for row in summary_table(finding)[1]]
    assert marked == [True, False]


def test_pictures_are_written_small_and_only_for_what_has_results(ten, tmp_path):
    pytest.importorskip("matplotlib")
    assert pictures.draw_all(TINY, ten, tmp_path) == ["one.png"]
    content = (tmp_path / "one.png").read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 60_000


def test_results_hold_every_record_the_settings_and_the_printed_numbers(tmp_path):
    made = finished(tmp_path)
    content = json.loads(report.results_json(made, made.records(), quick=False))
    assert [Record(**{**r, "warnings": tuple(r["warnings"])}) for r in content["records"]] == made.records()
    assert content["settings"]["plan"]["one"] == {"n_repeats": 4, "n_tuned": 4}
    assert content["settings"]["choices"]["ridge"] == list(RIDGE.choices)
    assert content["printed"]["p_values"]["one"][0]["p_value"] == 0.01
    assert content["machine"]["cores"] >= 1

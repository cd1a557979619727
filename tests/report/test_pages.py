"""Pages stay small: what grows with the table is cut."""

import numpy as np
import pandas as pd
import pytest

from skarce.comparison import Answers
from skarce.datasets import TargetKind
from skarce.report.charts import residual_chart, size_chart
from skarce.report.comparison_page import residuals_part, verdict_part
from skarce.report.functions_part import MOST_LISTED, functions_part
from skarce.report.model_view import ModelView
from skarce.report.page import Column, page, table
from skarce.report.residuals import residuals_of
from skarce.report.svg import WIDE_LETTER
from skarce.report.verdict import Verdict
from tests.report.pages import Page, assert_sound


def test_many_functions_inputs_and_long_texts_are_cut(rng):
    n_functions, n_inputs = 3000, 400
    functions = pd.DataFrame(rng.normal(size=(n_functions, n_inputs)), columns=[f"input {j}" for j in range(n_inputs)])
    functions.insert(0, "candidate", np.arange(n_functions))
    functions["input 3"] = "word " * 1000
    functions = functions.assign(weight=1.0, relevance=1.0, **{"std error": 0.1})
    written = functions_part(ModelView("frvm", {}, functions, functions.iloc[:0]))
    assert len(written) < 300_000
    found = Page(written)
    assert found.faults == []
    assert len(found.named("tr")) == MOST_LISTED + 1
    assert "and 380 more inputs" in found.text


@pytest.mark.parametrize("n_clear", [1, 8])
def test_the_caption_of_weights_follows_the_share_that_holds_zero(n_clear):
    """Of a dense process nearly all weights are uncertain, and none of them is to be left out for that reason."""
    functions = pd.DataFrame({"candidate": np.arange(10), "a": 0.0, "weight": 1.0, "std error": 0.7, "relevance": 0.5})
    functions.loc[: n_clear - 1, "std error"] = 0.1
    text = Page(functions_part(ModelView("abf", {}, functions, functions.iloc[:0]))).text
    assert ("the model can do without" in text) == (n_clear == 8)
    assert ("share the work" in text) == (n_clear == 1)


def test_numbers_of_an_upright_axis_do_not_touch_its_name(rng):
    true = 4e5 + 1e5 * rng.normal(size=50)
    svg = Page(residual_chart("key", true, true, "m", "price"))
    texts = [place for name, place in svg.elements if name == "text"]
    (name,) = [place for place in texts if "transform" in place]
    numbers = [float(place["x"]) for place in texts if place.get("text-anchor") == "end"]
    assert "400,000" in svg.texts
    assert min(numbers) - WIDE_LETTER * len("400,000") >= float(name["x"]) + 5


def test_the_best_point_is_on_top(rng):
    points = [("best", 5.0, 1.0, 0.1, "accent"), ("level", 5.0, 1.0, 0.1, "main"), ("other", 5.0, 1.0, 0.1, "data")]
    drawn = [place["class"] for name, place in Page(size_chart("key", points, "RMSE")).elements if name == "circle"]
    assert drawn == ["point data", "point main", "point accent"]


def test_what_changes_nothing_does_not_stand_below_what_would_change_the_verdict():
    plain = Page(verdict_part(Verdict("a predicts best.", (), "a", notes=("Worse by more than chance: b.",)))).text
    assert plain == "a predicts best. Worse by more than chance: b."
    both = Page(verdict_part(Verdict("a predicts best.", ("More rows.",), "a", notes=("Worse: b.",)))).text
    assert both == "a predicts best. What would change this: More rows. Worse: b."


def test_many_rows_are_drawn_as_a_sample(rng):
    true = rng.normal(size=200_000)
    answers = Answers("m", TargetKind.NUMBERS, np.arange(len(true)), true, np.column_stack([true, np.ones(len(true))]))
    assert len(residuals_part(residuals_of(answers), "y", "")) < 200_000


def test_many_classes_are_listed_by_their_confusions():
    classes = np.array([f"class {place:03}" for place in range(300)])
    values = np.eye(300)
    values[7] = values[8]  # the row of class 7 is predicted as class 8
    found = Page(residuals_part(residuals_of(Answers("m", TargetKind.CLASSES, np.arange(300), classes, values, classes)), "y", ""))
    assert "1 confusion by m" in found.text
    assert "class 007 class 008 1" in found.text


def test_a_page_has_what_a_reader_needs():
    columns = [Column("name", ["<a>", "b"]), Column("value", ["1", "–"], [1.0, None])]
    written = page(
        "A & B", table("t", columns, "Words", best=[0], is_sortable=True), [("part", "Part", table("u", columns, "More"))], ""
    )
    found = assert_sound(written)
    assert found.named("html") == [{"lang": "en"}]
    assert "default-src 'none'" in next(meta["content"] for meta in found.named("meta") if "http-equiv" in meta)
    headings = [heading for heading in found.named("th") if heading.get("scope") == "col"]
    assert [heading.get("aria-sort") for heading in headings] == ["none", "none", None, None]
    assert [cell["data-sort"] for cell in found.named("td")] == ["1.0", "", "1.0", ""]
    assert "prefers-color-scheme:dark" in written

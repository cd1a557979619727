"""Markup, numbers and charts: what comes from tables is never code, and ticks are round numbers inside of the axis."""

import re

import numpy as np
import pytest

from skarce.report.calibration import Curve
from skarce.report.charts import calibration_chart, inputs_chart, size_chart, weights_chart, z_chart
from skarce.report.inputs import Input
from skarce.report.markdown import code, escaped
from skarce.report.markup import Markup, joined, tag, text
from skarce.report.numbers import aligned, apart, percent, rounded
from skarce.report.svg import WIDE_LETTER, WIDTH, Axis, Chart, linear_ticks, log_ticks
from tests.report.pages import Page

NASTY = "<script>alert('x')</script> & \"quotes\" \x00\ud800"
SHARES = [("frvm", 0.95), ("gp", 0.48), ("rvm", 0.94)]


def test_text_is_escaped_wherever_it_stands():
    written = tag("p", NASTY, title=NASTY, data_x=NASTY)
    assert "<script" not in written
    page = Page(written)
    assert page.faults == []
    ((name, attributes),) = page.elements
    expected = NASTY.replace("\x00", "?").replace("\ud800", "?")
    assert name == "p"
    assert attributes == {"title": expected, "data-x": expected}
    assert page.texts == [expected]
    written.encode("utf-8")


def test_markup_is_not_escaped_twice():
    inner = tag("b", "a & b")
    assert tag("p", inner) == "<p><b>a &amp; b</b></p>"
    assert text(text("<")) == "&lt;"
    assert joined(None, Markup("<hr/>"), "<") == "<hr/>&lt;"


def test_markdown_has_no_markup_of_others():
    assert escaped("a|b <i>*x*</i>\n# y") == "a\\|b \\<i\\>\\*x\\*\\</i\\> \\# y"
    assert code("a`b") == "``a`b``"


@pytest.mark.parametrize("seed", range(20))
def test_ticks_are_few_round_numbers_on_the_axis(seed):
    rng = np.random.default_rng(seed)
    low = rng.normal() * 10.0 ** rng.integers(-3, 6)
    high = low + rng.exponential() * 10.0 ** rng.integers(-3, 6)
    ticks = linear_ticks(low, high)
    step = np.diff(ticks)
    assert 2 <= len(ticks) <= 8
    assert all(low - 1e-6 * (high - low) <= tick <= high + 1e-6 * (high - low) for tick in ticks)
    np.testing.assert_allclose(step, step[0], rtol=1e-6)
    assert f"{step[0]:.3e}"[0] in "125"


@pytest.mark.parametrize(("low", "high"), [(0.5, 3.0), (1.0, 1e6), (0.02, 0.03), (3.0, 400.0)])
def test_logarithmic_ticks_stay_on_the_axis(low, high):
    ticks = log_ticks(low, high)
    assert len(ticks) >= 2
    assert all(low <= tick <= high for tick in ticks)


def test_an_axis_holds_its_values_and_a_constant():
    assert Axis.over([3.0, 3.0]).low < 3.0 < Axis.over([3.0, 3.0]).high
    assert 0.0 < float(Axis.over([1.0, 100.0], is_log=True).share(10.0)) < 1.0
    np.testing.assert_allclose(Axis(1.0, 100.0, is_log=True).share(np.array([1.0, 10.0, 100.0])), [0.0, 0.5, 1.0])


def test_labels_of_a_chart_do_not_overlap():
    chart = Chart("c", "t", "d", Axis(0.0, 1.0), Axis(0.0, 1.0))
    for _ in range(6):
        chart.label(0.5, 0.5, "a name")
    boxes = chart.taken
    assert 1 <= len(boxes) < 6
    apart = [a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1] for a in boxes for b in boxes if a is not b]
    assert all(apart)


def test_a_needed_label_finds_room_farther_away():
    chart = Chart("c", "t", "d", Axis(0.0, 1.0), Axis(0.0, 1.0))
    for _ in range(4):
        assert chart.label(0.5, 0.5, "a name")
    assert not chart.label(0.5, 0.5, "a name")
    assert chart.label(0.5, 0.5, "the best", is_needed=True)
    assert "leader" in chart.write()


def test_the_best_the_needed_and_the_ends_have_labels_among_many():
    crowd = [(f"method-{place}", 10.0 + 0.1 * place, 5.0 + 0.01 * place, 0.1, "data") for place in range(30)]
    points = [("best", 11.0, 4.99, 0.1, "accent"), *crowd, ("small", 9.9, 5.1, 0.1, "data")]
    page = Page(size_chart("k", points, "RMSE", needed=["method-15"]))
    labels = re.findall(r'class="label[^"]*">([^<]+)<', size_chart("k", points, "RMSE", needed=["method-15"]))
    assert {"best", "small", "method-15", "method-29"} <= set(labels)
    assert len(page.named("circle")) == len(points)
    assert all(f"{name}: RMSE" in page.text for name, *_ in points)


@pytest.mark.parametrize("title", ["short", "added to the mean Poisson deviance by shuffling"])
def test_the_name_of_an_axis_stays_in_the_picture(title):
    chart = inputs_chart("k", [Input("a column with a very long name", 1.0)], title, "Inputs")
    at = float(re.search(rf'<text x="([0-9.]+)"[^>]*>{title}<', chart)[1])
    half = WIDE_LETTER * len(title) / 2
    assert half <= at <= WIDTH - half


def test_errors_of_classes_are_percentages_in_the_chart():
    chart = Page(size_chart("k", [("a", 3.0, 0.1, 0.01, "accent"), ("b", 9.0, 0.2, 0.02, "data")], "error rate", (), percent))
    assert "a: error rate 10.0 % ± 1.0 %" in chart.text


def test_rows_beyond_the_axis_are_counted():
    chart = Page(z_chart("k", np.array([-9.0, -5.0, 0.0, 0.1, 6.0]), "a"))
    assert "3 rows are beyond ±4, in the outermost bars" in chart.text
    assert "2 rows beyond" in chart.text
    assert "1 row beyond" in chart.text
    assert "No row is beyond ±4." in Page(z_chart("k", np.array([0.0, 1.0]), "a")).text


def test_curves_that_are_marked_have_their_names():
    curves = [Curve(name, np.array([0.5, 0.95, 0.99]), np.array([0.5, share, 0.99]), np.full(3, 100)) for name, share in SHARES]
    chart = calibration_chart("k", curves, of_classes=False, marked=["gp"])
    assert re.findall(r'class="label[^"]*">([^<]+)<', chart) == ["gp"]


def test_different_numbers_look_different():
    assert apart([1.00001, 1.00002, 1.00002]) == ["1.00001", "1.00002", "1.00002"]
    assert apart([3.0, 1.25]) == aligned([3.0, 1.25])
    assert apart([1.0, 1.0]) == ["1.000", "1.000"]


@pytest.mark.parametrize(
    "chart",
    [
        size_chart("k", [(NASTY, 0.0, 1.0, 0.1, "accent"), ("b", 1e4, 90.0, 2.0, "data")], "RMSE"),
        weights_chart("k", [NASTY] * 30, np.linspace(-1, 1, 30), np.full(30, np.nan)),
        inputs_chart("k", [Input(NASTY, 0.0)], "shuffled", "Inputs"),
    ],
)
def test_charts_are_described_and_sound(chart):
    page = Page(chart)
    assert page.faults == []
    (svg,) = page.named("svg")
    assert svg["role"] == "img"
    assert "nan" not in chart
    assert "inf" not in chart
    assert "<script" not in chart
    assert len(page.named("desc")) == 1


def test_numbers_of_a_column_share_their_decimals():
    assert aligned([0.5, 12.25, None]) == ["0.5000", "12.2500", "–"]
    assert rounded(None) == rounded(float("nan")) == "–"
    assert rounded(1234567.0) == "1,234,567"

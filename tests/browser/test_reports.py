"""Reports in a real browser: no errors, no requests, tables that sort by mouse and keyboard, and no page that overflows."""

import json
import os

import numpy as np
import pandas as pd
import pytest

from tests.cli.commands import run

WIDTHS = (360, 1440)
THEMES = ("light", "dark")
QUICK = ("--basis", "rbf", "--cv", "3")
LONG = "a_name_without_spaces_" * 6


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Pages for numbers, classes and counts, and of a stored model, with long and dangerous names."""
    folder, before = tmp_path_factory.mktemp("reports"), os.getcwd()
    os.chdir(folder)
    try:
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({LONG: rng.normal(size=80), "<script>document.title='!'</script>": rng.normal(size=80)})
        frame["number"] = frame[LONG] + 0.2 * rng.normal(size=80)
        frame["count"] = rng.poisson(np.exp(1.0 + 0.5 * frame[LONG]))
        frame["class"] = np.where(frame["number"] > 0.5, LONG, np.where(frame["number"] > -0.5, "middle", "low"))
        frame.to_csv("table.csv", index=False)
        for target, task, methods in (
            ("number", "regression", "frvm,vbls,ridge,svr"),
            ("class", "classification", "frvm,logistic"),
            ("count", "counts", "frvm,poisson"),
        ):
            others = ",".join({"number", "class", "count"} - {target})
            named = ("--target", target, "--task", task, "--exclude", others, "--methods", methods, "--report", f"{task}.html")
            assert run("compare", "table.csv", *named, *QUICK).exit_code == 0
        fit = ("fit", "table.csv", "--target", "number", "--exclude", "class,count", "--out", "m.skops")
        assert run(*fit).exit_code == 0
        assert run("explain", "m.skops", "table.csv", "--report", "explain.html").exit_code == 0
    finally:
        os.chdir(before)
    return folder


def opened(browser, path, width=1440, theme="light"):
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    browser.get_log("browser"), browser.get_log("performance")  # what is read is gone
    browser.get(path.as_uri())
    return path.as_uri()


@pytest.mark.parametrize("name", ["regression", "classification", "counts", "explain"])
def test_a_report_has_no_errors_and_asks_nobody(browser, reports, name):
    address = opened(browser, reports / f"{name}.html")
    assert browser.title != "!"
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert asked == {address}
    assert browser.execute_script("return document.querySelectorAll('svg').length") >= 3


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", ["regression", "classification", "counts", "explain"])
def test_nothing_overflows(browser, reports, name, width, theme):
    opened(browser, reports / f"{name}.html", width, theme)
    browser.execute_script("document.querySelectorAll('details').forEach(function (each) { each.open = true; })")
    inner, scrolled = browser.execute_script("return [innerWidth, document.scrollingElement.scrollWidth]")
    assert inner == width
    assert scrolled <= width


def test_the_theme_is_that_of_the_reader_and_text_can_be_read(browser, reports):
    colors = []
    for theme in THEMES:
        opened(browser, reports / "regression.html", theme=theme)
        style = "var s = getComputedStyle(document.body); return [s.backgroundColor, s.color]"
        colors.append([_luminance(color) for color in browser.execute_script(style)])
    (light, ink), (dark, chalk) = colors
    assert light > 0.9
    assert dark < 0.05
    for one, other in ((light, ink), (chalk, dark)):
        assert (one + 0.05) / (other + 0.05) > 7.0  # contrast that eases reading, by WCAG


def _luminance(color):
    parts = np.array([int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]]) / 255.0
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def _column(browser, place):
    script = "return Array.from(document.querySelectorAll('#methods tbody tr')).map(function (row) { return %s; })"
    return browser.execute_script(script % f"row.cells[{place}].getAttribute('data-sort') ?? row.cells[{place}].textContent")


def _heading(browser, words):
    headings = browser.find_elements("css selector", "#methods thead th")
    place = next(place for place, heading in enumerate(headings) if words in heading.text)
    return place, headings[place]


def test_a_click_sorts_the_table(browser, reports):
    opened(browser, reports / "regression.html")
    place, heading = _heading(browser, "functions")
    button = heading.find_element("css selector", "button")
    button.click()
    rising = [float(value) for value in _column(browser, place)]
    assert rising == sorted(rising)
    assert heading.get_attribute("aria-sort") == "ascending"
    button.click()
    assert [float(value) for value in _column(browser, place)] == rising[::-1]
    assert heading.get_attribute("aria-sort") == "descending"
    assert len(set(rising)) > 1
    said = browser.find_element("id", "said").get_attribute("textContent")
    assert said == "Sorted by functions, largest first."


def test_the_keyboard_sorts_the_table_and_unknown_numbers_stay_last(browser, reports):
    keys = pytest.importorskip("selenium.webdriver.common.keys").Keys
    opened(browser, reports / "regression.html")
    place, heading = _heading(browser, "coverage")
    heading.find_element("css selector", "button").send_keys(keys.ENTER)
    for order, key in (("ascending", None), ("descending", keys.SPACE)):
        if key is not None:
            browser.switch_to.active_element.send_keys(key)
        assert heading.get_attribute("aria-sort") == order
        values = _column(browser, place)
        known = [float(value) for value in values if value]
        assert known == sorted(known, reverse=order == "descending")
        assert values[len(known) :] == [""] * 2  # ridge and svr have no intervals
    _, by_name = _heading(browser, "method")
    by_name.find_element("css selector", "button").send_keys(keys.ENTER)
    assert _column(browser, 0) == ["frvm", "ridge", "svr", "vbls"]
    assert heading.get_attribute("aria-sort") == "none"


def test_every_stop_of_the_tab_key_has_a_name(browser, reports):
    opened(browser, reports / "regression.html")
    tree = browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    roles = {"button", "link", "image", "img", "table", "region", "navigation", "heading"}
    shown = [node for node in tree if not node.get("ignored") and node.get("role", {}).get("value") in roles]
    assert len(shown) > 20
    assert [node for node in shown if not node.get("name", {}).get("value")] == []


def test_a_report_prints(browser, reports):
    opened(browser, reports / "regression.html", theme="dark")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"media": "print", "features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    )
    background = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert _luminance(background) > 0.9  # paper is white
    number = "return getComputedStyle(document.querySelector('#methods td:not(.word)')).whiteSpace"
    assert browser.execute_script(number) == "nowrap"  # no number is broken
    heading = "return getComputedStyle(document.querySelector('#methods th button')).display"
    assert browser.execute_script(heading) == "contents"  # else headings are empty on the second page of a table
    printed = browser.execute_cdp_cmd("Page.printToPDF", {})
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert len(printed["data"]) > 10_000
    assert (
        browser.execute_script("return Array.from(document.querySelectorAll('details'), function (each) { return each.open; })")[:2]
        == [True] * 2
    )

"""Time against rows: what is done with the times. Nothing is timed here."""

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from benchmarks import growth
from skarce.inspection.palette import LIGHT


def test_the_slope_is_the_power_at_the_end():
    times = {n: 1.0 if n < 1000 else 1e-6 * n**2 for n in growth.SIZES}
    assert growth.slope(times) == pytest.approx(2.0)
    assert np.isnan(growth.slope({100: 1.0}))


def test_a_method_that_takes_too_long_is_not_fitted_to_more_rows(monkeypatch):
    task = growth.Task(lambda n: (np.zeros((n, 1)), np.zeros(n)), {"slow": DummyRegressor, "quick": lambda: None})
    monkeypatch.setattr(growth, "seconds_of", lambda make, X, y: 9.0 if make is DummyRegressor and len(X) > 100 else 0.1)
    assert growth.measured(task, [100, 300, 1000], limit=5.0) == {
        "slow": {100: 0.1, 300: 9.0},
        "quick": {100: 0.1, 300: 0.1, 1000: 0.1},
    }


def test_a_table_and_a_picture(tmp_path):
    pytest.importorskip("matplotlib").use("agg")
    times = {"RelevanceVectorRegressor": {100: 0.01, 1000: 0.1}, "SVR": {100: 0.001}}
    assert growth.table_of("regression", times).count("\n") == 4
    growth.draw("regression", times, tmp_path / "growth.png")
    assert (tmp_path / "growth.png").stat().st_size > 1000


def test_curves_have_colors_that_the_color_blind_can_tell_apart(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    figures = []
    monkeypatch.setattr(growth, "save_small", lambda figure, path: figures.append(figure))
    growth.draw("regression", {f"method {place}": {100: 0.1, 1000: 0.2} for place in range(5)}, tmp_path / "growth.png")
    lines = figures[0].axes[0].lines
    assert [line.get_color() for line in lines] == list(LIGHT.series[:5])
    assert len({line.get_marker() for line in lines}) == 5


def test_pictures_are_drawn_again_from_stored_times(tmp_path, monkeypatch):
    (tmp_path / "growth.json").write_text('{"machine": "m", "seconds": {"regression": {"SVR": {"100": 0.1, "1000": 0.2}}}}')
    drawn = []
    monkeypatch.setattr(growth, "draw", lambda task, times, path: drawn.append((task, times, path.name)))
    monkeypatch.setattr("sys.argv", ["growth", "--redraw", str(tmp_path / "growth.json")])
    growth.main()
    assert drawn == [("regression", {"SVR": {100: 0.1, 1000: 0.2}}, "growth-regression.png")]

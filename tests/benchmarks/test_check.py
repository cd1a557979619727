"""The guard against slower code. Nothing is timed here."""

from benchmarks import check
from benchmarks.check import Row, line_of, ratio_of, slower


def test_rows_fail_only_if_they_are_a_quarter_worse():
    before = {"same": 1.0, "a little": 1.0, "much": 1.0, "faster": 1.0}
    assert slower({"same": 1.0, "a little": 1.24, "much": 1.26, "faster": 0.1, "new": 9.0}, before) == ["much"]


def test_the_median_of_rounds_in_turns_after_a_first_one():
    calls, ours = [], iter([1000.0, 2.0, 3.0, 100.0, 1.0, 2.5])

    def work(name, seconds):
        calls.append(name)
        return seconds

    row = Row(lambda: work("ours", next(ours)), lambda: work("other", 2.0))
    assert ratio_of(row) == 2.5 / 2.0
    assert calls == ["ours", "other"] * (check.ROUNDS + 1)


def test_a_line_says_how_much_worse():
    assert line_of("fit", 0.5, 0.25).endswith("2.00 times")
    assert line_of("fit", 0.5, None).endswith("new")


def test_every_row_that_is_kept_is_still_measured():
    import json

    assert set(json.loads(check.RATIOS.read_text())) == set(check.ROWS)

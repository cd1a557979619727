"""Tables of many rows in the docs."""

from benchmarks.scale_page import table, with_table

RESULTS = [
    {
        "rows": 1_000_000,
        "method": "ours",
        "seconds": 8.0,
        "peak_mb": 75.2,
        "error": 1.198,
        "kilobytes": 3946.4,
        "functions": 478,
        "coverage": 0.95,
    },
    {"rows": 1_000_000, "method": "theirs", "seconds": 16.0, "peak_mb": 1138.4, "error": 1.204},
]


def test_a_table_has_a_row_for_each_result_and_blanks_where_nothing_is_known():
    lines = table(RESULTS, "RMSE").splitlines()
    assert lines[0] == "| rows | method | seconds | rows per second | peak memory | model | RMSE | functions | coverage |"
    assert lines[2] == "| 1,000,000 | ours | 8.0 | 125,000 | 75 MB | 3,946 kB | 1.1980 | 478 | 0.950 |"
    assert lines[3] == "| 1,000,000 | theirs | 16.0 | 62,500 | 1,138 MB |  | 1.2040 |  |  |"


def test_only_what_stands_between_the_marks_changes():
    page = "before\n<!-- measured: scale -->\nold\n<!-- end -->\nafter\n<!-- measured: other -->\n<!-- end -->\n"
    once = with_table(page, "scale", "new\n")
    assert once == page.replace("old", "new")
    assert with_table(once, "other", "more\n") == once.replace("other -->\n", "other -->\nmore\n")

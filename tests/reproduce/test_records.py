"""Files of records that are damaged: what can be read is kept, and nothing else is believed."""

import json
from dataclasses import asdict

import pytest

from skarce.reproduce.runner.records import Store
from skarce.reproduce.runner.units import Record

GOOD = Record("one", 0, "ridge", "abc", tuned=True, choice=(0.1, 2.0), error=0.5, n_functions=3, extras={"a": 1.0}, warnings=("w",))
LINE = json.dumps(asdict(GOOD)).encode()
BAD_LINES = {
    "not UTF-8": LINE.replace(b"ridge", b"\xff\xfe"),
    "not JSON": LINE[:-5],
    "nested": b"[" * 100_000,
    "a list": b"[1, 2]",
    "a number": b"7",
    "unknown name": LINE.replace(b'"error"', b'"errors"'),
    "name that cannot be a key": LINE.replace(b'"one"', b'{"a": 1}'),
    "repeat that is text": LINE.replace(b'"repeat": 0', b'"repeat": "0"'),
    "error that is text": LINE.replace(b'"error": 0.5', b'"error": "small"'),
    "error that is no number": LINE.replace(b'"error": 0.5', b'"error": NaN'),
    "choice of texts": LINE.replace(b"[0.1, 2.0]", b'["a"]'),
    "extras that are a list": LINE.replace(b'{"a": 1.0}', b"[]"),
    "zero bytes": b"\0" * 50,
}


@pytest.mark.parametrize("line", BAD_LINES.values(), ids=list(BAD_LINES))
def test_a_bad_line_is_left_out(tmp_path, line):
    path = tmp_path / "records.jsonl"
    assert line != LINE
    path.write_bytes(b"\n".join([line, LINE, b""]))
    assert list(Store.open(path).records.values()) == [GOOD]

"""Commands run inside the test process, and how their output is read."""

import inspect
import re

from click.testing import CliRunner

from skarce.cli import app
from skarce.comparison import METHODS, REGRESSION

N_ROWS = 90
REGRESSORS = METHODS[REGRESSION]


def run(*arguments):
    separates = "mix_stderr" in inspect.signature(CliRunner).parameters  # click before 8.2
    return (CliRunner(mix_stderr=False) if separates else CliRunner()).invoke(app, arguments)


def assert_one_line(result, *mentions, code=2):
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    for mention in mentions:
        assert mention in result.stderr


def rows_of(text):
    """The rows of a printed table by their first word, without the letters of notes; a note is found by its own."""
    lines = [re.sub(r"(?<=\S) \([a-z]\)", "", line, count=1) for line in text.splitlines() if line.strip()]
    return {line.split()[0]: line for line in lines}

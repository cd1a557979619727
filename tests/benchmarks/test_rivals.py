"""Stored results keep the rows of rivals."""

from pathlib import Path

import pytest

from benchmarks.rivals import require_rivals


def test_results_are_not_stored_without_their_rivals():
    with pytest.raises(SystemExit, match=r"no_such_package not installed, so results would lose .*skarce\[export-bench\]"):
        require_rivals(("numpy", "no_such_package"), "export-bench", Path("results"))
    require_rivals(("no_such_package",), "export-bench", None)
    require_rivals(("numpy",), "export-bench", Path("results"))

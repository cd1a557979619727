"""Headers on a Cortex-M0 without and a Cortex-M4 with a floating-point unit. `make test-embedded` installs what is needed."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from benchmarks.embedded.board import BOARDS, built, flash_bytes, missing_tools, printed
from skarce.export.description import CLASSES, describe
from skarce.export.reference import predicted
from skarce.export.to_c import c_source
from tests.export.models import fitted

MISSING = missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}: run make test-embedded")
MODELS = ("rvm-rbf", "table", "three-classes", "counts")
N_ROWS = 6


def program(text, rows, n_outputs, call):
    cells = ", ".join(f"{cell:.9g}f" if "." in f"{cell:.9g}" or "e" in f"{cell:.9g}" else f"{cell:.9g}.0f" for cell in np.ravel(rows))
    n_inputs = rows.shape[1]
    return f"""
#include "board.h"
{text}
static const float rows[] = {{ {cells} }};
int main(void)
{{
    float found[{n_outputs}], error;
    int i, j;
    for (i = 0; i < {len(rows)}; ++i) {{
        {call}
        for (j = 0; j < {n_outputs}; ++j) print_real(&found[j], 1);
    }}
    error = model_selftest();
    print_real(&error, 1);
    return 0 * {n_inputs};
}}
"""


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.core)
@pytest.mark.parametrize("name", MODELS)
def test_a_microcontroller_predicts_what_python_predicts(name, board, tmp_path):
    of = fitted(name)
    described = describe(of.model)
    rows = described.coded(of.X)
    rows = rows[~np.isnan(rows).any(axis=1)][:N_ROWS]
    expected = predicted(of.model, described.decoded(rows), described, True)
    exported = c_source(of.model)
    n_inputs, n_outputs = rows.shape[1], expected.shape[1]
    is_classes = described.target == CLASSES
    call = f"model_predict_proba(rows + i * {n_inputs}, found);" if is_classes else f"model_predict(rows + i * {n_inputs}, found, found + 1);"
    source = tmp_path / "main.c"
    source.write_text(program(exported.text, rows, n_outputs, call))
    binary = built(source, board)
    *values, selftest = [struct.unpack(">f", bytes.fromhex(word))[0] for word in printed(binary, board).split()]
    unit = np.max(np.abs(expected)) if name == "counts" else max(head.deviation for head in described.heads)
    np.testing.assert_allclose(np.reshape(values, expected.shape), expected, rtol=0, atol=1e-4 * unit)
    assert selftest <= 1e-4 * unit
    assert exported.size.table_bytes < flash_bytes(binary) < exported.size.table_bytes + 12_000

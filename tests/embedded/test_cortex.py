"""Headers on a Cortex-M0 without and a Cortex-M4 with a floating-point unit. `make test-embedded` installs what is needed."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from benchmarks.embedded.board import BOARDS, built, flash_bytes, missing_tools, printed
from skarce.export.c.code_size import MEASURED
from skarce.export.c.fixed_numbers import FORMATS
from skarce.export.c.fixed_point import FixedPoint
from skarce.export.c.tables import FLOAT
from skarce.export.checks import comparison
from skarce.export.description import CLASSES, describe
from skarce.export.reference import predicted
from skarce.export.to_c import c_source
from tests.export.models import fitted

MISSING = missing_tools()
pytestmark = pytest.mark.skipif(bool(MISSING), reason=f"needs {' and '.join(MISSING)}: run make test-embedded")
MODELS = ("rvm-rbf", "table", "three-classes", "counts")
N_ROWS = 6


def program(text, rows, n_outputs, call):
    cells = ", ".join(FLOAT.literal(cell) for cell in np.ravel(rows))
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
    return 0;
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
    ending = "_proba(x, found);" if is_classes else "(x, found, found + 1);"
    call = f"const float *x = rows + i * {n_inputs};\n        model_predict{ending}"
    source = tmp_path / "main.c"
    source.write_text(program(exported.text, rows, n_outputs, call))
    binary = built(source, board)
    *values, selftest = [struct.unpack(">f", bytes.fromhex(word))[0] for word in printed(binary, board).split()]
    unit = np.max(np.abs(expected)) if name == "counts" else max(head.deviation for head in described.heads)
    np.testing.assert_allclose(np.reshape(values, expected.shape), expected, rtol=0, atol=1e-4 * unit)
    assert selftest <= 1e-4 * unit
    assert exported.size.table_bytes < flash_bytes(binary) < exported.size.table_bytes + 12_000


@pytest.mark.parametrize("board", BOARDS, ids=lambda board: board.core)
@pytest.mark.parametrize(("name", "real"), [("three-classes", real) for real in MEASURED])
def test_the_largest_code_is_as_large_as_the_comment_says(name, real, board, tmp_path):
    """These models have the most code of all that were measured."""
    of = fitted(name)
    exported = c_source(of.model, real=real, X=of.X)
    call = "model_predict_proba(x, y);"
    body = f"static model_real x[3], y[3];\n    x[0] = (model_real)zero;\n    {call}\n    return y[0] > y[1];"
    sizes = []
    for header, lines in ((exported.text, body), ("", "return zero;")):
        source = tmp_path / "main.c"
        source.write_text(f'#include "board.h"\n{header}\nstatic volatile int zero;\nint main(void)\n{{\n    {lines}\n}}\n')
        sizes.append(flash_bytes(built(source, board)))
    code = sizes[0] - sizes[1] - exported.size.table_bytes
    assert code == pytest.approx(MEASURED[real][board.core].largest, rel=0.2)


@pytest.mark.parametrize("real", ["q15", "q31"])
@pytest.mark.parametrize("name", ["rvm-matern52", "three-classes"])
def test_a_core_without_floating_point_computes_the_same_whole_numbers(name, real, tmp_path):
    of, board = fitted(name), BOARDS[0]
    described, X = describe(of.model), of.X[:N_ROWS]
    exported = c_source(of.model, real=real, X=of.X)
    model = FixedPoint(described, FORMATS[real], comparison(of.model, described, of.X, True).rows, has_std=True)
    expected = model.predict(X)
    n_outputs = expected.shape[1]
    cells = ", ".join(str(cell) for cell in np.ravel(model.inputs(X)))
    call = "predict_proba(rows + 3 * i, found)" if described.has_classes else "predict(rows + 3 * i, found, found + 1)"
    source = tmp_path / "main.c"
    loop = f"for (i = 0; i < {N_ROWS}; ++i) {{ model_{call}; for (j = 0; j < {n_outputs}; ++j) print_real(&found[j], 1); }}"
    source.write_text(
        f'#include "board.h"\n{exported.text}\nstatic const int32_t rows[] = {{ {cells} }};\n'
        f"int main(void)\n{{\n    int32_t found[{n_outputs}];\n    int i, j;\n    {loop}\n    return 0;\n}}\n"
    )
    words = [struct.unpack(">i", bytes.fromhex(word))[0] for word in printed(built(source, board), board).split()]
    np.testing.assert_array_equal(np.reshape(words, expected.shape) / 2.0**model.result_bits, expected)

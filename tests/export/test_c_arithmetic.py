"""Elementary functions of exported headers, beside those of SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import erfcx

from skarce.export.c.tables import REALS
from skarce.export.to_c import c_source
from skarce.likelihoods import moderated_log_odds
from tests.export.compiled import compiled, has, run
from tests.export.models import fitted

pytestmark = pytest.mark.skipif(not has("gcc"), reason="needs gcc")
RNG = np.random.default_rng(0)


@pytest.fixture(scope="module", params=list(REALS))
def values(request, tmp_path_factory):
    """A function that calls one of the functions in C at many points."""
    real, folder = REALS[request.param], tmp_path_factory.mktemp("arithmetic")
    (folder / "m.h").write_text(c_source(fitted("three-classes").model, name="m", real=request.param).text)

    def at(call, *columns):
        cells = np.column_stack(columns).astype(real.dtype)
        table = ", ".join(real.literal(cell) for cell in cells.ravel())
        source = folder / "main.c"
        source.write_text(
            f'#include <stdio.h>\n#include "m.h"\nstatic const m_real t[] = {{ {table} }};\nint main(void)\n{{\n    int i;\n'
            f"    for (i = 0; i < {len(cells)}; ++i) {{ const m_real *x = t + {cells.shape[1]} * i; "
            f'printf("%.17g ", (double){call}); }}\n    return 0;\n}}\n'
        )
        return np.array(run(compiled(source, "gcc", "c")).split(), dtype=np.float64), cells.astype(np.float64).T, real

    return at


def assert_within_ulps(found, expected, real, ulps):
    info = np.finfo(real.dtype)
    allowed = ulps * float(info.eps) * np.abs(expected) + 2.0 * float(info.smallest_subnormal)
    np.testing.assert_array_less(np.abs(found - expected), allowed)


def test_exp(values):
    largest = 700.0 if values("m_exp(x[0])", [0.0])[2].c_type == "double" else 88.0
    found, (x,), real = values("m_exp(x[0])", np.concatenate([RNG.uniform(-largest - 40, largest, 500), RNG.normal(0, 1, 500)]))
    normal = np.exp(x) > np.finfo(real.dtype).tiny
    assert_within_ulps(found[normal], np.exp(x[normal]), real, 2.0)
    assert (np.abs(found[~normal] - np.exp(x[~normal])) <= np.finfo(real.dtype).tiny * 1e-3).all()


def test_exp_at_the_ends(values):
    assert values("m_exp(x[0])", [0.0, 1e30, -1e30])[0].tolist() == [1.0, np.inf, 0.0]


@pytest.mark.parametrize(("call", "function"), [("m_sqrt(x[0])", np.sqrt), ("m_log(x[0])", np.log)])
def test_roots_and_logarithms(values, call, function):
    found, (x,), real = values(call, np.exp(RNG.uniform(-60, 60, 500)))
    assert_within_ulps(found, function(x), real, 3.0)


def test_root_of_zero(values):
    assert values("m_sqrt(x[0])", [0.0, -1e-9])[0].tolist() == [0.0, 0.0]


def test_scaled_error_function(values):
    found, (x,), real = values("m_erfcx(x[0])", np.concatenate([RNG.uniform(0, 5, 300), np.exp(RNG.uniform(-10, 10, 200)), [0.0]]))
    assert_within_ulps(found, erfcx(x), real, 100.0)


def test_moderated_log_odds(values):
    found, (mean, variance), real = values("m_log_odds(x[0], x[1])", RNG.normal(0, 20, 500), np.exp(RNG.uniform(-8, 8, 500)))
    expected = moderated_log_odds(mean, np.sqrt(variance))
    np.testing.assert_allclose(found, expected, rtol=200 * np.finfo(real.dtype).eps, atol=200 * np.finfo(real.dtype).eps)

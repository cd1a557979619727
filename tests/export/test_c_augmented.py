"""The augmented std in C, of every kernel, of one target and of several."""

from __future__ import annotations

import pytest

from skarce.export.description import describe
from skarce.export.reference import predicted
from tests.export.compiled import compiled, has, need, outputs, written
from tests.export.models import REGRESSORS, fitted
from tests.export.test_c import IS_FULL, TOLERANCES, WAYS, assert_close, case

pytestmark = pytest.mark.skipif(not has("gcc"), reason="needs gcc")
FEW = ("rvm-rbf", "rvm-polynomial", "rvm-cosine", "two-targets")
MORE = (
    *("no-intercept", "unused-input", "two-targets-cosine", "calibrated"),
    *("after-StandardScaler", "after-pca", "target-scaled", "table"),
)
EVERY = [*(name for name in REGRESSORS if name.startswith("rvm-")), "two-targets", *MORE] if IS_FULL else list(FEW)


@pytest.fixture(scope="module")
def cases():
    return {(name, real): case(name, real, std="augmented") for name in EVERY for real in TOLERANCES}


@pytest.mark.parametrize(("compiler", "language", "options"), WAYS if IS_FULL else WAYS[:1])
def test_compiled_headers_have_the_augmented_std_of_python(cases, compiler, language, options, tmp_path):
    need(compiler, options)
    programs = [program for program, _, _ in cases.values()]
    assert_close(cases, outputs(compiled(written(programs, tmp_path), compiler, language, *options), programs))


@pytest.mark.parametrize("name", EVERY)
def test_the_augmented_std_is_another_one(name, cases):
    """Else the tests above would not see it."""
    expected = cases[name, "double"][1]
    of, n_targets = fitted(name), expected.shape[1] // 2
    plain = predicted(of.model, of.X[-len(expected) :], describe(of.model), True)
    assert (expected[:, n_targets:] > 1.001 * plain[:, n_targets:]).any()

"""Models in whole numbers: C computes exactly what is checked in Python, and that is close to the model."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from skarce import EvidenceRegressor, KernelBasis
from skarce.export import ExportError, to_c
from skarce.export.c.fixed_numbers import FORMATS, integer_root, mantissas, power_terms, rounded
from skarce.export.c.fixed_point import FixedPoint
from skarce.export.checks import comparison
from skarce.export.description import describe
from skarce.export.to_c import MOST_OF_NOISE, MOST_OF_PROBABILITY, c_source
from tests.export.compiled import OPTIMIZED, SANITIZERS, Program, compiled, has, need, outputs, written
from tests.export.models import fitted
from tests.export.test_c import IS_FULL

WAYS = (("gcc", "c", SANITIZERS), ("clang", "c", SANITIZERS), ("clang", "c++", OPTIMIZED))
NAMES = ("rvm-rbf", "rvm-laplacian", "rvm-matern52", "passthrough", "table", "two-targets", "factors")
CLASSIFIERS = ("two-classes", "classes-on-columns", "three-classes", "vbls-classes", "pursuit-classes", "svm-classes")


def fixed(name, real, std=True):
    """A header, the same model in Python, and its rows."""
    of, label = fitted(name), f"{real}_{name.replace('-', '_')}_{std}".lower()
    described = describe(of.model)
    compared = comparison(of.model, described, of.X, std)
    model = FixedPoint(described, FORMATS[real], compared.rows, has_std=std)
    text = c_source(of.model, name=label, real=real, std=std, X=of.X).text
    kind = {"has_std": std, "is_classes": model.has_classes}
    return Program(label, text, model.inputs(compared.rows), compared.expected.shape[1], **kind), model, compared


@pytest.mark.skipif(not has("gcc"), reason="needs gcc")
@pytest.mark.parametrize(("compiler", "language", "options"), WAYS if IS_FULL else WAYS[:1])
def test_c_computes_the_same_whole_numbers(compiler, language, options, tmp_path):
    need(compiler, options)
    cases = [fixed(name, real) for name in (*NAMES, *CLASSIFIERS) for real in FORMATS] + [fixed("rvm-rbf", "q15", std=False)]
    programs = [program for program, _, _ in cases]
    found = outputs(compiled(written(programs, tmp_path), compiler, language, *options), programs)
    for program, model, compared in cases:
        values, selftest = found[program.name]
        np.testing.assert_array_equal(values / 2.0**model.result_bits, model.predict(compared.rows), err_msg=program.name)
        noise = max(head.noise for head in model.described.heads)
        most = MOST_OF_PROBABILITY if model.has_classes else MOST_OF_NOISE * noise
        assert selftest / 2.0**model.result_bits <= most


@pytest.mark.parametrize("name", [*NAMES, *CLASSIFIERS])
def test_more_bits_are_closer_to_python(name):
    errors = []
    for real in ("q15", "q31"):
        _, model, compared = fixed(name, real)
        errors.append(compared.largest_error(model.predict(compared.rows)))
    assert errors[0] < 0.01
    assert errors[1] < 0.05 * errors[0]


def test_inputs_far_outside_do_not_overflow():
    _, model, _ = fixed("rvm-rbf", "q31")
    far = model.predict(np.array([[1e30, -1e30, 1e30]]))
    np.testing.assert_allclose(far[0, 0], fitted("rvm-rbf").model.intercept_, atol=1e-6)


def test_tables_of_16_bits_are_half_as_large():
    of = fitted("rvm-rbf")
    sizes = [c_source(of.model, real=real, X=of.X).size.table_bytes for real in ("q15", "float")]
    assert sizes[0] < 0.55 * sizes[1]


def test_a_model_that_needs_more_bits_is_refused(tmp_path):
    X = np.linspace(0, 1, 40)[:, None]
    y = np.sin(6 * X[:, 0]) + np.random.default_rng(0).normal(0, 0.001, 40)
    model = EvidenceRegressor(KernelBasis(gamma=2.0)).fit(X, y)
    with pytest.raises(ExportError, match=r'of the std of its noise.*Use real="q31"'):
        to_c(model, tmp_path / "model.h", real="q15", std=False, X=X)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("real", ["q15", "q31"])
def test_probabilities_too_far_from_python_are_refused(real, monkeypatch, tmp_path):
    monkeypatch.setattr(sys.modules[c_source.__module__], "MOST_OF_PROBABILITY", 1e-8)
    with pytest.raises(ExportError, match=r"differs from Python by [0-9.e-]+, and at most 1e-08 is allowed"):
        to_c(fitted("three-classes").model, tmp_path / "model.h", real=real)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("real", ["q15", "q31"])
def test_a_temperature_that_would_overflow_is_refused(real):
    described = replace(describe(fitted("two-classes").model), temperature=0.05)
    with pytest.raises(ExportError, match=r"temperature of 0\.05"):
        FixedPoint(described, FORMATS[real], fitted("two-classes").X, has_std=True)


@pytest.mark.parametrize("name", [name for name in CLASSIFIERS if name != "classes-on-columns"])
def test_probabilities_far_away_are_those_of_python(name):
    _, model, _ = fixed(name, "q31")
    far = np.array([[1e30, -1e30, 1e30], [50.0, 0.0, -50.0]])
    np.testing.assert_allclose(model.predict(far), fitted(name).model.predict_proba(far), atol=1e-5)


@pytest.mark.parametrize("name", ["splines-linear", "counts", "rvm-polynomial", "svm-margin"])
def test_other_models_are_refused(name):
    with pytest.raises(ExportError, match="fixed-point arithmetic is for"):
        c_source(fitted(name).model, real="q15")


def test_whole_numbers_are_rounded_to_the_nearest():
    values = np.arange(-40, 41)
    expected = np.sign(values) * np.floor(np.abs(values) / 8.0 + 0.5)
    np.testing.assert_array_equal(rounded(values, 3), expected)
    np.testing.assert_array_equal(rounded(values, 0), values)


def test_roots_of_whole_numbers():
    values = np.array([0, 1, 3, 4, 2**52 - 1, 2**52, 2**60 - 1, 2**62], dtype=np.int64)
    root = [int(value) for value in integer_root(values)]
    assert all(r * r <= value < (r + 1) ** 2 for r, value in zip(root, values.tolist(), strict=True))


def test_mantissas_fill_their_bits():
    whole, bits = mantissas(np.array([0.3, -0.001]), 15)
    np.testing.assert_allclose(whole / 2.0**bits, [0.3, -0.001], atol=2.0**-16)
    assert 2**14 <= np.abs(whole).max() < 2**15


@pytest.mark.parametrize(("real", "error"), [("q15", 1e-5), ("q31", 1e-9)])
def test_powers_of_two(real, error):
    f = np.linspace(0, 1, 101)
    np.testing.assert_allclose(np.polyval(power_terms(FORMATS[real])[::-1], f) / 2.0**30, 2.0**-f, atol=error)


def test_the_header_says_that_inputs_must_be_saturated():
    assert "Keep that product in -INT32_MAX to INT32_MAX" in c_source(fitted("rvm-rbf").model, real="q31").text
    assert "INT32_MAX" not in c_source(fitted("rvm-rbf").model).text

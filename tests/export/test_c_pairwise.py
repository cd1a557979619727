"""Models with every pair of an estimator, a basis and what stands around, as C and as ONNX: a few, or all by `make test-export`."""

from __future__ import annotations

import itertools

import pytest

from skarce.export import ExportError, to_onnx
from tests.export.compiled import compiled, has, need, outputs, written
from tests.export.pairwise import AROUND, BASES, ESTIMATORS, REGRESSORS, SCALED_TARGET, cover, model_of
from tests.export.test_c import IS_FULL, TOLERANCES, WAYS, assert_close, program_of

pytestmark = pytest.mark.filterwarnings("ignore")
FEW = (("rvm", *WAYS[0]), ("three-classes", *WAYS[0]))
EVERY = [(name, *WAYS[place % len(WAYS)]) for place, name in enumerate(ESTIMATORS)]
N_MODELS = None if IS_FULL else 3  # of each estimator


def of_estimator(name):
    return [parts for parts in cover() if parts.estimator == name][:N_MODELS]


def programs_of(name):
    """The programs of the models of an estimator. Float may be refused, with the advice to take double."""
    cases, refused = {}, 0
    for number, parts in enumerate(of_estimator(name)):
        of = model_of(parts)
        for real in TOLERANCES:
            try:
                cases[number, real] = program_of(of, f"m{number}_{real}", real)
            except ExportError as error:
                assert real == "float", (parts, error)  # noqa: PT017
                assert 'real="double"' in str(error), parts  # noqa: PT017
                refused += 1
    return cases, refused


@pytest.mark.skipif(not has("gcc"), reason="needs gcc")
@pytest.mark.parametrize(("name", "compiler", "language", "options"), EVERY if IS_FULL else FEW)
def test_compiled_models_predict_what_python_predicts(name, compiler, language, options, tmp_path):
    need(compiler, options)
    cases, refused = programs_of(name)
    assert refused <= len(of_estimator(name)) // 4
    programs = [program for program, _, _ in cases.values()]
    assert_close(cases, outputs(compiled(written(programs, tmp_path), compiler, language, *options), programs))


@pytest.mark.parametrize("name", ESTIMATORS if IS_FULL else ["rvm", "three-classes"])
def test_onnx_models_predict_what_python_predicts(name):
    """`to_onnx` refuses to write a model that differs at the given rows, or elsewhere."""
    pytest.importorskip("onnxruntime")
    for parts in of_estimator(name):
        of = model_of(parts)
        assert to_onnx(of.model, X=of.X).graph.node, parts


def test_every_pair_is_in_a_model():
    """Only numbers have a scaled target; all other pairs are possible."""
    found = cover()
    assert len(found) < 1.1 * len(ESTIMATORS) * len(AROUND)
    assert {(parts.estimator, parts.basis) for parts in found} == set(itertools.product(ESTIMATORS, BASES))
    assert {(parts.basis, parts.around) for parts in found} == set(itertools.product(BASES, AROUND))
    possible = {pair for pair in itertools.product(ESTIMATORS, AROUND) if pair[1] != SCALED_TARGET or pair[0] in REGRESSORS}
    assert {(parts.estimator, parts.around) for parts in found} == possible

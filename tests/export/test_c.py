"""Generated C is compiled without a warning and predicts what Python predicts."""

from __future__ import annotations

import os

import numpy as np
import pytest

from skarce import EvidenceRegressor, KernelBasis
from skarce.export import ExportError, to_c
from skarce.export.description import COUNTS, MARGINS, describe
from skarce.export.reference import predicted
from skarce.export.to_c import c_source
from tests.export.compiled import OPTIMIZED, SANITIZERS, Program, compiled, has, need, outputs, run, written
from tests.export.models import OTHERS, REGRESSORS, fitted

FEW = (
    *("rvm-rbf", "rvm-matern52", "two-targets", "chaos", "splines-linear", "mixed-basis", "table"),
    *("three-classes", "svm-classes", "counts"),
)
IS_FULL = os.environ.get("SKARCE_EXPORT") == "all"  # make test-export
EVERY = [*REGRESSORS, *OTHERS] if IS_FULL else list(FEW)
WAYS = (
    *(("gcc", "c", SANITIZERS), ("gcc", "c++", OPTIMIZED)),
    *(("clang", "c", SANITIZERS), ("clang", "c++", OPTIMIZED)),
)
TOLERANCES = {"float": 1e-4, "double": 1e-9}
N_ROWS = 40
needs_gcc = pytest.mark.skipif(not has("gcc"), reason="needs gcc")


def case(name, real, std=True):
    """The program of a model by its name, and what it must print."""
    return program_of(fitted(name), f"m_{name.replace('-', '_').lower()}_{real}", real, std)


def program_of(of, label, real, std=True):
    """A program of a model, what Python predicts at its rows, and the size of an error of 1."""
    described = describe(of.model)
    X = of.X[-N_ROWS:]
    expected = predicted(of.model, X, described, std)
    text = c_source(of.model, name=label, real=real, std=std, X=X).text
    kind = {"has_std": std is not False, "is_classes": described.has_classes}
    if described.target == MARGINS:
        kind["of_classes"] = "decision_function"
    program = Program(label, text, described.coded(X), expected.shape[1], **kind)
    if described.has_classes:
        return program, expected, 1.0
    if described.target == COUNTS:
        return program, expected, expected[:, 1:]
    return program, expected, np.tile([head.deviation for head in described.heads], expected.shape[1] // len(described.heads))


@pytest.fixture(scope="module")
def cases():
    return {(name, real): case(name, real) for name in EVERY for real in TOLERANCES}


def assert_close(cases, found):
    for (_, real), (program, expected, units) in cases.items():
        values, selftest = found[program.name]
        assert np.max(np.abs(values - expected) / units) <= TOLERANCES[real], program.name
        assert selftest <= TOLERANCES[real] * np.max(units), program.name


@needs_gcc
@pytest.mark.parametrize(("compiler", "language", "options"), WAYS if IS_FULL else WAYS[:1])
def test_compiled_headers_predict_what_python_predicts(cases, compiler, language, options, tmp_path):
    need(compiler, options)
    programs = [program for program, _, _ in cases.values()]
    assert_close(cases, outputs(compiled(written(programs, tmp_path), compiler, language, *options), programs))


@needs_gcc
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_headers_are_also_cpp(cases, compiler, tmp_path):
    need(compiler)
    compiled(written([program for program, _, _ in cases.values()], tmp_path), compiler, "c++", "-fsyntax-only")


@needs_gcc
def test_no_std(tmp_path):
    cases = {(name, real): case(name, real, std=False) for name in ("rvm-rbf", "two-targets") for real in TOLERANCES}
    programs = [program for program, _, _ in cases.values()]
    assert_close(cases, outputs(compiled(written(programs, tmp_path), "gcc", "c"), programs))


@needs_gcc
@pytest.mark.parametrize("name", ["svm-margin", "svm-margins", "three-classes"])
def test_the_class_is_that_of_python(name, tmp_path):
    of, (program, expected, _) = fitted(name), case(name, "double")
    (tmp_path / "model.h").write_text(program.text)
    cells = ", ".join(repr(float(cell)) for cell in np.ravel(program.rows))
    loop = f'for (i = 0; i < {len(expected)}; ++i) printf("%d ", {program.name}_predict(rows + i * {program.rows.shape[1]}));'
    (tmp_path / "main.c").write_text(
        f'#include <stdio.h>\n#include "model.h"\nstatic const double rows[] = {{ {cells} }};\n'
        f"int main(void)\n{{\n    int i;\n    {loop}\n    return 0;\n}}\n"
    )
    found = [int(word) for word in run(compiled(tmp_path / "main.c", "gcc", "c", *SANITIZERS)).split()]
    assert of.model.classes_[found].tolist() == of.model.predict(of.X[-N_ROWS:]).tolist()


@needs_gcc
def test_a_wrong_table_would_be_found(tmp_path):
    """The self-test returns a large number if a single weight is off."""
    program, _, _ = case("rvm-rbf", "double")
    weight = fitted("rvm-rbf").model.posterior_.mean[0]
    text = program.text.replace(f" {weight:.17g},", f" {weight + 1.0:.17g},")
    assert text != program.text
    broken = Program(program.name, text, program.rows, program.n_outputs)
    assert outputs(compiled(written([broken], tmp_path), "gcc", "c"), [broken])[program.name][1] > 0.01


@needs_gcc
def test_library_functions_and_storage_can_be_chosen(tmp_path):
    program, expected, units = case("rvm-matern52", "float")
    upper = program.name.upper()
    macros = [
        f"#define {upper}_EXP(x) expf(x)",
        f"#define {upper}_SQRT(x) sqrtf(x)",
        f"#define {upper}_STORAGE __attribute__((aligned(16)))",
    ]
    chosen = Program(program.name, "\n".join(["#include <math.h>", *macros, program.text]), program.rows, program.n_outputs)
    found = outputs(compiled(written([chosen], tmp_path), "gcc", "c", libraries=("-lm",)), [chosen])
    assert np.max(np.abs(found[program.name][0] - expected) / units) <= 1e-4


def test_nothing_is_allocated_and_no_library_is_called():
    text = case("three-classes", "float")[0].text
    code = text[text.index("*/") :]
    assert "#include" not in code
    assert "malloc" not in code
    assert "(double)" not in code


@needs_gcc
def test_tables_have_as_many_bytes_as_said(tmp_path):
    """The compiler says how large the tables are."""
    of = fitted("rvm-rbf")
    exported = to_c(of.model, tmp_path / "model.h")
    names = [line.split("[")[0].split()[-1] for line in exported.text.splitlines() if line.startswith("static const")]
    model_tables = [name for name in names if not name.startswith("model_test_")]
    sizes = " + ".join(f"sizeof({name})" for name in model_tables)
    said = f"typedef char as_said[({sizes}) == {exported.size.table_bytes} ? 1 : -1];"
    (tmp_path / "size.c").write_text(f'#include "model.h"\n{said}\nint main(void) {{ return (int)model_selftest(); }}\n')
    compiled(tmp_path / "size.c", "gcc", "c")


def test_nothing_is_written_if_float_is_not_enough(tmp_path):
    X = np.linspace(0, 1, 40)[:, None]
    model = EvidenceRegressor(KernelBasis(gamma=0.05)).fit(X, np.sin(6 * X[:, 0]))
    with pytest.raises(ExportError, match='Use real="double"'):
        to_c(model, tmp_path / "model.h")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "mention"),
    [
        ({"name": "2fast"}, "name must be"),
        ({"name": "int"}, "name must be"),
        ({"real": "half"}, "real must be"),
        ({"std": "no"}, "std must be"),
    ],
)
def test_bad_options_are_named(options, mention, tmp_path):
    with pytest.raises(ValueError, match=mention):
        to_c(fitted("rvm-rbf").model, tmp_path / "model.h", **options)


def test_a_std_that_the_model_has_not(tmp_path):
    with pytest.raises(ExportError, match="Use std=True"):
        to_c(fitted("splines-linear").model, tmp_path / "model.h", std="augmented")
    with pytest.raises(ExportError, match="have no augmented std"):
        to_c(fitted("three-classes").model, tmp_path / "model.h", std="augmented")
    exported = to_c(fitted("three-classes").model, tmp_path / "model.h", std=False)
    assert exported.text == to_c(fitted("three-classes").model, tmp_path / "model.h").text  # what probabilities need


def test_names_of_text_are_in_the_header(tmp_path):
    text = to_c(fitted("table").model, tmp_path / "model.h").text
    assert "MODEL_COLOR_LIGHT_BLUE = 1" in text
    assert "MODEL_INPUT_SPEED_M_S = 0" in text
    assert (tmp_path / "model.h").read_text() == text


def test_no_path_is_said_to_be_missing():
    with pytest.raises(ValueError, match="path must be the name of a file"):
        to_c(fitted("rvm-rbf").model, None)


@pytest.mark.parametrize(("real", "usual"), [("float", "4700 on a Cortex-M0"), ("q15", "1100 on a Cortex-M0")])
def test_the_comment_says_that_code_is_not_counted(real, usual):
    text = c_source(fitted("rvm-rbf").model, real=real).text
    assert f"Code: not counted; usually about {usual}" in text


def test_printing_is_short(tmp_path):
    path = tmp_path / "model.h"
    exported = to_c(fitted("rvm-rbf").model, path)
    assert str(exported).startswith(f"{path}: {exported.size.table_bytes} bytes of tables, largest error ")
    assert str(exported).endswith(f" at {exported.where}")
    assert repr(exported).startswith("ExportedC(path=")
    assert len(repr(exported)) < 200 + len(str(path))


@pytest.mark.parametrize(
    ("name", "unit"), [("rvm-rbf", "the std of the target"), ("counts", "the std of a count"), ("two-classes", "1")]
)
def test_the_unit_of_the_error(name, unit):
    exported = c_source(fitted(name).model)
    assert exported.unit == f"of {unit}"
    assert f"Accuracy: at most {exported.error:.1e} of {unit} from Python" in exported.text


@needs_gcc
@pytest.mark.parametrize("name", ["svm-classes", "two-classes", "three-classes", "rvm-rbf", "counts"])
def test_multiplications_are_about_as_many_as_said(name, tmp_path):
    """Counted in C++, by numbers that count what is done with them. Divisions count, too."""
    exported = c_source(fitted(name).model)
    call = "model_predict_proba(x, y)" if "classes" in name else "model_predict(x, y, y + 1)"
    text = exported.text.replace("typedef float model_real;", "typedef Counted model_real;")
    (tmp_path / "model.h").write_text(text)
    (tmp_path / "main.c").write_text(COUNTING.replace("CALL", call).replace("N_INPUTS", str(fitted(name).X.shape[1])))
    found = int(run(compiled(tmp_path / "main.c", "gcc", "c++", libraries=("-lstdc++",))))
    assert 0.6 * found < exported.size.n_multiplications < 1.6 * found


COUNTING = r"""
#include <stdio.h>
static int n_multiplications = 0;
struct Counted {
    float value;
    Counted() : value(0) {}
    Counted(float number) : value(number) {}
    explicit Counted(int number) : value((float)number) {}
    explicit operator int() const { return (int)value; }
};
#define COUNTS(op, n) \
    static Counted operator op(Counted a, Counted b) { n_multiplications += n; return Counted(a.value op b.value); } \
    static inline Counted &operator op##=(Counted &a, Counted b) { return a = a op b; }
COUNTS(+, 0) COUNTS(-, 0) COUNTS(*, 1) COUNTS(/, 1)
static inline Counted operator-(Counted a) { return Counted(-a.value); }
#define COMPARES(op) static inline bool operator op(Counted a, Counted b) { return a.value op b.value; }
COMPARES(<) COMPARES(>) COMPARES(<=) COMPARES(>=) COMPARES(!=)
#include "model.h"
int main(void)
{
    Counted x[N_INPUTS], y[4];
    CALL;
    printf("%d", n_multiplications);
    return 0;
}
"""

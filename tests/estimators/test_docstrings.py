"""Every public estimator is documented in full: parameters with their defaults, fitted attributes, and all sections."""

import ast
import inspect
import re

import numpy as np
import pytest

import skarce.estimators
from skarce import CriterionSearch, FastGCVRegressor
from tests.estimator_lists import REDUCTIONS, WITHOUT_BASIS

SECTIONS = ["Parameters", "Attributes", "See Also", "Notes", "References", "Examples"]
ALWAYS_DOCUMENTED = {"n_features_in_", "feature_names_in_"}
NO_DEFAULT = inspect.Parameter.empty
PUBLIC = [getattr(skarce.estimators, name) for name in skarce.estimators.__all__]
FIELD = re.compile(r"(?P<name>\w+) : (?P<kind>.+)")
DEFAULT = re.compile(r"default=(.+)$")


def sections(documented):
    """The body of each section of a numpydoc docstring, in order; the text before the first is called "Summary"."""
    lines = inspect.getdoc(documented).splitlines()
    name, found = "Summary", {"Summary": []}
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if line and below == "-" * len(line):
            name = line
            assert name not in found, f"section {name} twice"
            found[name] = []
        elif set(line) != {"-"}:
            found[name].append(line)
    return {name: "\n".join(body).strip() for name, body in found.items()}


def fields(section):
    """Name, type and description of each entry of Parameters or Attributes."""
    found = {}
    for line in section.splitlines():
        head = FIELD.fullmatch(line)
        if head:
            assert head["name"] not in found, f"{head['name']} twice"
            text = found.setdefault(head["name"], (head["kind"], []))[1]
        elif line:
            assert line.startswith("    "), f"neither an entry nor its description: {line!r}"
            text.append(line.strip())
    return {name: (kind, " ".join(text)) for name, (kind, text) in found.items()}


def documented_default(kind):
    stated = DEFAULT.search(kind)
    return NO_DEFAULT if stated is None else ast.literal_eval(stated[1])


def init_parameters(estimator):
    signature = inspect.signature(estimator.__init__)
    return {name: parameter.default for name, parameter in signature.parameters.items() if name != "self"}


def check_parameters(estimator):
    """Raise an AssertionError unless Parameters has every parameter of the constructor in its order, with its default."""
    documented, actual = fields(sections(estimator)["Parameters"]), init_parameters(estimator)
    assert list(documented) == list(actual)
    for name, (kind, text) in documented.items():
        default = documented_default(kind)
        assert type(default) is type(actual[name]), name
        assert default == actual[name], name
        assert text, f"{name} has no description"


def check_attributes(estimator, fitted):
    """Raise an AssertionError unless Attributes has every fitted attribute, with type and description."""
    documented = fields(sections(estimator)["Attributes"])
    is_public = re.compile(r"[a-z]\w*_").fullmatch
    found = {name for name in {**vars(fitted), **vars(estimator)} if is_public(name)}
    assert found | ALWAYS_DOCUMENTED <= documented.keys()
    assert all(kind and text for kind, text in documented.values())
    return documented


def fitted_example(estimator, **params):
    if estimator in (*WITHOUT_BASIS, *REDUCTIONS):
        params.pop("basis")
    rng = np.random.default_rng(0)
    X = rng.uniform(-3, 3, (40, 2))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1, 40)
    if estimator is CriterionSearch:
        return CriterionSearch(FastGCVRegressor(**params), {"tol": [1e-3, 1e-2]}).fit(X, y)
    return estimator(**params).fit(X, y > 0 if estimator.__name__.endswith("Classifier") else np.round(np.exp(y)))


def public_methods(estimator):
    """Public methods that this package writes, not those that come from scikit-learn."""
    for name, method in inspect.getmembers(estimator, inspect.isfunction):
        if not name.startswith("_") and inspect.unwrap(method).__module__.startswith("skarce."):
            yield name, method


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_section_is_there_in_order(estimator):
    found = sections(estimator)
    assert [name for name in found if name != "Summary"] == SECTIONS
    assert all(found.values())


@pytest.mark.parametrize("estimator", PUBLIC)
def test_summary_is_one_short_sentence(estimator):
    first, *rest = inspect.getdoc(estimator).splitlines()
    assert first.endswith(".")
    assert len(first) < 100
    assert rest[0] == ""


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_parameter_is_documented_with_its_default(estimator):
    check_parameters(estimator)


@pytest.mark.parametrize("basis", ["rbf", "passthrough"])
@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_fitted_attribute_is_documented(estimator, basis):
    check_attributes(estimator, fitted_example(estimator, basis=basis))


@pytest.mark.parametrize("estimator", PUBLIC)
def test_no_attribute_is_documented_that_does_not_exist(estimator):
    on_kernels, on_columns = (fitted_example(estimator, basis=basis) for basis in ("rbf", "passthrough"))
    documented = fields(sections(estimator)["Attributes"])
    missing = {name for name in documented if not hasattr(on_kernels, name) and not hasattr(on_columns, name)}
    assert missing <= {"feature_names_in_", "classes_"}  # of inputs with names, and of a search over classifiers


@pytest.mark.parametrize("estimator", PUBLIC)
def test_nothing_is_documented_by_reference_to_another_class(estimator):
    text = inspect.getdoc(estimator)
    assert not re.search(r"[Aa]s in `(?!GridSearchCV|RandomizedSearchCV)\w+`", text)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_see_also_names_two_to_four_others_that_exist(estimator):
    lines = sections(estimator)["See Also"].splitlines()
    assert 2 <= len(lines) <= 4
    for line in lines:
        name, phrase = line.split(" : ")
        assert phrase.endswith(".")
        assert name != estimator.__name__
        if "." in name:
            module, _, member = name.rpartition(".")
            assert hasattr(__import__(module, fromlist=[member]), member)
        else:
            assert hasattr(skarce, name)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_references_are_numbered_and_each_is_cited(estimator):
    text, listed = inspect.getdoc(estimator), re.findall(r"^\.\. \[(\d+)\]", sections(estimator)["References"], re.MULTILINE)
    assert listed == [str(number + 1) for number in range(len(listed))]
    assert set(re.findall(r"\[(\d+)\]_", text)) == set(listed)


@pytest.mark.parametrize("estimator", PUBLIC)
def test_every_public_method_documents_its_parameters_and_what_it_returns(estimator):
    for name, method in public_methods(estimator):
        found = sections(method)
        assert found["Summary"], name
        assert found["Returns"], name
        parameters = [p for p in inspect.signature(method).parameters if p != "self"]
        if parameters:
            heads = re.findall(r"^(\*{0,2}\w+) :", found["Parameters"], re.MULTILINE)
            assert [head.lstrip("*") for head in heads] == parameters, name


# The checks themselves ------------------------------------------------------------------------------------------------------


class Documented:
    """Summary.

    Parameters
    ----------
    width : float, default=1.0
        Width.
    kind : {"a", "b"}, default="a"
        Kind.

    Attributes
    ----------
    n_features_in_ : int
        Features.
    feature_names_in_ : ndarray
        Names.
    """

    def __init__(self, width=1.0, kind="a"):
        self.width, self.kind = width, kind


class Undocumented(Documented):
    __doc__ = Documented.__doc__

    def __init__(self, width=1.0, kind="a", more=None):
        super().__init__(width, kind)
        self.more_ = more


class OtherDefault(Documented):
    __doc__ = Documented.__doc__

    def __init__(self, width=1, kind="a"):
        super().__init__(width, kind)


def test_the_checks_accept_what_is_documented():
    check_parameters(Documented)
    check_attributes(Documented, Documented())


@pytest.mark.parametrize("estimator", [Undocumented, OtherDefault])
def test_the_checks_find_missing_parameters_and_wrong_defaults(estimator):
    with pytest.raises(AssertionError):
        check_parameters(estimator)


def test_the_checks_find_missing_attributes():
    with pytest.raises(AssertionError):
        check_attributes(Undocumented, Undocumented())


def test_the_parser_finds_sections_and_defaults():
    found = sections(Documented)
    assert list(found) == ["Summary", "Parameters", "Attributes"]
    assert fields(found["Parameters"])["kind"] == ('{"a", "b"}, default="a"', "Kind.")
    assert documented_default("int or None, default=None") is None
    assert documented_default("estimator object") is NO_DEFAULT

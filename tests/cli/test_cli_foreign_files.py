"""Model files that are not to be trusted, and files that are no models."""

import json
import zipfile
from pathlib import Path

import pytest
import skops.io
from sklearn.linear_model import LinearRegression

from skarce.cli.model_file import FORMAT, HEADER
from skarce.cli.model_schema import allowed_types
from tests.cli.commands import assert_one_line, run

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


class Stranger:
    """A type that skops knows nothing of."""


def dump_as_model(content, path):
    """Write a file that says it is a model of this version."""
    skops.io.dump(content, path)
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(HEADER, json.dumps({"format": FORMAT}))


def test_a_file_with_foreign_types_is_refused(houses):
    dump_as_model({"pipeline": Stranger(), "target": "y", "columns": {}, "version": "0"}, "evil.skops")
    for command in (["explain", "evil.skops"], ["predict", "evil.skops", "houses.csv"]):
        assert_one_line(run(*command), "evil.skops", f"{__name__}.Stranger", "does not trust")


def test_a_tampered_model_is_refused(model):
    with zipfile.ZipFile(model) as saved:
        parts = {name: saved.read(name) for name in saved.namelist()}
    harmless = b'"__class__": "RelevanceVectorRegressor",\n'
    assert harmless in parts["schema.json"].replace(b"\r", b"")
    schema = parts["schema.json"].replace(b'"RelevanceVectorRegressor"', b'"warnings"')
    schema = schema.replace(b"skarce.estimators.relevance_vector", b"skarce.estimators.base")
    with zipfile.ZipFile(model, "w") as tampered:
        for name, content in {**parts, "schema.json": schema}.items():
            tampered.writestr(name, content)
    assert_one_line(run("explain", model), "skarce.estimators.base.warnings", "does not trust")


@pytest.mark.parametrize(
    ("name", "trusted"),
    [
        ("skarce.posteriors.posterior.Posterior", True),
        ("skarce.basis.kernel_basis.KernelBasis", True),
        ("skarce.estimators.base.KernelBasis", False),  # imported there, not defined
        ("skarce.cli.model_file.import_module", False),
        ("skarce.comparison.registry.find_methods", False),  # a function
        ("skarce.nowhere.Posterior", False),
        ("skarcely.Posterior", False),
        ("os.system", False),
    ],
)
def test_only_classes_that_skarce_defines_are_trusted(name, trusted):
    assert (name in allowed_types()["ObjectNode"]) is trusted


def test_files_that_are_no_models(houses, model, tmp_path):
    assert_one_line(run("explain", "houses.csv"), "houses.csv is not a model")
    assert_one_line(run("explain", "no.skops"), "no.skops does not exist")
    assert_one_line(run("explain", "."), "not a file")
    skops.io.dump({"pipeline": LinearRegression()}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops has no format number")
    dump_as_model({"pipeline": LinearRegression()}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops is refused", "LinearRegression")
    dump_as_model({"pipeline": 1}, "other.skops")
    assert_one_line(run("predict", "other.skops", "houses.csv"), "other.skops is not a complete model")
    (tmp_path / "half.skops").write_bytes(Path(model).read_bytes()[:500])
    assert_one_line(run("explain", "half.skops"), "half.skops is not a model")

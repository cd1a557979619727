"""The package imports its rooms when they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import skarce

SLOW = ("numpy", "scipy", "sklearn", "skarce.estimators")


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_the_package_alone_imports_nothing_slow():
    assert run(f"import sys, skarce; print([name for name in {SLOW} if name in sys.modules])") == "[]"


def test_an_estimator_does_not_import_what_few_fits_need():
    rare = [f"sklearn.{name}" for name in ("cluster", "neighbors", "model_selection", "linear_model", "metrics")]
    code = f"import sys, skarce; skarce.RelevanceVectorRegressor; print([name for name in {rare} if name in sys.modules])"
    assert run(code) == "[]"


def test_an_estimator_imports_no_other_estimators_and_only_the_searches_and_criteria_that_it_uses():
    others = [
        *(f"skarce.estimators.{name}" for name in ("vbls", "lwpr", "fast_gcv", "classifier", "criterion_search")),
        *("skarce.searches.exhaustive", "skarce.searches.floating", "skarce.criteria.gcv", "skarce.model_selection.widths"),
        *("skarce.methods.latent", "skarce.likelihoods.bernoulli"),
        *(f"skarce.designs.{name}" for name in ("arrow", "arrow_columns", "parquet", "parquet_files", "latent_stream")),
        *("skarce.likelihoods.after", "skarce.likelihoods.poisson", "skarce.moments.recent", "skarce.basis.polynomial_chaos"),
        *("skarce.methods.variational.direct", "skarce.methods.relevance_em", "skarce.posteriors.nested"),
    ]
    code = f"import sys, skarce; skarce.RelevanceVectorRegressor; print([name for name in {others} if name in sys.modules])"
    assert run(code) == "[]"


@pytest.mark.parametrize("room", ["basis", "criteria", "estimators", "likelihoods", "model_selection", "searches"])
def test_rooms_have_all_names_that_they_list_and_no_others(room):
    room = getattr(skarce, room)
    for name in room.__all__:
        assert getattr(room, name).__module__.startswith(room.__name__)
        assert name in dir(room)
    with pytest.raises(AttributeError, match=f"module '{room.__name__}' has no attribute 'Nothing'"):
        _ = room.Nothing


@pytest.mark.parametrize("name", skarce.__all__)
def test_every_name_is_there_and_listed(name):
    assert getattr(skarce, name) is getattr(skarce, name)
    assert name in dir(skarce)


def test_rooms_are_attributes_without_an_import_of_their_own():
    assert run("import skarce; print(skarce.criteria.GCV().sense, skarce.searches.Forward.__name__)") == "-1 Forward"


def test_a_basis_alone_learns_widths():
    code = """
import numpy as np
from skarce.basis import KernelBasis
X = np.random.default_rng(0).normal(size=(30, 2))
print(KernelBasis(gamma="ard").fit(X, X[:, 0]).gamma_.shape)
"""
    assert run(code) == "(2,)"


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'skarce' has no attribute 'RelevanceVector'"):
        _ = skarce.RelevanceVector
    assert not hasattr(skarce, "__wrapped__")

"""The list of trusted classes is what models hold: nothing is missing, and nothing is superfluous."""

import json
import warnings
import zipfile
from itertools import chain

import numpy as np
import pytest
from scipy import stats

from skarce import (
    EvidenceRegressor,
    KernelBasis,
    Outcome,
    PolynomialChaosBasis,
    ProcessBasis,
    RelevanceVectorRegressor,
    SparseRegressor,
    VBLSRegressor,
    criteria,
    searches,
)
from skarce.criteria import GCV, IndividualEvidence, SharedEvidence
from skarce.estimators.trusted_types import model_classes, trusted_types
from skarce.searches import Backward, BestAction

io = pytest.importorskip("skops.io")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
LABELS = np.array(["a", "b", "c"])[np.argsort(np.argsort(X[:, 0])) // 8]
TARGETS = {"numbers": X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=24), "classes": LABELS, "counts": np.arange(24.0) % 4}


def public(room, base):
    classes = (getattr(room, name) for name in room.__all__)
    return [cls for cls in classes if isinstance(cls, type) and issubclass(cls, base) and not cls.__abstractmethods__]


def target_for(cls):
    return TARGETS["classes" if "Classifier" in cls.__name__ else "counts" if "Poisson" in cls.__name__ else "numbers"]


def every_estimator():
    """Each on kernels and on columns, with its path if it has one."""
    for cls in model_classes():
        for basis in ("rbf", "passthrough"):
            path = {"keep_path": True} if "keep_path" in cls().get_params() else {}
            yield cls(basis, **path)


def every_pair():
    """Each public criterion with a search, and each public search with a criterion, as parameters of one estimator."""
    for criterion in public(criteria, criteria.Criterion):
        for search in (searches.Forward(), Backward()):
            yield SparseRegressor("passthrough", criterion(), search, keep_path=True)
    for search in public(searches, searches.Search):
        for criterion in (IndividualEvidence, GCV, SharedEvidence):
            yield SparseRegressor("passthrough", criterion(), search())


def others():
    yield EvidenceRegressor(ProcessBasis())
    yield VBLSRegressor(PolynomialChaosBasis(2, distributions=stats.norm(0.0, 2.0)))
    yield VBLSRegressor("passthrough", noise="student-t")
    yield SparseRegressor("passthrough", IndividualEvidence(), BestAction())
    yield RelevanceVectorRegressor(KernelBasis(centers=8))


def types_in(model, path):
    """The classes of skarce in a file of the model. Enumerations are written as their names, as `skarce fit` does it."""
    for part in (model, *np.atleast_1d(np.array(model.posterior_, dtype=object))):
        vars(part).update({name: value.name for name, value in vars(part).items() if isinstance(value, Outcome)})
    io.dump(model, path)
    schema = json.loads(zipfile.ZipFile(path).read("schema.json"))
    found, waiting = set(), [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            found.add(f"{node.get('__module__')}.{node.get('__class__')}")
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    return {name for name in found if name.startswith("skarce.")}


def test_the_list_is_what_models_hold(tmp_path):
    found = set()
    for model in chain(every_estimator(), every_pair(), others()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X, target_for(type(model)))
            except (ValueError, TypeError):  # a criterion and a search that do not go together
                assert isinstance(model, SparseRegressor)
                continue
        found |= types_in(model, tmp_path / "model.skops")
    assert sorted(found) == trusted_types()


def test_names_of_other_things_are_not_trusted():
    names = trusted_types()
    assert len(set(names)) == len(names)
    for name in names:
        module, _, cls = name.rpartition(".")
        assert name.startswith("skarce.")
        assert not cls.startswith("_")
        assert not module.startswith(("skarce.cli", "skarce.reproduce", "skarce.comparison"))

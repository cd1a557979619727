"""Every kind of model comes back from a file of skops, and the list of trusted classes is exactly what models hold."""

import pickle
import warnings
from copy import deepcopy
from itertools import chain

import numpy as np
import pytest
from scipy import stats
from sklearn.kernel_approximation import Nystroem
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import skarce
from skarce import (
    CriterionSearch,
    EvidenceRegressor,
    FastGCVRegressor,
    JointFactorRegressor,
    KernelBasis,
    KernelDimensionReduction,
    LWPRRegressor,
    Outcome,
    PolynomialChaosBasis,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorRegressor,
    SparseRegressor,
    VBLSClassifier,
    VBLSRegressor,
    criteria,
    searches,
    trusted_types,
)
from skarce.criteria import GCV, IndividualEvidence, SharedEvidence
from skarce.estimators.trusted_types import model_classes
from skarce.searches import Backward, BestAction

io = pytest.importorskip("skops.io")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(24, 2))
NEW = RNG.normal(size=(7, 2))
LABELS = np.array(["a", "b", "c"])[np.argsort(np.argsort(X[:, 0])) // 8]
NUMBERS = X[:, 0] + 0.3 * X[:, 1] ** 2 + 0.1 * RNG.normal(size=24)
TARGETS = {"numbers": NUMBERS, "classes": LABELS, "counts": np.arange(24.0) % 4}
SEVERAL = np.column_stack([NUMBERS, X[:, 1] - X[:, 0]])
POLYNOMIAL = PolynomialFeatures(2, include_bias=False)


def public(room, base):
    classes = (getattr(room, name) for name in room.__all__)
    return [cls for cls in classes if isinstance(cls, type) and issubclass(cls, base) and not cls.__abstractmethods__]


def target_for(model):
    return TARGETS["classes" if "Classifier" in str(model) else "counts" if "Poisson" in str(model) else "numbers"]


def every_estimator():
    """Each on kernels, on columns and on a transformer, with its path if it has one."""
    for cls in model_classes():
        for basis in ("rbf", "passthrough", POLYNOMIAL):
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
    yield RelevanceVectorClassifier(ProcessBasis())
    yield VBLSRegressor(PolynomialChaosBasis(2, distributions=stats.norm(0.0, 2.0)))
    yield VBLSRegressor("passthrough", noise="student-t")
    yield LWPRRegressor(metric="full", n_passes=2, random_state=0)
    yield JointFactorRegressor()
    yield make_pipeline(KernelDimensionReduction(1, n_starts=1), RelevanceVectorRegressor())
    yield SparseRegressor("passthrough", IndividualEvidence(), BestAction())
    yield RelevanceVectorRegressor(KernelBasis(centers=8, random_state=np.random.RandomState(0)))
    yield RelevanceVectorRegressor(Nystroem(n_components=5, random_state=0))
    yield RelevanceVectorRegressor(make_pipeline(POLYNOMIAL, StandardScaler()))
    yield make_pipeline(StandardScaler(), RelevanceVectorRegressor())
    yield make_pipeline(StandardScaler(), VBLSClassifier("passthrough"))
    yield CriterionSearch(FastGCVRegressor("rbf"), {"basis__gamma": [0.1, 1.0]})
    yield CriterionSearch(make_pipeline(StandardScaler(), EvidenceRegressor("passthrough")), {"evidenceregressor__tol": [1e-3]})


def every_fitted_model():
    for model in chain(every_estimator(), every_pair(), others()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                yield model.fit(X, target_for(model))
            except (ValueError, TypeError):  # a criterion and a search that do not go together
                assert isinstance(model, SparseRegressor)


def every_stream():
    for basis in ("passthrough", POLYNOMIAL, KernelBasis(centers=8)):
        for cls in (VBLSRegressor, RelevanceVectorRegressor):
            model = cls(basis)
            for rows in (slice(0, 12), slice(12, 24)):
                model.partial_fit(X[rows], NUMBERS[rows])
            yield model


def answers(model):
    """Everything that a model says about new rows."""
    if hasattr(model, "predict_proba"):
        return [model.predict_proba(NEW)]
    if isinstance(model, GridSearchCV):  # its predict takes no return_std
        model = model.best_estimator_
    return model.predict(NEW, return_std=True)


def saved(model, path):
    """The model after it was saved, and the types that skops does not trust by itself."""
    io.dump(model, path)
    return io.load(path, trusted=trusted_types()), set(io.get_untrusted_types(file=path))


def assert_same(again, model):
    for loaded, expected in zip(answers(again), answers(model), strict=True):
        np.testing.assert_array_equal(loaded, expected)


def test_every_model_comes_back_and_the_list_is_what_models_hold(tmp_path):
    found = set()
    for model in chain(every_fitted_model(), every_stream()):
        again, untrusted = saved(model, tmp_path / "model.skops")
        assert_same(again, model)
        found |= untrusted
    assert sorted(found) == trusted_types()


@pytest.mark.parametrize("basis", ["rbf", "passthrough", POLYNOMIAL])
def test_models_of_several_targets_come_back(basis, tmp_path):
    model = RelevanceVectorRegressor(basis).fit(X, SEVERAL)
    again, _ = saved(model, tmp_path / "model.skops")
    assert_same(again, model)
    assert [posterior.outcome for posterior in again.posterior_] == [posterior.outcome for posterior in model.posterior_]


def test_a_stream_goes_on_from_a_file(tmp_path):
    for model in every_stream():
        again, _ = saved(model, tmp_path / "model.skops")
        for each in (again, model):
            each.partial_fit(NEW, NEW[:, 0])
        assert_same(again, model)


def test_the_best_model_of_a_grid_search_comes_back(tmp_path):
    steps = make_pipeline(StandardScaler(), RelevanceVectorRegressor())
    grid = {"relevancevectorregressor__basis": ["rbf", KernelBasis(gamma=1.0)]}
    search = GridSearchCV(steps, grid, cv=3).fit(X, NUMBERS)
    again, _ = saved(search.best_estimator_, tmp_path / "model.skops")
    assert_same(again, search)
    io.dump(search, tmp_path / "search.skops")
    of_scikit_learn = set(io.get_untrusted_types(file=tmp_path / "search.skops")) - set(trusted_types())
    assert all(name.startswith("sklearn.") for name in of_scikit_learn)
    again = io.load(tmp_path / "search.skops", trusted=[*trusted_types(), *of_scikit_learn])
    assert_same(again, search)


@pytest.mark.parametrize("copied", [deepcopy, lambda model: pickle.loads(pickle.dumps(model))], ids=["deepcopy", "pickle"])
@pytest.mark.parametrize("model", [VBLSRegressor(), RelevanceVectorClassifier("rbf")], ids=str)
def test_outcomes_survive(copied, model):
    model = model.fit(X, target_for(model))
    again = copied(model)
    assert isinstance(again.outcome_, Outcome)
    assert again.outcome_ is model.outcome_
    for posterior, expected in zip(again._posteriors(), model._posteriors(), strict=True):
        assert posterior.outcome is expected.outcome
    assert_same(again, model)


def test_states_of_older_versions_hold_the_outcome_itself():
    model = VBLSRegressor().fit(X, NUMBERS)
    for part in (model, model.posterior_):
        again = object.__new__(type(part))
        again.__setstate__({**part.__getstate__(), **{name: v for name, v in vars(part).items() if isinstance(v, Outcome)}})
        assert repr(again) == repr(part)
    assert VBLSRegressor().__getstate__() == vars(VBLSRegressor())


def test_a_saved_posterior_has_no_cached_values():
    posterior = VBLSRegressor().fit(X, NUMBERS).posterior_
    assert posterior.well_determined.max() > 0.0
    assert "_determination" in vars(posterior)
    assert "_determination" not in posterior.__getstate__()


def test_names_of_other_things_are_not_trusted():
    names = skarce.trusted_types()
    assert len(set(names)) == len(names)
    for name in names:
        module, _, cls = name.rpartition(".")
        assert name.startswith("skarce.")
        assert not cls.startswith("_")
        assert not module.startswith(("skarce.cli", "skarce.reproduce", "skarce.comparison"))

"""What a twin takes along, what a new fit drops, and what a reader sees while the model changes."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from skarce import KernelBasis, ProcessBasis, RelevanceVectorClassifier, RelevanceVectorRegressor
from skarce._atomic import become, snapshot, unfitted_twin
from tests.contracts.test_whole_fits import state


class Model:
    def __init__(self, parameter):
        self.parameter = parameter

    def fit(self, **fitted):
        twin = unfitted_twin(self)
        twin.__dict__.update(fitted)
        return become(self, twin)


@pytest.fixture
def table(rng):
    X = pd.DataFrame(rng.normal(size=(40, 3)), columns=["a", "b", "c"])
    return X, X["a"] - X["c"] + 0.1 * rng.normal(size=40)


def test_a_new_fit_drops_what_the_last_one_set_and_nothing_else():
    model = Model(1)
    model.note = "mine"
    model.also_mine_ = [3]
    model.fit(first_=1, _private=2)
    assert (model.first_, model._private) == (1, 2)
    model.fit(second_=3)
    assert not hasattr(model, "first_")
    assert not hasattr(model, "_private")
    assert (model.parameter, model.note, model.also_mine_, model.second_) == (1, "mine", [3], 3)


def test_a_snapshot_stays_and_the_model_goes_on():
    model = Model(1).fit(value_=1)
    seen, same = snapshot(model), vars(model)
    assert vars(seen) is same
    model.fit(value_=2)
    assert (seen.value_, model.value_) == (1, 2)


def test_what_is_not_defined_by_the_new_fit_vanishes(table):
    X, y = table
    model = RelevanceVectorRegressor("rbf").fit(X, y)
    assert len(model.relevance_vectors_)
    model.set_params(basis="passthrough").fit(X.to_numpy(), y)
    assert not hasattr(model, "relevance_vectors_")
    assert not hasattr(model, "feature_names_in_")


def test_settings_of_scikit_learn_survive_a_fit(table):
    X, y = table
    with config_context(enable_metadata_routing=True):
        model = RelevanceVectorRegressor("rbf").set_fit_request(sample_weight=True).fit(X, y).fit(X, y)
        assert model.get_metadata_routing().fit.requests == {"sample_weight": True}
        assert clone(model).get_metadata_routing().fit.requests == {"sample_weight": True}
    basis = ProcessBasis(gamma="scale").set_output(transform="pandas").fit(X).fit(X)
    assert isinstance(basis.transform(X), pd.DataFrame)


class Scaled(RelevanceVectorRegressor):
    """A user's class with attributes of its own: set in the constructor, and before the fit of the package."""

    def __init__(self, basis="rbf"):
        super().__init__(basis)
        self.history = []

    def fit(self, X, y=None, sample_weight=None):
        self.history.append(len(X))
        self.scaler_ = StandardScaler().fit(X)
        return super().fit(self.scaler_.transform(X), y, sample_weight)


def test_attributes_of_a_subclass_survive_a_fit(table):
    X, y = table
    model = Scaled().fit(X, y).fit(X[:30], y[:30])
    assert model.history == [40, 30]
    assert model.scaler_.n_samples_seen_ == 30


def test_a_basis_of_the_user_never_changes(table):
    X, y = table
    basis = KernelBasis(gamma=0.3).fit(X)
    before = state(basis)
    model = RelevanceVectorRegressor(basis).fit(X.to_numpy()[:, :2], y)
    assert state(basis) == before
    assert model.basis is basis
    assert not hasattr(model.basis_, "feature_names_in_")
    assert model.basis_.n_features_in_ == 2


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_go_their_own_way(table, duplicate):
    X, y = table
    model = RelevanceVectorRegressor("passthrough").partial_fit(X[:20], y[:20])
    before, other = state(model), duplicate(model)
    other.partial_fit(X[20:], y[20:])
    assert state(model) == before
    assert model._stream.n_seen == 20
    assert other._stream.n_seen == 40
    assert "RelevanceVectorRegressor" in model._repr_html_()


class Intruder:
    """A kernel that lets something happen in the middle of a prediction, as another thread could."""

    def __init__(self):
        self.happening = None

    def __call__(self, X, C):
        happening, self.happening = self.happening, None
        if happening is not None:
            happening()
        return np.exp(-0.5 * ((X[:, None] - C[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("made", [RelevanceVectorRegressor, RelevanceVectorClassifier])
def test_a_prediction_is_that_of_one_model_even_if_another_thread_fits_meanwhile(table, made):
    X, y = table[0].to_numpy(), table[1].to_numpy()
    first = y if made is RelevanceVectorRegressor else np.where(y > 0, "yes", "no")
    second = y**2 if made is RelevanceVectorRegressor else np.digitize(y, [-1.0, 1.0])
    kernel = Intruder()
    model = made(KernelBasis(kernel)).fit(X, first)
    expected = model.predict(X)
    kernel.happening = lambda: model.fit(X, second)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert not np.array_equal(model.predict(X), expected)


def test_a_basis_transforms_by_one_fit_even_if_another_thread_fits_meanwhile(table):
    X = table[0].to_numpy()
    kernel = Intruder()
    basis = KernelBasis(kernel).fit(X)
    expected = basis.transform(X)
    kernel.happening = lambda: basis.fit(X[:5])
    np.testing.assert_array_equal(basis.transform(X), expected)
    assert basis.transform(X).shape == (40, 5)

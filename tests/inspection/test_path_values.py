"""The way to a model against smaller models that are fitted again."""

import numpy as np
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import skarce
from skarce import KernelBasis
from skarce.inspection.path import MOST_SIZES, path_values

RNG = np.random.default_rng(0)
X = RNG.uniform(-5, 5, (70, 1))
Y = 100 + 7 * np.sin(X[:, 0]) + RNG.normal(0, 0.7, 70)
NEW = RNG.uniform(-5, 5, (30, 1))
NEW_Y = 100 + 7 * np.sin(NEW[:, 0])
KERNELS = KernelBasis(gamma=0.5)
NESTED = ("BackwardElimination", "EvidenceSearch", "OrthogonalLeastSquares", "RegularizedForward")


def root_mean_square(values):
    return np.sqrt(np.mean(values**2))


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_nested_models_have_the_errors_of_their_predictions(name, fit_intercept):
    model = getattr(skarce, f"{name}Regressor")(KERNELS, fit_intercept=fit_intercept, keep_path=True).fit(X, Y)
    found, held_out = path_values(model), path_values(model, NEW, NEW_Y)
    assert found.axis == "number of functions"
    assert not found.is_held_out
    assert held_out.is_held_out
    np.testing.assert_array_equal(found.places, np.sort(model.trace_["n_active"]))
    assert found.places[found.chosen] == len(model.active_)
    assert found.criterion[found.chosen] == pytest.approx(model.criterion_)
    assert len(model.active_) in found.error_sizes
    assert found.error_sizes.max() == model.posterior_.path.most
    for size, error, new_error in zip(found.error_sizes, found.errors, held_out.errors, strict=True):
        smaller = model.with_n_basis(int(size))
        assert len(smaller.active_) == size
        np.testing.assert_allclose(error, root_mean_square(Y - smaller.predict(X)), rtol=1e-4)
        np.testing.assert_allclose(new_error, root_mean_square(NEW_Y - smaller.predict(NEW)))


@pytest.mark.parametrize("name", ["RelevanceVector", "FastGCV", "JeffreysPrior", "LocalRidge", "VBLS"])
def test_other_models_have_steps_and_no_errors(name):
    model = getattr(skarce, f"{name}Regressor")(KERNELS).fit(X, Y)
    found = path_values(model)
    assert found.axis == "step"
    np.testing.assert_array_equal(found.criterion, model.trace_["criterion"])
    np.testing.assert_array_equal(found.n_functions, model.trace_["n_active"])
    np.testing.assert_array_equal(found.places, np.arange(1, len(model.trace_) + 1))
    assert found.n_functions[found.chosen] == len(model.active_)
    assert found.criterion[found.chosen] == pytest.approx(model.criterion_)
    assert found.sense == model.criterion_sense_
    assert len(found.errors) == len(found.error_sizes) == 0
    given = path_values(model, NEW, NEW_Y)
    assert len(given.errors) == 0
    np.testing.assert_array_equal(given.criterion, found.criterion)


def test_floating_search_marks_the_model_that_it_went_back_to():
    model = skarce.EvidenceSearchRegressor(KERNELS, search="floating").fit(X, Y)
    found = path_values(model)
    assert found.axis == "step"
    assert found.n_functions[found.chosen] == len(model.active_)
    assert found.criterion[found.chosen] == pytest.approx(model.criterion_) == found.criterion.max()


def test_penalties_go_down():
    model = skarce.LaplacePriorRegressor(KERNELS).fit(X, Y)
    found = path_values(model)
    assert found.axis == "penalty"
    assert (np.diff(found.places) <= 0).all()
    assert found.places[found.chosen] == model.penalty_
    assert found.sense == -1


def test_many_sizes_are_thinned_out():
    inputs = RNG.normal(size=(150, 100))
    model = skarce.BackwardEliminationRegressor("passthrough", keep_path=True).fit(inputs, RNG.normal(size=150))
    sizes = path_values(model).error_sizes
    assert len(sizes) <= MOST_SIZES + 2
    assert {0, 1, len(model.active_), 100} <= set(sizes)


def test_several_targets_have_a_path_each():
    both = np.column_stack([Y, RNG.normal(size=70)])
    model = skarce.OrthogonalLeastSquaresRegressor(KERNELS).fit(X, both)
    found = path_values(model, target=0)
    np.testing.assert_array_equal(found.criterion, model.posterior_[0].trace["criterion"])
    assert found.places[found.chosen] == len(model.posterior_[0].active)
    held_out = path_values(model, X, both, target=0)
    for size, error in zip(held_out.error_sizes, held_out.errors, strict=True):
        assert error == pytest.approx(root_mean_square(Y - model.with_n_basis(int(size)).predict(X)[:, 0]))


def test_errors_are_in_the_units_of_the_data():
    model = make_pipeline(StandardScaler(), skarce.OrthogonalLeastSquaresRegressor(KernelBasis(gamma=4.0)))
    wrapped = TransformedTargetRegressor(model, transformer=StandardScaler()).fit(X, Y)
    found = path_values(wrapped, X, Y)
    chosen = list(found.error_sizes).index(len(wrapped.regressor_[-1].active_))
    assert found.errors[chosen] == pytest.approx(root_mean_square(Y - wrapped.predict(X)))


def test_classes_and_counts_have_steps():
    labels = np.digitize(Y, [97, 103])
    model = skarce.RelevanceVectorClassifier(KERNELS).fit(X, labels)
    np.testing.assert_array_equal(path_values(model, target=2).criterion, model.posterior_[2].trace["criterion"])
    counts = skarce.RelevanceVectorPoissonRegressor(KERNELS).fit(X, RNG.poisson(np.exp(Y / 100)))
    assert path_values(counts).axis == "step"


def test_what_has_no_path_is_refused():
    constant = skarce.RelevanceVectorRegressor(KERNELS).fit(X, np.ones(70))
    with pytest.raises(ValueError, match=r"took no step, so there is no path to show. The target does not vary"):
        path_values(constant)
    model = skarce.OrthogonalLeastSquaresRegressor(KERNELS).fit(X, Y)
    with pytest.raises(ValueError, match="X and y belong together"):
        path_values(model, NEW)

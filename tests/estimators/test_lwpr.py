"""Locally weighted projection regression as an estimator."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from skarce import JointFactorRegressor, LWPRRegressor

QUICK = {"initial_metric": 10.0, "n_passes": 3, "random_state": 0}


def cross(X):
    """The function of the paper, section 4.1."""
    a, b = X[:, 0] ** 2, X[:, 1] ** 2
    return np.maximum.reduce([np.exp(-10.0 * a), np.exp(-50.0 * b), 1.25 * np.exp(-5.0 * (a + b))])


def crosses(rng, n):
    X = rng.uniform(-1, 1, (n, 2))
    return X, cross(X) + 0.1 * rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    X, y = crosses(np.random.default_rng(0), 4000)
    return LWPRRegressor(n_passes=4, random_state=0).fit(X, y)


def test_it_learns_the_cross_of_the_paper(fitted, rng):
    X = rng.uniform(-1, 1, (2000, 2))
    error = np.mean((fitted.predict(X) - cross(X)) ** 2) / np.var(cross(X))
    assert error < 0.02
    assert fitted.n_fields_ < 200


def embedded(X, n_inputs, rng):
    """Two inputs as ten redundant ones by a rotation, and with more of small noise, as in the paper."""
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(10, 10)))[0]
    return np.hstack([X @ rotation[:2], 0.05 * rng.normal(size=(len(X), n_inputs - 10))])


@pytest.mark.parametrize(("n_inputs", "width"), [(10, 100.0), (20, 50.0)])
def test_it_learns_the_cross_in_redundant_and_irrelevant_inputs(n_inputs, width, rng):
    X, y = crosses(rng, 20_000)
    new = rng.uniform(-1, 1, (2000, 2))
    options = {"initial_metric": width, "norm_in": 1.0, "n_passes": 1, "random_state": 0}
    model = LWPRRegressor(learning_rate=n_inputs, **options).fit(embedded(X, n_inputs, rng), y)
    assert np.mean((model.predict(embedded(new, n_inputs, rng)) - cross(new)) ** 2) < 0.03 * np.var(cross(new))
    assert model.n_fields_ < 12 * n_inputs
    if n_inputs > 10:  # fields are wider where inputs do not matter
        metrics = np.median(model.metrics_, axis=0)
        assert metrics[10:].mean() < 0.8 * metrics[:10].mean()


def test_the_chosen_width_does_not_depend_on_the_units_of_distances(rng):
    """`norm_in` changes the units, so the widths that are tried are relative to the variance of the inputs in these units."""
    X, y = crosses(rng, 2000)
    X = 0.05 * X @ rng.normal(size=(2, 6))
    one, other = (LWPRRegressor(norm_in=norm, n_passes=1, random_state=0).fit(X, y) for norm in (1.0, 64.0))
    assert other.initial_metric_ == pytest.approx(64.0**2 * one.initial_metric_)
    np.testing.assert_allclose(one.predict(X[:50]), other.predict(X[:50]), rtol=1e-6)


def test_the_std_covers_new_targets(fitted, rng):
    X, y = crosses(rng, 2000)
    mean, std = fitted.predict(X, return_std=True)
    assert 0.93 < np.mean(np.abs(y - mean) < 1.96 * std) < 0.995
    assert np.median(std) == pytest.approx(0.1, rel=0.35)
    lower, upper = fitted.predict_interval(X, coverage=0.8)
    np.testing.assert_allclose([lower, upper], [mean - 1.2815515655446004 * std, mean + 1.2815515655446004 * std])
    far = fitted.predict([[30.0, -30.0]], return_std=True)[1]
    assert far > 2.0 * np.median(std)


CURVES = {
    "smooth, little noise": (lambda x: np.sin(3.0 * x), 0.05),
    "smooth, much noise": (lambda x: np.sin(3.0 * x), 0.5),
    "wavy": (lambda x: np.sin(9.0 * x), 0.2),
    "ever faster": (lambda x: np.sin(6.0 * (x + 1.0) ** 2), 0.1),
}


@pytest.mark.parametrize("name", CURVES)
def test_learning_the_metric_does_not_undo_the_choice_of_its_start(name):
    # The penalty was once as large as the variance of the target for narrow fields, and made all of them wide.
    function, noise = CURVES[name]
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.0, 1.0, (4000, 1))
    y = function(X[:, 0]) + noise * rng.normal(size=4000)
    learned, kept = (LWPRRegressor(learning_rate=rate).fit(X, y) for rate in (1.0, 0.0))
    at = np.linspace(-1.0, 1.0, 1001)[:, None]
    mean, std = learned.predict(at, return_std=True)
    error, other = (np.sqrt(np.mean((found - function(at[:, 0])) ** 2)) for found in (mean, kept.predict(at)))
    assert error < 1.35 * other
    assert np.sqrt(np.mean(std**2)) < 1.6 * np.hypot(noise, error)


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_batches_are_the_same_as_one_batch(metric, rng):
    X, y = crosses(rng, 300)
    whole = LWPRRegressor(metric=metric, initial_metric=10.0, norm_in=0.6).partial_fit(X, y)
    first = LWPRRegressor(metric=metric, initial_metric=10.0, norm_in=0.6).partial_fit(X[:200], y[:200])
    scales = [(model.models_.target_offset, model.models_.target_scale) for model in (whole, first)]
    assert scales[0] != scales[1]  # the first batch sets the scale of the target
    one_by_one = clone(first).partial_fit(X[:200], y[:200])
    for row in range(200, 300):
        one_by_one.partial_fit(X[row : row + 1], y[row : row + 1])
    first.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(one_by_one.models_.state, first.models_.state)
    assert first.n_samples_seen_ == 300


def test_the_seed_decides_about_the_order_of_rows(rng):
    X, y = crosses(rng, 200)
    same = [LWPRRegressor(**QUICK).fit(X, y).predict(X) for _ in range(2)]
    np.testing.assert_array_equal(*same)
    other = LWPRRegressor(**{**QUICK, "random_state": 1}).fit(X, y).predict(X)
    assert np.abs(other - same[0]).max() > 1e-6


def test_partial_fit_goes_on_after_fit_and_follows_changes(rng):
    X, y = crosses(rng, 1000)
    model = LWPRRegressor(**QUICK, forgetting=0.99, initial_forgetting=0.99).fit(X, y)
    before = model.score(X, -y)
    for _ in range(3):
        model.partial_fit(X, -y)
    assert before < 0.0
    assert model.score(X, -y) > 0.8
    assert model.n_samples_seen_ == 4000


@pytest.mark.parametrize("exponent", [-400, -40, 40, 400])
def test_units_change_nothing(exponent, rng):
    X, y = crosses(rng, 200)
    factor = 2.0**exponent
    model = LWPRRegressor(**QUICK).fit(X, y)
    in_other_units = LWPRRegressor(**QUICK).fit(factor * X, y / factor)
    np.testing.assert_allclose(factor * in_other_units.predict(factor * X), model.predict(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(in_other_units.centers_ / factor, model.centers_, rtol=1e-6, atol=1e-9)


def test_centers_and_metrics_are_in_the_units_of_the_user(rng):
    X, y = crosses(rng, 300)
    for metric in ("diagonal", "full"):
        model = LWPRRegressor(metric=metric, **QUICK).fit(X, y)
        offsets = X[:, None] - model.centers_
        if metric == "full":
            distances = np.einsum("nki,kij,nkj->nk", offsets, model.metrics_, offsets)
        else:
            distances = np.sum(model.metrics_ * offsets**2, axis=2)
        np.testing.assert_allclose(np.exp(-0.5 * distances), model.models_.activations(X), rtol=1e-9)
        assert len(model.n_projections_) == len(model.centers_) == model.n_fields_


def test_given_scales_are_used(rng):
    X, y = crosses(rng, 300)
    by_number, by_array = (LWPRRegressor(norm_in=norm, **QUICK).fit(X, y) for norm in (0.5, [0.5, 0.5]))
    np.testing.assert_array_equal(by_number.input_scale_, [0.5, 0.5])
    np.testing.assert_array_equal(by_array.predict(X), by_number.predict(X))
    np.testing.assert_allclose(LWPRRegressor(**QUICK).fit(X, y).input_scale_, X.std(axis=0))


@pytest.mark.parametrize("norm_in", [0.0, -1.0, np.inf, [1.0], [1.0, 2.0, 3.0], [1.0, 0.0], [[1.0, 1.0]], "std", [np.nan, 1.0]])
def test_scales_that_do_not_fit(norm_in, rng):
    with pytest.raises(ValueError, match="norm_in"):
        LWPRRegressor(norm_in=norm_in).fit(*crosses(rng, 20))


@pytest.mark.parametrize("is_constant", ["rows", "inputs", "target", "both"])
def test_nothing_to_learn(is_constant, rng):
    X, y = crosses(rng, 1 if is_constant == "rows" else 30)
    X = np.ones_like(X) if is_constant in ("inputs", "both") else X
    y = np.full(len(y), 7.0) if is_constant in ("target", "both") else y
    mean, std = LWPRRegressor(random_state=0).fit(X, y).predict(X, return_std=True)
    assert np.isfinite(mean).all()
    assert (std >= 0.0).all()
    expected = y if is_constant != "inputs" else np.full(len(y), y.mean())
    if is_constant != "inputs":
        np.testing.assert_allclose(mean, expected)
    else:
        np.testing.assert_allclose(mean, expected, atol=0.3 * y.std())


def test_the_first_batch_of_a_stream_needs_rows_or_scales(rng):
    X, y = crosses(rng, 9)
    for model in (LWPRRegressor(), LWPRRegressor(norm_in=1.0), LWPRRegressor(initial_metric=5.0)):
        with pytest.raises(ValueError, match=r"first batch has 9 rows.*norm_in and initial_metric"):
            model.partial_fit(X, y)
        assert not hasattr(model, "models_")
    assert LWPRRegressor(initial_metric=5.0, norm_in=1.0).partial_fit(X[:1], y[:1]).n_fields_ == 1


def test_a_wrong_batch_leaves_the_model_as_it_was(rng):
    X, y = crosses(rng, 100)
    model = LWPRRegressor(initial_metric=10.0).partial_fit(X, y)
    before = pickle.dumps(vars(model))
    holes = np.where(X > 0.9, np.nan, X)
    bad = {
        "NaN": (holes, y),
        "3 features": (np.hstack([X, X[:, :1]]), y),
        "scales away": (1e40 * X, y),
        "units of y": (X, 1e40 * y),
    }
    for words, batch in bad.items():
        with pytest.raises(ValueError, match=words):
            model.partial_fit(*batch)
        assert pickle.dumps(vars(model)) == before
    with pytest.raises(ValueError, match="differs from that of earlier batches"):
        model.set_params(metric="full").partial_fit(X, y)


def test_rows_that_are_too_far_away_for_a_prediction(fitted):
    with pytest.raises(ValueError, match=r"row 1 of X is .* scales away"):
        fitted.predict([[0.0, 0.0], [1e40, 0.0]])
    assert np.isfinite(fitted.predict([[1e20, -1e20]], return_std=True)).all()
    small = LWPRRegressor(**QUICK).fit([[1e-10], [2e-10], [3e-10]], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="is inf scales away"):  # without a warning of NumPy
        small.predict([[1e300]])


WRONG = {
    "metric": ("round", 3),
    "initial_metric": (0.0, "wide"),
    "learning_rate": (-1.0,),
    "penalty": (np.inf,),
    "add_below": (0.0, 0.8),
    "prune_above": (1.5,),
    "projection_gain": (0.0,),
    "forgetting": (1.1,),
    "initial_forgetting": (0.0,),
    "forgetting_pace": ("slow",),
    "max_projections": (0,),
    "max_fields": (2.5,),
    "n_passes": (0, 1001),
    "verbose": ("loud",),
}


@pytest.mark.parametrize(("parameter", "wrong"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_parameters(parameter, wrong, rng):
    with pytest.raises(ValueError, match=parameter):
        LWPRRegressor(**{parameter: wrong}).fit(*crosses(rng, 20))


def test_memory_is_bounded_by_the_number_of_fields(rng):
    X, y = crosses(rng, 300)
    model = LWPRRegressor(initial_metric=1e4, max_fields=50)
    with pytest.warns(ConvergenceWarning, match="max_fields=50"):
        model.partial_fit(X, y)
    size = len(pickle.dumps(model))
    for _ in range(5):
        model.partial_fit(X + 1e-3 * rng.normal(size=X.shape), y)  # without another warning
    assert model.n_fields_ == 50
    assert len(pickle.dumps(model)) < size + 100


def test_before_a_fit_there_is_nothing():
    model = LWPRRegressor()
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])
    for name in ("n_fields_", "centers_", "metrics_", "n_projections_", "input_scale_"):
        assert not hasattr(model, name)


def test_several_targets_are_refused(rng):
    X, y = crosses(rng, 20)
    with pytest.raises(ValueError, match="1d array"):
        LWPRRegressor().fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("model", [LWPRRegressor(), JointFactorRegressor()])
def test_sparse_inputs_are_refused_without_a_word_on_kernels(model):
    with pytest.raises(TypeError, match="needs dense inputs") as refused:
        model.fit(sparse.csr_array(np.eye(10)), np.arange(10.0))
    assert "kernels" not in str(refused.value)

"""Kernel matching pursuit against slow, dense versions."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.datasets import make_friedman1
from sklearn.preprocessing import StandardScaler

from skarce import (
    KernelMatchingPursuitClassifier,
    KernelMatchingPursuitRegressor,
    OrthogonalLeastSquaresRegressor,
    Outcome,
    PrimalSVMClassifier,
)
from skarce.designs import RowBlocks
from skarce.methods.pursuit.basic import Spanned
from skarce.methods.pursuit.huber import _scale
from skarce.methods.pursuit.losses import HuberLoss, LogisticLoss, SquaredHingeLoss
from skarce.methods.pursuit.row_model import LossOfRows, RowModel
from tests.problems import moments_of

N, M = 60, 15
PLAIN = {"calibrate_std": False, "size_prior": None}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(N, M)) + 0.7 * rng.normal(size=(N, 1))
    return phi, phi[:, :4] @ [3.0, -2.0, 1.0, 0.5] + 2.0 + 0.3 * rng.normal(size=N)


def dense_pursuit(phi, t, variant, n_steps):
    """The functions in the order in which they are chosen, and the last weights, by least squares on the rows."""
    phi, t = phi - phi.mean(axis=0), t - t.mean()
    chosen, weights = [], np.zeros(phi.shape[1])
    for _ in range(n_steps):
        residual = t - phi @ weights
        if variant == "pre-fitting":
            errors = [np.linalg.lstsq(phi[:, [*chosen, m]], t, rcond=None)[1].sum() for m in range(phi.shape[1])]
            best = min(set(range(phi.shape[1])) - set(chosen), key=lambda m: errors[m])
        else:
            best = int(np.argmax(np.abs(phi.T @ residual) / np.linalg.norm(phi, axis=0)))
        chosen.append(best)
        if variant == "basic":
            weights[best] += phi[:, best] @ residual / (phi[:, best] @ phi[:, best])
        else:
            weights[:] = 0.0
            weights[chosen] = np.linalg.lstsq(phi[:, chosen], t, rcond=None)[0]
    return chosen, weights


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_squared_loss_goes_the_way_of_the_dense_version(table, variant):
    phi, t = table
    model = KernelMatchingPursuitRegressor("passthrough", variant=variant, n_basis=7, **PLAIN).fit(phi, t)
    chosen, weights = dense_pursuit(phi, t, variant, len(model.trace_))
    assert model.trace_["index"].tolist() == chosen
    assert len(model.active_) == 7
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-6, atol=1e-9)


def test_the_basic_variant_moves_weights_again(table):
    model = KernelMatchingPursuitRegressor("passthrough", variant="basic", n_basis=9, **PLAIN).fit(*table)
    assert "change" in model.trace_["action"]
    assert (model.trace_["action"] == "add").sum() == 9


def test_the_two_choices_differ(table):
    orders = [dense_pursuit(*table, variant, 6)[0] for variant in ("back-fitting", "pre-fitting")]
    assert orders[0] != orders[1]


def test_pre_fitting_is_orthogonal_least_squares(table):
    phi, t = table
    for options in ({"patience": 2}, {"patience": 2, "n_basis": 10}, {"patience": 2, "keep_path": True}):
        pursuit = KernelMatchingPursuitRegressor("passthrough", variant="pre-fitting", **options).fit(phi, t)
        other = OrthogonalLeastSquaresRegressor("passthrough", **options).fit(phi, t)
        np.testing.assert_array_equal(pursuit.trace_, other.trace_)
        np.testing.assert_allclose(pursuit.coef_, other.coef_)


def test_freedom_of_the_basic_variant_is_the_trace_of_its_projections(table):
    phi, t = table
    phi = np.column_stack([phi, phi[:, 0] + phi[:, 1]])
    spanned, residual = Spanned(moments_of(phi, t)), np.eye(N)
    for candidate in (0, 1, 0, 15, 4, 1, 15):
        unit = phi[:, candidate] / np.linalg.norm(phi[:, candidate])
        residual -= np.multiply.outer(unit, unit @ residual)
        promised = spanned.freedom_after(candidate)
        spanned.project_out(candidate)
        np.testing.assert_allclose([promised, spanned.freedom], np.trace(residual), rtol=1e-10)


def test_the_basic_variant_stops_at_the_smallest_gcv(table):
    phi, t = table
    model = KernelMatchingPursuitRegressor("passthrough", variant="basic", **PLAIN).fit(phi, t)
    centered, residual = phi - phi.mean(axis=0), np.eye(N)
    values = []
    for candidate in model.trace_["index"]:
        unit = centered[:, candidate] / np.linalg.norm(centered[:, candidate])
        residual = residual - np.multiply.outer(unit, unit @ residual)
        q = ((residual @ (t - t.mean())) ** 2).sum()
        values.append(N * q / (np.trace(residual) - 1.0) ** 2)
    np.testing.assert_allclose(model.trace_["criterion"], values, rtol=1e-8)
    np.testing.assert_allclose(model.criterion_, min(values), rtol=1e-3)


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_a_threshold_beyond_all_rows_makes_huber_loss_that_of_squares(table, variant):
    phi, t = table
    squares = KernelMatchingPursuitRegressor("passthrough", variant=variant, **PLAIN).fit(phi, t)
    huber = KernelMatchingPursuitRegressor("passthrough", variant=variant, loss="huber", threshold=1e6, **PLAIN).fit(phi, t)
    np.testing.assert_array_equal(huber.active_, squares.active_)
    np.testing.assert_allclose(huber.coef_, squares.coef_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(huber.criterion_, squares.criterion_, rtol=1e-6)


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting"])
def test_the_scale_of_huber_loss_allows_for_the_functions_that_were_fitted(table, variant):
    phi, t = table
    model = KernelMatchingPursuitRegressor("passthrough", variant=variant, loss="huber", n_basis=14, **PLAIN).fit(phi, t)
    share = (N - 1 - 14) / (N - 1)
    middle = np.quantile(np.abs(t - model.predict(phi)), 1.0 - share / 2.0, method="inverted_cdf")  # without the 14 smallest
    scale = middle / norm.ppf(1.0 - share / 4.0)
    np.testing.assert_allclose(model.noise_variance_, scale**2 / share, rtol=1e-3)


def few_rows(variant, n_outliers):
    """Sizes and errors of models of 60 rows, of which some are far away."""
    sizes, errors = [], []
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, X_new = rng.normal(size=(60, 3)), rng.normal(size=(500, 3))
        y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
        y[rng.choice(60, n_outliers, replace=False)] += 10.0
        model = KernelMatchingPursuitRegressor("rbf", variant=variant, loss="huber", calibrate_std=False).fit(X, y)
        sizes.append(len(model.active_))
        errors.append(np.sqrt(np.mean((model.predict(X_new) - np.sin(X_new[:, 0])) ** 2)))
    return np.array(sizes), np.array(errors)


@pytest.mark.filterwarnings("ignore:The model uses up more than half")
@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_few_rows_without_outliers_are_not_interpolated(variant):
    """Many functions make half of the residuals zero. A scale that is the median of all residuals is then zero too, and V with it.

    Generalized cross validation of few rows itself may fail on one of twelve draws, as it does with squares.
    """
    sizes, errors = few_rows(variant, 0)
    assert np.sum(sizes >= 45) <= 1
    assert np.median(errors) < 0.25


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_few_rows_with_outliers_are_fitted_without_them(variant):
    sizes, errors = few_rows(variant, 6)
    assert sizes.max() < 30
    assert np.median(errors) < 0.4
    assert errors.max() < 2.5


def test_the_scale_is_that_of_normal_noise_however_much_of_it_is_fitted():
    """Least squares on k random directions takes its share of the noise from all rows; Huber's loss must still find its size."""
    rng = np.random.default_rng(0)
    for k in (0, 20, 50, 80):
        noise = rng.normal(size=(100, 200))
        directions = np.linalg.qr(rng.normal(size=(100, max(k, 1))))[0][:, :k]
        left = noise - directions @ (directions.T @ noise)
        scales = [_scale(column, np.ones(100), 1e-6, 1.0 - k / 100) for column in left.T]
        assert np.median(scales) == pytest.approx(1.0, rel=0.06)


def test_outliers_do_not_make_huber_loss_follow_the_noise():
    """If the scale does not allow for degrees of freedom, it falls as more is fitted, and the losses of outliers and V with it."""
    for seed in range(4):
        X, y = make_friedman1(300, noise=1.0, random_state=seed)
        X_new, y_new = make_friedman1(1000, noise=0.0, random_state=seed + 100)
        rng = np.random.default_rng(seed)
        y[rng.choice(300, 15, replace=False)] += rng.normal(scale=30.0, size=15)
        scaler = StandardScaler().fit(X)
        model = KernelMatchingPursuitRegressor("rbf", loss="huber", calibrate_std=False).fit(scaler.transform(X), y)
        assert np.mean((model.predict(scaler.transform(X_new)) - y_new) ** 2) < 0.4 * y_new.var()
        assert len(model.active_) < 150


def test_blocks_of_rows_give_the_same_model_for_squared_loss_and_are_refused_for_others(table):
    phi, t = table
    blocks = RowBlocks(lambda: ((phi[rows], t[rows]) for rows in (slice(0, 25), slice(25, N))))
    for variant in ("back-fitting", "pre-fitting", "basic"):
        model = KernelMatchingPursuitRegressor("passthrough", variant=variant, **PLAIN)
        whole = model.fit(phi, t).coef_
        np.testing.assert_allclose(model.fit(blocks).coef_, whole, rtol=1e-6, atol=1e-9)
    with pytest.raises(ValueError, match=r"needs them in memory.*Pass arrays"):
        KernelMatchingPursuitRegressor("passthrough", loss="huber").fit(blocks)
    assert not hasattr(KernelMatchingPursuitRegressor("passthrough", loss="huber"), "partial_fit")


LOSSES = {
    "huber": (HuberLoss(0.7), lambda rng, f: f + rng.standard_t(2, len(f))),
    "logistic": (LogisticLoss(), lambda rng, f: (f + rng.logistic(size=len(f)) > 0).astype(float)),
    "hinge": (SquaredHingeLoss(2.0), lambda rng, f: np.where(f + rng.normal(size=len(f)) > 0, 1.0, -1.0)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_slopes_and_parabolas_belong_to_the_loss(name):
    loss, draw = LOSSES[name]
    rng = np.random.default_rng(1)
    f = rng.normal(0.0, 2.0, 200)
    t, step = draw(rng, f), 1e-6
    first, curvature = loss.slopes(t, f)
    np.testing.assert_allclose(first, -(loss.values(t, f + step) - loss.values(t, f - step)) / (2 * step), atol=1e-6)
    change = -(loss.slopes(t, f + step)[0] - loss.slopes(t, f - step)[0]) / (2 * step)
    assert np.mean(np.abs(change - curvature) < 1e-6) > 0.99  # but for a kink
    for move in (-3.0, -0.1, 0.5, 4.0):
        parabola = loss.values(t, f) - first * move + 0.5 * loss.majorizer(t, f) * move**2
        assert (loss.values(t, f + move) <= parabola + 1e-12).all()


@pytest.mark.parametrize("name", LOSSES)
def test_newton_finds_the_smallest_objective(name):
    loss, draw = LOSSES[name]
    rng = np.random.default_rng(2)
    columns = np.column_stack([np.ones(80), rng.normal(size=(80, 4))])
    t, counts = draw(rng, columns @ [0.5, 2.0, -1.0, 0.0, 0.3]), rng.integers(0, 3, 80).astype(float)
    penalty = np.diag([0.0, 0.1, 0.2, 0.3, 0.4])
    model = RowModel(LossOfRows(loss, t, counts), columns, penalty, np.zeros(5)).fitted()
    assert np.abs(model.gradient()).max() < 1e-6  # the certificate: the objective is convex

    def objective(w):
        return counts @ loss.values(t, columns @ w) + 0.5 * w @ penalty @ w

    slow = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert model.objective <= slow.fun + 1e-9
    np.testing.assert_allclose(model.weights, slow.x, atol=1e-4)


def test_huber_ignores_outliers_and_is_least_squares_without_them(table):
    phi, t = table
    spoiled = t.copy()
    spoiled[::10] += 100.0
    robust = KernelMatchingPursuitRegressor("passthrough", loss="huber", n_basis=4).fit(phi, spoiled)
    np.testing.assert_array_equal(robust.active_, [0, 1, 2, 3])
    np.testing.assert_allclose(robust.coef_[:4], [3.0, -2.0, 1.0, 0.5], atol=0.3)
    assert robust.noise_variance_ < 0.3
    far = {"threshold": 1e6, "n_basis": 5, "calibrate_std": False}
    for variant in ("back-fitting", "pre-fitting"):
        wide = KernelMatchingPursuitRegressor("passthrough", variant=variant, loss="huber", **far).fit(phi, t)
        squares = KernelMatchingPursuitRegressor("passthrough", variant=variant, **{**far, "threshold": 1.0}).fit(phi, t)
        assert wide.trace_["index"].tolist() == squares.trace_["index"].tolist()
        np.testing.assert_allclose(wide.coef_, squares.coef_, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(wide.criterion_, squares.criterion_, rtol=1e-8)


def test_huber_weights_have_the_uncertainty_that_repeated_data_show():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    found = []
    for _ in range(60):
        y = X @ [1.0, 0.5, -0.5] + 0.2 * rng.standard_t(2.5, 120)
        found.append(KernelMatchingPursuitRegressor("passthrough", loss="huber", n_basis=3, calibrate_std=False).fit(X, y))
    spread = np.std([model.coef_ for model in found], axis=0)
    np.testing.assert_allclose(np.mean([model.coef_std_ for model in found], axis=0), spread, rtol=0.35)


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_labels_are_learned_and_the_evidence_chooses_the_size(variant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    y = X[:, 1] - 2.0 * X[:, 4] + rng.logistic(size=300) > 0
    model = KernelMatchingPursuitClassifier("passthrough", variant=variant).fit(X, y)
    np.testing.assert_array_equal(model.active_, [1, 4])
    assert model.score(X, y) > 0.75
    assert len(KernelMatchingPursuitClassifier("passthrough", variant=variant, n_basis=5).fit(X, y).active_) == 5


def test_separable_classes_have_finite_weights():
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    model = KernelMatchingPursuitClassifier("rbf", n_basis=3).fit(X, X[:, 0] > 0)
    assert np.isfinite(model.dual_coef_).all()
    assert model.score(X, X[:, 0] > 0) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"variant": "prefitting"}, r"variant must be one of \['back-fitting', 'pre-fitting', 'basic'\], got 'prefitting'"),
        ({"loss": "logistic"}, "Use KernelMatchingPursuitClassifier"),
        ({"loss": "absolute"}, "loss must be one of"),
        ({"threshold": 0.0, "loss": "huber"}, "threshold must be positive and finite, got 0.0"),
        ({"n_basis": 5, "max_active": 2}, "n_basis"),
    ],
)
def test_wrong_parameters(table, options, message):
    with pytest.raises(ValueError, match=message):
        KernelMatchingPursuitRegressor("passthrough", **options).fit(*table)


@pytest.mark.parametrize("variant", ["back-fitting", "basic"])
@pytest.mark.parametrize("loss", ["squared", "huber"])
def test_exact_targets_duplicates_and_constant_columns(variant, loss):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X = np.column_stack([X, X[:, 0], np.ones(40)])
    model = KernelMatchingPursuitRegressor("passthrough", variant=variant, loss=loss)
    model.fit(X, X[:, 0] - 2.0 * X[:, 1])
    np.testing.assert_allclose(model.predict(X), X[:, 0] - 2.0 * X[:, 1], atol=1e-3)
    assert 4 not in model.active_
    flat = KernelMatchingPursuitRegressor("passthrough", variant=variant, loss=loss).fit(X, np.ones(40))
    assert flat.outcome_ is Outcome.CONSTANT_TARGET


def test_constant_columns_of_any_size_never_enter():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.full(80, 0.1), np.full(80, 1e8 / 3), 1e-9 * rng.normal(size=80)])
    y = 1e9 * X[:, 2] + rng.normal(size=80)
    robust = KernelMatchingPursuitRegressor("passthrough", loss="huber", n_basis=2)
    with pytest.warns(UserWarning, match="fewer functions than n_basis"):
        robust.fit(X, y)
    np.testing.assert_array_equal(robust.active_, [2])
    np.testing.assert_array_equal(KernelMatchingPursuitClassifier("passthrough").fit(X, y > 0).active_, [2])
    np.testing.assert_array_equal(PrimalSVMClassifier("passthrough", tol=0.0).fit(X, y > 0).active_, [2])


@pytest.mark.parametrize("loss", ["logistic", "huber"])
def test_weights_that_have_settled_do_not_keep_wanted_functions_out(rng, loss):
    """One column says nearly everything, so the basic variant would move its weight again and again."""
    X = rng.normal(size=(60, 3))
    X[:, 1:] *= 1e-3
    y = X[:, 0] + 0.1 * rng.normal(size=60)
    if loss == "logistic":
        model = KernelMatchingPursuitClassifier("passthrough", variant="basic", n_basis=3, calibrate_proba=False).fit(X, y > 0.0)
    else:
        model = KernelMatchingPursuitRegressor("passthrough", variant="basic", loss="huber", n_basis=3, calibrate_std=False).fit(
            X, y
        )
    assert model.outcome_ is Outcome.GOAL_REACHED
    assert len(model.active_) == 3
    assert model.n_iter_ < 200


def test_the_basic_variant_of_squares_grows_to_as_many_functions_as_are_wanted(rng):
    """Few functions more explain what is left, and moving the weights of the others would take tens of thousands of steps."""
    X = rng.normal(size=(60, 3))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    model = KernelMatchingPursuitRegressor("rbf", variant="basic", n_basis=55, calibrate_std=False).fit(X, y)
    assert model.outcome_ is Outcome.GOAL_REACHED
    assert len(model.active_) == 55
    assert model.n_iter_ < 1000


def test_the_basic_variant_takes_the_same_way_to_a_size_by_both_losses(table):
    phi, t = table
    options = {"variant": "basic", "n_basis": 6, "calibrate_std": False}
    squares, huber = (
        KernelMatchingPursuitRegressor("passthrough", **options, **more).fit(phi, t)
        for more in ({}, {"loss": "huber", "threshold": 1e6})
    )
    np.testing.assert_array_equal(squares.trace_["index"], huber.trace_["index"])
    np.testing.assert_allclose(squares.coef_, huber.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("variant", ["back-fitting", "basic"])
def test_wide_kernels_that_help_only_together_do_not_end_the_search(variant):
    X, y = make_friedman1(300, noise=1.0, random_state=102)
    model = KernelMatchingPursuitRegressor(variant=variant, calibrate_std=False, random_state=0).fit(X, y)
    assert len(model.active_) > 10
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("variant", ["back-fitting", "pre-fitting", "basic"])
def test_huber_loss_fits_targets_most_of_which_are_equal(variant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.where(X[:, 0] > 0.6, 3.0 * X[:, 0], 0.0)
    mean, std = KernelMatchingPursuitRegressor("rbf", loss="huber", variant=variant).fit(X, y).predict(X, return_std=True)
    assert np.corrcoef(mean, y)[0, 1] > 0.8
    assert std.min() > 1e-3

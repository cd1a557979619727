"""Kernel widths by evidence."""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_friedman1
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skarce import EvidenceRegressor, FastGCVRegressor, KernelBasis, RelevanceVectorRegressor
from skarce.designs import RowBlocks
from skarce.model_selection import learn_widths
from skarce.model_selection.kernel_slopes import NAMES
from skarce.model_selection.width_objective import NOISE_PRIOR, Objective
from tests.model_selection.test_width_evidence import dense_log_evidence
from tests.oracles import rbf


@pytest.mark.parametrize("rule", ["ard", "evidence"])
def test_a_given_prior_of_the_weights_is_kept(two_inputs, rule):
    X, y = two_inputs
    free, given = (learn_widths(X, y, gamma=rule, tol=1e-6, weight_variance=v) for v in (None, 0.5))
    assert given.weight_precision == pytest.approx(2.0)

    def evidence(gamma, noise):
        phi = rbf(X * np.sqrt(gamma), X * np.sqrt(gamma), 1.0)
        return dense_log_evidence(phi @ phi.T, y, 2.0 * noise, noise, True)

    best = evidence(given.gamma, given.noise_variance)
    assert given.log_evidence == pytest.approx(best, rel=1e-7)
    for factor in (0.97, 1.03):
        assert evidence(given.gamma * factor, given.noise_variance) < best + 1e-5
        assert evidence(given.gamma, given.noise_variance * factor) < best + 1e-5
    same = learn_widths(X, y, gamma=rule, tol=1e-6, weight_variance=1.0 / free.weight_precision)
    assert same.log_evidence > free.log_evidence - 1e-2


def test_starts_race_under_the_prior_that_is_given():
    """On this data set the best maximum of the process leads to a poor one under a prior variance of one (errata 3.3)."""
    X, y = make_friedman1(240, noise=1.0, random_state=1)
    y = y / (np.ptp(y) / 2)
    learned = learn_widths(2 * X - 1, y, weight_variance=1.0)
    free = learn_widths(2 * X - 1, y)
    assert free.log_evidence - 30 < learned.log_evidence < free.log_evidence
    assert learned.gamma[:4].min() > 3 * learned.gamma[5:].max()


@pytest.fixture(scope="module")
def two_inputs():
    rng = np.random.default_rng(1)
    X = rng.uniform(-3, 3, (80, 2))
    return X, np.sin(X[:, 0]) + rng.normal(0, 0.1, 80)


@pytest.mark.parametrize("covariance", ["weights", "kernel"])
@pytest.mark.parametrize("rule", ["ard", "evidence"])
def test_no_change_of_what_was_learned_raises_the_dense_evidence(two_inputs, rule, covariance):
    X, y = two_inputs
    learned = learn_widths(X, y, gamma=rule, covariance=covariance, tol=1e-6)

    def evidence(gamma, precision, noise):
        phi = rbf(X * np.sqrt(gamma), X * np.sqrt(gamma), 1.0)
        signal = phi if covariance == "kernel" else phi @ phi.T
        return dense_log_evidence(signal, y, noise * precision, noise, True)

    def posterior(gamma, precision, noise):
        return evidence(gamma, precision, noise) + NOISE_PRIOR * np.log(noise)

    found = learned.gamma, learned.weight_precision, learned.noise_variance
    assert learned.log_evidence == pytest.approx(evidence(*found), rel=1e-7)
    best = posterior(*found)
    for position, factor in itertools.product(range(3), [0.97, 1.03]):
        changed = list(found)
        changed[position] = changed[position] * factor
        assert posterior(*changed) < best + 1e-5


def test_weight_two_is_the_row_twice(two_inputs):
    X, y = two_inputs
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    weighted = learn_widths(X, y, sample_weight=weights, tol=1e-7)
    repeated = learn_widths(np.repeat(X, weights, axis=0), np.repeat(y, weights), tol=1e-7)
    assert weighted.log_evidence == pytest.approx(repeated.log_evidence, abs=1e-4)
    assert weighted.gamma[0] == pytest.approx(repeated.gamma[0], rel=1e-2)


def test_units_do_not_matter(two_inputs):
    X, y = two_inputs
    plain = learn_widths(X, y, tol=1e-6)
    scaled = learn_widths(X * [1e80, 1e-3] + [0.0, 5.0], y * 1e140 + 1e140, tol=1e-6)
    assert scaled.gamma[0] * 1e160 == pytest.approx(plain.gamma[0], rel=0.02)
    assert scaled.gamma[1] * 1e-6 < 0.01 * plain.gamma[0]
    assert scaled.noise_variance / 1e280 == pytest.approx(plain.noise_variance, rel=1e-3)
    assert scaled.log_evidence == pytest.approx(plain.log_evidence - 79 * 140 * np.log(10), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_friedman_inputs_are_told_from_noise_inputs(seed):
    X, y = make_friedman1(240, noise=1.0, random_state=seed)
    learned = learn_widths(X, y)
    assert learned.gamma[:5].min() > 3 * learned.gamma[5:].max()
    noise = y - make_friedman1(240, noise=0.0, random_state=seed)[1]
    assert learned.noise_variance == pytest.approx(np.mean(noise**2), rel=0.25)


@pytest.mark.parametrize("make", [EvidenceRegressor, RelevanceVectorRegressor])
def test_if_there_is_hardly_a_signal_it_is_noise(make):
    """Narrow kernels, one for each row, explain noise as well as noise does; the intervals would then cover nothing."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, X_test = rng.normal(size=(100, 5)), rng.normal(size=(500, 5))
        y, y_test = (0.3 * at[:, 0] + rng.normal(size=len(at)) for at in (X, X_test))
        model = make(KernelBasis(gamma="ard")).fit(X, y)
        mean, std = model.predict(X_test, return_std=True)
        assert np.mean(np.abs(mean - y_test) < 1.96 * std) > 0.85


@pytest.mark.parametrize("rule", ["ard", "evidence"])
def test_weights_do_not_prove_that_there_is_no_noise(two_inputs, rule):
    X, y = two_inputs
    plain = learn_widths(X, y, gamma=rule)
    for weights in (np.full(len(y), 2.0), np.random.default_rng(0).uniform(0.5, 1.6, len(y))):
        learned = learn_widths(X, y, gamma=rule, sample_weight=weights)
        assert learned.noise_variance == pytest.approx(plain.noise_variance, rel=0.3)
    again = np.random.default_rng(0).integers(0, len(y), 2 * len(y))
    drawn = learn_widths(X[again], y[again], gamma=rule)
    assert drawn.noise_variance == pytest.approx(plain.noise_variance, rel=0.3)


@pytest.mark.parametrize("method", [RelevanceVectorRegressor, FastGCVRegressor])
def test_sparse_models_on_learned_widths_are_small_and_good(method):
    X_test, y_test = make_friedman1(2000, random_state=999)
    errors, sizes = [], []
    for seed in range(5):
        X, y = make_friedman1(240, noise=1.0, random_state=seed)
        model = method(KernelBasis(gamma="ard")).fit(X, y)
        errors.append(np.mean((model.predict(X_test) - y_test) ** 2))
        sizes.append(len(model.active_))
    assert np.mean(errors) < 0.4
    assert np.mean(sizes) < 30


def test_learned_on_a_race_and_then_on_more_rows():
    X, y = make_friedman1(700, noise=1.0, random_state=0)
    seen = []
    learned = learn_widths(X, y, max_rows=500, callback=seen.append)
    assert learned.n_rows == 500
    assert {progress.n_rows for progress in seen if progress.start < 3} == {250}  # three starts
    assert {progress.n_rows for progress in seen if progress.start >= 3} == {500}
    assert learned.gamma[:5].min() > learned.gamma[5:].max()
    assert learned.n_evaluations >= seen[-1].n_evaluations


def test_time_and_callback_end_it_early(two_inputs):
    X, y = two_inputs

    def enough(progress):
        raise StopIteration

    full = learn_widths(X, y)
    with pytest.warns(ConvergenceWarning, match="time limit was reached while kernel widths were learned"):
        late = learn_widths(X, y, max_time=0.0)
    for few in (late, learn_widths(X, y, callback=enough)):
        assert few.n_evaluations < 0.5 * full.n_evaluations
        assert np.isfinite(few.log_evidence)


def test_several_outputs_share_the_widths(two_inputs):
    X, y = two_inputs
    learned = learn_widths(X, np.column_stack([y, -50.0 * y, np.full(80, 3.0)]))
    assert learned.noise_variance.shape == learned.weight_precision.shape == (3,)
    assert learned.noise_variance[1] == pytest.approx(2500 * learned.noise_variance[0])
    assert learned.noise_variance[2] == 0.0
    assert learned.gamma[0] > 100 * learned.gamma[1]


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("X", "y"),
    [
        (np.ones((10, 2)), np.arange(10.0)),
        (np.arange(20.0).reshape(10, 2), np.ones(10)),
        (np.ones((1, 2)), np.ones(1)),
        (np.arange(4.0).reshape(2, 2), np.arange(2.0)),
        (np.column_stack([np.arange(10.0), np.full(10, 1e8)]), np.arange(10.0)),
        (np.repeat(np.arange(3.0), 5)[:, None], np.arange(15.0)),
    ],
)
@pytest.mark.parametrize("rule", ["ard", "evidence"])
@pytest.mark.parametrize("kernel", NAMES)
def test_little_to_learn_from_gives_some_width(X, y, rule, kernel):
    for intercept in (True, False):
        gamma = learn_widths(X, y, gamma=rule, kernel=kernel, fit_intercept=intercept).gamma
        assert np.isfinite(gamma).all()
        assert (np.asarray(gamma) >= 0.0).all()
        model = RelevanceVectorRegressor(KernelBasis(kernel, gamma=rule), fit_intercept=intercept).fit(X, y)
        assert np.isfinite(model.predict(X, return_std=True)).all()


def test_inputs_that_do_not_vary_have_no_width(two_inputs):
    X, y = two_inputs
    learned = learn_widths(np.column_stack([X, np.full(80, 7.0)]), y)
    assert learned.gamma[2] == 0.0
    assert learned.gamma[0] > 0.0


@pytest.mark.parametrize("rule", ["ard", "evidence"])
def test_basis_learns_by_itself_and_needs_the_targets(two_inputs, rule):
    X, y = two_inputs
    basis = KernelBasis(gamma=rule).fit(X, y)
    np.testing.assert_array_equal(basis.gamma_, learn_widths(X, y, gamma=rule).gamma)
    assert np.ndim(basis.gamma_) == (rule == "ard")
    assert basis.gamma == rule
    with pytest.raises(ValueError, match=r"is learned from the targets\. Pass y"):
        KernelBasis(gamma=rule).fit(X)
    for kernel in ("polynomial", "linear", "cosine", rbf):
        with pytest.raises(ValueError, match="distance kernels"):
            KernelBasis(kernel, gamma=rule).fit(X, y)


def test_estimators_pass_on_intercept_weights_and_centers(two_inputs):
    X, y = two_inputs
    weights = np.random.default_rng(0).integers(1, 4, len(y)).astype(float)
    model = RelevanceVectorRegressor(KernelBasis("matern52", gamma="ard"), fit_intercept=False).fit(X, y, sample_weight=weights)
    expected = learn_widths(X, y, kernel="matern52", fit_intercept=False, sample_weight=weights)
    np.testing.assert_array_equal(model.basis_.gamma_, expected.gamma)
    model = FastGCVRegressor(KernelBasis(gamma="ard", centers=20), random_state=3).fit(X, y)
    centers = KernelBasis(centers=20, random_state=3).fit(X).centers_
    np.testing.assert_array_equal(model.basis_.gamma_, learn_widths(X, y, centers=centers, random_state=3).gamma)


def test_the_basis_passes_its_options_on(two_inputs):
    X, y = two_inputs
    told = []
    options = {"covariance": "kernel", "n_starts": 1, "max_rows": 30, "max_iter": 7, "tol": 1e-3}
    basis = KernelBasis(gamma="ard", centers=X[:10], width_params={**options, "callback": told.append}, random_state=3).fit(X, y)
    expected = learn_widths(X, y, random_state=3, **options)
    np.testing.assert_array_equal(basis.gamma_, expected.gamma)
    assert len(basis.centers_) == 10
    assert told[-1].n_rows == 30
    with pytest.raises(ValueError, match=r"width_params has no \['starts'\]; choose from"):
        KernelBasis(gamma="ard", width_params={"starts": 2}).fit(X, y)


def test_pipelines_grid_search_clone_and_pickle(two_inputs):
    X, y = two_inputs
    pipeline = make_pipeline(StandardScaler(), RelevanceVectorRegressor(KernelBasis(gamma="ard")))
    model = clone(pipeline).fit(X, y)
    same = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(same.predict(X), model.predict(X))
    assert model[-1].basis.gamma == "ard"
    grid = {"basis__gamma": ["scale", "evidence", "ard"], "basis__kernel": ["rbf", "matern32"]}
    search = GridSearchCV(RelevanceVectorRegressor("rbf"), grid, cv=2).fit(X, y)
    assert search.best_params_["basis__gamma"] == "ard"
    assert RelevanceVectorRegressor(make_pipeline(StandardScaler(), KernelBasis(gamma="ard"))).fit(X, y).score(X, y) > 0.95


def test_row_blocks_learn_on_their_sample(two_inputs):
    X, y = two_inputs
    basis = KernelBasis(gamma="ard", centers=X[:30])
    streamed = RelevanceVectorRegressor(basis).fit(RowBlocks.from_arrays(X, y, block_rows=33))
    np.testing.assert_array_equal(streamed.basis_.gamma_, learn_widths(X, y, centers=X[:30]).gamma)
    assert streamed.score(X, y) > 0.95


def test_single_precision_two_targets_and_max_time(two_inputs):
    X, y = two_inputs
    model = RelevanceVectorRegressor(KernelBasis(gamma="ard"), verbose=1).fit(X.astype(np.float32), np.column_stack([y, -y]))
    assert model.score(X, np.column_stack([y, -y])) > 0.95
    RelevanceVectorRegressor(KernelBasis(gamma="ard"), max_time=60.0, max_active=3).fit(X, y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gamma": "scale"}, "gamma must be one of"),
        ({"kernel": "sigmoid"}, "distance kernels"),
        ({"covariance": "full"}, "covariance must be one of"),
        ({"covariance": "kernel", "centers": np.zeros((3, 2))}, "takes no centers"),
        ({"covariance": "kernel", "weight_variance": 1.0}, "a process has no weights"),
        ({"weight_variance": -1.0}, "weight_variance must be positive"),
        ({"weight_variance": [1.0, 2.0]}, "one number, or one for each"),
        ({"n_starts": 0}, "n_starts must be a whole number of at least 1"),
        ({"max_rows": 1}, "max_rows must be a whole number of at least 2"),
    ],
)
def test_wrong_parameters_are_named(two_inputs, parameters, message):
    with pytest.raises(ValueError, match=message):
        learn_widths(*two_inputs, **parameters)


def test_inputs_so_large_that_squares_overflow_are_named(two_inputs):
    X, y = two_inputs
    with pytest.raises(ValueError, match="Scale the inputs"):
        learn_widths(X * 1e200, y)


def test_the_time_is_asked_before_every_evaluation(two_inputs, monkeypatch):
    """A line search needs many evaluations. Here each of them takes a second, and nothing else takes time."""
    seconds = itertools.count(1)
    clock, evaluate = [0.0], Objective.__call__

    def slow(objective, at):
        clock[0] = float(next(seconds))
        return evaluate(objective, at)

    monkeypatch.setattr(Objective, "__call__", slow)
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    for max_time in (0.0, 3.0, 10.0, 30.0):
        started = clock[0]
        with pytest.warns(ConvergenceWarning, match="time limit"):
            found = learn_widths(*two_inputs, max_time=max_time, tol=1e-9)
        assert clock[0] - started <= max_time + 2.0  # the first evaluations, on few rows and on all, are always made
        assert np.isfinite(found.log_evidence)


@pytest.mark.parametrize("gamma", ["evidence", "ard"])
def test_kernels_that_vanish_at_all_rows_are_no_problem(gamma):
    """Centers so far away that every kernel is zero carry no energy, at any width of the search."""
    X = np.round(np.random.default_rng(41).normal(size=(34, 3)))
    for centers in (np.ones((2, 3)), np.full((2, 3), 1e6)):
        found = learn_widths(X, np.sin(X[:, 0]), gamma=gamma, centers=centers)
        assert np.isfinite(found.log_evidence)
        assert np.isfinite(found.gamma).all()


def test_labels_are_not_numbers_without_noise():
    """Classes that overlap: a Gaussian process without noise explains labels better than one with noise does."""
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(300, 3)), 1)
    labels = np.where(X[:, 0] + 0.5 * rng.logistic(size=300) > 0.0, 1.0, -1.0)
    learned = learn_widths(X, labels, covariance="kernel", noise_share=1.0)
    assert learned.noise_variance == pytest.approx(labels.var(ddof=1))
    assert learned.gamma[0] * np.ptp(X[:, 0]) ** 2 < 10.0
    assert learned.gamma[1:].max() < 0.1 * learned.gamma[0]


def test_flat_kernels_are_held_back():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (60, 1))
    y = X[:, 0] + 0.01 * rng.normal(size=60)
    flat, curved = (learn_widths(X, y, covariance="kernel", flatness=flatness).gamma[0] for flatness in (0.0, 5.0))
    assert flat < 0.01 * curved


@pytest.mark.parametrize(("name", "wrong"), [("noise_share", 0.0), ("noise_share", "x"), ("flatness", -1.0), ("flatness", None)])
def test_wrong_priors_are_named(name, wrong):
    with pytest.raises(ValueError, match=f"{name} must be"):
        learn_widths([[0.0], [1.0], [2.0]], [0.0, 1.0, 0.0], **{name: wrong})


def test_weights_that_leave_no_contrast_give_the_first_guess():
    X, y, weights = np.array([[0.0], [1.0]]), np.array([1e12, 0.0]), np.full(2, 0.5)  # one observation, and an intercept
    with np.errstate(all="raise"):
        learned = learn_widths(X, y, sample_weight=weights)
    assert np.isfinite(learned.gamma).all()
    assert learned.n_evaluations == 0


def test_evidence_of_labels_finds_wider_kernels_than_labels_as_numbers():
    """Log odds that are linear have wide kernels, and labels as numbers are steep between the classes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    labels = (4.0 * X[:, 0] + rng.logistic(size=200) > 0.0).astype(float)
    numbers = learn_widths(X, labels, covariance="kernel", noise_share=1.0)
    learned = learn_widths(X, labels, covariance="kernel", likelihood="bernoulli")
    swapped = learn_widths(X, 1.0 - labels, covariance="kernel", likelihood="bernoulli")
    np.testing.assert_array_equal(learned.gamma, swapped.gamma)
    assert learned.gamma[0] < 0.7 * numbers.gamma[0]
    assert learned.gamma[1] < 0.1 * learned.gamma[0]
    assert learned.noise_variance == pytest.approx(1.0 / (labels.mean() * (1.0 - labels.mean())))
    assert learned.log_evidence > 200 * np.log(0.5)


def test_labels_have_two_values_and_no_noise():
    X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="more than two values"):
        learn_widths(X, y, likelihood="bernoulli")
    with pytest.raises(ValueError, match="need likelihood"):
        learn_widths(X, [0.0, 1.0, 0.0], likelihood="bernoulli", noise_share=1.0)
    with pytest.raises(ValueError, match="likelihood must be"):
        learn_widths(X, [0.0, 1.0, 0.0], likelihood="probit")


def test_a_target_so_small_that_its_noise_is_no_number_has_the_largest_precision():
    """Warnings of NumPy are errors here: the variance of the noise underflows, and the precision of weights would be infinite."""
    rng = np.random.default_rng(89)
    X = rng.normal(size=(11, 1))
    y = (X[:, 0] + 0.01 * rng.normal(size=11) + 1e10) * 1e-160
    found = learn_widths(X, y)
    assert np.isfinite(found.weight_precision).all()
    assert np.isfinite(found.gamma).all()

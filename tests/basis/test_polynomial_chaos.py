"""Terms are orthonormal under the exact measure, are scipy's polynomials with their norms, and are those of the truncation."""

import itertools
import pickle
from math import comb, factorial

import numpy as np
import pytest
from scipy import special, stats
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import skarce
from skarce import PolynomialChaosBasis, RelevanceVectorRegressor, VBLSRegressor
from skarce.basis import fit_basis
from skarce.basis.multi_indices import MOST_TERMS
from skarce.designs import RowBlocks
from skarce.estimators.trusted_types import trusted_types
from tests.estimator_lists import LATENT, REGRESSORS

A, B, LOC, SCALE = 1.7, 0.6, -2.0, 3.5


def on_unit_interval(rule):
    """A rule for [-1, 1] on [0, 1], where scipy's distributions are."""
    return 0.5 * (rule[0] + 1.0), rule[1]


# Frozen distributions, and Gauss rules of scipy.special for loc 0 and scale 1.
LAWS = {
    "uniform": (stats.uniform(LOC, SCALE), lambda n: on_unit_interval(special.roots_legendre(n))),
    "normal": (stats.norm(LOC, SCALE), special.roots_hermitenorm),
    "exponential": (stats.expon(LOC, SCALE), special.roots_laguerre),
    "gamma": (stats.gamma(A, LOC, SCALE), lambda n: special.roots_genlaguerre(n, A - 1.0)),
    "gamma by name": (stats.gamma(a=A, scale=SCALE, loc=LOC), lambda n: special.roots_genlaguerre(n, A - 1.0)),
    "beta": (stats.beta(A, B, LOC, SCALE), lambda n: on_unit_interval(special.roots_jacobi(n, B - 1.0, A - 1.0))),
    # a + b = 1 and a + b = 2, where the formulas of the recurrence are 0 / 0
    "arcsine": (stats.beta(0.5, 0.5, loc=LOC, scale=SCALE), lambda n: on_unit_interval(special.roots_jacobi(n, -0.5, -0.5))),
    "flat beta": (stats.beta(1, 1, LOC, SCALE), lambda n: on_unit_interval(special.roots_legendre(n))),
}


def quadrature(name, n=40):
    """Nodes and weights that are exact for polynomials of degree 2 n - 1."""
    nodes, weights = LAWS[name][1](n)
    return LOC + SCALE * nodes, weights / weights.sum()


@pytest.mark.parametrize("name", LAWS)
def test_polynomials_are_orthonormal_under_the_exact_measure(name):
    nodes, weights = quadrature(name)
    frozen = LAWS[name][0]
    assert weights @ nodes == pytest.approx(frozen.mean())  # the rule is that of this distribution
    assert weights @ nodes**2 == pytest.approx(frozen.var() + frozen.mean() ** 2)
    phi = PolynomialChaosBasis(15, distributions=frozen).fit_transform(nodes[:, None])
    np.testing.assert_allclose(weights @ phi, 0.0, atol=1e-9)  # to the constant
    np.testing.assert_allclose((phi * weights[:, None]).T @ phi, np.eye(15), atol=1e-8)


def test_products_are_orthonormal_under_the_product_of_measures():
    names = ("uniform", "gamma", "beta")
    rules = [quadrature(name, 8) for name in names]
    nodes = np.array(list(itertools.product(*(rule[0] for rule in rules))))
    weights = np.prod(list(itertools.product(*(rule[1] for rule in rules))), axis=1)
    phi = PolynomialChaosBasis(4, distributions=[LAWS[name][0] for name in names]).fit_transform(nodes)
    assert phi.shape[1] == comb(7, 3) - 1
    np.testing.assert_allclose(weights @ phi, 0.0, atol=1e-10)
    np.testing.assert_allclose((phi * weights[:, None]).T @ phi, np.eye(phi.shape[1]), atol=1e-9)


def test_polynomials_are_those_of_scipy_with_their_norms():
    z, n = np.linspace(0.01, 0.99, 25), np.arange(1, 11)
    signs = (-1.0) ** n  # leading coefficients of Laguerre's polynomials alternate
    t = 2.0 * z - 1.0
    # squared norm of Jacobi's polynomials over that of the constant
    alpha, beta = B - 1.0, A - 1.0
    log_norm = special.gammaln(n + A) + special.gammaln(n + B) - special.gammaln(n + A + B - 1.0) - special.gammaln(n + 1.0)
    jacobi_norm = np.exp(log_norm - special.betaln(A, B)) / (2.0 * n + A + B - 1.0)
    expected = {
        "uniform": (t, [special.eval_legendre(k, t) * np.sqrt(2 * k + 1) for k in n]),
        "normal": (z, [special.eval_hermitenorm(k, z) / np.sqrt(factorial(k)) for k in n]),
        "exponential": (z, [special.eval_laguerre(k, z) * sign for k, sign in zip(n, signs, strict=True)]),
    }
    for name, (values, columns) in expected.items():
        phi = PolynomialChaosBasis(10, distributions=name).fit_transform(values[:, None])
        np.testing.assert_allclose(phi, np.transpose(columns), atol=1e-10)
    phi = PolynomialChaosBasis(10, distributions=stats.gamma(A)).fit_transform(z[:, None])
    norms = np.sqrt([special.binom(k + A - 1.0, k) for k in n])
    np.testing.assert_allclose(phi, np.transpose([special.eval_genlaguerre(k, A - 1.0, z) for k in n]) * signs / norms, atol=1e-10)
    phi = PolynomialChaosBasis(10, distributions=stats.beta(A, B)).fit_transform(z[:, None])
    jacobi = np.transpose([special.eval_jacobi(k, alpha, beta, t) for k in n])
    np.testing.assert_allclose(phi, jacobi / np.sqrt(jacobi_norm), atol=1e-9)


def test_high_degrees_stay_accurate():
    nodes, weights = special.roots_legendre(220)
    phi = PolynomialChaosBasis(200).fit_transform(nodes[:, None])
    np.testing.assert_allclose((phi * (0.5 * weights)[:, None]).T @ phi, np.eye(200), atol=1e-9)


@pytest.mark.parametrize(("n_inputs", "degree"), [(1, 5), (2, 6), (3, 4), (4, 9), (6, 3)])
@pytest.mark.parametrize("order", [None, 1, 2, 3, 9])
@pytest.mark.parametrize("q", [1.0, 0.75, 0.5, 0.1])
def test_terms_are_those_of_the_truncation(n_inputs, degree, order, q):
    basis = PolynomialChaosBasis(degree, interaction_order=order, q_norm=q).fit(np.zeros((1, n_inputs)))
    every = np.array(list(itertools.product(range(degree + 1), repeat=n_inputs)))
    norms = np.where(every > 0, every.astype(float) ** q, 0.0).sum(axis=1) ** (1.0 / q)
    n_active = (every > 0).sum(axis=1)
    belongs = (norms <= degree * (1.0 + 1e-9)) & (n_active >= 1) & (n_active <= (order or n_inputs))
    found = [tuple(term) for term in basis.multi_indices_]
    assert len(found) == len(set(found))
    assert set(found) == {tuple(term) for term in every[belongs]}
    assert found == sorted(found, key=lambda term: (sum(term), [-degree for degree in term]))


def test_terms_at_the_limit_belong_to_the_set():
    terms = PolynomialChaosBasis(9, q_norm=0.5).fit(np.zeros((1, 2))).multi_indices_.tolist()
    assert [4, 1] in terms  # 2 + 1 = 3 = sqrt(9)
    assert [4, 2] not in terms


@pytest.mark.parametrize(
    ("n_inputs", "options", "number"),
    [
        (50, {"degree": 5}, f"{comb(55, 5) - 1:,}"),
        (40, {"degree": 20, "interaction_order": 3}, f"{sum(comb(40, k) * comb(20, k) for k in (1, 2, 3)):,}"),
        (60, {"degree": 9, "q_norm": 0.7}, f"more than {MOST_TERMS:,}"),
        (2, {"degree": 10**5, "q_norm": 0.5}, f"more than {MOST_TERMS:,}"),
        (3, {"degree": 10**12, "q_norm": 0.5}, "at least 3,000,000,000,000"),
        (1000, {"degree": 1000}, "at least 1,000,000,000,000,000"),
        (10**4, {"degree": 1}, "the list of 10,000 terms needs an array of 10000 x 10000"),
    ],
)
def test_an_enormous_number_of_terms_is_refused(n_inputs, options, number):
    with pytest.raises(ValueError, match=f"{number}.*lower degree, a smaller interaction_order"):
        PolynomialChaosBasis(**options).fit(np.zeros((1, n_inputs)))


def test_thousands_of_terms_in_many_inputs():
    X = np.random.default_rng(0).uniform(-1, 1, (2000, 40))
    basis = PolynomialChaosBasis(3, interaction_order=2)
    phi = basis.fit_transform(X)
    expected = sum(comb(40, k) * comb(3, k) for k in (1, 2))
    assert phi.shape == (2000, expected)
    term = int(np.flatnonzero((basis.multi_indices_ == 2 * np.eye(40, dtype=int)[7] + np.eye(40, dtype=int)[31]).all(axis=1))[0])
    by_hand = special.eval_legendre(2, X[:, 7]) * np.sqrt(5.0) * X[:, 31] * np.sqrt(3.0)
    np.testing.assert_allclose(phi[:, term], by_hand, atol=1e-12)


@pytest.mark.parametrize(
    ("distribution", "inside", "outside", "text"),
    [
        ("uniform", [-1.0, 1.0, 1.0 + 1e-15], 1.001, r"1\.001 is outside of the support \[-1, 1\] of its uniform"),
        (stats.beta(2, 3, 5, 2), [5.0, 7.0], 4.9, r"4\.9 is outside of the support \[5, 7\] of its beta"),
        ("exponential", [0.0, 700.0], -0.5, r"-0\.5 is outside of the support \[0, inf\] of its exponential"),
        (stats.gamma(2, loc=1), [1.0, 99.0], 0.5, r"0\.5 is outside of the support \[1, inf\] of its gamma"),
    ],
)
def test_values_outside_of_the_support_are_named(distribution, inside, outside, text):
    rows = np.column_stack([np.zeros(len(inside)), inside])
    basis = PolynomialChaosBasis(2, distributions=["normal", distribution]).fit(rows)
    wrong = np.vstack([rows, [[0.0, outside], [0.0, outside]]])
    for call in (basis.transform, basis.fit):
        with pytest.raises(ValueError, match=rf"row {len(rows)} of {len(rows) + 2}, column 1: {text}"):
            call(wrong)
    assert np.isfinite(basis.transform(rows)).all()


def test_rounding_to_single_precision_stays_inside():
    basis = PolynomialChaosBasis(2, distributions=stats.uniform(-np.pi, 2.0 * np.pi))
    rounded = np.float32([[np.pi], [-np.pi]])
    assert float(rounded[0, 0]) > np.pi
    np.testing.assert_allclose(basis.fit_transform(rounded), np.sqrt([[3.0, 5.0], [3.0, 5.0]]) * [[1, 1], [-1, 1]], rtol=1e-6)


def test_names_show_inputs_degrees_and_families():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"load": [0.1], "width": [0.2], "time": [0.3], "share": [0.4]})
    distributions = ["uniform", "normal", "exponential", stats.beta(2, 2)]
    basis = PolynomialChaosBasis(2, distributions=distributions).fit(X)
    names = basis.get_feature_names_out().tolist()
    assert names[:5] == ["P1(load)", "He1(width)", "L1(time)", "J1(share)", "P2(load)"]
    assert names[5] == "P1(load) He1(width)"
    assert basis.get_feature_names_out(["load", "width", "time", "share"]).tolist() == names
    with pytest.raises(ValueError, match=r"column 0 \('load'\): 2 is outside"):
        basis.transform(X.assign(load=2.0))
    framed = basis.set_output(transform="pandas").transform(X)
    assert framed.columns.tolist() == names


def test_selected_terms_are_evaluated_alone(rng):
    X = rng.uniform(-1, 1, (700, 4))
    basis = PolynomialChaosBasis(4).fit(X)
    for indices in ([5, 40, 2], []):
        chosen = basis.select(indices)
        np.testing.assert_array_equal(chosen.transform(X), basis.transform(X)[:, indices])
        assert chosen.get_feature_names_out().tolist() == basis.get_feature_names_out()[indices].tolist()
    assert len(basis.multi_indices_) == comb(8, 4) - 1


def test_candidates_can_be_evaluated_in_part(rng):
    X = rng.uniform(-1, 1, (12000, 6))
    basis = PolynomialChaosBasis(5, interaction_order=3)
    phi = basis.fit_transform(X)
    assert phi.nbytes > 2**25  # too large to be kept
    evaluation = fit_basis(basis, X, None, None).on(X)
    np.testing.assert_array_equal(evaluation.columns(np.array([7, 3]), slice(100, 8500)), phi[100:8500, [7, 3]])
    products, _ = evaluation.project(X[:, :2])
    np.testing.assert_allclose(products, phi.T @ X[:, :2], atol=1e-8)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"degree": 0}, "degree must be a whole number of at least 1"),
        ({"degree": 2.0}, "degree must be a whole number of at least 1"),
        ({"interaction_order": 0}, "interaction_order must be a whole number of at least 1"),
        ({"q_norm": 0.0}, "q_norm must be above 0 and at most 1"),
        ({"q_norm": 1.5}, "q_norm must be above 0 and at most 1"),
        ({"q_norm": "1"}, "q_norm must be above 0 and at most 1"),
        ({"distributions": "gamma"}, r"distributions must be one of the names .*scipy.stats.* Got 'gamma'"),
        ({"distributions": stats.lognorm(1.0)}, "distributions must be one of the names .*uniform, norm, expon, gamma or beta"),
        ({"distributions": stats.uniform}, "distributions must be one of the names"),
        ({"distributions": stats.poisson(1.0)}, "distributions must be one of the names"),
        ({"distributions": ["uniform"]}, "one for each of the 2 inputs, got a list of 1"),
        ({"distributions": ["uniform", "t"]}, r"distributions\[1\] must be one of the names"),
        ({"distributions": stats.norm(0.0, -1.0)}, "scale and shapes above 0"),
        ({"distributions": stats.norm([0.0, 1.0], 1.0)}, "needs finite numbers"),
        ({"distributions": {"name": "beta", "a": 1.0, "loc": 0.0, "scale": 1.0}}, "beta, which has the numbers a, b, loc, scale"),
        ({"distributions": {"name": "uniform"}}, "uniform, which has the numbers loc, scale, got none"),
        ({"distributions": {"loc": 0.0}}, "distributions must be one of the names"),
    ],
)
def test_wrong_parameters_are_named(options, text):
    with pytest.raises(ValueError, match=text):
        PolynomialChaosBasis(**options).fit(np.zeros((3, 2)))


def test_names_frozen_distributions_and_dicts_are_the_same(rng):
    X = rng.uniform(0.0, 1.0, (20, 2))
    same = [
        ("uniform", stats.uniform(-1, 2), {"name": "uniform", "loc": -1, "scale": 2}),
        ("normal", stats.norm(), {"name": "normal", "loc": 0, "scale": 1}),
        ("exponential", stats.expon(scale=1.0), {"name": "exponential", "loc": 0, "scale": 1}),
        (stats.gamma(2, 0, 3), stats.gamma(loc=0, scale=3, a=2), {"name": "gamma", "a": 2, "loc": 0, "scale": 3}),
        (stats.beta(2, 5), [stats.beta(2, 5)] * 2, {"name": "beta", "a": 2, "b": 5, "loc": 0, "scale": 1}),
    ]
    for forms in same:
        first, *others = (PolynomialChaosBasis(4, distributions=form).fit(X) for form in forms)
        for other in others:
            assert other.distributions_ == first.distributions_
            np.testing.assert_array_equal(other.transform(X), first.transform(X))


def test_clones_keep_frozen_distributions_and_pickles_hold_numbers(rng):
    X = rng.uniform(0.0, 1.0, (20, 2))
    basis = PolynomialChaosBasis(3, distributions=[stats.beta(2, 5), "uniform"]).fit(X)
    assert clone(basis).distributions[0].args == (2, 5)
    loaded = pickle.loads(pickle.dumps(basis))
    assert loaded.distributions == [{"name": "beta", "a": 2.0, "b": 5.0, "loc": 0.0, "scale": 1.0}, "uniform"]
    np.testing.assert_array_equal(loaded.transform(X), basis.transform(X))
    np.testing.assert_array_equal(clone(loaded).fit_transform(X), basis.transform(X))
    assert pickle.loads(pickle.dumps(PolynomialChaosBasis(distributions=3))).distributions == 3  # refused by fit, not by pickle


def test_saved_models_need_no_types_of_scipy(rng, tmp_path):
    io = pytest.importorskip("skops.io")
    X = rng.uniform(0.0, 1.0, (60, 2))
    basis = PolynomialChaosBasis(3, distributions=[stats.beta(2, 5), stats.uniform()])
    model = VBLSRegressor(basis).fit(X, X[:, 0] * X[:, 1] + 0.1 * rng.normal(size=60))
    expected = model.predict(X)
    io.dump(model, tmp_path / "model.skops")
    assert set(io.get_untrusted_types(file=tmp_path / "model.skops")) <= set(trusted_types())
    loaded = io.load(tmp_path / "model.skops", trusted=trusted_types())
    np.testing.assert_array_equal(loaded.predict(X), expected)


TARGETS = {"Classifier": lambda f: np.where(f > 0.0, "up", "down"), "Poisson": lambda f: np.round(np.exp(f))}
ESTIMATORS = [made.__name__ for made in (*REGRESSORS, *LATENT)]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_takes_it(name, rng):
    X = rng.uniform(-1, 1, (150, 3))
    latent = 1.0 + 2.0 * X[:, 0] - 2.0 * X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=150)
    target = next((make for part, make in TARGETS.items() if part in name), np.copy)(latent)
    model = getattr(skarce, name)(PolynomialChaosBasis(3)).fit(X, target)
    names = model.get_feature_names_out().tolist()
    assert {"P1(x0)", "P1(x1) P1(x2)"} <= set(names)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.predict(X), model.predict(X))
    assert model.score(X, target) > 0.5


def test_in_pipelines_and_grid_searches(rng):
    X = rng.uniform(3.0, 9.0, (120, 2))
    y = (X[:, 0] - 6.0) ** 3 + X[:, 1] + 0.01 * rng.normal(size=120)
    pipeline = make_pipeline(MinMaxScaler((-1, 1), clip=True), VBLSRegressor(PolynomialChaosBasis(1)))
    search = GridSearchCV(pipeline, {"vblsregressor__basis__degree": [1, 3]})
    assert search.fit(X, y).best_params_ == {"vblsregressor__basis__degree": 3}
    assert search.score(X, y) > 0.999


def test_batches_and_row_blocks_give_the_same_model(rng):
    X = rng.uniform(-1, 1, (200, 3))
    y = X[:, 0] + X[:, 1] * X[:, 2] + 0.1 * rng.normal(size=200)
    options = {"calibrate_std": False}
    whole = RelevanceVectorRegressor(PolynomialChaosBasis(3), **options).fit(X, y)
    parts, stream = (slice(0, 120), slice(120, 200)), RelevanceVectorRegressor(PolynomialChaosBasis(3), **options)
    for rows in parts:
        stream.partial_fit(X[rows], y[rows])
    read = RowBlocks(lambda: ((X[rows], y[rows]) for rows in parts))
    blocks = RelevanceVectorRegressor(PolynomialChaosBasis(3), **options).fit(read)
    for other in (stream, blocks):
        np.testing.assert_allclose(other.coef_, whole.coef_, atol=1e-6)
    with pytest.raises(ValueError, match="row 1 of 2, column 2: 3 is outside"):
        whole.predict([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]])


@parametrize_with_checks(
    [  # the data of these checks are outside of [-1, 1]
        PolynomialChaosBasis(2, distributions="normal"),
        PolynomialChaosBasis(2, distributions={"name": "uniform", "loc": -1e6, "scale": 2e6}),
    ],
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_rows_so_far_away_that_polynomials_overflow_are_named():
    basis = PolynomialChaosBasis(3, distributions="normal").fit(np.zeros((1, 2)))
    with pytest.raises(ValueError, match=r"the polynomials at row 1 of X are too large .*1 of 3 rows"):
        basis.transform([[0.0, 1.0], [1e154, 0.0], [1e50, -1e50]])

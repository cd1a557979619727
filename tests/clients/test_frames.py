"""Tables and arrays of other packages: eager data frames work, and nothing else is loaded or copied silently.

Tests with a package that is not installed are skipped. The first tests need none.
"""

import numpy as np
import pytest

from skarce import (
    CriterionSearch,
    KernelBasis,
    ProcessBasis,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
)
from skarce._validation import FOREIGN, check_container
from skarce.designs import RowBlocks
from skarce.model_selection import learn_widths

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=60)
NAMES = ["height", "weight"]
MODELS = [RelevanceVectorRegressor(basis) for basis in ("passthrough", "rbf", ProcessBasis())]


def calls_with(foreign_x, foreign_y, foreign_weight):
    """Every call that takes data, with data of another package in one place, and the name of that place."""
    fitted = RelevanceVectorRegressor("passthrough").fit(X, Y)
    labels = (Y > 0.0).astype(int)
    classifier = RelevanceVectorClassifier("rbf").fit(X, labels)
    counts = RelevanceVectorPoissonRegressor("rbf").fit(X, labels)
    for model in (
        RelevanceVectorRegressor("passthrough"),
        RelevanceVectorRegressor("rbf"),
        RelevanceVectorRegressor(ProcessBasis()),
    ):
        yield "X", lambda model=model: model.fit(foreign_x, Y)
        yield "y", lambda model=model: model.fit(X, foreign_y)
        yield "sample_weight", lambda model=model: model.fit(X, Y, sample_weight=foreign_weight)
    for model in (RelevanceVectorClassifier("rbf"), RelevanceVectorPoissonRegressor(ProcessBasis(gamma="scale"))):
        yield "X", lambda model=model: model.fit(foreign_x, labels)
        yield "y", lambda model=model: model.fit(X, foreign_y)
        yield "sample_weight", lambda model=model: model.fit(X, labels, sample_weight=foreign_weight)
    yield "X", lambda: fitted.partial_fit(foreign_x, Y)
    yield "y", lambda: fitted.partial_fit(X, foreign_y)
    yield "sample_weight", lambda: fitted.partial_fit(X, Y, sample_weight=foreign_weight)
    yield "X", lambda: fitted.predict(foreign_x)
    yield "X", lambda: fitted.predict_interval(foreign_x)
    yield "X", lambda: classifier.predict(foreign_x)
    yield "X", lambda: classifier.predict_proba(foreign_x)
    yield "X", lambda: counts.predict(foreign_x, return_std=True)
    yield "X", lambda: KernelBasis().fit(foreign_x)
    yield "X", lambda: KernelBasis().fit(X).transform(foreign_x)
    yield "X", lambda: ProcessBasis(gamma="scale").fit(foreign_x)
    yield "y", lambda: KernelBasis(gamma="ard").fit(X, foreign_y)
    yield "X", lambda: learn_widths(foreign_x, Y)
    yield "X", lambda: CriterionSearch(RelevanceVectorRegressor("rbf"), {"tol": [1e-3]}).fit(foreign_x, Y)
    yield "y", lambda: CriterionSearch(RelevanceVectorRegressor("rbf"), {"tol": [1e-3]}).fit(X, foreign_y)
    yield "X of row block 0", lambda: RelevanceVectorRegressor("passthrough").fit(RowBlocks(lambda: [(foreign_x, Y)]))


def assert_refused(foreign_x, foreign_y, foreign_weight, call):
    for name, ask in calls_with(foreign_x, foreign_y, foreign_weight):
        with pytest.raises(TypeError) as error:
            ask()
        assert str(error.value).startswith(f"{name} is of type")
        assert call in str(error.value)


def pretender(package, class_name):
    """An array-like of this class and module that tells if it is turned into an array."""

    def refuse(self, *args, **kwargs):
        raise AssertionError(f"{package}.{class_name} was turned into an array")

    return type(class_name, (), {"__module__": f"{package}.inner", "__array__": refuse, "__len__": lambda self: 60})()


@pytest.mark.parametrize(("package", "class_name", "call"), [(p, c or "Anything", call) for p, c, call in FOREIGN])
def test_data_of_other_packages_are_refused_by_the_module_of_their_class(package, class_name, call):
    fake = pretender(package, class_name)
    with pytest.raises(TypeError, match=r"silently\. Call ") as error:
        check_container(fake, "X")
    assert call in str(error.value)
    derived = type("Mine", (type(fake),), {"__module__": "mine"})()
    with pytest.raises(TypeError):
        check_container(derived, "X")


def test_every_call_refuses_data_of_other_packages_before_it_reads_them():
    fake = pretender("jax", "Array")
    assert_refused(fake, fake, fake, "numpy.asarray")


def test_a_refused_fit_leaves_the_model_as_it_was():
    model = RelevanceVectorRegressor("passthrough").fit(X, Y)
    before = model.predict(X)
    with pytest.raises(TypeError):
        model.fit(pretender("torch", "Tensor"), Y)
    np.testing.assert_array_equal(model.predict(X), before)


def test_polars_frames_are_tables_with_names():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    frame, series = polars.DataFrame(X, schema=NAMES), polars.Series("y", Y)
    for model in (
        RelevanceVectorRegressor("passthrough"),
        RelevanceVectorRegressor("rbf"),
        RelevanceVectorRegressor(ProcessBasis()),
    ):
        plain = type(model)(model.basis).fit(X, Y)
        fitted = model.fit(frame, series, sample_weight=polars.Series("w", np.ones(60)))
        assert list(fitted.feature_names_in_) == NAMES
        np.testing.assert_allclose(fitted.predict(frame), plain.predict(X), rtol=1e-10)
        with pytest.raises(ValueError, match="feature names"):
            fitted.predict(frame.rename({"height": "length"}))


def test_text_and_dates_in_polars_frames_are_refused():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    texts = polars.DataFrame({"a": ["x", "y", "z"], "b": [1.0, 2.0, 3.0]})
    with pytest.raises(ValueError, match="a"):
        RelevanceVectorRegressor("passthrough").fit(texts, [1.0, 2.0, 3.0])
    dates = polars.DataFrame({"day": polars.Series([1, 2, 3]).cast(polars.Date), "b": [1.0, 2.0, 3.0]})
    with pytest.raises((ValueError, TypeError), match=r"day|date"):
        RelevanceVectorRegressor("passthrough").fit(dates, [1.0, 2.0, 3.0])


def test_lazy_frames_are_not_collected_silently():
    polars = pytest.importorskip("polars", reason="polars is not installed")
    lazy = polars.DataFrame(X, schema=NAMES).lazy()
    assert_refused(lazy, lazy, lazy, ".collect()")


def test_arrow_tables_are_refused():
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    table = pyarrow.table(dict(zip(NAMES, X.T, strict=True)))
    assert_refused(table, table, table, ".to_pandas()")
    column = pyarrow.array(Y)
    for values in (column, pyarrow.chunked_array([column])):
        with pytest.raises(TypeError, match="to_numpy"):
            RelevanceVectorRegressor("passthrough").fit(X, values)
    RelevanceVectorRegressor("passthrough").fit(table.to_pandas(), column.to_numpy(zero_copy_only=False))


def test_dask_data_are_not_computed_silently_where_rows_must_be_in_memory():
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    lazy_x, lazy_y = array.from_array(X, chunks=20), array.from_array(Y, chunks=20)
    fitted = RelevanceVectorRegressor("passthrough").fit(X, Y)
    calls = {
        "X": [
            lambda: fitted.partial_fit(lazy_x, Y),
            lambda: KernelBasis().fit(lazy_x),
            lambda: KernelBasis().fit(X).transform(lazy_x),
            lambda: learn_widths(lazy_x, Y),
        ],
        "y": [
            lambda: fitted.partial_fit(X, lazy_y),
            lambda: RelevanceVectorRegressor("passthrough").fit(X, lazy_y),
            lambda: RelevanceVectorClassifier("passthrough").fit(X, lazy_y > 0),
        ],
        "sample_weight": [lambda: RelevanceVectorRegressor("passthrough").fit(X, Y, sample_weight=lazy_y)],
    }
    for name, asks in calls.items():
        for ask in asks:
            with pytest.raises(TypeError, match=rf"{name} is (of type dask\.Array|Dask data \(Array\)).*\.compute\(\)"):
                ask()


def test_tensors_are_not_copied_silently():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for device in ["cpu"] + ["cuda"] * torch.cuda.is_available():
        tensor = torch.tensor(X, device=device)
        assert_refused(tensor, torch.tensor(Y, device=device), torch.ones(60, device=device), ".cpu().numpy()")
    RelevanceVectorRegressor("passthrough").fit(torch.tensor(X).numpy(), torch.tensor(Y).numpy())

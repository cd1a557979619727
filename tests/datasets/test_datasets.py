"""Data sets by name, wherever they are."""

import gzip
import subprocess
import sys
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest

from skarce.datasets import SOURCES, DataNotFoundError, data_folder, digits, friedman2, friedman3, load, mnist, real
from tests.test_core_only import EXTRAS


@pytest.fixture(autouse=True)
def nothing_is_remembered_and_nothing_is_fetched(monkeypatch):
    def no_network(*arguments, **options):
        raise URLError("no network in tests")

    real._load.cache_clear()
    digits._read.cache_clear()
    monkeypatch.setattr("sklearn.datasets.fetch_openml", no_network)
    yield
    real._load.cache_clear()
    digits._read.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("SKARCE_DATA", str(tmp_path))
    return tmp_path


def made_up(name):
    """A table with the rows and columns that the named one has."""
    source, rng = SOURCES[name], np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(source.n_rows, len(source.columns))).round(3), columns=list(source.columns))
    return frame.assign(Sex=rng.choice(["M", "F", "I"], source.n_rows)) if "Sex" in frame else frame


@pytest.mark.parametrize("name", ["boston", "cpu_act", "kin8nm", "puma8fh"])
def test_a_table_in_the_folder_is_read_with_the_target_last(folder, name):
    frame = made_up(name)
    frame.to_csv(folder / f"{name}.csv", index=False)
    table = load(name)
    np.testing.assert_array_equal(table.X, frame.iloc[:, :-1])
    np.testing.assert_array_equal(table.y, frame.iloc[:, -1])
    assert table.input_names == tuple(frame.columns[:-1])
    assert table.source == f"{name}.csv"


def test_gzipped_tables_are_read(folder):
    frame = made_up("kin8nm")
    with gzip.open(folder / "kin8nm.csv.gz", "wt") as file:
        frame.to_csv(file, index=False)
    np.testing.assert_array_equal(load("kin8nm").y, frame["y"])


def test_texts_become_zeros_and_ones_in_the_order_male_female_infant(folder):
    frame = made_up("abalone")
    frame.to_csv(folder / "abalone.csv", index=False)
    table = load("abalone")
    assert table.X.shape == (4177, 10)
    assert table.input_names[:4] == ("Sex=M", "Sex=F", "Sex=I", "Length")
    np.testing.assert_array_equal(table.X[:, :3], np.array([frame["Sex"] == sex for sex in "MFI"]).T)


def test_classes_in_words_become_zero_and_one(folder):
    answers = np.random.default_rng(0).choice(["Yes", "No"], 200)
    made_up("pima_tr").assign(type=answers).to_csv(folder / "pima_tr.csv", index=False)
    np.testing.assert_array_equal(load("pima_tr").y, answers == "Yes")
    made_up("pima_tr").assign(type="perhaps").to_csv(folder / "pima_tr.csv", index=False)
    real._load.cache_clear()
    with pytest.raises(DataNotFoundError, match=r"'type' of pima_tr.csv must hold numbers"):
        load("pima_tr")


def write_images(path, n_train=12_000, n_test=2_000, side=28):
    """Images that tell their number: in the first pixel its rest by 256, in the second how often 256 goes into it."""
    arrays = {}
    for part, n in (("train", n_train), ("test", n_test)):
        images = np.zeros((n, side, side), dtype=np.uint8)
        images[:, 0, 0], images[:, 0, 1] = np.arange(n) % 256, np.arange(n) // 256
        arrays |= {f"x_{part}": images, f"y_{part}": (np.arange(n) % 10).astype(np.uint8)}
    np.savez(path, **arrays)


@pytest.mark.parametrize(("name", "more"), [("mnist_12k_2k.npz", 0), ("mnist.npz", 50)])
def test_the_first_digits_of_a_file_are_read_as_numbers_up_to_one(folder, name, more):
    write_images(folder / name, 12_000 + more, 2_000 + more)
    X, y, X_test, y_test = mnist()
    for images, labels, n in ((X, y, 12_000), (X_test, y_test, 2_000)):
        assert images.shape == (n, 784)
        np.testing.assert_allclose(255 * (images[:, 0] + 256 * images[:, 1]), np.arange(n))
        np.testing.assert_array_equal(labels, np.arange(n) % 10)


def test_digits_that_are_nowhere_or_too_few_are_told(folder, monkeypatch):
    with pytest.raises(DataNotFoundError, match=r"has neither mnist_12k_2k.npz nor mnist.npz; set SKARCE_DATA"):
        mnist()
    write_images(folder / "mnist.npz", n_test=20)
    with pytest.raises(DataNotFoundError, match=r"shapes \(20, 28, 28\) and \(20,\); expected at least 2000 images"):
        mnist()
    write_images(folder / "mnist.npz", side=20)
    with pytest.raises(DataNotFoundError, match="of 28 x 28"):
        mnist()
    np.savez(folder / "mnist.npz", x_train=np.zeros(3))
    with pytest.raises(DataNotFoundError, match="cannot be read as arrays x_train, y_train"):
        mnist()
    (folder / "mnist.npz").write_text("no archive")
    with pytest.raises(DataNotFoundError, match="cannot be read as arrays"):
        mnist()
    monkeypatch.delenv("SKARCE_DATA")
    with pytest.raises(DataNotFoundError, match="SKARCE_DATA is not set"):
        mnist()


@pytest.mark.parametrize("set_folder", [True, False])
def test_openml_is_asked_where_the_folder_lacks_the_table(tmp_path, monkeypatch, set_folder):
    """As OpenML has it: the target under another name and in front, whole numbers as categories of texts."""
    monkeypatch.setenv("SKARCE_DATA", str(tmp_path) if set_folder else "")
    frame = made_up("abalone").assign(Rings=np.arange(4177) % 29)
    there = frame.astype({"Rings": str}).astype({"Rings": "category", "Sex": "category"})
    there = there.rename(columns={"Rings": "Class_number_of_rings"})[["Class_number_of_rings", *frame.columns[:-1]]]
    asked = []

    def fetch(name, **options):
        asked.append((name, options["version"]))
        return SimpleNamespace(frame=there)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    table = load("abalone")
    assert asked == [("abalone", 1)]
    np.testing.assert_array_equal(table.y, frame["Rings"])
    np.testing.assert_array_equal(table.X[:, 3], frame["Length"])
    assert table.source == "OpenML 'abalone' version 1"


def test_a_table_that_is_nowhere_names_all_places_and_the_remedy(folder):
    with pytest.raises(DataNotFoundError) as raised:
        load("boston")
    for mention in (str(folder), "boston.csv", "OpenML 'boston' version 1", "no network in tests", "set SKARCE_DATA"):
        assert mention in str(raised.value)
    assert "\n" not in str(raised.value)


def test_without_a_folder_the_error_says_so(monkeypatch):
    monkeypatch.delenv("SKARCE_DATA", raising=False)
    with pytest.raises(DataNotFoundError, match="SKARCE_DATA is not set"):
        load("boston")


def test_a_table_that_openml_lacks_is_not_looked_for_there(folder, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda *a, **o: pytest.fail("asked OpenML"))
    with pytest.raises(DataNotFoundError, match="it is not on OpenML"):
        load("kin8fm")


def test_a_folder_that_is_none_is_an_error_and_not_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("SKARCE_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(DataNotFoundError, match=r"nowhere, which is not a folder"):
        load("boston")


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda frame: frame.rename(columns={"CRIM": "crime"}), "has columns crime"),
        (lambda frame: frame.head(10), "has 10 rows; expected 506"),
        (lambda frame: frame.astype(object).assign(NOX="much"), "'NOX' of boston.csv must hold numbers"),
        (lambda frame: frame.assign(NOX="nan"), "'NOX' of boston.csv has missing"),
    ],
)
def test_a_table_that_is_not_what_its_name_says_is_refused(folder, spoil, says):
    spoil(made_up("boston")).to_csv(folder / "boston.csv", index=False)
    with pytest.raises(DataNotFoundError, match=says):
        load("boston")


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"\xff\xfe\x00"])
def test_a_file_that_is_no_table_is_refused(folder, content):
    (folder / "boston.csv").write_bytes(content)
    with pytest.raises(DataNotFoundError, match=r"boston.csv cannot be read as CSV"):
        load("boston")


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(DataNotFoundError, match="unknown data set 'iris'; choose from boston, abalone"):
        load("iris")


def test_the_real_tables_have_the_shapes_they_are_known_for(data_folder):
    assert load("boston").X.shape == (506, 13)
    assert load("abalone").X.shape == (4177, 10)
    assert load("cpu_act").X.shape == (8192, 21)
    np.testing.assert_array_equal(load("abalone").X[:, :3].sum(axis=1), 1.0)


def test_the_folder_is_that_of_the_environment(folder):
    assert data_folder() == folder


@pytest.mark.parametrize(("make", "noise"), [(friedman2, 125.0), (friedman3, 0.1)])
def test_friedman_targets_are_noisy_for_training_and_exact_for_testing(make, noise):
    exact = {friedman2: _impedance, friedman3: _phase}[make]
    X, y, X_test, y_test = make(np.random.default_rng(0))
    assert (X.shape, X_test.shape) == ((200, 4), (1000, 4))
    np.testing.assert_allclose(y_test, exact(X_test))
    assert 0.8 * noise < np.std(y - exact(X)) < 1.2 * noise


def _impedance(X):
    return np.sqrt(X[:, 0] ** 2 + (X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3])) ** 2)


def _phase(X):
    return np.arctan((X[:, 1] * X[:, 2] - 1.0 / (X[:, 1] * X[:, 3])) / X[:, 0])


def test_friedman_data_are_the_same_for_the_same_numbers_and_differ_for_others():
    first, again, other = (friedman2(np.random.default_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first[1], again[1])
    assert not np.isin(first[0], other[0]).any()
    assert not np.isin(first[0], first[2]).any()


WITHOUT_EXTRAS = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {EXTRAS!r}:
            raise ModuleNotFoundError(f"no {{name}} here", name=name)
sys.meta_path.insert(0, Absent())
from skarce import datasets
from skarce.reproduce.papers import find_paper
print(find_paper("fgcv").name, datasets.load("kin8nm").X.shape)
"""


def test_tables_are_read_without_any_extra(folder):
    made_up("kin8nm").to_csv(folder / "kin8nm.csv", index=False)
    done = subprocess.run([sys.executable, "-c", WITHOUT_EXTRAS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "fgcv (8192, 8)"

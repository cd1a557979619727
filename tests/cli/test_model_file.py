"""Model files of every kind, of other versions, damaged, edited, and too large."""

import contextlib
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import Pipeline

from skarce.cli.archive import MOST_BYTES
from skarce.cli.model_file import FORMAT, HEADER, ModelFileError, SavedModel, load, save
from skarce.cli.model_schema import allowed_types
from skarce.cli.sound_model import model_in_use
from skarce.comparison import METHODS, TASKS
from skarce.datasets.training import make_filling, make_preprocessing
from skarce.estimators import RelevanceVectorRegressor
from tests.cli.commands import run

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame({"a": RNG.normal(size=30), "b": RNG.normal(size=30), "t": RNG.choice(["x", "y"], 30)})
KINDS = {"a": "number", "b": "number", "t": "text"}
TARGETS = {
    "regression": FRAME.a.to_numpy() + 0.1 * RNG.normal(size=30),
    "classification": np.array(["p", "q", "r"])[np.argsort(FRAME.b.to_numpy()) // 10],
    "counts": np.arange(30.0) % 4,
}
OURS = [(task, name) for task in TASKS for name, method in METHODS[TASKS[task]].items() if not method.is_rival]


def saved_model(task="regression", name="frvm"):
    preprocessing = make_preprocessing(KINDS)
    model = METHODS[TASKS[task]][name].fit(preprocessing.fit_transform(FRAME), TARGETS[task])
    return SavedModel(Pipeline([("preprocessing", preprocessing), ("model", model)]), "y", KINDS, "0.1.0")


def saved_model_that_fills():
    steps = [("preprocessing", make_preprocessing(KINDS)), ("filling", make_filling()), ("model", RelevanceVectorRegressor("rbf"))]
    frame = FRAME.assign(a=FRAME.a.where(FRAME.index > 3))
    return SavedModel(Pipeline(steps).fit(frame, TARGETS["regression"]), "y", KINDS, "0.1.0")


@pytest.fixture(scope="module")
def filling_parts(tmp_path_factory):
    """The parts of a sound file with a model that fills in missing values."""
    path = tmp_path_factory.mktemp("filling") / "model.skops"
    save(saved_model_that_fills(), path)
    return parts_of(path)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    """The parts of a sound file."""
    path = tmp_path_factory.mktemp("model") / "model.skops"
    save(saved_model(), path)
    return parts_of(path)


def parts_of(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(parts, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def edited(parts, edit, path):
    """A file whose description was edited in place."""
    schema = json.loads(parts["schema.json"])
    edit(schema["content"])
    return written({**parts, "schema.json": json.dumps(schema).encode()}, path)


def attributes(node):
    return node["content"]["content"]


def model_of(content):
    return attributes(attributes(content["pipeline"])["steps"]["content"][1]["content"][1])


def refusal(path):
    """The one line by which both commands refuse the file."""
    FRAME.to_csv(path.with_suffix(".csv"), index=False)
    lines = set()
    for arguments in (["explain", str(path)], ["predict", str(path), str(path.with_suffix(".csv"))]):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert len(result.stderr.strip().splitlines()) == 1
        assert len(result.stderr) < 600
        lines.add(result.stderr.strip())
    (line,) = lines
    return line.replace(str(path), "FILE")


# Every kind ---------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("task", "name"), OURS)
def test_every_kind_of_model_comes_back(task, name, tmp_path):
    model = saved_model(task, name)
    save(model, tmp_path / "model.skops")
    with model_in_use(tmp_path / "model.skops") as again:
        np.testing.assert_array_equal(again.pipeline.predict(FRAME), model.pipeline.predict(FRAME))
        assert again.regressor.outcome_ is model.regressor.outcome_
        assert (again.target, again.columns, again.version) == (model.target, model.columns, model.version)


def test_what_is_trusted_besides_our_classes(parts, filling_parts):
    allowed, used = allowed_types(), set()
    waiting = [json.loads(each["schema.json"]) for each in (parts, filling_parts)]
    while waiting:
        node = waiting.pop()
        if isinstance(node, dict):
            if "__loader__" in node:
                used.add((node["__loader__"], f"{node['__module__']}.{node['__class__']}"))
            waiting.extend(node.values())
        elif isinstance(node, list):
            waiting.extend(node)
    assert all(name in allowed[kind] for kind, name in used)
    estimators = {name for name in allowed["ObjectNode"] if name.startswith("sklearn.")}
    superfluous = {name for name in estimators if ("ObjectNode", name) not in used}
    assert superfluous <= {"sklearn.compose._column_transformer._RemainderColsList"}  # only scikit-learn 1.6 writes it


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda filling: filling["strategy"].update(content='"mean"'), "filled in in another way"),
        (lambda filling: filling["statistics_"].update(file=filling["_fit_dtype"]["content"]["file"]), "does not have 4 numbers"),
        (lambda filling: filling["n_features_in_"].update(content="3"), "not finite"),
        (lambda filling: filling["_fit_dtype"]["content"].update(file=filling["texts"]), "filled in in another way"),
        (lambda filling: filling["indicator_"].update(content="1"), "filled in in another way"),
    ],
)
def test_an_edited_filling_is_refused(filling_parts, edit, reason, tmp_path):
    memory = io.BytesIO()
    np.save(memory, np.array(["a"]))

    def edit_filling(content):
        filling = attributes(attributes(content["pipeline"])["steps"]["content"][1]["content"][1])
        filling["texts"] = "texts.npy"
        edit(filling)
        del filling["texts"]

    assert reason in refusal(edited({**filling_parts, "texts.npy": memory.getvalue()}, edit_filling, tmp_path / "model.skops"))


@pytest.mark.parametrize("place", ["model", "pipeline"])
def test_an_estimator_of_scikit_learn_is_not_a_model(parts, place, tmp_path):
    def exchange(content):
        stranger = {"__module__": "sklearn.linear_model._base", "__class__": "LinearRegression", "__loader__": "ObjectNode"}
        stranger["content"] = {"__module__": "builtins", "__class__": "dict", "__loader__": "DictNode", "content": {}}
        stranger["content"]["key_types"] = {"__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "content": []}
        if place == "pipeline":
            content["pipeline"] = stranger
        else:
            attributes(content["pipeline"])["steps"]["content"][1]["content"][1] = stranger

    assert "LinearRegression, which skarce does not trust" in refusal(edited(parts, exchange, tmp_path / "model.skops"))


def test_a_preprocessing_step_is_not_a_model(parts, tmp_path):
    def exchange(content):
        steps = attributes(content["pipeline"])["steps"]["content"]
        steps[1]["content"][1] = steps[0]["content"][1]

    refusal(edited(parts, exchange, tmp_path / "model.skops"))


def test_a_pipeline_that_skarce_fit_does_not_write_is_refused(tmp_path):
    model = RelevanceVectorRegressor("rbf").fit(FRAME[["a", "b"]].to_numpy(), TARGETS["regression"])
    save(SavedModel(Pipeline([("model", model)]), "y", {"a": "number", "b": "number"}, "0"), tmp_path / "model.skops")
    with pytest.raises(ModelFileError, match="not a preprocessing step and a model"):
        load(tmp_path / "model.skops")


# Versions -----------------------------------------------------------------------------------------------------------------


def test_a_file_of_a_later_format_asks_for_an_upgrade(parts, tmp_path):
    later = {**parts, HEADER: json.dumps({"format": FORMAT + 1}).encode(), "schema.json": b"of another kind"}
    line = refusal(written(later, tmp_path / "model.skops"))
    assert line == f"Error: FILE was written by skarce format {FORMAT + 1}; this version reads up to {FORMAT}: upgrade skarce."


def test_a_file_without_a_format_is_to_be_fitted_again(parts, tmp_path):
    del (older := dict(parts))[HEADER]
    assert "has no format number" in refusal(written(older, tmp_path / "model.skops"))


@pytest.mark.parametrize(
    "header", [{"format": True}, {"format": "2"}, {"format": 2.5}, {"format": -1}, {"format": None}, {}, [], 2, None]
)
def test_a_format_that_is_none(parts, header, tmp_path):
    refusal(written({**parts, HEADER: json.dumps(header).encode()}, tmp_path / "model.skops"))


# Damage -------------------------------------------------------------------------------------------------------------------


def set_value(name, value):
    """The edit that gives an attribute of the model another value."""

    def edit(content):
        node = {
            "__module__": "builtins",
            "__class__": "str",
            "__loader__": "JsonNode",
            "content": json.dumps(value),
            "is_json": True,
        }
        model_of(content)[name] = node

    return edit


EDITS = {
    "weights are a number": set_value("_weights", 1.0),
    "weights are missing": lambda content: (
        model_of(content).pop("_weights"),
        attributes_node(content)["key_types"]["content"].pop(),
    ),
    "the outcome has no such name": set_value("outcome_", "SUCCESS"),
    "the criterion is text": set_value("criterion_", "good"),
    "the noise is negative": set_value("noise_variance_", -1.0),
    "the noise is not finite": set_value("noise_variance_", float("nan")),
    "too many inputs": set_value("n_features_in_", 99),
    "a basis that is a number": set_value("basis_", 3),
    "a posterior that is text": set_value("posterior_", "p"),
    "an integer of many digits": set_value("criterion_", 10**400),
    "a lone surrogate": lambda content: content.update(target={**content["target"], "content": '"\\ud800"'}),
    "a target that is a number": lambda content: content.update(target={**content["target"], "content": "1"}),
    "columns of another kind": lambda content: content["columns"]["content"]["a"].update(content='"date"'),
    "other columns": lambda content: content["columns"]["content"].pop("a"),
    "no pipeline": lambda content: content.pop("pipeline"),
    "a node without a kind": lambda content: content["target"].pop("__loader__"),
    "text in place of a node": lambda content: content.update(target="y"),
}


def attributes_node(content):
    return attributes(content["pipeline"])["steps"]["content"][1]["content"][1]["content"]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_file_ends_in_one_line(parts, edit, tmp_path):
    assert "FILE is" in refusal(edited(parts, EDITS[edit], tmp_path / "model.skops"))


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a[:1],
        lambda a: a[None],
        lambda a: np.full_like(a, np.nan),
        lambda a: a.astype(np.int64),
        lambda a: a.astype(a.dtype.newbyteorder()),
        lambda a: a.astype(complex),
        lambda a: a.astype(str),
        lambda a: np.zeros(0),
    ],
)
@pytest.mark.parametrize("name", ["_weights", "relevance_"])
def test_an_array_of_another_shape_or_type(parts, name, change, tmp_path):
    file = model_of(json.loads(parts["schema.json"])["content"])[name]["file"]
    memory = io.BytesIO()
    np.save(memory, change(np.load(io.BytesIO(parts[file]))))
    refusal(written({**parts, file: memory.getvalue()}, tmp_path / "model.skops"))


def test_an_array_that_says_it_is_huge(parts, tmp_path):
    file = model_of(json.loads(parts["schema.json"])["content"])["_weights"]["file"]
    memory = io.BytesIO()
    np.lib.format.write_array_header_1_0(memory, {"descr": "<f8", "fortran_order": False, "shape": (10**14,)})
    assert "as long as its shape says" in refusal(written({**parts, file: memory.getvalue()}, tmp_path / "model.skops"))


@pytest.mark.parametrize("character", [0xD800, 0x110000, 2**32 - 1])
def test_texts_of_what_is_no_character(parts, character, tmp_path):
    name = model_of(json.loads(parts["schema.json"])["content"])["trace_"]["file"]
    content = bytearray(parts[name])
    trace = np.load(io.BytesIO(parts[name]))
    content[-trace.nbytes : 4 - trace.nbytes] = character.to_bytes(4, sys.byteorder)
    assert "not a complete model" in refusal(written({**parts, name: bytes(content)}, tmp_path / "model.skops"))


def test_bits_that_flip_and_files_that_end_early(parts, tmp_path):
    whole = written(parts, tmp_path / "whole.skops").read_bytes()
    rng, path = np.random.default_rng(0), tmp_path / "model.skops"
    for _ in range(30):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        with contextlib.suppress(ModelFileError):  # a flipped date of a part does no harm
            load(path)
        path.write_bytes(whole[: rng.integers(len(whole))])
        with pytest.raises(ModelFileError):
            load(path)


def test_nodes_that_stand_for_each_other(parts, tmp_path):
    """Each list holds the one before many times: a few kilobytes that would be a model of 10^18 numbers."""

    def edit(content):
        inner = {"__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "content": [], "__id__": 1}
        for number in range(2, 20):
            inner = {**inner, "content": [inner, *({**inner, "content": []} for _ in range(9))], "__id__": number}
        model_of(content)["relevance_"] = inner

    refusal(edited(parts, edit, tmp_path / "model.skops"))


def test_a_description_without_end(parts, tmp_path):
    for text in (b"[" * 200_000, b"[" * 200_000 + b" " * 2_000_000, b"[" + b"[]," * 200_000 + b"[]]"):
        refusal(written({**parts, "schema.json": text}, tmp_path / "model.skops"))

    def edit(content):
        node = content["target"]
        for _ in range(300):
            node = {"__module__": "builtins", "__class__": "list", "__loader__": "ListNode", "content": [node]}
        content["target"] = node

    assert "nested too deeply" in refusal(edited(parts, edit, tmp_path / "model.skops"))


# Size ---------------------------------------------------------------------------------------------------------------------


def test_a_file_that_unpacks_to_too_much_is_refused_unread(parts, tmp_path, monkeypatch):
    bomb = written({**parts, "1.npy": bytes(40 * 2**20)}, tmp_path / "model.skops")
    assert bomb.stat().st_size < 2**20
    monkeypatch.setattr(zipfile.ZipExtFile, "read", lambda *arguments: pytest.fail("it was unpacked"))
    assert "unpacks to 40" in refusal(bomb)


def test_a_file_whose_header_lies(parts, tmp_path):
    """The directory says 10 bytes, the data are 40 MiB: no more than announced is unpacked."""
    path = written({**parts, "1.npy": bytes(40 * 2**20)}, tmp_path / "model.skops")
    raw = path.read_bytes().replace((40 * 2**20).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    path.write_bytes(raw)
    refusal(path)


def test_the_same_array_many_times(parts, tmp_path):
    size, n_uses = 2**20, MOST_BYTES // 2**20 + 1

    def edit(content):
        one = {"__module__": "numpy", "__class__": "ndarray", "__loader__": "NdArrayNode", "type": "numpy", "file": "1.npy"}
        model_of(content)["_places"] = {
            "__module__": "builtins",
            "__class__": "list",
            "__loader__": "ListNode",
            "content": [one] * n_uses,
        }

    memory = io.BytesIO()
    np.save(memory, np.zeros(size // 8))
    assert "arrays have more than" in refusal(edited({**parts, "1.npy": memory.getvalue()}, edit, tmp_path / "model.skops"))


# Writing ------------------------------------------------------------------------------------------------------------------


def test_a_save_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(saved_model(), path)
    before = path.read_bytes()

    def full(*arguments, **options):
        raise OSError(28, "No space left on device")

    for place in ("skops.io.dump", "skarce.cli.model_file.ZipFile"):
        with monkeypatch.context() as patched:
            patched.setattr(place, full)
            with pytest.raises(ValueError, match="No space left"):
                save(saved_model(), path)
        assert path.read_bytes() == before
        assert [file.name for file in tmp_path.iterdir()] == ["model.skops"]


def test_a_model_that_is_too_large_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("skarce.cli.archive.MOST_BYTES", 1000)
    with pytest.raises(ModelFileError, match="a model may have at most"):
        save(saved_model(), tmp_path / "model.skops")
    assert not list(tmp_path.iterdir())


def test_files_stay_readable_for_skops(parts, tmp_path):
    path = written(parts, tmp_path / "model.skops")
    content = skops.io.load(path, trusted=sorted(allowed_types()["ObjectNode"]))
    assert set(content) == {"pipeline", "target", "columns", "version"}
    assert not isinstance(content["pipeline"][-1], LinearRegression)
    assert Path(path).stat().st_size < MOST_BYTES

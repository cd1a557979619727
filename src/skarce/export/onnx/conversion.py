"""``to_onnx``: a fitted model as a file that ONNX runtimes of all languages run."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from skarce._parameters import check_choice, check_flag
from skarce._whole_file import check_output, replacing
from skarce.export.description import Described, describe
from skarce.export.onnx.agreement import check_agreement
from skarce.export.onnx.assembly import Port, add_facts, assembled, imported_onnx
from skarce.export.onnx.entries import add_entry, ports_of
from skarce.export.onnx.graph import REALS, Graph
from skarce.export.onnx.heads import add_predictions, output_names
from skarce.export.onnx.stages import add_chain

CHECKED = "checked at"  # in the facts that the file has about the model


def to_onnx(model: Any, path: Any = None, *, std: bool = True, real: str = "double", X: Any = None) -> Any:
    """Return a fitted model as an ONNX model of plain operators, and write it to a file.

    The outputs are those of `predict`: ``mean`` and ``std`` of numbers and counts, ``label`` and ``probabilities`` of classes,
    or ``label`` and ``margins`` if a classifier has no probabilities.
    A model that was fitted to arrays has one input, ``X`` of shape (n_rows, n_features). A model that was fitted to a table has one
    input of shape (n_rows, 1) for each column, with its name; text columns take strings. Scalers, imputers and encoders of a
    pipeline are part of the ONNX model.

    Parameters
    ----------
    model : fitted estimator or pipeline
        A model of skarce, a pipeline that ends in one, a search for one, or a `TransformedTargetRegressor` around one.
    path : str or Path, default=None
        The file to write. It is written completely or not at all. None writes none.
    std : bool, default=True
        Whether the standard deviation is an output. Classes always have probabilities, which need it.
    real : {"double", "float"}, default="double"
        The precision of inputs, outputs and all between. Some accelerators and browsers have no ``"double"``.

    X : array-like of shape (n_samples, n_features), default=None
        Rows that the ONNX model is checked at, such as the training rows, beside random points and training rows that the model
        keeps: kernels have some, other models have none.

    Returns
    -------
    onnx_model : onnx.ModelProto
        The ONNX model.

    Raises
    ------
    ExportError
        If a part of the model cannot be exported, or if the predictions of the ONNX model differ from those of `predict` by more
        than 1e-9 (double) or 1e-4 (float) of the standard deviation of the target. Nothing is written then.

    Notes
    -----
    The package onnx is needed: ``pip install "skarce[onnx]"``. The check runs the model by onnxruntime if that is installed, else
    by the slow reference of the package onnx.

    What raises an error in Python gives a number in ONNX: rows with NaN give NaN, and polynomials outside of the support of their
    distributions go on.

    ONNX has no missing text. If the model knows missing text, the empty text stands for it.
    """
    check_flag("std", std)
    check_choice("real", real, tuple(REALS))
    imported_onnx()
    if path is not None:
        check_output(Path(path))
    described = describe(model)
    ports, converted = _converted(described, REALS[real], std=bool(std))
    compared = check_agreement(model, described, ports, converted, X, std=bool(std), real=real)
    add_facts(converted, {CHECKED: compared.where})
    if path is not None:
        with replacing(Path(path)) as draft:
            draft.write_bytes(converted.SerializeToString())
    return converted


def _converted(described: Described, dtype: np.dtype[Any], *, std: bool) -> tuple[list[Port], Any]:
    """Return the inputs, and the model."""
    ports = ports_of(described, dtype, output_names(described, std=std))
    graph = Graph(dtype)
    phi = None if not described.n_functions else add_chain(graph, described.stages, add_entry(graph, described, ports))
    outputs = add_predictions(graph, described, phi, ports[0].name, std=std)
    return ports, assembled(graph, ports, outputs, _about(described))


def _about(described: Described) -> dict[str, str]:
    functions = f"{described.n_functions} function{'' if described.n_functions == 1 else 's'}"
    return {"model": f"{described.title}, {functions}", "skarce": version("skarce")}

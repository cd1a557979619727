"""Graphs as models of the package onnx, and how they are run."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skarce.export.onnx.graph import Graph, element_type

OPSET, IR_VERSION = 19, 9  # the first operator set that compares texts; onnxruntime has both since 1.15
N_ROWS = "N"


class Port(NamedTuple):
    """An input or an output: its name, its type, and its columns. None is a vector with one number for each row."""

    name: str
    dtype: np.dtype[Any]
    n_columns: int | None


def assembled(graph: Graph, inputs: Sequence[Port], outputs: Mapping[Port, str], about: Mapping[str, str]) -> Any:
    """Return the graph as a checked ``onnx.ModelProto``.

    Parameters
    ----------
    graph : operators and constants
    inputs : what the model takes
    outputs : what the model gives, and the values of the graph that they are
    about : facts about the model, kept in the file
    """
    onnx = imported_onnx()
    helper = onnx.helper
    nodes = [helper.make_node(node.kind, node.inputs, [node.output], name=node.output, **node.attributes) for node in graph.nodes]
    nodes += [helper.make_node("Identity", [value], [port.name], name=f"out_{port.name}") for port, value in outputs.items()]
    constants = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in graph.constants.items()]
    ports = ([_value_info(helper, port) for port in group] for group in (inputs, outputs))
    model = helper.make_model(
        helper.make_graph(nodes, "skarce", *ports, constants),
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="skarce",
        producer_version=about.get("skarce", ""),
        doc_string=about.get("model", ""),
    )
    helper.set_model_props(model, dict(about))
    onnx.checker.check_model(model, full_check=True)
    return model


def add_facts(model: Any, about: Mapping[str, str]) -> None:
    """Add facts about a model to those that its file has."""
    for key, value in about.items():
        model.metadata_props.add(key=key, value=value)


def _value_info(helper: Any, port: Port) -> Any:
    shape = [N_ROWS] if port.n_columns is None else [N_ROWS, port.n_columns]
    return helper.make_tensor_value_info(port.name, element_type(port.dtype), shape)


def imported_onnx() -> Any:
    """Import the package onnx, or say how to get it."""
    try:
        import onnx
        import onnx.checker
        import onnx.numpy_helper
    except ImportError as error:
        raise ImportError(f'to_onnx needs the package onnx ({error}). Install it with: pip install "skarce[onnx]"') from None
    return onnx


def runner(model: Any) -> Callable[[dict[str, NDArray[Any]]], list[NDArray[Any]]]:
    """Return what runs a model on named inputs: onnxruntime if it is installed, else the slow reference of the package onnx."""
    try:
        import onnxruntime
    except ImportError:
        return reference_runner(model)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3  # errors only
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda inputs: session.run(None, inputs)


def reference_runner(model: Any) -> Callable[[dict[str, NDArray[Any]]], list[NDArray[Any]]]:
    from onnx.reference import ReferenceEvaluator

    evaluator = ReferenceEvaluator(model)

    def run(inputs: dict[str, NDArray[Any]]) -> list[NDArray[Any]]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return evaluator.run(None, inputs)

    return run

"""Converters for skl2onnx, so that whole pipelines of scikit-learn with our models in them become ONNX models.

skl2onnx passes one array to each step. We compute in double precision, and return what skl2onnx works with at that place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

import skarce
from skarce.basis import KernelBasis, PolynomialChaosBasis, ProcessBasis
from skarce.estimators.on_basis import OnBasis
from skarce.export.columns import Columns
from skarce.export.description import MARGINS, describe
from skarce.export.onnx.graph import REALS, Graph, element_type
from skarce.export.onnx.heads import LABEL, MEAN, PROBABILITIES, STD, add_predictions
from skarce.export.onnx.stages import add_chain
from skarce.export.stages import simplified
from skarce.export.transformers import ExportError, Raw, Reader

OPSET = 18  # the first in which sums over columns take the columns as an input
BASES = (KernelBasis, PolynomialChaosBasis, ProcessBasis)
ENTRY = "entry"  # the name of the input of a graph


def register_skl2onnx() -> None:
    """Register our estimators and bases with skl2onnx, so that ``skl2onnx.to_onnx`` converts pipelines that hold them.

    Regressors have the output ``variable``, the mean. With the option ``{"return_std": True}`` there is a second output, ``std``.
    Classifiers have the outputs ``label`` and ``probabilities``, and the options of classifiers, such as ``{"zipmap": False}``.
    Inside, everything is computed in double precision; inputs and outputs have the type that is given to skl2onnx.

    Our own pipelines do not need skl2onnx: `to_onnx` converts them alone.

    Examples
    --------
    ::

        import skl2onnx
        from skarce.export import register_skl2onnx

        register_skl2onnx()
        onnx_model = skl2onnx.to_onnx(pipeline, X[:1], options={"relevancevectorregressor__return_std": True})
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            f"register_skl2onnx needs the package skl2onnx ({error}). Install it with: pip install skl2onnx"
        ) from None
    for kind in _estimators():
        if hasattr(kind, "predict_proba"):
            options: dict[str, Any] = {"zipmap": [True, False, "columns"], "output_class_labels": [False, True]}
            parser = None
        else:
            options, parser = {"return_std": [False, True]}, _parse_regressor
        update_registered_converter(kind, f"Skarce{kind.__name__}", _set_shapes, _convert_model, parser=parser, options=options)
    for basis in BASES:
        update_registered_converter(basis, f"Skarce{basis.__name__}", _set_shapes, _convert_basis)


def _estimators() -> list[Any]:
    public = [getattr(skarce, name) for name in skarce.__all__]
    return [one for one in public if isinstance(one, type) and issubclass(one, OnBasis)]


def _parse_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare one output, or two if the std is asked for."""
    from skl2onnx.common.data_types import guess_tensor_type

    operator = scope.declare_local_operator(f"Skarce{type(model).__name__}", model)
    operator.inputs = inputs
    wants_std = scope.get_options(model, {"return_std": False})["return_std"]
    for name in ("variable", STD) if wants_std else ("variable",):
        operator.outputs.append(scope.declare_local_variable(name, guess_tensor_type(inputs[0].type)))
    return operator.outputs


def _set_shapes(operator: Any) -> None:
    """Set types and shapes of the outputs."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    model, n_rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    real = guess_tensor_type(operator.inputs[0].type)
    if is_classifier(model):
        is_text = np.asarray(model.classes_).dtype.kind in "OUS"
        operator.outputs[0].type = (StringTensorType if is_text else Int64TensorType)([n_rows])
        operator.outputs[1].type = type(real)([n_rows, len(model.classes_)])
        return
    for output in operator.outputs:
        output.type = type(real)([n_rows, _n_columns(model)])


def _n_columns(model: Any) -> int:
    if isinstance(model, BASES):
        return len(model.get_feature_names_out())
    return len(model.posterior_) if isinstance(model.posterior_, list) else 1


def _convert_model(scope: Any, operator: Any, container: Any) -> None:
    described, n_outputs = describe(operator.raw_operator), len(operator.outputs)
    if any(one.categories is not None for one in described.inputs):
        raise ExportError("skl2onnx passes one array of numbers to a model, but this one takes text. Use skarce.export.to_onnx.")
    if described.target == MARGINS:
        raise ExportError(
            f"skl2onnx expects probabilities of a classifier, but this {described.title} has margins only. Fit it with "
            "calibrate_proba=True, or use skarce.export.to_onnx."
        )
    graph = Graph(REALS["double"])
    columns = graph.columns(ENTRY, described.used, len(described.inputs)) if described.n_functions else ENTRY
    phi = add_chain(graph, described.stages, columns) if described.n_functions else None
    values = {port.name: value for port, value in add_predictions(graph, described, phi, ENTRY, std=n_outputs == 2).items()}
    names = (LABEL, PROBABILITIES) if is_classifier(operator.raw_operator) else (MEAN, STD)[:n_outputs]
    found = [_as_column(graph, values[name]) if name in (MEAN, STD) and described.is_one else values[name] for name in names]
    _replay(graph, found, scope, operator, container)


def _convert_basis(scope: Any, operator: Any, container: Any) -> None:
    basis, graph = operator.raw_operator, Graph(REALS["double"])
    chain, _ = Reader().read(basis, [Raw(place) for place in range(basis.n_features_in_)])
    found = add_chain(graph, simplified((Columns.identity(basis.n_features_in_), *chain)), ENTRY)
    _replay(graph, [found], scope, operator, container)


def _as_column(graph: Graph, value: str) -> str:
    return graph.op("Unsqueeze", value, np.array([1]))


def _replay(graph: Graph, found: list[str], scope: Any, operator: Any, container: Any) -> None:
    """Add the operators of a graph to what skl2onnx builds, under names that are free there."""
    if container.target_opset < OPSET:
        raise ExportError(f"models of skarce need target_opset={OPSET} or larger, got {container.target_opset}.")
    names = {ENTRY: _entry(scope, operator, container)}
    for name, value in graph.constants.items():
        names[name] = scope.get_unique_variable_name(_plain(name))
        content = [text.encode() for text in value.ravel()] if value.dtype == object else value.ravel()
        container.add_initializer(names[name], element_type(value.dtype), value.shape, content)
    for node in graph.nodes:
        names[node.output] = scope.get_unique_variable_name(_plain(node.output))
        _add(scope, container, node.kind, [names[one] for one in node.inputs], names[node.output], **node.attributes)
    for result, output in zip(found, operator.outputs, strict=True):
        kind = _element_type_of(output)
        _add(scope, container, "Cast" if kind else "Identity", [names[result]], output.full_name, **({"to": kind} if kind else {}))


def _plain(name: str) -> str:
    return name.replace("/", "_")


def _entry(scope: Any, operator: Any, container: Any) -> str:
    """Return the name of all columns that the step gets, in double precision."""
    entries = [one.full_name for one in operator.inputs]
    doubles = []
    for entry in entries:
        doubles.append(scope.get_unique_variable_name("skarce_double"))
        _add(scope, container, "Cast", [entry], doubles[-1], to=element_type(np.float64))
    if len(doubles) == 1:
        return doubles[0]
    joined = scope.get_unique_variable_name("skarce_joined")
    _add(scope, container, "Concat", doubles, joined, axis=1)
    return str(joined)


def _element_type_of(output: Any) -> int | None:
    """Return the type that an output is cast to; None for text."""
    from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

    if isinstance(output.type, StringTensorType):
        return None
    kinds = {DoubleTensorType: np.float64, Int64TensorType: np.int64}
    return element_type(next((dtype for kind, dtype in kinds.items() if isinstance(output.type, kind)), np.float32))


def _add(scope: Any, container: Any, kind: str, inputs: list[str], output: str, **attributes: Any) -> None:
    container.add_node(kind, inputs, [output], op_version=OPSET, name=scope.get_unique_operator_name(kind), **attributes)

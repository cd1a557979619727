"""Models that leave Python, and models that leave skarce: C, ONNX, twins of scikit-learn."""

from skarce.export.description import Described, describe
from skarce.export.onnx.conversion import to_onnx
from skarce.export.onnx.converters import register_skl2onnx
from skarce.export.to_c import ExportedC, table_bytes, to_c
from skarce.export.transformers import ExportError
from skarce.export.twins import to_sklearn
from skarce.export.within import Within, fit_within, smaller_within

__all__ = [
    "Described",
    "ExportError",
    "ExportedC",
    "Within",
    "describe",
    "fit_within",
    "register_skl2onnx",
    "smaller_within",
    "table_bytes",
    "to_c",
    "to_onnx",
    "to_sklearn",
]

"""Models that leave Python, and models that leave skarce: C, ONNX, twins of scikit-learn."""

from skarce.export.description import Described, describe
from skarce.export.onnx.conversion import to_onnx
from skarce.export.onnx.converters import register_skl2onnx
from skarce.export.to_c import ExportedC, to_c
from skarce.export.transformers import ExportError
from skarce.export.twins import to_sklearn

__all__ = ["Described", "ExportError", "ExportedC", "describe", "register_skl2onnx", "to_c", "to_onnx", "to_sklearn"]

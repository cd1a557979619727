"""Models that leave Python, and models that leave skarce: ONNX, twins of scikit-learn."""

from skarce.export.description import Described, describe
from skarce.export.onnx.conversion import to_onnx
from skarce.export.onnx.converters import register_skl2onnx
from skarce.export.transformers import ExportError
from skarce.export.twins import to_sklearn

__all__ = ["Described", "ExportError", "describe", "register_skl2onnx", "to_onnx", "to_sklearn"]

"""Models that leave Python, and models that leave skarce: twins of scikit-learn, ONNX, C."""

from skarce.export.twins import to_sklearn

__all__ = ["to_sklearn"]

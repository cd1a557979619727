"""Models that leave Python."""

from skarce.export.description import Described, describe
from skarce.export.to_c import ExportedC, to_c
from skarce.export.transformers import ExportError

__all__ = ["Described", "ExportError", "ExportedC", "describe", "to_c"]

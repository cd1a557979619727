"""Models that leave Python."""

from skarce.export.description import Described, describe
from skarce.export.transformers import ExportError

__all__ = ["Described", "ExportError", "describe"]

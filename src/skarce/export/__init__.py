"""Models that leave Python."""

from skarce.export.description import Described, describe
from skarce.export.to_c import ExportedC, table_bytes, to_c
from skarce.export.transformers import ExportError
from skarce.export.within import Within, fit_within, smaller_within

__all__ = ["Described", "ExportError", "ExportedC", "Within", "describe", "fit_within", "smaller_within", "table_bytes", "to_c"]

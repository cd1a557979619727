"""Looking at fitted models."""

from skarce.inspection.summary import summary

__all__ = ["summary"]

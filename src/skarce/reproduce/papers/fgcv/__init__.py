"""Sundararajan, Shevade and Keerthi: fast generalized cross validation."""

from skarce.reproduce.papers.fgcv.experiments import paper

__all__ = ["paper"]

"""Park: sparse kernel regression by iteratively reweighted least squares."""

from skarce.reproduce.papers.skr.experiments import paper

__all__ = ["paper"]

"""Bo, Wang and Jiao: sparse Gaussian processes using backward elimination."""

from skarce.reproduce.papers.gpbe.experiments import paper

__all__ = ["paper"]

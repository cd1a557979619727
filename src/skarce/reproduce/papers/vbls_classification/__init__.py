"""Ting, D'Souza, Vijayakumar and Schaal: variational Bayesian least squares, the part on classification."""

from skarce.reproduce.papers.vbls_classification.experiments import paper

__all__ = ["paper"]

"""Ting, D'Souza, Vijayakumar and Schaal: variational Bayesian least squares, the part on regression."""

from skarce.reproduce.papers.vbls.experiments import paper

__all__ = ["paper"]

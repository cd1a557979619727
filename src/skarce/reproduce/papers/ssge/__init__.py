"""Barrio, Romero and Belanche: search strategies guided by the evidence."""

from skarce.reproduce.papers.ssge.experiments import paper

__all__ = ["paper"]

"""Support vector machines in the primal, on functions that enter one by one (Keerthi, Chapelle and DeCoste 2006)."""

from skarce.methods.primal_svm.method import PrimalSVM

__all__ = ["PrimalSVM"]

"""Sparse models with a likelihood that is not Gaussian, by the Laplace approximation."""

from skarce.methods.latent.sparse import SparseLatent

__all__ = ["SparseLatent"]

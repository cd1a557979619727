"""Sparse models with a likelihood that is not Gaussian, by the Laplace approximation."""

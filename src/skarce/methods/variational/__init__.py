"""Variational Bayesian least squares."""

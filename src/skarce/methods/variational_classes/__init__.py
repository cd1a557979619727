"""Variational bounds for classes."""

"""Compact, uncertainty-aware sparse kernel and linear models."""
from skarce.basis import KernelBasis

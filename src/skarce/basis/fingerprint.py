"""A short text that tells different candidates apart, so that sums over different ones are not added up."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import numpy as np
from sklearn.utils.validation import _get_feature_names

from skarce.basis.kernel_basis import KernelBasis

DIGITS = 16  # of a fingerprint: two different ones agree once in 10^19


def fingerprint(basis: Any, X: Any = None) -> str | None:
    """Return what tells the candidates of a fitted basis from others: kernel, centers and widths, or the names of the inputs.

    None stands for candidates that cannot be told apart: inputs without names, and transformers of other packages.
    """
    if isinstance(basis, KernelBasis):
        return _digest(*_of_kernels(basis))
    names = _get_feature_names(X) if isinstance(basis, str) and X is not None else None
    return None if names is None else _digest("inputs", *names)


def _of_kernels(basis: KernelBasis) -> list[Any]:
    kernel = basis.kernel_
    gamma = [] if basis.gamma_ is None else [np.asarray(basis.gamma_, dtype=np.float64)]
    named = kernel if isinstance(kernel, str) else getattr(kernel, "__qualname__", type(kernel).__qualname__)
    return [named, basis.degree, basis.coef0, basis.kernel_params, np.asarray(basis.centers_, dtype=np.float64), *gamma]


def _digest(*parts: Any) -> str:
    digest = sha256()
    for part in parts:
        digest.update(np.ascontiguousarray(part).tobytes() if isinstance(part, np.ndarray) else f"{part}\0".encode())
    return digest.hexdigest()[:DIGITS]

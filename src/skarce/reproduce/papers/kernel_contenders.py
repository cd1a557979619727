"""How the contenders of several papers are built: estimators on Gaussian kernels at the training inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from skarce.basis import KernelBasis
from skarce.estimators import EvidenceRegressor


def on_kernels(estimator: Callable[..., Any], *, centers: Any = None, **parameters: Any) -> Callable[[float], Any]:
    """A `make` function whose choice is the width of the kernels, the same for all inputs. By default, all rows are centers."""

    def make(gamma: float) -> Any:
        return estimator(KernelBasis(gamma=gamma, centers=centers), **parameters)

    return make


def learning_widths(rule: str, **parameters: Any) -> Callable[[None], Any]:
    """A `make` function for the model with all functions, which learns the widths of its kernels by this rule."""

    def make(choice: None) -> Any:
        return EvidenceRegressor(KernelBasis(gamma=rule), random_state=0, **parameters)

    return make


def on_learned_widths(estimator: Callable[..., Any], **parameters: Any) -> Callable[[None, tuple[float, ...]], Any]:
    """A `make` function that uses the widths, one for each input, that another contender has learned."""

    def make(choice: None, gamma: tuple[float, ...]) -> Any:
        return estimator(KernelBasis(gamma=np.array(gamma)), **parameters)

    return make

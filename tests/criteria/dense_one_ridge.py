"""GCV with one ridge for all weights, densely."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from tests.oracles import gcv, gram_schmidt

SCAN = np.geomspace(1e-10, 1e2, 121)

PENALTIES = pytest.mark.parametrize("penalize", ["weights", "orthogonal"])


def centered(phi, intercept):
    return phi - phi.mean(axis=0) if intercept else phi


def penalty_of(phi, ridge, penalize, *, intercept=False):
    """The penalty matrix of these columns, in the order of their entry."""
    if penalize == "weights":
        return ridge * np.eye(phi.shape[1])
    _, U = gram_schmidt(centered(phi, intercept))
    return ridge * U.T @ U


def value(phi, t, ridge, penalize, *, intercept=False):
    """Dense GCV of these columns, in the order of their entry."""
    return gcv(phi, t, penalty_of(phi, ridge, penalize, intercept=intercept), intercept=intercept)


def best_ridge(phi, t, penalize, *, intercept=False):
    """By a dense scan and a bounded search around its best point; also the value there."""
    longest = np.linalg.eigvalsh(centered(phi, intercept).T @ centered(phi, intercept))[-1]
    if penalize == "orthogonal":
        longest = (gram_schmidt(centered(phi, intercept))[0] ** 2).sum(axis=0).max()
    logs = np.log(SCAN * longest)

    def at(log):
        return value(phi, t, np.exp(log), penalize, intercept=intercept)

    k = int(np.argmin([at(log) for log in logs]))
    found = minimize_scalar(
        at, bounds=(logs[max(k - 1, 0)], logs[min(k + 1, len(logs) - 1)]), method="bounded", options={"xatol": 1e-6}
    )
    return float(np.exp(found.x)), float(found.fun)

"""The order in which functions are left out, beside fits without each of them."""

from __future__ import annotations

import numpy as np

from skarce.export.elimination import elimination_order
from tests.export.models import fitted, numbers, targets


def penalized_errors(phi, y, ridges):
    """The least penalized squared error without each of the functions."""
    found = []
    for place in range(phi.shape[1]):
        kept = np.delete(np.arange(phi.shape[1]), place)
        gram = phi[:, kept].T @ phi[:, kept] + np.diag(ridges[kept])
        found.append(y @ y - y @ phi[:, kept] @ np.linalg.solve(gram, phi[:, kept].T @ y))
    return np.array(found)


def test_the_first_to_leave_cost_least():
    """Each function that leaves is the one whose removal raises the penalized error least, with all other weights solved again."""
    model = fitted("abf").model
    X = numbers()
    phi, y, posterior = model.basis_.transform(X), targets(X), model.posterior_
    phi, y = phi - phi.mean(axis=0), y - y.mean()
    order = elimination_order([posterior], [np.arange(phi.shape[1])], phi.shape[1])
    left = list(range(phi.shape[1]))
    for function in order[:-1]:
        errors = penalized_errors(phi[:, left], y, posterior.ridges[left])
        assert errors[left.index(function)] <= errors.min() * (1.0 + 1e-9)
        left.remove(function)


def test_every_function_of_several_targets_leaves_once():
    posteriors, places = fitted("two-targets").model._posteriors(), fitted("two-targets").model._places
    n_functions = len(fitted("two-targets").model.active_)
    order = elimination_order(posteriors, places, n_functions)
    assert sorted(order.tolist()) == list(range(n_functions))

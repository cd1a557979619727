"""The searches by brute force, from N x N matrices."""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from tests.oracles import log_density, reestimated_densely, shared_evidence
from tests.searches.every_search import TOL


@dataclass(frozen=True)
class Model:
    active: tuple[int, ...]
    alpha: float | None
    beta: float | None
    evidence: float


class BruteForce:
    """Each candidate tried by eq. (4) from N x N matrices at the precisions held; then both re-estimated densely."""

    def __init__(self, phi, t, reestimate):
        self.phi, self.t, self.reestimate = phi, t, reestimate
        self.path = []

    def empty(self):
        n = len(self.t)
        return Model((), None, None, log_density(self.t, np.eye(n) * (self.t @ self.t / n)) + 0.5 * np.log(2) + 0.5 * np.log(2 / n))

    def added(self, model):
        outside = [m for m in range(self.phi.shape[1]) if m not in model.active]
        if model.active:
            tried = [self.evidence((*model.active, m), model.alpha, model.beta) for m in outside]
        else:
            tried = [(self.phi[:, m] @ self.t) ** 2 / (self.phi[:, m] @ self.phi[:, m]) for m in outside]
        best = outside[self.separated(tried)]
        self.path.append(("add", best))
        return self.settled((*model.active, best), model)

    def worst(self, model):
        tried = [self.evidence(tuple(np.delete(model.active, i)), model.alpha, model.beta) for i in range(len(model.active))]
        return model.active[self.separated(tried)]

    def removed(self, model):
        worst = self.worst(model)
        self.path.append(("delete", worst))
        return self.settled(tuple(m for m in model.active if m != worst), model)

    @staticmethod
    def separated(values):
        order = np.argsort(values)
        assert len(order) == 1 or values[order[-1]] - values[order[-2]] > 1e-9, "too close to call"
        return int(order[-1])

    def evidence(self, active, alpha, beta):
        return shared_evidence(self.phi[:, list(active)], self.t, alpha, beta)

    def settled(self, active, before):
        inside = self.phi[:, list(active)]
        if self.reestimate == "paper":
            variance = self.t @ self.t / len(self.t)
            first = (1e-3 / variance, 10 / variance) if before.alpha is None else (before.alpha, before.beta)
            alpha, beta, _ = reestimated_densely(inside, self.t, *first, 0.1)
        else:
            alpha, beta = self.best_precisions(inside)
        return Model(active, alpha, beta, self.evidence(active, alpha, beta))

    def best_precisions(self, inside):
        n = len(self.t)

        def noise(log):
            return self.t @ np.linalg.solve(np.eye(n) + inside @ inside.T / np.exp(log), self.t) / n

        def loss(log):
            return n * np.log(noise(log)) + np.linalg.slogdet(np.eye(n) + inside @ inside.T / np.exp(log))[1]

        logs = np.linspace(-15, 15, 31)
        at = logs[np.argmin([loss(log) for log in logs])]
        log = minimize_scalar(loss, bounds=(at - 1, at + 1), method="bounded", options={"xatol": 1e-8}).x
        return np.exp(log) / noise(log), 1 / noise(log)


def brute_plus_take_away(brute, plus, minus, patience):
    best, model = brute.empty(), brute.added(brute.empty())
    while True:
        best = model if model.evidence > best.evidence + TOL else best
        if len(model.active) - len(best.active) >= patience or len(model.active) + plus > brute.phi.shape[1]:
            return best
        for step in range(plus + minus):
            model = brute.added(model) if step < plus else brute.removed(model)
            best = model if model.evidence > best.evidence + TOL else best


def brute_floating(brute, patience, start=()):
    best = model = brute.settled(start, brute.empty()) if start else brute.empty()
    records = {len(start): model.evidence}
    while len(model.active) > 2:  # what it starts from is thinned out first
        smaller = brute.removed(model)
        if smaller.evidence <= model.evidence + TOL:
            break
        best = model = smaller
        records[len(model.active)] = model.evidence
    while len(model.active) - len(best.active) < patience and len(model.active) < brute.phi.shape[1]:
        model = brute.added(model)
        newest, size = model.active[-1], len(model.active)
        records[size] = max(model.evidence, records.get(size, model.evidence))
        best = model if model.evidence > best.evidence + TOL else best
        while len(model.active) > 2 and brute.worst(model) != newest:
            smaller = brute.removed(model)
            if smaller.evidence <= records.get(len(smaller.active), model.evidence) + TOL:
                break
            model, newest = smaller, None
            records[len(model.active)] = model.evidence
            best = model if model.evidence > best.evidence + TOL else best
    return best


def brute_oscillating(brute, depth, patience):
    model, size = brute_plus_take_away(brute, 1, 0, patience), 1
    while size <= depth and len(model.active) > size:
        swung = model
        for step in range(4 * size):
            swung = brute.removed(swung) if size <= step < 3 * size else brute.added(swung)
        model, size = (swung, 1) if swung.evidence > model.evidence + TOL else (model, size + 1)
    return model

"""Estimators with one fault each, for the tests of the fuzz harness."""

import os
import time

import numpy as np

from benchmarks.fuzz.names import IMPORTS
from skarce import RelevanceVectorClassifier, RelevanceVectorPoissonRegressor, RelevanceVectorRegressor


class WarnsByNumpy(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        np.log(np.zeros(1))
        super()._keep(posteriors, design)


class HasNaN(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        super()._keep(posteriors, design)
        self._weights = self._weights * np.nan


class PredictsNaN(RelevanceVectorRegressor):
    def predict(self, X, return_std=False, std="plain"):
        return np.full(len(X), np.nan)


class PredictsInfiniteStd(RelevanceVectorRegressor):
    def predict(self, X, return_std=False, std="plain"):
        return (np.zeros(len(X)), np.full(len(X), np.inf)) if return_std else super().predict(X)


class PredictsRatesThatAreNone(RelevanceVectorPoissonRegressor):
    def predict(self, X, return_std=False):
        return np.full(len(X), np.nan) if len(X) % 2 else np.full(len(X), -1.0)


class DividesByZero(RelevanceVectorRegressor):
    def _method(self):
        return 1 // 0


class RaisesFromLinearAlgebra(RelevanceVectorRegressor):
    def _method(self):
        return np.linalg.inv(np.zeros((2, 2)))


class RaisesFromNumpy(RelevanceVectorRegressor):
    def _method(self):
        return np.zeros(2) + np.zeros(3)


class RaisesWithoutMessage(RelevanceVectorRegressor):
    def _method(self):
        raise ValueError


class RaisesWithLongMessage(RelevanceVectorRegressor):
    def _method(self):
        raise ValueError("long " * 1000)


class SilencesNumpy(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        np.seterr(all="ignore")
        super()._keep(posteriors, design)


class Prints(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        os.write(1, b" ** On entry to DLASCLS parameter number 4 had an illegal value")
        super()._keep(posteriors, design)


class IgnoresMaxIter(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        super()._keep(posteriors, design)
        self.n_iter_ = self.max_iter + 1


class IgnoresMaxActive(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        super()._keep(posteriors, design)
        self.max_active = 0


class IgnoresMaxTime(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        super()._keep(posteriors, design)
        begun = time.process_time()
        while time.process_time() - begun < 0.7:
            pass


class HasNoEnd(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        while True:
            pass


class ChangesBeforeItFails(RelevanceVectorRegressor):
    def _checked_rows(self, probe, X, y, sample_weight, *, is_first=True):
        self.n_features_in_ = 99
        return super()._checked_rows(probe, X, y, sample_weight, is_first=is_first)


class AcceptsNaN(RelevanceVectorRegressor):
    def _checked_rows(self, probe, X, y, sample_weight, *, is_first=True):
        return super()._checked_rows(probe, np.nan_to_num(X), y, sample_weight, is_first=is_first)


class FindsNothing(RelevanceVectorRegressor):
    def predict(self, X, return_std=False, std="plain"):
        return np.zeros(len(X))


class DependsOnUnits(RelevanceVectorRegressor):
    def predict(self, X, return_std=False, std="plain"):
        return super().predict(X) + 0.1


class DependsOnChance(RelevanceVectorRegressor):
    def _keep(self, posteriors, design):
        super()._keep(posteriors, design)
        self.intercept_ = self.intercept_ + 0.01 * np.random.default_rng().normal()


class ForgetsWhenPickled(RelevanceVectorRegressor):
    def __getstate__(self):
        return {**super().__getstate__(), "intercept_": 1e9}


class WrongProbabilities(RelevanceVectorClassifier):
    def predict_proba(self, X):
        return 0.9 * super().predict_proba(X)


ESTIMATORS = [name for name, found in list(globals().items()) if isinstance(found, type) and found.__module__ == __name__]
IMPORTS.update(dict.fromkeys(ESTIMATORS, "from tests.benchmarks.broken import {}"))


def run_broken(case):
    """The job of a worker that knows the estimators of this module."""
    return case.run()

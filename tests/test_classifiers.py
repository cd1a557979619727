"""The scikit-learn face of the classifiers."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import RelevanceVectorClassifier

CLASSIFIERS = [
    RelevanceVectorClassifier(),
    RelevanceVectorClassifier(solver="em"),
    RelevanceVectorClassifier("passthrough"),
    RelevanceVectorClassifier(fit_intercept=False, class_weight="balanced"),
]


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)

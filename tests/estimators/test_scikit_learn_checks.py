"""The checks of scikit-learn for estimators, on every estimator."""

import warnings

import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from skarce import (
    BackwardEliminationRegressor,
    EvidenceRegressor,
    EvidenceSearchRegressor,
    FastGCVRegressor,
    JeffreysPriorRegressor,
    KernelBasis,
    LaplacePriorRegressor,
    LocalRidgeRegressor,
    OrthogonalLeastSquaresRegressor,
    RegularizedForwardRegressor,
    RelevanceVectorClassifier,
    RelevanceVectorPoissonRegressor,
    RelevanceVectorRegressor,
    SparseRegressor,
    StepwiseRegressor,
    VBLSClassifier,
    VBLSRegressor,
)
from skarce.criteria import GCV
from skarce.searches import GreedyBatches, PlusTakeAway

ESTIMATORS = [
    RelevanceVectorRegressor(),
    RelevanceVectorRegressor(solver="sequential"),
    RelevanceVectorRegressor(solver="em"),
    RelevanceVectorRegressor("passthrough"),
    RelevanceVectorRegressor(fit_intercept=False),
    RelevanceVectorRegressor(moments="columns"),
    SparseRegressor(),
    FastGCVRegressor(),
    FastGCVRegressor(solver="sequential", fit_intercept=False),
    FastGCVRegressor("passthrough", noise_update="paper"),
    FastGCVRegressor(moments="columns"),
    LocalRidgeRegressor(),
    SparseRegressor(criterion=GCV(), search=GreedyBatches()),
    OrthogonalLeastSquaresRegressor(),
    OrthogonalLeastSquaresRegressor("passthrough", stop="bic"),
    OrthogonalLeastSquaresRegressor(n_basis=3, moments="columns"),
    RegularizedForwardRegressor(),
    RegularizedForwardRegressor(moments="columns", fit_intercept=False),
    RegularizedForwardRegressor(penalize="orthogonal"),
    RegularizedForwardRegressor("passthrough", ridge=0.1),
    EvidenceRegressor(),
    EvidenceRegressor("passthrough", fit_intercept=False),
    EvidenceRegressor(weight_variance=1.0, moments="columns"),
    BackwardEliminationRegressor(),
    BackwardEliminationRegressor("passthrough", fit_intercept=False),
    BackwardEliminationRegressor(weight_variance=1.0, moments="columns", keep_path=True),
    BackwardEliminationRegressor(direction="forward", stop="step", tol=0.01),
    EvidenceSearchRegressor(),
    EvidenceSearchRegressor("passthrough", search=PlusTakeAway(2, 1)),
    EvidenceSearchRegressor(search="floating", reestimate="paper"),
    EvidenceSearchRegressor(search="floating", fit_intercept=False),
    EvidenceSearchRegressor(search="oscillating", moments="columns"),
    EvidenceSearchRegressor(search="backward"),
    EvidenceSearchRegressor(search="best-action"),
    LaplacePriorRegressor(),
    LaplacePriorRegressor("passthrough", penalty=0.1, moments="columns"),
    LaplacePriorRegressor(degrees_of_freedom="active", fit_intercept=False),
    LaplacePriorRegressor(finish=False),
    JeffreysPriorRegressor(),
    JeffreysPriorRegressor("passthrough", fit_intercept=False),
    VBLSRegressor(),
    VBLSRegressor("rbf"),
    VBLSRegressor(solver="em", max_iter=500),
    VBLSRegressor(prior="shared"),
    VBLSRegressor("rbf", prior="shared", solver="em", fit_intercept=False, max_iter=100),
    VBLSRegressor(prior="shared", factorized=True, moments="whole"),
    VBLSRegressor(prior="none", posterior="student-t"),
    VBLSRegressor(significance="bound", fit_intercept=False),
    VBLSRegressor(noise="student-t"),
    StepwiseRegressor(),
    RelevanceVectorPoissonRegressor(),
    RelevanceVectorPoissonRegressor("passthrough"),
    RelevanceVectorPoissonRegressor(solver="em"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)


@pytest.mark.filterwarnings("ignore:The model uses up more than half:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([RelevanceVectorRegressor(KernelBasis(gamma="evidence"))])
def test_scikit_learn_checks_with_learned_widths(estimator, check):
    if "sample_weight_equivalence" in str(check):
        pytest.skip("widths are learned to the tolerance of their optimizer, and the check asks for seven digits")
    check(estimator)


CLASSIFIERS = [
    RelevanceVectorClassifier(),
    RelevanceVectorClassifier(solver="em"),
    RelevanceVectorClassifier("passthrough"),
    RelevanceVectorClassifier(fit_intercept=False, class_weight="balanced"),
    VBLSClassifier(),
    VBLSClassifier("passthrough", prior="shared"),
    VBLSClassifier(factorized=True, max_iter=30),
    VBLSClassifier("passthrough", significance=0.1),
    VBLSClassifier("passthrough", solver="em", max_iter=50),
    VBLSClassifier("passthrough", solver="em", factorized=True, max_iter=50),
]


@parametrize_with_checks(CLASSIFIERS)
def test_scikit_learn_checks_of_classifiers(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=ConvergenceWarning)
        check(estimator)

"""One case for every way through the library. Names are looked up when a case runs: one that is gone is an error of that case."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures, SplineTransformer

import skarce
from benchmarks.agreement.problems import (
    Case,
    Data,
    Fitted,
    as_text,
    augmented,
    counts,
    fit,
    fit_batches,
    fit_blocks,
    fit_in_little_memory,
    friedman1,
    friedman2,
    landmarks,
    laplacian_kernel,
    linear,
    linear_classes,
    moons,
    outliers,
    precomputed,
    rare_class,
    rbf,
    resized,
    sinc,
    table,
    three_classes,
    three_targets,
    tolerated,
    wide,
)
from skarce import criteria, searches

RELEVANCE_VECTORS: dict[str, Case] = {
    "rvm": lambda: fit(skarce.RelevanceVectorRegressor(rbf()), friedman2()),
    "rvm, default basis": lambda: fit(skarce.RelevanceVectorRegressor("rbf"), sinc()),
    "rvm, sequential": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), solver="sequential"), friedman2()),
    "rvm, em": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), solver="em"), friedman2()),
    "rvm, inputs": lambda: fit(skarce.RelevanceVectorRegressor("passthrough"), linear()),
    "rvm, inputs, columns": lambda: fit(skarce.RelevanceVectorRegressor("passthrough", moments="columns"), linear()),
    "rvm, more inputs than rows": lambda: fit(skarce.RelevanceVectorRegressor("passthrough", max_active=10), wide()),
    "rvm, splines": lambda: fit(skarce.RelevanceVectorRegressor(SplineTransformer(12, extrapolation="linear")), sinc()),
    "rvm, polynomials, sequential": lambda: fit(
        skarce.RelevanceVectorRegressor(PolynomialFeatures(2), solver="sequential"), friedman1()
    ),
    "rvm, polynomials, columns": lambda: fit(
        skarce.RelevanceVectorRegressor(PolynomialFeatures(2), moments="columns"), friedman1()
    ),
    "rvm, landmarks": lambda: fit(skarce.RelevanceVectorRegressor(landmarks()), friedman2()),
    "rvm, given centers": lambda: fit(skarce.RelevanceVectorRegressor(rbf(centers=friedman2().X[::7])), friedman2()),
    "rvm, whole": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), moments="whole"), friedman1()),
    "rvm, columns": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), moments="columns"), friedman1()),
    "rvm, columns, sequential": lambda: fit(
        skarce.RelevanceVectorRegressor(rbf(), moments="columns", solver="sequential"), friedman2()
    ),
    "rvm, columns, em": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), moments="columns", solver="em"), friedman2()),
    "rvm, little memory": lambda: fit_in_little_memory(skarce.RelevanceVectorRegressor(rbf()), friedman2(400)),
    "rvm, little memory, matern52": lambda: fit_in_little_memory(
        skarce.RelevanceVectorRegressor(skarce.KernelBasis("matern52", gamma=0.1)), friedman2(600)
    ),
    "rvm, one learned width": lambda: fit(skarce.RelevanceVectorRegressor(rbf("evidence"), random_state=0), friedman2()),
    "rvm, learned widths": lambda: fit(skarce.RelevanceVectorRegressor(rbf("ard"), random_state=0), friedman2()),
    "rvm, given widths": lambda: fit(skarce.RelevanceVectorRegressor(rbf([0.3, 0.1, 0.2, 0.05])), friedman2()),
    "rvm, matern52, median width": lambda: fit(
        skarce.RelevanceVectorRegressor(skarce.KernelBasis("matern52", gamma="median", random_state=0)), friedman2()
    ),
    "rvm, polynomial kernel": lambda: fit(
        skarce.RelevanceVectorRegressor(skarce.KernelBasis("polynomial", gamma=0.1, degree=2)), friedman2()
    ),
    "rvm, kernel of one's own": lambda: fit(skarce.RelevanceVectorRegressor(skarce.KernelBasis(laplacian_kernel)), sinc()),
    "rvm, precomputed": lambda: fit(skarce.RelevanceVectorRegressor(skarce.KernelBasis("precomputed")), precomputed(friedman2())),
    "rvm, three targets": lambda: fit(skarce.RelevanceVectorRegressor(rbf()), three_targets()),
    "rvm, three targets, em": lambda: fit(skarce.RelevanceVectorRegressor(landmarks(), solver="em"), three_targets()),
    "rvm, weights": lambda: fit(skarce.RelevanceVectorRegressor(rbf()), friedman2(), sample_weight=counts(friedman2())),
    "rvm, weights, columns": lambda: fit(
        skarce.RelevanceVectorRegressor(rbf(), moments="columns"), friedman2(400), sample_weight=counts(friedman2(400))
    ),
    "rvm, no intercept": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), fit_intercept=False), friedman2()),
    "rvm, given noise": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), noise_variance=125.0**2), friedman2()),
    "rvm, given noise, em": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), noise_variance=125.0**2, solver="em"), friedman2()),
    "rvm, five functions": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), max_active=5), friedman1()),
    "rvm, five functions, em": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), max_active=5, solver="em"), friedman2()),
    "rvm, ten steps": lambda: fit(skarce.RelevanceVectorRegressor(rbf(), max_iter=10), friedman1()),
    "rvm, nearly dependent functions": lambda: fit(skarce.RelevanceVectorRegressor(rbf(1e-6), tol=1e-9), friedman2()),
    "rvm, row blocks": lambda: fit_blocks(skarce.RelevanceVectorRegressor(landmarks()), friedman2(400)),
    "rvm, row blocks, columns": lambda: fit_blocks(
        skarce.RelevanceVectorRegressor(rbf(centers=300, random_state=0), moments="columns"), friedman2(400)
    ),
    "rvm, row blocks, three targets": lambda: fit_blocks(
        skarce.RelevanceVectorRegressor(landmarks()), three_targets(), counts(three_targets())
    ),
    "rvm, batches": lambda: fit_batches(skarce.RelevanceVectorRegressor(landmarks()), friedman2()),
    "rvm, constant target": lambda: fit(skarce.RelevanceVectorRegressor("rbf"), sinc()._replace(y=np.full(100, 7.0))),
    "rvm, augmented std": lambda: augmented(fit(skarce.RelevanceVectorRegressor(rbf()), friedman2())),
    "rvm, augmented std, three targets": lambda: augmented(fit(skarce.RelevanceVectorRegressor(rbf()), three_targets())),
    "rvm, 3000 rows": lambda: augmented(fit(skarce.RelevanceVectorRegressor(rbf()), friedman2(3000))),
    "rvm, 3000 rows, single precision": lambda: fit(
        skarce.RelevanceVectorRegressor(rbf()), friedman2(3000)._replace(X=friedman2(3000).X.astype(np.float32))
    ),
    "rvm, 1500 rows, many functions": lambda: fit(skarce.RelevanceVectorRegressor(rbf()), friedman1(1500)),
}

CROSS_VALIDATION: dict[str, Case] = {
    "fgcv": lambda: fit(skarce.FastGCVRegressor(rbf()), friedman2()),
    "fgcv, many functions": lambda: fit(skarce.FastGCVRegressor(rbf()), friedman1()),
    "fgcv, sequential": lambda: fit(skarce.FastGCVRegressor(rbf(), solver="sequential"), friedman2()),
    "fgcv, noise of the paper": lambda: fit(skarce.FastGCVRegressor(rbf(), noise_update="paper"), friedman2()),
    "fgcv, columns": lambda: fit(skarce.FastGCVRegressor(rbf(), moments="columns"), friedman2(400)),
    "fgcv, nearly dependent functions": lambda: fit(skarce.FastGCVRegressor(rbf(1e-4)), friedman2()),
    "fgcv, inputs": lambda: fit(skarce.FastGCVRegressor("passthrough"), linear()),
    "fgcv, learned width": lambda: fit(skarce.FastGCVRegressor(rbf("evidence"), random_state=0), friedman2()),
    "fgcv, three targets": lambda: fit(
        skarce.FastGCVRegressor(landmarks()), three_targets(), sample_weight=counts(three_targets())
    ),
    "fgcv, row blocks": lambda: fit_blocks(skarce.FastGCVRegressor(landmarks()), friedman2()),
    "fgcv, 3000 rows": lambda: fit(skarce.FastGCVRegressor(rbf(0.05)), friedman2(3000)),
    "local ridge": lambda: fit(skarce.LocalRidgeRegressor(rbf(0.3)), sinc()),
    "local ridge, given start": lambda: fit(skarce.LocalRidgeRegressor(rbf(), initial_ridge=1.0), friedman2()),
    "local ridge, none comes back": lambda: fit(skarce.LocalRidgeRegressor(rbf(), readmit=False, max_active=10), friedman2()),
}

FORWARD: dict[str, Case] = {
    "rfs": lambda: fit(skarce.RegularizedForwardRegressor(rbf()), friedman2()),
    "rfs, orthogonal": lambda: fit(skarce.RegularizedForwardRegressor(rbf(), penalize="orthogonal"), friedman2()),
    "rfs, given ridge": lambda: fit(skarce.RegularizedForwardRegressor(rbf(), ridge=0.1, patience=4), friedman2()),
    "rfs, columns": lambda: fit(skarce.RegularizedForwardRegressor(rbf(), moments="columns"), friedman1()),
    "rfs, another size": lambda: resized(fit(skarce.RegularizedForwardRegressor(rbf(), keep_path=True), friedman2()), 4),
    "rfs, orthogonal, another tolerance": lambda: tolerated(
        fit(skarce.RegularizedForwardRegressor(rbf(), penalize="orthogonal", keep_path=True), friedman2()), 0.01
    ),
    "ols": lambda: fit(skarce.OrthogonalLeastSquaresRegressor(rbf()), friedman2()),
    "ols, bic": lambda: fit(skarce.OrthogonalLeastSquaresRegressor(rbf(), stop="bic"), friedman2()),
    "ols, variance": lambda: fit(skarce.OrthogonalLeastSquaresRegressor(rbf(), stop="variance", unexplained=0.15), friedman2()),
    "ols, eight functions": lambda: fit(skarce.OrthogonalLeastSquaresRegressor(rbf(), n_basis=8), friedman1()),
    "ols, another size": lambda: resized(fit(skarce.OrthogonalLeastSquaresRegressor(rbf(), n_basis=8), friedman1()), 5),
    "ols, another tolerance": lambda: tolerated(
        fit(skarce.OrthogonalLeastSquaresRegressor(rbf(), keep_path=True), friedman2()), 0.01
    ),
    "ols, too few candidates": lambda: fit(skarce.OrthogonalLeastSquaresRegressor("passthrough", n_basis=50), linear()),
    "ols, three targets": lambda: fit(
        skarce.OrthogonalLeastSquaresRegressor(rbf(), max_active=10), three_targets(), sample_weight=counts(three_targets())
    ),
    "stepwise": lambda: fit(skarce.StepwiseRegressor(), linear()),
    "stepwise, forward": lambda: fit(skarce.StepwiseRegressor(direction="forward", enter=0.01), friedman1()),
    "stepwise, backward": lambda: fit(skarce.StepwiseRegressor(direction="backward"), linear()),
}

EVIDENCE: dict[str, Case] = {
    "search forward": lambda: fit(skarce.EvidenceSearchRegressor(rbf()), friedman2()),
    "search plus-take-away": lambda: fit(skarce.EvidenceSearchRegressor(rbf(), search="plus-take-away"), friedman2()),
    "search floating": lambda: fit(skarce.EvidenceSearchRegressor(rbf(), search="floating"), friedman2()),
    "search oscillating": lambda: fit(skarce.EvidenceSearchRegressor(rbf(), search="oscillating"), friedman2()),
    "search backward": lambda: fit(skarce.EvidenceSearchRegressor(landmarks(), search="backward"), friedman2()),
    "search best-action": lambda: fit(skarce.EvidenceSearchRegressor(rbf(), search="best-action"), friedman2()),
    "search forward, paper": lambda: fit(skarce.EvidenceSearchRegressor(rbf(), reestimate="paper"), friedman2()),
    "search floating, paper": lambda: fit(
        skarce.EvidenceSearchRegressor(rbf(), search="floating", reestimate="paper"), friedman2()
    ),
    "search floating, from some": lambda: fit(
        skarce.EvidenceSearchRegressor("passthrough", search="floating", initial=[3, 7, 9, 20], always_in=[0]), linear()
    ),
    "search forward, another size": lambda: resized(fit(skarce.EvidenceSearchRegressor(rbf(), keep_path=True), three_targets()), 6),
    "search with settings": lambda: fit(
        skarce.EvidenceSearchRegressor(rbf(), search=searches.Floating(patience=4), moments="columns"), friedman1()
    ),
    "all functions": lambda: fit(skarce.EvidenceRegressor(rbf()), friedman2()),
    "all functions, given variance": lambda: fit(skarce.EvidenceRegressor(rbf(), weight_variance=1e4), friedman2()),
    "all functions, more inputs than rows": lambda: fit(skarce.EvidenceRegressor("passthrough", max_active=20), wide()),
    "all functions, learned widths": lambda: fit(skarce.EvidenceRegressor(rbf("ard"), random_state=0), friedman2()),
    "Gaussian process": lambda: fit(skarce.EvidenceRegressor(skarce.ProcessBasis(random_state=0)), friedman2()),
    "Gaussian process, matern52": lambda: fit(
        skarce.EvidenceRegressor(skarce.ProcessBasis("matern52", gamma="evidence", random_state=0)), friedman1()
    ),
    "Gaussian process, given width": lambda: fit(
        skarce.EvidenceRegressor(skarce.ProcessBasis("matern32", gamma=0.1, centers=60, random_state=0), weight_variance=1e5),
        three_targets(),
    ),
    "elimination": lambda: fit(skarce.BackwardEliminationRegressor(rbf()), friedman2()),
    "elimination, forward": lambda: fit(skarce.BackwardEliminationRegressor(rbf(), direction="forward"), friedman2()),
    "elimination, by steps": lambda: fit(skarce.BackwardEliminationRegressor(rbf(), stop="step", tol=0.001), friedman2()),
    "elimination, paper": lambda: fit(
        skarce.BackwardEliminationRegressor(rbf("ard"), weight_variance=1.0, random_state=0), friedman2()
    ),
    "elimination, another size": lambda: resized(
        fit(skarce.BackwardEliminationRegressor(rbf(), keep_path=True), three_targets()), 12
    ),
    "elimination, another tolerance": lambda: tolerated(
        fit(skarce.BackwardEliminationRegressor(rbf(), weight_variance=1.0), friedman2()), 0.2
    ),
    "elimination, 500 rows to 20": lambda: fit(skarce.BackwardEliminationRegressor(rbf(), n_basis=20), friedman1(500)),
}

PRIORS: dict[str, Case] = {
    "laplace": lambda: fit(skarce.LaplacePriorRegressor(rbf()), friedman2()),
    "laplace, given penalty": lambda: fit(skarce.LaplacePriorRegressor(rbf(), penalty=200.0), friedman2()),
    "laplace, given penalties": lambda: fit(
        skarce.LaplacePriorRegressor("passthrough", penalty=[1000.0, 300.0, 100.0, 30.0]), linear()
    ),
    "laplace, not finished": lambda: fit(skarce.LaplacePriorRegressor(rbf(), finish=False), friedman2()),
    "laplace, active functions count": lambda: fit(
        skarce.LaplacePriorRegressor("passthrough", degrees_of_freedom="active"), wide()
    ),
    "laplace, no penalty": lambda: fit(skarce.LaplacePriorRegressor("passthrough", penalty=0.0), linear()),
    "laplace, ten functions": lambda: fit(skarce.LaplacePriorRegressor(rbf(), max_active=10), friedman1()),
    "laplace, ten functions, not finished": lambda: fit(
        skarce.LaplacePriorRegressor(rbf(), max_active=10, finish=False), friedman2()
    ),
    "laplace, three targets": lambda: fit(
        skarce.LaplacePriorRegressor(rbf()), three_targets(), sample_weight=counts(three_targets())
    ),
    "jeffreys": lambda: fit(skarce.JeffreysPriorRegressor("rbf"), sinc()),
    "jeffreys, inputs": lambda: fit(skarce.JeffreysPriorRegressor("passthrough", initial_ridge=1.0), linear()),
    "jeffreys, six functions": lambda: fit(skarce.JeffreysPriorRegressor(rbf(), initial_ridge=0.1, max_active=6), friedman2()),
}

VARIATIONAL: dict[str, Case] = {
    "vbls": lambda: fit(skarce.VBLSRegressor(), linear()),
    "vbls, more inputs than rows": lambda: fit(skarce.VBLSRegressor(), wide()),
    "vbls, from all": lambda: fit(skarce.VBLSRegressor(start="all", max_active=5), linear()),
    "vbls, kernels": lambda: fit(skarce.VBLSRegressor(rbf()), friedman2()),
    "vbls, kernels, both ends": lambda: fit(skarce.VBLSRegressor(rbf(), start="both"), friedman2()),
    "vbls, little memory": lambda: fit_in_little_memory(skarce.VBLSRegressor(rbf()), friedman2(400)),
    "vbls, shared": lambda: fit(skarce.VBLSRegressor(prior="shared"), linear()),
    "vbls, shared, factorized": lambda: fit(skarce.VBLSRegressor(prior="shared", factorized=True), linear()),
    "vbls, no prior": lambda: fit(skarce.VBLSRegressor(prior="none"), linear()),
    "vbls, groups": lambda: fit(skarce.VBLSRegressor(prior=np.arange(30) // 3), linear()),
    "vbls, em": lambda: fit(skarce.VBLSRegressor(solver="em", max_iter=3000), linear()),
    "vbls, em, shared": lambda: fit(skarce.VBLSRegressor(solver="em", prior="shared"), linear()),
    "vbls, em, no prior": lambda: fit(skarce.VBLSRegressor(solver="em", prior="none", max_iter=3000), linear()),
    "vbls, em, groups": lambda: fit(skarce.VBLSRegressor(solver="em", prior=np.arange(30) // 3, max_iter=3000), linear()),
    "vbls, heavy tails": lambda: fit(skarce.VBLSRegressor(noise="student-t"), outliers()),
    "vbls, heavy tails, kernels": lambda: fit(
        skarce.VBLSRegressor(landmarks(), noise="student-t", degrees_of_freedom=4.0), friedman2()
    ),
    "vbls, heavy tails, shared": lambda: fit(
        skarce.VBLSRegressor(noise="student-t", prior="shared"), outliers(), sample_weight=counts(outliers())
    ),
    "vbls, heavy tails, no prior": lambda: fit(skarce.VBLSRegressor(noise="student-t", prior="none"), outliers()),
    "vbls, student-t posterior": lambda: fit(skarce.VBLSRegressor(posterior="student-t"), linear()),
    "vbls, significance": lambda: fit(skarce.VBLSRegressor(significance=0.01), linear()),
    "vbls, significance by the bound": lambda: fit(skarce.VBLSRegressor(rbf(), significance="bound"), friedman2()),
    "vbls, significance of groups": lambda: fit(skarce.VBLSRegressor(prior=np.arange(30) // 3, significance=0.01), linear()),
    "vbls, three targets": lambda: fit(skarce.VBLSRegressor(landmarks()), three_targets(), sample_weight=counts(three_targets())),
    "vbls, batches": lambda: fit_batches(skarce.VBLSRegressor(), linear()),
    "vbls, batches, forgetting": lambda: fit_batches(skarce.VBLSRegressor(landmarks(), forgetting=0.9), three_targets(), 8),
    "vbls, batches, always from scratch": lambda: fit_batches(skarce.VBLSRegressor(restarts="always"), linear()),
    "vbls, fit and batches": lambda: fit_batches(skarce.VBLSRegressor().fit(linear().X, linear().y), linear(), 3),
    "vbls, row blocks, no intercept": lambda: fit_blocks(skarce.VBLSRegressor(fit_intercept=False), linear()),
}

CLASSES: dict[str, Case] = {
    "rvm classes": lambda: fit(skarce.RelevanceVectorClassifier("rbf"), moons()),
    "rvm classes, three": lambda: fit(skarce.RelevanceVectorClassifier("rbf"), three_classes()),
    "rvm classes, em": lambda: fit(skarce.RelevanceVectorClassifier("rbf", solver="em"), moons()),
    "rvm classes, em, three": lambda: fit(skarce.RelevanceVectorClassifier("rbf", solver="em"), three_classes()),
    "rvm classes, em, three functions": lambda: fit(skarce.RelevanceVectorClassifier("rbf", solver="em", max_active=3), moons()),
    "rvm classes, balanced": lambda: fit(
        skarce.RelevanceVectorClassifier("passthrough", class_weight="balanced"), linear_classes()
    ),
    "rvm classes, text": lambda: fit(skarce.RelevanceVectorClassifier(landmarks()), as_text(three_classes())),
    "rvm classes, weights": lambda: fit(
        skarce.RelevanceVectorClassifier("rbf", fit_intercept=False, max_active=4), moons(), sample_weight=counts(moons())
    ),
    "rvm classes, learned width": lambda: fit(skarce.RelevanceVectorClassifier(rbf("evidence"), random_state=0), moons()),
    "rvm classes, 3000 rows": lambda: fit(skarce.RelevanceVectorClassifier("rbf"), moons(3000)),
    "vbls classes": lambda: fit(skarce.VBLSClassifier("rbf"), moons()),
    "vbls classes, three": lambda: fit(skarce.VBLSClassifier("rbf"), three_classes()),
    "vbls classes, em": lambda: fit(skarce.VBLSClassifier("passthrough", solver="em"), linear_classes()),
    "vbls classes, balanced": lambda: fit(skarce.VBLSClassifier("passthrough", class_weight="balanced"), linear_classes()),
    "vbls classes, one is rare": lambda: fit(skarce.VBLSClassifier("rbf"), rare_class()),
    "vbls classes, text": lambda: fit(skarce.VBLSClassifier(landmarks()), as_text(three_classes())),
    "vbls classes, weights": lambda: fit(
        skarce.VBLSClassifier("rbf", fit_intercept=False, max_active=4), moons(), sample_weight=counts(moons())
    ),
    "vbls classes, shared": lambda: fit(skarce.VBLSClassifier(landmarks(), prior="shared"), moons()),
    "vbls classes, groups": lambda: fit(skarce.VBLSClassifier("passthrough", prior=np.arange(15) // 3), linear_classes()),
    "vbls classes, factorized": lambda: fit(skarce.VBLSClassifier("passthrough", factorized=True, tol=1e-8), linear_classes()),
    "vbls classes, factorized, em": lambda: fit(
        skarce.VBLSClassifier("passthrough", factorized=True, solver="em", max_iter=2000), linear_classes()
    ),
    "vbls classes, factorized kernels": lambda: fit(skarce.VBLSClassifier("rbf", factorized=True), three_classes()),
    "vbls classes, 3001 rows": lambda: fit(skarce.VBLSClassifier("rbf"), moons(3001)),
    "vbls classes, significance": lambda: fit(skarce.VBLSClassifier("passthrough", significance=0.01), linear_classes()),
    "vbls classes, significance by the bound": lambda: fit(skarce.VBLSClassifier("rbf", significance="bound"), moons()),
}


def sparse(criterion: Any, search: Any, data: Data, basis: Any = None, **params: Any) -> Fitted:
    return fit(skarce.SparseRegressor(rbf() if basis is None else basis, criterion, search, **params), data)


COMBINATIONS: dict[str, Case] = {
    "default criterion and search": lambda: sparse(None, None, friedman2()),
    "IndividualEvidence x BestAction, not compiled": lambda: sparse(
        criteria.IndividualEvidence(), searches.BestAction(compiled=False), friedman2()
    ),
    "IndividualEvidence x GreedyBatches, no single steps": lambda: sparse(
        criteria.IndividualEvidence(), searches.GreedyBatches(few=0), friedman1()
    ),
    "IndividualEvidence x Forward": lambda: sparse(criteria.IndividualEvidence(), searches.Forward(), friedman2()),
    "GCV x BestAction": lambda: sparse(criteria.GCV(), searches.BestAction(), friedman2()),
    "GCV x GreedyBatches": lambda: sparse(criteria.GCV(lowest_ridge=0.01), searches.GreedyBatches(), friedman1()),
    "GCV x Floating": lambda: sparse(criteria.GCV(), searches.Floating(patience=4), linear(), "passthrough"),
    "SharedGCV x Forward": lambda: sparse(criteria.SharedGCV(), searches.Forward(), friedman2()),
    "SharedGCV x PlusTakeAway": lambda: sparse(criteria.SharedGCV(), searches.PlusTakeAway(3, 1, patience=4), friedman2()),
    "OrthogonalGCV x Forward": lambda: sparse(criteria.OrthogonalGCV(), searches.Forward(n_basis=9), friedman2()),
    "ExplainedVariance x Forward": lambda: sparse(criteria.ExplainedVariance("bic"), searches.Forward(), friedman2()),
    "ExplainedVariance x BestAction": lambda: sparse(criteria.ExplainedVariance(), searches.BestAction(), linear(), "passthrough"),
    "PenalizedError x Backward": lambda: sparse(criteria.PenalizedError(tol=0.05), searches.Backward(), friedman2()),
    "PenalizedError x Forward": lambda: sparse(criteria.PenalizedError(ridge=0.1, tol=0.05), searches.Forward(), friedman2()),
    "PenalizedError x Backward, another size": lambda: resized(
        sparse(criteria.PenalizedError(), searches.Backward(), friedman2(), keep_path=True), 15
    ),
    "PenalizedError x Forward, another tolerance": lambda: tolerated(
        sparse(criteria.PenalizedError(tol=0.05), searches.Forward(), friedman2(), keep_path=True), 0.2
    ),
    "SharedEvidence x Floating": lambda: sparse(criteria.SharedEvidence(), searches.Floating(), friedman2()),
    "SharedEvidence x Oscillating": lambda: sparse(criteria.SharedEvidence(), searches.Oscillating(2), friedman2()),
    "SharedEvidence x BestAction": lambda: sparse(criteria.SharedEvidence("paper"), searches.BestAction(), friedman2()),
    "parameters by criterion, widths": lambda: fit(
        skarce.CriterionSearch(skarce.FastGCVRegressor("rbf"), {"basis__gamma": [0.01, 0.1, 1.0]}), friedman2()
    ),
    "parameters by criterion, one basis": lambda: fit(
        skarce.CriterionSearch(skarce.LaplacePriorRegressor(rbf()), {"penalty": [30.0, 100.0, 300.0]}, inflation=1.0), friedman2()
    ),
    "parameters by criterion, classes": lambda: fit(
        skarce.CriterionSearch(skarce.RelevanceVectorClassifier("rbf"), {"basis__gamma": [0.1, 1.0]}), moons()
    ),
}

REAL: dict[str, Case] = {
    "boston, rvm": lambda: fit(skarce.RelevanceVectorRegressor(rbf()), table("boston")),
    "boston, fgcv": lambda: fit(skarce.FastGCVRegressor(rbf(0.02)), table("boston")),
    "boston, vbls": lambda: fit(skarce.VBLSRegressor(), table("boston")),
    "boston, elimination": lambda: fit(skarce.BackwardEliminationRegressor(rbf()), table("boston")),
    "pima, rvm classes": lambda: fit(skarce.RelevanceVectorClassifier("rbf"), table("pima_tr")),
    "pima, vbls classes": lambda: fit(skarce.VBLSClassifier("rbf"), table("pima_tr")),
}

CASES: dict[str, Case] = {
    **RELEVANCE_VECTORS,
    **CROSS_VALIDATION,
    **FORWARD,
    **EVIDENCE,
    **PRIORS,
    **VARIATIONAL,
    **CLASSES,
    **COMBINATIONS,
    **REAL,
}

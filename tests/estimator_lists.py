"""The public estimators, for tests that go through all of them."""

import skarce

WITHOUT_BASIS = (skarce.LWPRRegressor, skarce.JointFactorRegressor)  # no candidates, no posterior
REDUCTIONS = (skarce.KernelDimensionReduction,)  # transformers that learn from targets
LATENT = (
    skarce.RelevanceVectorClassifier,
    skarce.VBLSClassifier,
    skarce.KernelMatchingPursuitClassifier,
    skarce.PrimalSVMClassifier,
    skarce.RelevanceVectorPoissonRegressor,
)
REGRESSORS = tuple(
    estimator
    for estimator in (getattr(skarce, name) for name in skarce.__all__ if name.endswith("Regressor"))
    if estimator not in (*LATENT, *WITHOUT_BASIS)
)

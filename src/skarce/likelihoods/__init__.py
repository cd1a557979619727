"""How targets arise from the latent function."""

from skarce.likelihoods.bernoulli import Bernoulli, moderated_log_odds
from skarce.likelihoods.gaussian import Gaussian
from skarce.likelihoods.likelihood import Likelihood, Observations, Slopes, bounded_exp
from skarce.likelihoods.poisson import Poisson
from skarce.likelihoods.student_t import StudentT

__all__ = [
    "Bernoulli",
    "Gaussian",
    "Likelihood",
    "Observations",
    "Poisson",
    "Slopes",
    "StudentT",
    "bounded_exp",
    "moderated_log_odds",
]

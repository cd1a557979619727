"""How targets arise from the latent function."""

from skarce.likelihoods.bernoulli import Bernoulli, moderated_log_odds
from skarce.likelihoods.gaussian import Gaussian
from skarce.likelihoods.likelihood import Likelihood, Observations, Slopes
from skarce.likelihoods.poisson import Poisson
from skarce.likelihoods.student_t import StudentT

__all__ = ["Bernoulli", "Gaussian", "Likelihood", "Observations", "Poisson", "Slopes", "StudentT", "moderated_log_odds"]

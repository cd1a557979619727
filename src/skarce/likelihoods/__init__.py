"""How targets arise from the latent function."""

from skarce.likelihoods.bernoulli import Labels, moderated_log_odds
from skarce.likelihoods.gaussian import Gaussian
from skarce.likelihoods.likelihood import Likelihood, Observations, Slopes

__all__ = ["Gaussian", "Labels", "Likelihood", "Observations", "Slopes", "moderated_log_odds"]

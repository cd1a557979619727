"""How targets arise from the latent function, where that is not by Gaussian noise."""

from skarce.likelihoods.bernoulli import Labels, moderated_log_odds

__all__ = ["Labels", "moderated_log_odds"]

"""How targets arise from the latent function."""

from typing import TYPE_CHECKING

from skarce._lazy import lazy

if TYPE_CHECKING:
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

__getattr__, __dir__ = lazy(
    __name__,
    {
        "Bernoulli": "bernoulli",
        "moderated_log_odds": "bernoulli",
        "Gaussian": "gaussian",
        "Likelihood": "likelihood",
        "Observations": "likelihood",
        "Slopes": "likelihood",
        "bounded_exp": "likelihood",
        "Poisson": "poisson",
        "StudentT": "student_t",
    },
)

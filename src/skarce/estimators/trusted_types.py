"""The classes of skarce that a saved model may hold."""

from __future__ import annotations

import inspect
from types import ModuleType
from typing import Any

from sklearn.base import BaseEstimator

from skarce import basis, criteria, estimators, searches
from skarce.basis.transformers import PassthroughCandidates, TransformerCandidates
from skarce.criteria import Criterion
from skarce.designs import LatentStream, StreamDesign
from skarce.designs.latent_stream import Quadratic, Spread
from skarce.estimators.on_basis import OnBasis
from skarce.methods.all_candidates import PriorEvidence
from skarce.methods.factors import Conditional
from skarce.methods.lwpr import LocalModels
from skarce.methods.pursuit import CorrelationOrder
from skarce.moments.sums import Sums
from skarce.posteriors.latent import LatentPosterior
from skarce.posteriors.nested import NestedPath
from skarce.posteriors.posterior import Posterior
from skarce.posteriors.variational import VariationalPosterior
from skarce.searches import Pools, Search

# What fitted models hold besides their parameters. The tests fit every kind of model and compare.
FITTED_PARTS = (
    *(Posterior, LatentPosterior, VariationalPosterior),
    *(NestedPath, PriorEvidence, CorrelationOrder),  # the path of nested models, and criteria of such a path that are no parameters
    *(StreamDesign, Sums, PassthroughCandidates, TransformerCandidates),  # where partial_fit goes on
    *(LatentStream, Quadratic, Spread),  # the same for latent functions
    *(LocalModels, Conditional),  # receptive fields, and factors
)


def trusted_types() -> list[str]:
    """Return the full names of the classes of skarce that a saved model may hold, and of no others.

    These are the public estimators, their parameters (bases, criteria and searches), and the parts of a fitted model. Pass the list
    to ``skops.io.load``, and to ``mlflow.sklearn.save_model`` as `skops_trusted_types`. Reading a file with these types cannot run
    code of the file.

    Returns
    -------
    names : list of str
        Sorted names such as ``"skarce.basis.kernel_basis.KernelBasis"``.

    Examples
    --------
    >>> import skarce
    >>> "skarce.basis.kernel_basis.KernelBasis" in skarce.trusted_types()
    True
    """
    parameters = (*_public(basis, BaseEstimator), *_public(criteria, Criterion), *_public(searches, Search), Pools)
    classes = (*_public(estimators, BaseEstimator), *parameters, *FITTED_PARTS)
    return sorted(f"{cls.__module__}.{cls.__qualname__}" for cls in classes)


def model_classes() -> tuple[type[Any], ...]:
    """Return the public estimators that become a model themselves; `CriterionSearch` only finds one."""
    return _public(estimators, OnBasis)


def _public(room: ModuleType, kind: type[Any]) -> tuple[type[Any], ...]:
    """The concrete classes of a kind among the public names of a room."""
    found = [getattr(room, name) for name in room.__all__]
    return tuple(cls for cls in found if inspect.isclass(cls) and issubclass(cls, kind) and not inspect.isabstract(cls))

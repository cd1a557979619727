"""The fast schedule: where it ends."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, SparseRegressor
from skarce.criteria import GCV, IndividualEvidence
from skarce.searches import GreedyBatches, Pools
from tests.oracles import rbf


@pytest.mark.parametrize("moments", ["whole", "columns"])
def test_a_search_by_gcv_ends_after_it_has_used_its_share_of_the_rows(rng, moments):
    X = rng.uniform(-3, 3, (150, 2))
    y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 150)
    for share in (0.2, 0.5):
        search = GreedyBatches(most_used=share, pools=Pools(pool_size=40))
        with pytest.warns(ConvergenceWarning, match="uses up more than half"):
            model = SparseRegressor(KernelBasis(gamma=30.0), GCV(), search, moments=moments).fit(X, y)
        phi = rbf(X, X[model.active_], 30.0)
        phi = phi - phi.mean(axis=0)
        used = np.trace(np.linalg.solve(phi.T @ phi + np.diag(model.weight_precision_ * model.noise_variance_), phi.T @ phi))
        assert model.outcome_ is Outcome.HALF_USED
        assert share * 149 < used < 0.95 * 149
    whole = SparseRegressor(KernelBasis(gamma=30.0), GCV(), GreedyBatches()).fit
    with pytest.warns(ConvergenceWarning):
        assert len(whole(X, y).active_) > len(model.active_)


def test_the_evidence_counts_no_degrees_of_freedom(sinc):
    model, limited = (
        SparseRegressor("rbf", IndividualEvidence(), GreedyBatches(most_used=share)).fit(*sinc) for share in (1.0, 0.01)
    )
    np.testing.assert_array_equal(limited.active_, model.active_)

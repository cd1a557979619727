"""The fast schedule: where it ends."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from skarce import KernelBasis, Outcome, SparseRegressor
from skarce.criteria import GCV, IndividualEvidence
from skarce.searches import GreedyBatches, Pools
from skarce.states.active_set import ActiveSet
from skarce.states.budget import Budget
from skarce.states.journal import Journal
from tests.oracles import rbf
from tests.problems import kernel_moments

left_of = ActiveSet.left_of


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


def most_gain(criterion, moments, fit):
    """The most that a single change of a set gains: an addition, another ridge, or a removal."""
    state = criterion.new_state(moments, fit.active, fit.ridges)
    others = np.setdiff1d(np.arange(moments.n_candidates), fit.active)
    added = max((criterion.addition(state, int(candidate))[1] for candidate in others), default=0.0)
    return max(added, float(criterion.changes(state, moments.n_samples).gains.max()))


@pytest.mark.parametrize("gamma", [0.3, 3.0])
@pytest.mark.parametrize("begins", ["empty", "with all"])
def test_short_lists_end_where_no_single_change_gains(gamma, begins):
    """Also from a start in which all candidates are active, so that no other can help."""
    moments, _, _ = kernel_moments(gamma, n=150, noise=0.3, fit_intercept=False)
    start = (np.arange(moments.n_candidates), 0.05 * moments.gram.diagonal) if begins == "with all" else None
    criterion, journal = IndividualEvidence(), Journal(Budget(tol=1e-3))
    fit = GreedyBatches(few=-1).run(criterion, moments, journal, start)
    assert fit.outcome is Outcome.CONVERGED
    assert 3 < len(fit.active) < 75
    assert most_gain(criterion, moments, fit) <= 1e-3


def test_a_short_list_adds_what_the_whole_set_would(monkeypatch):
    """With room for all candidates that help in the list, a batch is that of a set that sees all candidates."""
    moments, _, _ = kernel_moments(1.0, n=120, noise=0.2, fit_intercept=False)
    criterion, batches = IndividualEvidence(), GreedyBatches(smallest_batch=200, few=-1)
    start = np.array([5, 60, 100]), np.array([0.1, 0.2, 0.3])
    by_list, whole = (criterion.new_state(moments, *start) for _ in range(2))
    monkeypatch.setattr(type(whole), "left_of", lambda state, candidates: None if state is whole else left_of(state, candidates))
    found = [batches.add_batch(criterion, state, Journal(Budget()), 1e-3) for state in (by_list, whole)]
    assert found[0][0] == found[1][0] > 3
    assert found[0][1] == pytest.approx(found[1][1], rel=1e-9)
    np.testing.assert_array_equal(by_list.active, whole.active)
    np.testing.assert_allclose(by_list.ridges, whole.ridges, rtol=1e-6)
    assert criterion.score(by_list, moments.n_samples) == pytest.approx(criterion.score(whole, moments.n_samples), rel=1e-10)

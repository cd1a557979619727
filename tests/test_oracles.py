"""The oracles themselves."""

import numpy as np

from tests.oracles import contrasts


def test_contrasts_of_the_oracle_are_orthonormal():
    basis = contrasts(7)
    np.testing.assert_allclose(basis.T @ basis, np.eye(6), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=0), 0, atol=1e-12)

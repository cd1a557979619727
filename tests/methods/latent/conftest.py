import pytest

from tests.methods.latent.problems import LIKELIHOODS


@pytest.fixture(params=LIKELIHOODS)
def kind(request):
    return request.param

import openai
import pytest

import gateways


@pytest.fixture(params=gateways.PROFILES)
def profile(request):
    return request.param


@pytest.fixture
def place(profile):
    """The profile's scripted gateway."""
    return gateways.scripted(profile)


@pytest.fixture(scope="session")
def any_client():
    """Every client shares its connections, which takes most of what setting one up costs."""
    with openai.OpenAI(base_url="http://127.0.0.1/nowhere", api_key="none", max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def connect(any_client):
    """The SDK on a gateway, without retries, with whatever other settings a test wants."""

    def make(place, **settings):
        return any_client.with_options(**{"base_url": place.base_url, "api_key": place.api_key, **settings})

    return make


@pytest.fixture
def client(place, connect):
    """The SDK on the profile's scripted gateway, without retries."""
    return connect(place)


@pytest.fixture
def unscripted(profile, connect):
    """The SDK on the profile's gateway that nothing was scripted on."""
    return connect(gateways.unscripted(profile))

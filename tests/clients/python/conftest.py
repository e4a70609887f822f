import gateways
import openai
import pytest


@pytest.fixture(params=gateways.PROFILES)
def profile(request):
    return request.param


@pytest.fixture
def place(profile):
    """The profile's scripted gateway."""
    return gateways.scripted(profile)


@pytest.fixture
def client(place):
    """The SDK on the profile's scripted gateway, without retries."""
    with openai.OpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def unscripted(profile):
    """The SDK on the profile's gateway that nothing was scripted on."""
    place = gateways.unscripted(profile)
    with openai.OpenAI(base_url=place.base_url, api_key=place.api_key, max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def connect():
    """Makes clients with other keys or settings, closed when the test ends."""
    clients = []

    def make(place, **settings):
        settings = {"base_url": place.base_url, "api_key": place.api_key, "max_retries": 0, "timeout": 10, **settings}
        clients.append(openai.OpenAI(**settings))
        return clients[-1]

    yield make
    for client in clients:
        client.close()

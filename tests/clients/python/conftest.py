import contextlib
import functools
from pathlib import Path

import openai
import pytest

import gateways
from mock_gateway import MockGateway, scope_of

pytest_plugins = ["mock_gateway"]

SCRIPT = Path(__file__).parent.parent / "script.jsonc"


@pytest.fixture(scope="session")
def servers():
    """Returns the gateway with these flags; starts it on first use."""
    with contextlib.ExitStack() as running:

        @functools.cache
        def server(*flags, scripts=()):
            return running.enter_context(MockGateway.start(scripts, [*gateways.MODEL_FLAGS, *flags]))

        yield server


@pytest.fixture(params=gateways.PROFILES)
def profile(request):
    return request.param


@pytest.fixture
def gateway(request, servers, profile):
    """The test's scope on the profile's scripted gateway."""
    return scope_of(request, servers("--profile", profile, scripts=(SCRIPT,)))


@pytest.fixture
def documented(request, servers):
    """The same for slow tests, for which one profile is enough."""
    return scope_of(request, servers("--profile", "documented", scripts=(SCRIPT,)))


@pytest.fixture
def strict(request, servers):
    return scope_of(request, servers("--strict"))


@pytest.fixture
def strict_openai(request, servers):
    return scope_of(request, servers("--strict", "--profile", "openai"))


@pytest.fixture
def limited(request, servers):
    """A gateway with one limit for all keys."""
    return scope_of(request, servers("--limit", "2/1h"))


@pytest.fixture(scope="session")
def any_client():
    """All clients share this client's connections, because creating them is the slowest part of a client's setup."""
    with openai.OpenAI(base_url="http://127.0.0.1/nowhere", api_key="none", max_retries=0, timeout=10) as client:
        yield client


@pytest.fixture
def connect(any_client):
    """Creates the SDK's client for a gateway, without retries, with other settings of the test."""

    def make(gateway, **settings):
        return any_client.with_options(**{"base_url": gateway.base_url, "api_key": gateway.api_key, **settings})

    return make


@pytest.fixture
def client(gateway, connect):
    """The SDK on the profile's scripted gateway, without retries."""
    return connect(gateway)


@pytest.fixture
def unscripted_gateway(request, servers, profile):
    """The test's scope on the profile's gateway without stubs."""
    return scope_of(request, servers("--profile", profile))


@pytest.fixture
def unscripted(unscripted_gateway, connect):
    return connect(unscripted_gateway)

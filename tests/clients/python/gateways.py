"""Where the gateways are, and what a test may do there besides being a client."""

import json
import os
import urllib.request
import uuid

PROFILES = ["documented", "openai", "dashscope", "deepseek"]
PLACES = json.loads(os.environ["CLIENTS_GATEWAYS"])
MODEL = "mock-model"
SMALL_MODEL = "mock-small"
MODEL_WITH_SLASH = "team/large model"

# Loopback is never reached through a proxy, whatever the environment says.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Place:
    """One gateway: its addresses, its keys, and the console that the suites' gateways add."""

    def __init__(self, place):
        self.base_url = place["base_url"]
        self.root_url = place["root_url"]
        self.api_key = place["api_key"]
        self.disabled_key = place["disabled_key"]

    def create_key(self, **wanted):
        """A key of this test's own: {id, secret}. See clients_gateway.cpp for what it takes."""
        return self._console("POST", "/console/keys", wanted)

    def set_key_state(self, key_id, state):
        return self._console("POST", f"/console/keys/{key_id}/state", {"state": state})["state"]

    def seen(self, marker):
        """The exchanges whose body holds the marker, each ended."""
        return self._console("GET", f"/console/seen?{marker}")

    def review(self, key_id):
        """What the client with this key did wrong: {clean, judged, message}."""
        return self._console("GET", f"/console/review?{key_id}")

    def _console(self, method, path, body=None):
        request = urllib.request.Request(
            self.root_url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.api_key}", "Content-Type": "application/json"},
        )
        with _opener.open(request, timeout=10) as response:
            return json.load(response)


def scripted(profile):
    return Place(PLACES[profile]["scripted"])


def unscripted(profile):
    return Place(PLACES[profile]["unscripted"])


def reviewed():
    return Place(PLACES["reviewed"])


def limited():
    return Place(PLACES["limited"])


def strict():
    return Place(PLACES["strict"])


def user(text):
    return [{"role": "user", "content": text}]


def new_marker():
    return uuid.uuid4().hex


def script(verb, **spec):
    """A message that tells the scripted gateways how to behave, unlike any other test's; returns it and its marker."""
    marker = new_marker()
    return user(f"{verb} {json.dumps({**spec, 'id': marker})}"), marker


def retry_counts(exchanges):
    return [
        int({name.lower(): value for name, value in e["headers"].items()}["x-stainless-retry-count"]) for e in exchanges
    ]

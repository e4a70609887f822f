"""A chat command on urllib, written quickly, with bugs that README.md lists. careful_chat.py is the version without
them.

    mock-gateway check --plain --fail-on warning --skip early-hints --timeout 8s -- python3 examples/check/careless_chat.py
"""

import json
import os
import sys
import time
import urllib.error
import urllib.request

TRIES = 3
WORTH_ANOTHER_TRY = (429, 500, 502, 503, 504)


def post(body):
    """The JSON of a successful response."""
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    for tries_left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request) as response:  # BUG: no timeout
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            if error.code not in WORTH_ANOTHER_TRY or "quota" in text.lower() or not tries_left:
                raise RuntimeError(f"{error.code} {text}") from None
        time.sleep(0.5)  # BUG: ignores Retry-After


def ask(prompt):
    reply = post({"model": os.environ["MOCK_GATEWAY_MODEL"], "messages": [{"role": "user", "content": prompt}]})
    choice = (reply.get("choices") or [{}])[0]  # BUG: an error with status 200 becomes an empty answer
    return choice.get("message", {}).get("content") or ""  # BUG: ignores finish_reason


try:
    print(ask(sys.argv[1] if len(sys.argv) > 1 else os.environ["MOCK_GATEWAY_PROMPT"]))
except Exception as error:
    sys.exit(f"chat: {type(error).__name__}: {error}")

"""A chat command on urllib that passes every plain scenario but one. careless_chat.py is the version with bugs.

    mock-gateway check --plain --fail-on warning --skip early-hints -- python3 examples/check/careful_chat.py

early-hints is skipped: Python's http.client takes a 103 for the final response, and an app cannot change that.
"""

import datetime
import email.utils
import json
import os
import sys
import time
import urllib.error
import urllib.request

TIMEOUT = 5  # seconds between bytes
LONGEST_WAIT = 5  # seconds: if the server requests a longer wait, the client reports the error, so that the user can decide
TRIES = 3
WORTH_ANOTHER_TRY = (429, 500, 502, 503, 504)  # never 401 or 403: the same key would be refused again


def seconds_to_wait(headers):
    """The wait that the gateway requests, in seconds or as a date, else half a second."""
    value = headers.get("Retry-After", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        until = email.utils.parsedate_to_datetime(value)
        return max(0.0, (until - datetime.datetime.now(datetime.timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return 0.5


def post(body):
    """The JSON of a successful response."""
    headers = {"Authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", json.dumps(body).encode(), headers)
    for tries_left in reversed(range(TRIES)):
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            text = error.read().decode(errors="replace")
            wait = seconds_to_wait(error.headers)
            if error.code not in WORTH_ANOTHER_TRY or "quota" in text.lower() or wait > LONGEST_WAIT or not tries_left:
                raise RuntimeError(f"{error.code} {text}") from None
        time.sleep(wait)


def ask(prompt):
    reply = post({"model": os.environ["MOCK_GATEWAY_MODEL"], "messages": [{"role": "user", "content": prompt}]})
    if not reply.get("choices"):  # an error can come with status 200
        raise RuntimeError(f"no answer, but {json.dumps(reply)}")
    choice = reply["choices"][0]
    text = choice["message"]["content"]
    if choice["finish_reason"] not in ("stop", ""):  # length, content_filter: the text is incomplete
        raise RuntimeError(f"the answer was cut off: {choice['finish_reason']}")
    if not isinstance(text, str) or not text:
        raise RuntimeError("the answer has no text")
    return text


try:
    print(ask(sys.argv[1] if len(sys.argv) > 1 else os.environ["MOCK_GATEWAY_PROMPT"]))
except Exception as error:
    sys.exit(f"chat: {type(error).__name__}: {error}")

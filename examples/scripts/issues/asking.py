"""What the clients of this folder share. They exit with 0 even after an error, like a test without checks.

    mock-gateway run --script base-path.jsonc -- python3 base_path.py wrong
"""

import json
import os
import urllib.error
import urllib.request

BASE = os.environ["OPENAI_BASE_URL"]


def send(path, body=None, key=os.environ["OPENAI_API_KEY"], base=BASE):
    """Sends POST with a body, or GET without one. Returns the status, the JSON of the answer and its headers."""
    headers = {"Content-Type": "application/json"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    data = None if body is None else json.dumps(body).encode()
    try:
        answer = urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=10)
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, json.load(answer), answer.headers


def chat(*messages, model="mock-model", **fields):
    """Returns the body of a chat request. A text is a message of the user."""
    messages = [{"role": "user", "content": each} if isinstance(each, str) else each for each in messages]
    return {"model": model, "messages": messages, **fields}

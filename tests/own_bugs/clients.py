"""Small clients with one bug each. own_bugs_test.py runs each of them with its bug, and mended.

    clients.py NAME bug|mended

The clients for `run` print the answer and exit with 0 even if they get none, like a test suite without checks. The
clients for `check` exit with an error instead. Uses only Python's standard library.
"""

import calendar
import email.utils
import http.client
import io
import json
import os
import sys
import time
import urllib.parse

BASE = urllib.parse.urlsplit(os.environ["OPENAI_BASE_URL"])
KEY = os.environ["OPENAI_API_KEY"]
MODEL = os.environ.get("MOCK_GATEWAY_MODEL", "mock-model")
PROMPT = os.environ.get("MOCK_GATEWAY_PROMPT", "What are the weather and the time?")
TRIES = 3
WORTH_ANOTHER_TRY = (429, 503)
TOOLS = {"get_weather": "21 °C", "get_time": "12:00", "get_settings": ""}  # each with its result


# --- What the clients share: all of it is correct ---------------------------------------------------------------------


def chat(prompt=PROMPT, **fields):
    return {"model": MODEL, "messages": [{"role": "user", "content": prompt}], **fields}


def headers_for(key=KEY):
    return {"Authorization": "Bearer " + key, "Content-Type": "application/json"}


def post(body, headers=None):
    """Sends a body, or bytes of one, and returns the unread response."""
    connection = http.client.HTTPConnection(BASE.hostname, BASE.port, timeout=10)
    body = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", BASE.path + "/chat/completions", body, headers or headers_for())
    return connection.getresponse()


def message(response):
    """Returns the message of an answer, or one without content for an error."""
    answer = json.load(response)
    return answer["choices"][0]["message"] if response.status == 200 else {"content": None}


def deltas(response):
    """Yields the deltas of a stream. Raises EOFError if it ends without a finish_reason."""
    is_complete = False
    for line in response:
        if line.startswith(b"data: {"):
            for choice in json.loads(line[6:])["choices"]:
                is_complete = is_complete or choice["finish_reason"] is not None
                yield choice["delta"]
    if not is_complete:
        raise EOFError("the stream is incomplete")


def result_of(call):
    return {"role": "tool", "tool_call_id": call["id"], "content": TOOLS[call["function"]["name"]]}


def agent(results):
    """Asks until the answer is a text. `results` returns the tool messages for a list of calls."""
    body = chat(tools=[{"type": "function", "function": {"name": name}} for name in TOOLS])
    for _ in range(TRIES):
        answer = message(post(body))
        if not answer.get("tool_calls"):
            return print(answer["content"])
        body["messages"] += [answer, *results(answer["tool_calls"])]


# --- Tries ------------------------------------------------------------------------------------------------------------


def retry_without_body(mended):
    """Bug: the body is a file, and each try sends what the try before it has left to read: nothing."""
    body = io.BytesIO(json.dumps(chat()).encode())
    for _ in range(TRIES):
        if mended:
            body.seek(0)
        response = post(body.read())
        if response.status not in WORTH_ANOTHER_TRY:
            return print(message(response)["content"])


def retry_date_in_local_time(mended):
    """Bug: east of Greenwich, a date in Retry-After seems to be in the past."""
    for _ in range(TRIES):
        response = post(chat())
        if response.status not in WORTH_ANOTHER_TRY:
            return print(message(response)["content"])
        date = email.utils.parsedate(response.headers["Retry-After"])
        seconds = calendar.timegm(date) if mended else time.mktime(date)
        time.sleep(max(0, seconds - time.time()))


def retry_shows_text_again(mended):
    """Bug: after a broken stream the retry shows the answer behind the text that the user has already seen."""
    for tries_left in reversed(range(TRIES)):
        is_shown = False
        try:
            for delta in deltas(post(chat(stream=True))):
                text = delta.get("content") or ""
                is_shown = is_shown or text != ""
                print(text, end="", flush=True)
            return
        except EOFError as error:
            if not tries_left or (mended and is_shown):
                sys.exit(str(error))


# --- Keys -------------------------------------------------------------------------------------------------------------


def old_key_after_rotation(mended):
    """Bug: after 401 the client loads the new key, but sends the prepared headers again."""
    headers = headers_for("sk-deleted-key")
    response = post(chat(), headers)
    if response.status == 401:
        key = "sk-new-key"
        if mended:
            headers = headers_for(key)
        response = post(chat(), headers)
    print(message(response)["content"])


class Tenant:
    headers = headers_for()

    def __init__(self, key, mended):
        if mended:
            self.headers = dict(self.headers)
        self.headers["Authorization"] = "Bearer " + key


def key_of_another_tenant(mended):
    """Bug: all tenants share one dictionary of headers, so the last key wins."""
    tenants = {name: Tenant(f"sk-of-{name}", mended) for name in ("shop", "bank")}
    for name, tenant in tenants.items():
        print(message(post(chat(f"Hi from the {name}"), tenant.headers))["content"])


def key_in_tool_result(mended):
    """Bug: a tool that shows the environment tells the model the key."""

    def settings(call):
        shown = {name: value for name, value in os.environ.items() if name.startswith("OPENAI_")}
        if mended:
            del shown["OPENAI_API_KEY"]
        return {**result_of(call), "content": json.dumps(shown)}

    agent(lambda calls: [settings(call) for call in calls])


def key_in_error_text(mended):
    """Bug: the error text has the request's headers, which end up in logs and bug reports."""
    headers = headers_for()
    response = post(chat(), headers)
    if response.status != 200:
        sys.exit(f"{response.status} {response.read().decode()}" + ("" if mended else f" for {headers}"))
    print(message(response)["content"])


# --- Tools ------------------------------------------------------------------------------------------------------------


def second_call_unanswered(mended):
    """Bug: the agent expects one call per answer, and ignores the others."""
    agent(lambda calls: [result_of(call) for call in (calls if mended else calls[:1])])


def results_swapped(mended):
    """Bug: the results come in the order in which the tools end, but get the ids in the order of the calls."""

    def results(calls):
        ended = [result_of(call) for call in reversed(calls)]  # the first tool is the slowest
        if not mended:
            for call, result in zip(calls, ended):
                result["tool_call_id"] = call["id"]
        return ended

    agent(results)


def no_arguments_crash(mended):
    """Bug: parses the arguments of a tool without parameters, which may be an empty text."""
    tools = {"tools": json.loads(os.environ["MOCK_GATEWAY_TOOLS"])} if "MOCK_GATEWAY_TOOLS" in os.environ else {}
    text, calls = "", {}
    for delta in deltas(post(chat(stream=True, **tools))):
        text += delta.get("content") or ""
        for part in delta.get("tool_calls") or []:
            call = calls.setdefault(part["index"], {"name": "", "arguments": ""})
            for field in call:
                call[field] += part["function"].get(field) or ""
    for call in calls.values():
        call["arguments"] = json.dumps(json.loads(call["arguments"] or "{}" if mended else call["arguments"]))
    print(json.dumps({"text": text, "tool_calls": list(calls.values())}))


globals()[sys.argv[1]](sys.argv[2] == "mended")

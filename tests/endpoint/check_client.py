"""A careful client of chat completions, for check_test.py: a command and a driver for `mock-gateway check`.

    check_client.py [--driver] [--outcome-json] [--plain | --stream] [--bug NAME]…

It parses streams as the HTML standard says, retries where that helps, and reports every incomplete reply to its caller.
Each --bug removes one of these abilities, as in a real client. Uses only Python's standard library.
"""

import codecs
import email.utils
import http.client
import json
import os
import re
import socket
import sys
import time
import urllib.parse
import zlib

BUGS = {
    "no-error-on-cut": "treats the text before a break as the whole answer",
    "loses-last-event-without-blank-line": "treats the end of the body as the end of the answer, whatever is missing",
    "unended-event-is-dropped": "drops a last event without a blank line",
    "line-feed-alone-ends-a-line": "does not end lines at a single CR",
    "carriage-return-stays": "treats CR as a part of the line",
    "comments-are-parsed": "treats a comment as data",
    "done-is-needed": "treats an answer without [DONE] as incomplete",
    "error-event-is-passed-over": "continues after an error in the stream, and treats [DONE] as the end of the answer",
    "finish-reason-is-the-end": "stops reading at the finish_reason",
    "length-is-whole": "does not report that an answer was cut at the token limit",
    "parallel-calls-are-joined": "merges all tool calls into one, whatever their indexes",
    "splits-utf8": "decodes each read separately",
    "done-anywhere": "ends at any line that contains [DONE]",
    "crlf": "splits events only at two LF",
    "empty-on-error": "ignores an error status, and returns an empty answer",
    "retries-401": "retries after 401",
    "server-error-is-final": "does not retry after 500",
    "kept-connection-is-trusted": "does not retry when a keep-alive connection is closed",
    "key-is-kept": "keeps using its first key",
    "key-is-global": "sends the key that was set last for any client of the process",
    "stream-is-left-open": "does not close a stream that it no longer reads",
    "retries-daily-quota": "retries when the daily quota is exhausted",
    "abandoned-call-goes-on": "does not close a call that its caller gave up",
    "abandoned-call-is-repeated": "repeats a call that its caller gave up",
    "waits-after-give-up": "keeps waiting for its retry after its caller gave up the call",
    "retries-after-give-up": "retries after a wait during which its caller gave up the call",
    "bad-gateway-is-final": "parses every error as JSON before it checks the status",
    "error-has-key": "shows the headers of a failed request to its user",
    "half-event-is-kept": "begins each stream with the rest of the previous one",
    "ignores-retry-after": "retries at once, whatever Retry-After says",
    "ignores-body-delay": "ignores a delay in the body of an error",
    "redirect-is-final": "treats a redirect as an error",
    "key-in-query": "sends its key in the query",
    "undocumented-field": "sends an undocumented field",
    "choices-are-assumed": "assumes that every chunk has choices",
    "crash": "is killed by a signal when an error is not JSON",
    "hang": "has no timeout",
    "always-plain": "never streams",
    "wrong-model": "requests a fixed model of its own",
    "connects-anew": "opens a new connection for each call",
    "prints-noise": "prints other lines between its answers",
    "no-hello": "does not know the job hello",
    "no-stream": "does not know the job stream",
    "no-cancel": "does not know the job cancel",
    "no-abandon": "does not know the job abandon",
    "no-use-key": "does not know the job use_key",
}
IDLE = 2.0  # seconds without content after which a call fails
LONGEST_WAIT = 5.0  # the longest accepted Retry-After in seconds
TRIES = 3
LEFT_OPEN = []  # connections that are neither read nor closed
REDIRECTS = 3
DELAY_IN_BODY = re.compile(r'(?:retryDelay"\s*:\s*"|(?:try again|retry) in )([0-9.]+)(ms|s)\b', re.IGNORECASE)
DAILY = re.compile(r"per[_ ]?day|\bdaily\b", re.IGNORECASE)
LINE_END = re.compile(r"\r\n|\r|\n")


def text_of(content):
    """Returns the text of a content, which may be a list of parts."""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content if part.get("type") == "text")
    return content or ""


def with_joined_surrogates(text):
    """Joins surrogate pairs, and replaces unpaired surrogates."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class CallFailed(Exception):
    """An error that is reported to the caller."""


class CallStopped(Exception):
    """The error of a call that the caller has stopped."""


class Response(http.client.HTTPResponse):
    """A response that skips every interim response; http.client skips only 100."""

    def _read_status(self):
        while True:
            version, status, reason = super()._read_status()
            if not 100 <= status < 200:
                return version, status, reason
            http.client.parse_headers(self.fp)


class Outcome:
    def __init__(self):
        self.text = ""
        self.tool_calls = []
        self.half = ""  # the first half of a surrogate pair
        self.error = None
        self.finish_reason = None
        self.usage = None

    def as_json(self):
        calls = [{"name": call["name"], "arguments": call["arguments"]} for call in self.tool_calls]
        return {"text": self.text, "tool_calls": calls, "error": self.error, "finish_reason": self.finish_reason,
                "usage": self.usage}


class Events:
    """A parser of the data and the names of a stream's events (HTML standard, 9.2.6)."""

    def __init__(self, bugs=()):
        self.line_end = LINE_END
        if "line-feed-alone-ends-a-line" in bugs:
            self.line_end = re.compile(r"\r?\n")
        if "carriage-return-stays" in bugs:
            self.line_end = re.compile(r"\n")
        self.comments_are_data = "comments-are-parsed" in bugs
        self.rest = ""
        self.begun = self.after_cr = False
        self.name, self.data = "", []

    def feed(self, text):
        if not self.begun and text:
            self.begun = True
            text = text.removeprefix("\ufeff")
        self.rest += text
        while (line := self.take_line()) is not None:
            if line:
                self.take_field(line)
            elif self.data or self.name:
                name, data = self.name, self.data
                self.name, self.data = "", []
                if data:
                    yield name, "\n".join(data)

    def end(self):
        """Returns the last event if the body ends without a blank line."""
        yield from self.feed("\n\n")

    def take_line(self):
        if self.after_cr and self.rest:  # skips the LF of a CRLF whose CR ended the previous text
            self.rest = self.rest.removeprefix("\n")
            self.after_cr = False
        end = self.line_end.search(self.rest)
        if not end:
            return None
        line, self.rest = self.rest[: end.start()], self.rest[end.end() :]
        self.after_cr = end[0] == "\r" and not self.rest
        return line

    def take_field(self, line):
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data" or (self.comments_are_data and not field):
            self.data.append(value)
        elif field == "event":
            self.name = value


class Client:
    """A client of one base address. It keeps its connection for the next call."""

    given_last = None  # the last key that the caller gave

    def __init__(self, base_url, api_key, bugs=(), idle=IDLE):
        self.address = urllib.parse.urlsplit(base_url)
        self.bugs = frozenset(bugs)
        self.api_key = Client.given_last = api_key
        self.idle = None if "hang" in self.bugs else idle
        self.connection = None
        self.socket = None
        self.deadline = None  # the time when the caller abandons the call
        self.kept_events = None
        self.is_reused = False

    def use_key(self, api_key):
        if "key-is-kept" not in self.bugs:
            self.api_key = Client.given_last = api_key

    def key(self):
        return Client.given_last if "key-is-global" in self.bugs else self.api_key

    def call(self, model, prompt, stream, tools=None, show=lambda piece: None, give_up_after=None, usage=False,
             is_repeated=False):
        """Makes a call. Calls `show` with each piece of text as it arrives; `show` may raise CallStopped."""
        self.deadline = give_up_after and time.monotonic() + give_up_after
        body = {"model": "gpt-of-my-own" if "wrong-model" in self.bugs else model,
                "messages": [{"role": "user", "content": prompt}]}
        if stream and "always-plain" not in self.bugs:
            body["stream"] = True
            if usage:
                body["stream_options"] = {"include_usage": True}
        if tools:
            body["tools"] = tools
        if "undocumented-field" in self.bugs:
            body["best_of_all"] = 1
        outcome = Outcome()
        try:
            self.read(self.send(json.dumps(body, ensure_ascii=False).encode()), "stream" in body, outcome, show)
        except CallStopped:
            self.leave()
        except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError, zlib.error,
                CallFailed) as error:
            outcome.error = f"{type(error).__name__}: {error}"
            self.close()
            if self.is_given_up() and "abandoned-call-is-repeated" in self.bugs and not is_repeated:
                return self.call(model, prompt, stream, tools, show, give_up_after, is_repeated=True)
        if "empty-on-error" in self.bugs and isinstance(outcome.error, str) and outcome.error.startswith("CallFailed"):
            outcome.error = None
        if "length-is-whole" in self.bugs and outcome.finish_reason == "length":
            outcome.finish_reason = "stop"
        if "connects-anew" in self.bugs:
            self.close()
        return outcome

    def leave(self):
        """Closes a stream that has not ended."""
        if "stream-is-left-open" in self.bugs:
            self.set_aside()
        self.close()

    def set_aside(self):
        LEFT_OPEN.append((self.connection, self.socket))
        self.connection = self.socket = None

    def is_given_up(self):
        return self.deadline is not None and time.monotonic() >= self.deadline

    def close(self):
        if self.is_given_up() and "abandoned-call-goes-on" in self.bugs:
            self.set_aside()
        if self.connection:
            self.connection.close()
        if self.socket:
            self.socket.close()
        self.connection = self.socket = None

    # --- Sending and retrying

    def send(self, body):
        """Returns the response of the last attempt, whose status is 200."""
        for left in reversed(range(TRIES)):
            try:
                response = self.send_once(body)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                is_final = self.is_reused and "kept-connection-is-trusted" in self.bugs
                if isinstance(error, TimeoutError) or is_final or not left:  # after a timeout a retry would time out too
                    raise
                time.sleep(0.05)
                continue
            for _ in range(REDIRECTS):
                path = self.redirected_path(response)
                if not path:
                    break
                response.read()
                response = self.send_once(body, path)
            if response.status == 200:
                return response
            said, pause = self.read_error(response)
            if pause is None or not left:
                raise CallFailed(said)
            if self.deadline is None or time.monotonic() + pause < self.deadline:
                time.sleep(pause)
            elif "retries-after-give-up" in self.bugs:
                self.deadline = None
                time.sleep(pause)
            else:
                until = time.monotonic() + pause if "waits-after-give-up" in self.bugs else self.deadline
                time.sleep(max(0.0, until - time.monotonic()))
                raise CallFailed("cancelled while waiting to retry")
        raise AssertionError("the last try returns or raises")

    def redirected_path(self, response):
        """Returns the target of a redirect (RFC 9110, 15.4.8). The key is sent only to its own origin."""
        location = response.getheader("Location")
        if response.status not in (307, 308) or not location or "redirect-is-final" in self.bugs:
            return None
        target = urllib.parse.urlsplit(urllib.parse.urljoin(self.address.geturl() + "/chat/completions", location))
        if (target.scheme, target.netloc) != (self.address.scheme, self.address.netloc):
            return None
        return target.path + (f"?{target.query}" if target.query else "")

    def send_once(self, body, path=None):
        self.is_reused = self.connection is not None and self.connection.sock is not None
        if self.connection is None:
            kind = http.client.HTTPSConnection if self.address.scheme == "https" else http.client.HTTPConnection
            self.connection = kind(self.address.hostname, self.address.port, timeout=self.idle)
            self.connection.response_class = Response
        if self.connection.sock is None:
            self.connection.connect()
            self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = self.connection.sock  # kept, because http.client drops it when the response ends the connection
        self.socket.settimeout(self.time_left(self.idle))
        query = f"?key={self.api_key}" if "key-in-query" in self.bugs else ""
        self.connection.request("POST", path or self.address.path + "/chat/completions" + query, body,
                                {"Authorization": "Bearer " + self.key(), "Content-Type": "application/json"})
        return self.connection.getresponse()

    def read_error(self, response):
        """Returns the error, and the wait before a retry or None for no retry."""
        try:
            body = response.read()
        except http.client.IncompleteRead as cut:
            body = cut.partial
            self.close()
        except OSError:
            body = b""
            self.close()
        error = None
        try:
            error = json.loads(body).get("error")
        except (ValueError, AttributeError) as wrong:
            if "crash" in self.bugs:
                os.abort()
            if "bad-gateway-is-final" in self.bugs:
                return f"{type(wrong).__name__}: {wrong}", None
        details = error if isinstance(error, dict) else {"message": error}
        said = details.get("message") or response.reason
        pause = self.pause(response, details.get("code") or details.get("type"), body.decode(errors="replace"))
        if "error-has-key" in self.bugs:
            said = f"{said}, request headers: Authorization: Bearer {self.api_key}"
        return f"{response.status} {said}", pause

    def pause(self, response, code, body):
        if "retries-401" in self.bugs and response.status == 401:
            return 0.0
        wish = response.getheader("x-should-retry")
        is_retryable = response.status in (408, 409, 429) or response.status >= 500
        if response.status == 500 and "server-error-is-final" in self.bugs:
            return None
        if wish == "false" or (not is_retryable and wish != "true") or code == "insufficient_quota":
            return None
        if response.status == 429 and DAILY.search(body) and "retries-daily-quota" not in self.bugs:
            return None
        if "ignores-retry-after" in self.bugs:
            return 0.0
        asked = self.asked_pause(response)
        delay = DELAY_IN_BODY.search(body)
        if asked is None and response.status == 429 and delay and "ignores-body-delay" not in self.bugs:
            asked = float(delay[1]) / (1000 if delay[2].lower() == "ms" else 1)
        own = 0.05
        if asked is None or asked < 0:
            return own
        return None if asked > LONGEST_WAIT else max(asked + 0.005, own)

    @staticmethod
    def asked_pause(response):
        try:
            return float(response.getheader("retry-after-ms", "")) / 1000
        except ValueError:
            pass
        value = response.getheader("Retry-After", "")
        try:
            return float(value)
        except ValueError:
            pass
        try:
            return email.utils.parsedate_to_datetime(value).timestamp() - time.time()
        except (TypeError, ValueError):
            return None

    # --- Reading a reply

    def read(self, response, stream, outcome, show):
        kind = (response.getheader("Content-Type") or "").partition(";")[0].strip().lower()
        if kind == "text/event-stream" or (stream and kind != "application/json"):
            self.read_stream(response, outcome, show)
        else:
            self.read_plain(response, outcome)
            show(outcome.text)

    def read_plain(self, response, outcome):
        try:
            text = b"".join(self.parts(response)).decode()
        except (OSError, http.client.HTTPException):
            if "no-error-on-cut" not in self.bugs:
                raise
            self.close()
            return
        answer = json.loads(text)
        self.look_for_error(answer)
        outcome.usage = answer.get("usage")
        choice = next((choice for choice in answer.get("choices") or [] if choice.get("index", 0) == 0), None)
        if choice is None:
            raise CallFailed("the body has no answer")
        message = choice["message"]
        outcome.finish_reason = choice.get("finish_reason")
        outcome.text = with_joined_surrogates(text_of(message.get("content")))
        for index, call in enumerate(message.get("tool_calls") or []):
            self.take_fragment(call, index, outcome.tool_calls)
        self.end_answer(outcome)

    def read_stream(self, response, outcome, show):
        done = False
        try:
            for name, data in self.events(response):
                done = data.strip() == "[DONE]" or ("done-anywhere" in self.bugs and "[DONE]" in data)
                if done or ("finish-reason-is-the-end" in self.bugs and outcome.finish_reason):
                    break
                if data:
                    self.take_chunk(name, json.loads(data), outcome, show)
        except (OSError, http.client.HTTPException, UnicodeDecodeError):
            self.close()
            # A reply with a finish_reason is complete, even if the connection then breaks.
            if not outcome.finish_reason and "no-error-on-cut" not in self.bugs:
                raise
            return
        if done:
            self.end_body(response)
        elif "finish-reason-is-the-end" in self.bugs:
            self.close()
        if not done and "done-is-needed" in self.bugs:
            raise CallFailed("the stream has no [DONE]")
        if not done and not outcome.finish_reason and "loses-last-event-without-blank-line" not in self.bugs:
            raise CallFailed("the stream ended before the answer did")
        is_taken_for_end = {"loses-last-event-without-blank-line", "error-event-is-passed-over"} & self.bugs
        if not outcome.finish_reason and not is_taken_for_end:
            raise CallFailed("the stream does not say why it ended")
        if outcome.half:
            outcome.text += with_joined_surrogates(outcome.half)
            show(with_joined_surrogates(outcome.half))
        self.end_answer(outcome)

    def events(self, response):
        events = self.kept_events or Events(self.bugs)
        if "half-event-is-kept" in self.bugs:
            self.kept_events = events
        for text in self.decoded(self.parts(response)):
            yield from events.feed(text.replace("\r", " ") if "crlf" in self.bugs else text)
        # The standard drops a last event without a blank line. This client uses it if its JSON is complete.
        if not {"unended-event-is-dropped", "loses-last-event-without-blank-line"} & self.bugs:
            yield from events.end()

    @staticmethod
    def end_answer(outcome):
        if not (outcome.text or outcome.tool_calls):
            raise CallFailed(f"the answer is empty; finish_reason {outcome.finish_reason}")
        for call in outcome.tool_calls:
            try:
                arguments = json.loads(call["arguments"])
            except ValueError:
                continue  # the caller reports invalid arguments when it runs the tool
            if isinstance(arguments, str):
                call["arguments"] = arguments  # the arguments were encoded twice

    def take_chunk(self, name, chunk, outcome, show):
        if "error-event-is-passed-over" not in self.bugs:
            if name == "error":
                raise CallFailed(json.dumps(chunk))
            self.look_for_error(chunk)
        outcome.usage = chunk.get("usage") or outcome.usage
        choices = chunk["choices"] if "choices-are-assumed" in self.bugs else chunk.get("choices") or []
        for choice in choices:
            if choice.get("index", 0) != 0:
                continue
            delta = choice.get("delta") or {}
            piece = outcome.half + text_of(delta.get("content"))
            # The second half of the last surrogate pair may be in the next piece.
            at = len(piece) - 1 if "\ud800" <= piece[-1:] <= "\udbff" else len(piece)
            outcome.half, piece = piece[at:], with_joined_surrogates(piece[:at])
            # Some servers send the whole text so far in each delta. A repeated short text is no sign of that.
            if len(outcome.text) > 4 and piece.startswith(outcome.text) and piece != outcome.text:
                piece = piece[len(outcome.text):]
            outcome.text += piece
            if piece or delta.get("tool_calls") or delta.get("reasoning_content"):
                self.heard()
            if piece:
                show(piece)
            for fragment in delta.get("tool_calls") or []:
                index = 0 if "parallel-calls-are-joined" in self.bugs else fragment.get("index")
                self.take_fragment(fragment, index, outcome.tool_calls)
            outcome.finish_reason = choice.get("finish_reason") or outcome.finish_reason

    @staticmethod
    def take_fragment(fragment, index, calls):
        """Adds a fragment to the call with its index, or to the latest call if it has no index. A different id starts a
        new call."""
        function = fragment.get("function") or {}
        call_id = fragment.get("id") or ""
        at = index if isinstance(index, int) else max(len(calls) - 1, 0)
        call = next((call for call in reversed(calls) if call["index"] == at), None)
        if call is None or (call_id and call["id"] and call_id != call["id"]):
            call = {"index": at if call is None else at + len(calls), "id": call_id, "name": "", "arguments": ""}
            calls.append(call)
        call["name"] = call["name"] or function.get("name") or ""
        arguments = function.get("arguments") or ""
        call["arguments"] += arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)

    @staticmethod
    def look_for_error(answer):
        if answer.get("error"):
            error = answer["error"]
            raise CallFailed(error.get("message") or json.dumps(error) if isinstance(error, dict) else str(error))

    def decoded(self, parts):
        if "splits-utf8" in self.bugs:
            yield from (part.decode(errors="replace") for part in parts)
            return
        decoder = codecs.getincrementaldecoder("utf-8")()
        for part in parts:
            yield decoder.decode(part)
        decoder.decode(b"", final=True)

    def parts(self, response):
        """Yields the decompressed body as it arrives. Raises if it is incomplete, or after a timeout without
        content."""
        unpack = None
        coding = response.getheader("Content-Encoding", "identity").lower()
        if coding in ("gzip", "x-gzip", "deflate"):
            unpack = zlib.decompressobj(47)
        elif coding != "identity":
            raise CallFailed(f"cannot read Content-Encoding {coding}")
        self.heard()
        while True:
            self.limit_next_read()
            part = response.read1(65536)
            if not part:
                break
            yield unpack.decompress(part) if unpack else part
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        response.close()  # http.client sends nothing else on the connection before this
        if unpack:
            yield unpack.flush()
            if not unpack.eof:
                raise http.client.IncompleteRead(b"")

    def heard(self):
        self.last = time.monotonic()

    def limit_next_read(self):
        """Limits the next read to the remaining time for content. Other bytes, such as comments, do not extend it."""
        left = None if self.idle is None else self.last + self.idle - time.monotonic()
        if left is not None and left <= 0:
            raise TimeoutError("no content came for a long time")
        self.socket.settimeout(self.time_left(left))

    def time_left(self, left):
        """Limits a time to the deadline of the caller."""
        if self.deadline is None:
            return left
        until = self.deadline - time.monotonic()
        if until <= 0:
            raise TimeoutError("the caller gave up the call")
        return until if left is None else min(left, until)

    def end_body(self, response):
        """Keeps the connection if the body ends at once; otherwise closes it."""
        try:
            deadline = time.monotonic() + 0.1
            while time.monotonic() < deadline:
                self.socket.settimeout(0.1)
                if not response.read1(65536):
                    return
        except (OSError, http.client.HTTPException):
            pass
        self.leave()


# --- The command and the driver ---------------------------------------------------------------------------------------


def command(bugs, stream, outcome_json):
    """Prints the reply as it arrives. Returns the exit status: 0 if the reply is complete."""
    stream = os.environ["MOCK_GATEWAY_STREAM"] == "1" if stream is None else stream
    tools = json.loads(os.environ.get("MOCK_GATEWAY_TOOLS") or "null")

    def show(piece):
        if not outcome_json:
            sys.stdout.write(piece)
            sys.stdout.flush()

    client = Client(os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"], bugs)
    outcome = client.call(os.environ["MOCK_GATEWAY_MODEL"], os.environ["MOCK_GATEWAY_PROMPT"], stream, tools, show)
    client.close()
    print(json.dumps(outcome.as_json()) if outcome_json else "")
    if outcome.error:
        print(f"check_client: {outcome.error}", file=sys.stderr)
    return 1 if outcome.error and not outcome_json else 0


def answer(job, clients, bugs):
    kind = job["job"]
    if kind == "hello" and "no-hello" not in bugs:
        return {"client": "check_client", "version": "1.0"}
    if kind not in ("ask", "stream", "cancel", "abandon", "use_key") or "no-" + kind.replace("_", "-") in bugs:
        return {"unknown": True}
    client = clients.get(job["base_url"])
    if client is None:
        # Closes old clients. If one is needed again, it only has to open a new connection.
        for old in list(clients)[:-8]:
            clients.pop(old).close()
        idle = min(IDLE, job["timeout_ms"] / 2000)
        client = clients[job["base_url"]] = Client(job["base_url"], job["api_key"], bugs, idle)
    if kind == "use_key":
        client.use_key(job["api_key"])
        return {}
    stream = kind in ("stream", "cancel") or job.get("stream", False)
    pieces = []

    def stop_after(piece):
        pieces.append(piece)
        if len(pieces) == job.get("after_tokens"):
            raise CallStopped

    give_up_after = job["after_ms"] / 1000 if kind == "abandon" else None
    return client.call(job["model"], job["prompt"], stream, job.get("tools"), stop_after, give_up_after,
                       job.get("include_usage", False)).as_json()


def driver(bugs):
    clients = {}
    for line in sys.stdin:
        job = json.loads(line)
        if "prints-noise" in bugs:
            print(f"DEBUG: job {job['id']}\n\n[1, 2]\n\"a string\"", flush=True)
        print(json.dumps({"id": job["id"], **answer(job, clients, bugs)}), flush=True)


def main(words):
    bugs, stream = [], None
    for word, following in zip(words, [*words[1:], ""]):
        if word == "--bug":
            if following not in BUGS:
                sys.exit(f"check_client: there is no bug {following}; the bugs are {', '.join(BUGS)}")
            bugs.append(following)
        elif word in ("--plain", "--stream"):
            stream = word == "--stream"
    if "--driver" in words:
        driver(bugs)
        return 0
    return command(bugs, stream, "--outcome-json" in words)


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8", newline="")
    sys.exit(main(sys.argv[1:]))

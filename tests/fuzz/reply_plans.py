#!/usr/bin/env python3
"""Requests random replies and parses them with h11, a strict HTTP parser.

    reply_plans.py PROGRAM [--seconds N] [--seed N] [--first PLAN] [--plans N]

PROGRAM is the path of reply_plans. For each plan, the reply without the fault must parse and have the scripted content.
The reply with the fault must be equal up to the place of the fault, and then show the effect of the fault. Prints the
seed, the number of replies and the findings. Exit status: 0 no finding, 1 a finding.
"""

import argparse
import json
import random
import re
import socket
import subprocess
import sys
import time
import zlib

import h11

PATIENCE = 20  # the timeout of a reply in seconds of real time
CREATED = re.compile(rb'"created":\d+')


class Finding(Exception):
    pass


def require(holds, otherwise):
    if not holds:
        raise Finding(otherwise)


class Answer:
    """A response: the bytes on a connection, h11's events, and how the connection ended."""

    def __init__(self, plan):
        self.status = None
        self.headers = []
        self.body = b""
        self.complete = False
        self.violation = None  # reported by h11, including at the end of the connection
        self.raw = b""
        self.end = "open"
        request = dict(plan["request"])
        parser = h11.Connection(h11.CLIENT, max_incomplete_event_size=1 << 20)
        content = json.dumps(request).encode()
        fields = [("Host", "127.0.0.1"), ("Authorization", "Bearer " + plan["key"])]
        fields += [("Content-Type", "application/json"), ("Content-Length", str(len(content)))]
        if plan["close"]:
            fields.append(("Connection", "close"))
        sent = parser.send(h11.Request(method="POST", target="/v1/chat/completions", headers=fields))
        sent += parser.send(h11.Data(data=content)) + parser.send(h11.EndOfMessage())
        with socket.create_connection(("127.0.0.1", plan["port"]), timeout=PATIENCE) as connection:
            connection.sendall(sent)
            self.receive(connection, parser, plan["close"])

    def receive(self, connection, parser, until_closed):
        while self.end == "open":
            try:
                data = connection.recv(65536)
            except ConnectionResetError:
                self.end = "reset"
                return
            except socket.timeout:
                raise Finding("nothing came for %d s after %r" % (PATIENCE, self.raw[-200:]))
            self.raw += data
            if not data:
                self.end = "fin"
            if self.violation is None and not self.complete:
                self.parse(parser, data)
            if self.complete and not until_closed:
                return

    def parse(self, parser, data):
        try:
            parser.receive_data(data)
            while True:
                event = parser.next_event()
                if event is h11.NEED_DATA or event is h11.PAUSED or isinstance(event, h11.ConnectionClosed):
                    return
                if isinstance(event, h11.Response):
                    self.status, self.headers = event.status_code, list(event.headers)
                elif isinstance(event, h11.Data):
                    self.body += bytes(event.data)
                elif isinstance(event, h11.EndOfMessage):
                    self.complete = True
                    self.trailing = parser.trailing_data[0]
                    return
        except h11.RemoteProtocolError as error:
            self.violation = str(error)

    def header(self, name):
        values = [value for field, value in self.headers if field == name.lower().encode()]
        return values[0] if values else None

    def text(self):
        """Returns the received part of the body, decompressed, as the client's parser sees it."""
        if self.header("Content-Encoding") == b"gzip":
            return zlib.decompressobj(wbits=31).decompress(self.body)
        return self.body


def blocks(body, dialect):
    """Returns the position and the data of each event of a complete stream: [(begin, end, data)]."""
    line_end = dialect["line_end"].encode()
    position = 3 if dialect["byte_order_mark"] else 0
    found = []
    while position < len(body):
        end = body.find(line_end * 2, position)
        end = len(body) if end < 0 else end + 2 * len(line_end)
        lines = body[position:end].split(line_end)
        data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
        if data:
            found.append((position, end, b"\n".join(data)))
        else:
            require(all(line.startswith(b":") for line in lines if line), "no event: %r" % body[position:end])
        position = end
    return found


def is_token(data):
    """Returns whether an event has a content delta."""
    try:
        event = json.loads(data)
    except ValueError:
        return False
    for choice in event.get("choices", []):
        delta = choice.get("delta", {})
        if any(delta.get(name) for name in ("content", "reasoning_content", "refusal")):
            return True
        if any(call.get("function", {}).get("arguments") for call in delta.get("tool_calls") or []):
            return True
    return False


def joined(events):
    """Returns the choices of a stream, converted to messages of a plain reply."""
    messages = {}
    for event in events:
        for choice in event["choices"]:
            message = messages.setdefault(choice["index"], {"tool_calls": {}, "finish_reason": None})
            delta = choice.get("delta", {})
            for name in ("content", "reasoning_content", "refusal"):
                message[name] = message.get(name, "") + (delta.get(name) or "")
            for call in delta.get("tool_calls") or []:
                whole = message["tool_calls"].setdefault(call["index"], {"name": "", "arguments": ""})
                for name in whole:
                    whole[name] += call.get("function", {}).get(name) or ""
            message["finish_reason"] = choice.get("finish_reason") or message["finish_reason"]
    for message in messages.values():
        message["tool_calls"] = [message["tool_calls"][index] for index in sorted(message["tool_calls"])]
    return [messages[index] for index in sorted(messages)]


def plain(body):
    messages = []
    for choice in body["choices"]:
        message = dict(choice["message"])
        calls = [call["function"] for call in message.get("tool_calls") or []]
        message["tool_calls"] = [{"name": call["name"], "arguments": call["arguments"]} for call in calls]
        message["finish_reason"] = choice["finish_reason"]
        messages.append(message)
    return messages


def check_completion(messages, plan):
    require(len(messages) == len(plan["choices"]), "%d choices" % len(messages))
    for message, choice in zip(messages, plan["choices"]):
        said = (message.get("content") or "") + (message.get("refusal") or "")
        require(said == choice["text"] + choice["refusal"], "the text is %r" % said)
        thought = message.get("reasoning_content") or ""
        require(thought == choice["thinking"], "the reasoning is %r" % thought)
        require(message["tool_calls"] == choice["tool_calls"], "the calls are %r" % message["tool_calls"])
        usual = "tool_calls" if choice["tool_calls"] else "stop"
        wanted = choice.get("finish_reason", usual)
        require(message["finish_reason"] == wanted, "finish_reason is %r" % message["finish_reason"])


def is_streamed(plan):
    return plan["kind"] == "chunks" or (plan["kind"] == "completion" and plan["request"].get("stream", False))


def stream_data(body, plan):
    """Returns the data of the events. Checks and removes [DONE] and whatever the dialect sends after it."""
    dialect = plan["dialect"]
    events = [data.replace(b"\n", b"") for _, _, data in blocks(body, dialect)]  # the JSON may have several lines
    tail = ([b"[DONE]"] if dialect["done"] else []) + ([dialect["after_done"].encode()] if dialect["after_done"] else [])
    require(events[len(events) - len(tail) :] == tail, "the stream ends in %r" % events[-2:])
    return events[: len(events) - len(tail)]


def check_content(answer, plan):
    """Checks that a complete reply has the scripted content."""
    require(answer.violation is None, "h11: %s" % answer.violation)
    require(answer.complete, "the reply is not whole")
    require(answer.trailing == b"", "after the reply came %r" % answer.trailing)
    require(not plan["close"] or answer.end == "fin", "the connection ended with %s" % answer.end)
    require(answer.status == plan["status"], "the status is %s" % answer.status)
    for name, value in plan["headers"]:
        require(answer.header(name) == value.encode(), "%s is %r" % (name, answer.header(name)))
    body = answer.text()
    if plan["kind"] == "raw":
        require(body == plan["body"].encode(), "the body is %r" % body)
    elif plan["kind"] == "failure":
        error = json.loads(body)["error"]
        for name in ("code", "message"):
            require(error[name] == plan["error"][name], "%s is %r" % (name, error[name]))
    elif plan["kind"] == "chunks":
        events = [json.loads(data) for data in stream_data(body, plan)]
        require(events == [json.loads(data) for data in plan["events"]], "the events are %r" % events)
    elif is_streamed(plan):
        check_completion(joined(json.loads(data) for data in stream_data(body, plan)), plan)
    else:
        check_completion(plain(json.loads(body)), plan)


def cut(body, plan):
    """Returns how many bytes of the complete body precede the fault, or None if the reply does not reach the fault."""
    fault, streamed = plan["fault"], is_streamed(plan)
    place, count = fault["place"], fault["count"]
    if place in ("before_headers", "after_headers"):
        return 0
    if place == "at_end":
        return len(body)
    if place == "after_bytes":
        return fault["byte"] if fault["byte"] <= len(body) else None
    if not streamed:
        return None
    events = blocks(body, plan["dialect"])
    if place == "after_tokens":
        events = [event for event in events if is_token(event[2])]
    elif place == "before_done":
        done = [i for i, event in enumerate(events) if event[2] == b"[DONE]"]
        return ends_before(events, done[-1] if done else len(events), plan)
    if count > len(events):
        return None
    begin, end, _ = events[count - 1]
    if place == "inside_event":
        return begin + fault["byte"] if fault["byte"] < end - begin else None
    if place == "inside_character":
        several = next((i for i in range(begin, end) if body[i] >= 0xC0), None)
        return None if several is None else several + 1
    return end


def ends_before(events, index, plan):
    if index > 0:
        return events[index - 1][1]
    return 3 if plan["dialect"]["byte_order_mark"] else 0


def same(got, wanted):
    """Returns whether the bytes are equal except for their creation times."""
    if len(got) != len(wanted):
        return False
    mask = bytearray(len(wanted))
    for match in CREATED.finditer(wanted):
        mask[match.start() : match.end()] = b"\1" * (match.end() - match.start())
    # A cut within the creation time leaves only some of its digits.
    tail = re.search(rb'"created":\d*$', wanted)
    if tail:
        mask[tail.start() :] = b"\1" * (len(mask) - tail.start())
    return all(a == b or m for a, b, m in zip(got, wanted, mask))


def check_broken(whole, answer, plan):
    """Checks that a broken reply equals the whole reply up to the fault, and then shows the effect of the fault."""
    fault = plan["fault"]
    effect = fault["effect"]
    body = whole.text()
    place = cut(body, plan)
    if effect == "wrong_content_length":
        if whole.header("Content-Length") is None:
            return check_content(answer, plan)
        length = max(0, len(whole.body) + fault["difference"])
        require(int(answer.header("Content-Length")) == length, "Content-Length is %r" % answer.header("Content-Length"))
        require(answer.raw.endswith(b"\r\n\r\n") or same(answer.raw[-len(body) :], body), "the body is another one")
        return None
    if place is None or effect == "stall":
        return check_content(answer, plan)
    if effect in ("skip_event", "duplicate_event", "error_event"):
        if not is_streamed(plan):
            return check_content(answer, plan)
        return check_events(body, place, answer, plan)
    if effect == "garbage":
        require(answer.raw.endswith(fault["bytes"].encode()), "no garbage at the end of %r" % answer.raw[-100:])
    if fault["place"] == "before_headers":
        require(answer.raw == (fault["bytes"].encode() if effect == "garbage" else b""), "came: %r" % answer.raw[:200])
    else:
        require(answer.status == whole.status, "the status is %s" % answer.status)
        got = answer.text()
        if effect == "garbage" and not is_streamed(plan):
            got = got[:place]  # the garbage after it counts as the rest of the Content-Length
        require(same(got, body[:place]), "%d bytes of the body came, not %d: %r" % (len(got), place, got[-100:]))
        is_whole = not is_streamed(plan) and (place == len(body) or (effect == "garbage" and answer.complete))
        require(answer.complete == is_whole, "whole: %s" % answer.complete)
    require(answer.end == ("reset" if effect == "reset" else "fin"), "the connection ended with %s" % answer.end)
    return None


def check_events(body, place, answer, plan):
    dialect, effect = plan["dialect"], plan["fault"]["effect"]
    require(answer.violation is None and answer.complete, "not whole: %s" % answer.violation)
    events = blocks(body, dialect)
    before = [data for _, end, data in events if end <= place]
    after = [data for _, end, data in events if end > place]
    if effect == "skip_event":
        wanted = before + after[1:]
    elif effect == "duplicate_event":
        wanted = before + after[:1] + after
    else:
        done_follows = dialect["done"] and b"[DONE]" not in before
        wanted = before + [plan["fault"]["data"].encode()] + ([b"[DONE]"] if done_follows else [])
    got = [data for _, _, data in blocks(answer.text(), dialect)]
    alike = len(got) == len(wanted) and all(same(a.replace(b"\n", b""), b.replace(b"\n", b"")) for a, b in zip(got, wanted))
    require(alike, "the events are %r, not %r" % (got, wanted))


class Plans:
    """The program that mounts the replies."""

    def __init__(self, program, seed):
        self.process = subprocess.Popen([program, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def mount(self, number, how):
        self.process.stdin.write("%d %s\n" % (number, how))
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit("FINDING: the gateway's process ended with status %s" % self.process.wait())
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--plans", type=int, help="ends after so many")
    parser.add_argument("--first", type=int, default=0, help="number of the first plan")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    arguments = parser.parse_args()
    plans = Plans(arguments.program, arguments.seed)
    end = time.monotonic() + arguments.seconds
    number, replies, broken, findings = arguments.first, 0, 0, 0
    while time.monotonic() < end and (arguments.plans is None or number < arguments.first + arguments.plans):
        plan = plans.mount(number, "whole")
        try:
            whole = Answer(plan)
            replies += 1
            check_content(whole, plan)
            plan = plans.mount(number, "broken")
            if plan["fault"]:
                answer = Answer(plan)
                replies += 1
                broken += 1
                check_broken(whole, answer, plan)
        except (Finding, ArithmeticError, LookupError, TypeError, ValueError, OSError) as finding:
            findings += 1
            print("FINDING: seed %d, plan %d: %r\n  %s" % (arguments.seed, number, finding, json.dumps(plan)))
        number += 1
    status = plans.close()
    if status != 0:
        findings += 1
        print("FINDING: the gateway's process ended with status %d" % status)
    print("seed %d: %d plans, %d replies, %d of them broken, %d findings"
          % (arguments.seed, number - arguments.first, replies, broken, findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

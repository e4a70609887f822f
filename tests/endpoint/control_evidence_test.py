"""Tests of the control API for a gateway's state and evidence: keys, clock, gates, replies that the test supplies, the
journal, explanations, verdicts and scopes.

Usage: control_evidence_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. With MOCK_GATEWAY_TEST_ALL=1 the
test that reads a script while stubs are mounted runs ten rounds instead of four.
"""

import concurrent.futures
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import threading
import time
import unittest

import program
from control import API, Program, Refused, eventually


class Evidence(unittest.TestCase):
    def setUp(self):
        self.pool = concurrent.futures.ThreadPoolExecutor(64)
        self.addCleanup(self.pool.shutdown)

    def refused(self, code, status, call, *arguments, **named):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **named)
        self.assertEqual((caught.exception.code, caught.exception.status), (code, status))
        self.assertTrue(caught.exception.error["message"])
        return caught.exception.error


class Metrics(Evidence):
    VALUE = r'"(\\[\\"n]|[^"\\\n])*"'
    LINE = rf'[a-z_]+(\{{[a-z_]+={VALUE}(,[a-z_]+={VALUE})*\}})? [0-9]+(\.[0-9]+)?'

    def read(self, gateway):
        """Returns each series and its value. Checks that every line is valid and follows the HELP and TYPE of its
        metric."""
        status, headers, text = gateway.send("GET", API + "/metrics")
        self.assertEqual((status, headers["Content-Type"]), (200, "text/plain; version=0.0.4; charset=utf-8"))
        values, helped, typed = {}, set(), {}
        for line in text.decode().splitlines():
            if line.startswith("# HELP "):
                helped.add(line.split()[2])
            elif line.startswith("# TYPE "):
                typed[line.split()[2]] = line.split()[3]
            else:
                self.assertRegex(line, rf"\A{self.LINE}\Z")
                name, _, value = line.rpartition(" ")
                metric = name.partition("{")[0]
                histogram = re.sub("_(bucket|sum|count)$", "", metric)
                if typed.get(histogram) == "histogram":
                    metric = histogram
                else:
                    self.assertEqual(typed[metric], "counter" if metric.endswith("_total") else "gauge")
                self.assertIn(metric, helped)
                self.assertNotIn(name, values)
                values[name] = float(value)
        return values

    def test_metrics_count_by_status_key_and_stub_despite_resets(self):
        script = {"stubs": [{"name": 'the "first"\\one', "when": {"user_says": "hello"}, "reply": "Hi there, you."},
                            {"name": "cut", "when": {"user_says": "cut"},
                             "reply": {"text": "One two three.", "faults": [{"after_tokens": 2, "effect": "close_connection"}]}}]}
        with Program(script) as gateway:
            other = gateway.post("/keys", {"name": "other"})
            default = next(key["id"] for key in gateway.get("/keys")["keys"] if key["is_default"])
            self.assertEqual(self.read(gateway)["mock_gateway_open_requests"], 0)
            for key in (None, None, other["secret"]):
                gateway.ask("hello", key)
            self.assertEqual(gateway.chat("hello", "sk-wrong")[0], 401)
            with contextlib.suppress(http.client.HTTPException, OSError):
                gateway.request("POST", "/v1/chat/completions", json.dumps(
                    {"model": "mock-model", "stream": True, "messages": [{"role": "user", "content": "cut"}]}))
            requests = "mock_gateway_requests_total"
            named = r'stub="the \"first\"\\one"'
            expected = {f'{requests}{{status="200",decision="stub",key="{default}",{named}}}': 2,
                        f'{requests}{{status="200",decision="stub",key="{other["id"]}",{named}}}': 1,
                        f'{requests}{{status="200",decision="stub",key="{default}",stub="cut"}}': 1,
                        f'{requests}{{status="401",decision="rejected",key="",stub=""}}': 1,
                        'mock_gateway_ended_total{outcome="completed"}': 4,
                        'mock_gateway_ended_total{outcome="broken by fault"}': 1,
                        'mock_gateway_faults_total{by="reply"}': 1, 'mock_gateway_faults_total{by="chaos"}': 0,
                        'mock_gateway_faults_total{by="connection"}': 0, "mock_gateway_sent_tokens_total": 11}
            def counted():
                values = self.read(gateway)
                return {name: values.get(name) for name in expected}

            eventually(self, lambda: counted() == expected, "all is counted")
            self.assertEqual(counted(), expected)
            values = self.read(gateway)
            self.assertEqual([name for name in values if name.startswith(requests) and name not in expected], [])
            self.assertGreater(values["mock_gateway_sent_bytes_total"], 500)
            gateway.call("DELETE", "/journal")
            gateway.post("/reset")
            self.assertEqual(self.read(gateway), values)

    def test_unnamed_stubs_whose_conditions_are_cut_to_the_same_text_are_counted_apart(self):
        said = ["a" * 140 + end for end in "XY"]
        stubs = [{"when": {"user_says": one}, "reply": "Hi."} for one in said] + [{"when": {"user_says": "short"}, "reply": "Hi."}]
        with Program({"stubs": stubs}) as gateway:
            def counted():
                return {name: value for name, value in self.read(gateway).items() if 'decision="stub"' in name}

            for one in (*said, said[1], "short"):
                gateway.ask(one)
            eventually(self, lambda: sum(counted().values()) == 4, "all is counted")
            self.assertEqual(sorted(counted().values()), [1, 1, 2])
            self.assertEqual(len([name for name in counted() if re.search(r' #\d+"}$', name)]), 2)
            before = counted()
            gateway.post("/reset")
            gateway.ask(said[1])
            eventually(self, lambda: sum(counted().values()) == 5, "the next one is counted")
            self.assertEqual(counted().keys(), before.keys())

    def test_paced_replies_are_counted_by_lateness(self):
        name = "mock_gateway_lateness_seconds"
        paced = {"reply": {"text": "One two three.", "every": "2ms"}, "when": {"user_says": "slow"}}
        with Program({"stubs": [paced, {"reply": "Hi."}]}) as gateway:
            def buckets():
                values = self.read(gateway)
                return [int(value) for series, value in values.items() if series.startswith(name + "_bucket")], values

            bounds = re.findall(name + r'_bucket{le="([^"]+)"}', str(self.read(gateway)))
            self.assertEqual(bounds, ["0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1", "0.5", "1", "+Inf"])
            self.assertEqual(buckets()[0], [0] * 10)
            for text in "slow", "fast", "slow", "slow":
                gateway.ask(text)
            eventually(self, lambda: self.read(gateway).get("mock_gateway_ended_total{outcome=\"completed\"}") == 4, "all have ended")
            counts, values = buckets()
            self.assertEqual(counts, sorted(counts))
            self.assertEqual((counts[-1], values[name + "_count"]), (3, 3))
            # The bounds of the first bucket that counts an event are the bounds of its lateness.
            limits = [0.0] + [float(bound) for bound in bounds]
            firsts = [later - earlier for earlier, later in zip([0] + counts, counts)]
            self.assertGreater(values[name + "_sum"], sum(count * limit for count, limit in zip(firsts, limits)))
            self.assertLessEqual(values[name + "_sum"], sum(count * limit for count, limit in zip(firsts, limits[1:]) if count))

    def test_faults_are_counted_by_their_cause(self):
        struck = {"reply": 0, "chaos": 0, "connection": 0}
        with Program({"stubs": [{"reply": "Hi."}]}) as gateway:
            def check():
                eventually(self, lambda: {by: self.read(gateway)[f'mock_gateway_faults_total{{by="{by}"}}'] for by in struck}
                           == struck, f"{struck} are counted")

            check()
            gateway.post("/chaos", {"failure": 503, "nth": 1})
            self.assertEqual(gateway.chat("Hi")[0], 503)
            struck["chaos"] = 1
            check()
            gateway.delete("/chaos")
            gateway.post("/connections", {"fault": "close_on_accept"})
            with self.assertRaises((http.client.HTTPException, OSError)):
                gateway.chat("Hi")
            struck["connection"] = 1
            check()
            gateway.ask("Hi")
            check()

    def test_a_running_stream_is_open(self):
        with Program({"stubs": [{"reply": {"text": "One two.", "faults": [{"after_tokens": 1, "effect": "stall"}]}}]}) as gateway:
            asked = self.pool.submit(gateway.request, "POST", "/v1/chat/completions", json.dumps(
                {"model": "mock-model", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}))
            eventually(self, lambda: self.read(gateway)["mock_gateway_open_requests"] == 1, "the stream is open")
            gateway.post("/stop")
            with contextlib.suppress(http.client.HTTPException, OSError):
                asked.result()

    def test_metrics_need_the_token(self):
        with Program() as gateway:
            self.assertEqual(gateway.send("GET", API + "/metrics", headers={})[0], 401)
            self.refused("invalid_request", 400, gateway.get, "/metrics", scope="any")


class Keys(Evidence):
    def test_only_the_secret_of_the_default_key_is_shown(self):
        with Program(None, "--key", "short") as gateway:
            (default,) = gateway.get("/keys")["keys"]
            self.assertEqual((default["hint"], default["is_default"]), ("…", True))
            self.assertEqual(gateway.get(f"/keys/{default['id']}/secret"), {"secret": "short"})
            other = gateway.post("/keys", {"secret": "sk-" + 12 * "x"})
            self.assertEqual((other["hint"], gateway.post("/keys", {"secret": "sk-" + 13 * "y"})["hint"]), ("sk-…", "sk-…yyyy"))
            self.refused("secret_not_shown", 403, gateway.get, f"/keys/{other['id']}/secret")
            self.refused("no_such_key", 404, gateway.get, "/keys/key_99/secret")
            gateway.call("DELETE", "/keys/" + default["id"])
            self.refused("no_such_key", 404, gateway.get, f"/keys/{default['id']}/secret")

    def test_a_key_is_created_disabled_enabled_and_deleted(self):
        with Program() as gateway:
            made = gateway.post("/keys", {"name": "billing"})
            secret = made.pop("secret")
            self.assertTrue(secret.startswith("sk-"))
            fields = ("id name hint is_default state ended created last_used requests models operations limit limit_tokens "
                      "limit_concurrent concurrent limit_group scope")
            self.assertEqual(list(made), fields.split())
            self.assertEqual(made, gateway.get("/keys/" + made["id"]))
            self.assertEqual((made["requests"], made["last_used"], made["scope"]), (0, None, False))
            self.assertEqual((made["hint"], made["is_default"]), ("sk-…" + secret[-4:], False))
            gateway.ask(key=secret)
            gateway.ask(key=secret)
            used = gateway.get("/keys/" + made["id"])
            self.assertEqual(used["requests"], 2)
            self.assertRegex(used["last_used"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertNotIn(secret, json.dumps(gateway.get("/keys")))

            self.assertEqual(gateway.post(f"/keys/{made['id']}/disable")["state"], "disabled")
            self.assertEqual(gateway.chat(key=secret)[0], 403)
            self.assertEqual(gateway.post(f"/keys/{made['id']}/enable")["state"], "enabled")
            self.assertEqual(gateway.chat(key=secret)[0], 200)

            changed = gateway.call(
                "PATCH",
                "/keys/" + made["id"],
                {"name": "paying", "models": ["other"], "operations": ["list_models"], "limit": "2/1m"},
            )
            self.assertEqual(changed["name"], "paying")
            self.assertEqual(changed["models"], ["other"])
            self.assertEqual(changed["operations"], [{"method": "GET", "path": "/v1/models"}])
            self.assertEqual(changed["limit"], "2/1m")
            self.assertEqual(gateway.chat(key=secret)[0], 403)
            lifted = gateway.call("PATCH", "/keys/" + made["id"], {"models": None, "operations": None, "limit": None})
            self.assertEqual((lifted["models"], lifted["operations"], lifted["limit"]), ([], [], None))
            self.assertEqual(lifted["name"], "paying")
            self.assertEqual(gateway.chat(key=secret)[0], 200)

            self.assertEqual(gateway.call("DELETE", "/keys/" + made["id"])["state"], "deleted")
            self.assertEqual(gateway.chat(key=secret)[0], 401)
            self.assertNotIn("paying", [key["name"] for key in gateway.get("/keys")["keys"]])
            # Every request counts, with any response.
            self.assertEqual(gateway.get("/keys/" + made["id"])["requests"], 7)
            self.refused("no_such_key", 404, gateway.post, f"/keys/{made['id']}/enable")

    def test_a_limit_is_shown_in_the_form_of_scripts(self):
        with Program() as gateway:
            key = "/keys/" + gateway.post("/keys")["id"]
            for limit, shown in [("3/1h", "3/1h"), ("3/120m", "3/2h"), ("3/90m", "3/90m"), ("3/60s", "3/1m"),
                                 ("3/90s", "3/90s"), ("3/1s", "3/1s"), ("3/20ms", "3/20ms"), ("3/3600000ms", "3/1h")]:
                self.assertEqual(gateway.call("PATCH", key, {"limit": limit})["limit"], shown)
            for name, none in [("limit", None), ("limit_tokens", None), ("limit_concurrent", None), ("models", []), ("operations", []), ("name", "")]:
                gateway.call("PATCH", key, {"limit": "3/1s", "limit_tokens": "9/1s", "limit_concurrent": 3, "models": ["m"],
                                            "operations": ["list_models"], "name": "x"})
                before = gateway.get(key)
                self.assertEqual(gateway.call("PATCH", key, {name: None}), {**before, name: none})
            self.assertEqual(gateway.call("PATCH", key, {}), {**before, "name": ""})

    def test_ids_in_a_keys_path(self):
        with Program({"keys": [{"name": "mine", "secret": "sk-mine-0123456789abcdef"}]}) as gateway:
            made = gateway.post("/keys", {"name": "gone"})
            gateway.delete("/keys/" + made["id"])
            self.assertEqual(gateway.get("/keys/" + made["id"])["state"], "deleted")
            for call, path in [("PATCH", ""), ("DELETE", ""), ("POST", "/disable"), ("POST", "/enable")]:
                error = self.refused("no_such_key", 404, gateway.call, call, f"/keys/{made['id']}{path}", {})
                self.assertIn("is deleted and cannot be restored", error["message"])
            error = self.refused("no_such_key", 404, gateway.get, "/keys/sk-mine-0123456789abcdef")
            self.assertNotIn("0123456789", error["message"])
            self.assertIn('did you mean "key_1"',
                          self.refused("no_such_key", 404, gateway.get, "/keys/key_")["message"])
            self.refused("invalid_request", 400, gateway.post, "/keys/key_1/disable", {"for": "1s"})
            self.refused("invalid_request", 400, gateway.post, "/keys", {"keys": [], "name": "x"})
            self.assertEqual(gateway.post("/keys", {"keys": []}), {"keys": []})
            self.assertEqual([key["name"] for key in gateway.get("/keys")["keys"]], ["default key", "mine"])

    def test_a_name_does_where_an_id_does(self):
        with Program() as gateway:
            made = gateway.post("/keys", {"name": "pay/in full"})
            path = "/keys/pay%2Fin%20full"
            self.assertEqual(gateway.get(path)["id"], made["id"])
            self.assertEqual(gateway.post(path + "/disable")["state"], "disabled")
            self.assertEqual(gateway.chat(key=made["secret"])[0], 403)
            self.assertEqual(gateway.post(path + "/enable")["state"], "enabled")
            self.assertEqual(gateway.call("PATCH", path, {"limit": "1/1m"})["limit"], "1/1m")
            twin = gateway.post("/keys", {"name": "pay/in full"})["id"]
            error = self.refused("invalid_request", 400, gateway.post, path + "/disable")
            self.assertIn(f'several keys have the description "pay/in full": {made["id"]}, {twin}', error["message"])
            gateway.delete("/keys/" + twin)
            self.assertEqual(gateway.delete(path)["state"], "deleted")
            self.assertIn('did you mean "default key"',
                          self.refused("no_such_key", 404, gateway.get, "/keys/default%20ke")["message"])

            one = gateway.post("/scopes", {"name": "test_one"})
            gateway.post("/stubs", {"reply": "Hi."}, scope="test_one")
            self.assertEqual(len(gateway.get("/stubs", scope=one["id"])["stubs"]), 1)
            self.assertEqual(gateway.post("/keys/test_one/disable", scope=one["id"])["id"], one["id"])
            self.refused("no_such_key", 404, gateway.post, "/keys/key_1/disable", scope="test_one")
            again = gateway.post("/scopes", {"name": "test_one"})
            self.assertEqual(gateway.post("/keys/test_one/enable", scope=one["id"])["id"], one["id"])
            error = self.refused("invalid_request", 400, gateway.get, "/stubs", scope="test_one")
            self.assertIn(f'several scopes have the name "test_one": {one["id"]}, {again["id"]}', error["message"])
            gateway.delete("/scopes/" + again["id"])
            self.assertTrue(gateway.delete("/scopes/test_one")["ok"])
            self.refused("no_such_scope", 404, gateway.delete, "/scopes/test_one")

    def test_all_keys_are_created_or_none_and_mistakes_have_their_place(self):
        with Program() as gateway:
            wanted = [{"name": "a", "secret": "sk-chosen"}, {"limit": "1/1h", "state": "disabled"}]
            two = gateway.post("/keys", {"keys": wanted})
            self.assertEqual([key["name"] for key in two["keys"]], ["a", ""])
            self.assertEqual(two["keys"][0]["secret"], "sk-chosen")
            self.assertEqual((two["keys"][1]["limit"], two["keys"][1]["state"]), ("1/1h", "disabled"))
            before = len(gateway.get("/keys")["keys"])
            for bad, pointer in [
                ({"keys": [{"name": "b"}, {"name": "c", "secret": "sk-chosen"}]}, "/keys/1/secret"),
                ({"keys": [{"secret": "sk-twice"}, {"secret": "sk-twice"}]}, "/keys/1/secret"),
                ({"name": "b", "limit": "0/1m"}, "/limit"),
                ({"nam": "b"}, "/nam"),
                ({"name": "sk-" + "x" * 30}, "/name"),
                ({"operations": ["no such"]}, "/operations/0"),
            ]:
                error = self.refused("invalid_request", 400, gateway.post, "/keys", bad)
                self.assertEqual(error["problems"][0]["pointer"], pointer)
                self.assertEqual(error["problems"][0]["line"], 1)
                self.assertNotIn("sk-chosen", error["message"])
            error = self.refused("invalid_request", 400, gateway.post, "/keys", {"nam": "b"})
            message = '1:2: /nam: unknown key "nam"; did you mean "name"?\n  {"nam": "b"}\n   ^'
            self.assertEqual(error["message"], message)
            self.refused("invalid_request", 400, gateway.call, "PATCH", "/keys/key_1", {"limit": "soon"})
            self.refused("no_such_key", 404, gateway.get, "/keys/key_99")
            self.assertEqual(len(gateway.get("/keys")["keys"]), before)


PACED = {
    "gateway": {"clock": "manual"},
    "stubs": [{"reply": {"text": "one two three", "first_token_after": "1s", "every": "1s"}}],
}


class Clock(Evidence):
    def test_advancing_a_manual_clock_reports_what_fired(self):
        with Program(PACED) as gateway:
            clock = gateway.get("/clock")
            self.assertEqual(clock, {"kind": "manual", "now": "2024-01-01T00:00:00.000Z", "waiting": []})
            self.refused("nothing_waits", 409, gateway.post, "/clock/next")
            response = self.pool.submit(gateway.chat, "Hi", stream=True)
            eventually(self, lambda: gateway.get("/clock")["waiting"], "nothing waits")
            self.assertEqual(
                gateway.get("/clock")["waiting"], [{"what": "token 1", "at": "2024-01-01T00:00:01.000Z", "in_ms": 1000}]
            )
            moved = gateway.post("/clock/next")
            self.assertEqual(moved["moved_ms"], 1000)
            self.assertEqual(moved["fired"], [{"what": "token 1", "at": "2024-01-01T00:00:01.000Z"}])
            self.assertEqual([wait["what"] for wait in moved["waiting"]], ["token 2"])
            moved = gateway.post("/clock/advance", {"by": "60s"})
            self.assertEqual([wait["what"] for wait in moved["fired"]], ["token 2", "token 3"])
            self.assertEqual(moved["now"], "2024-01-01T00:01:01.000Z")
            self.assertEqual(response.result()[0], 200)
            events = gateway.get("/journal/1")["events"]
            self.assertEqual([event["at_ms"] for event in events if event["kind"] == "token"], [1000, 2000, 3000])
            for bad in [{}, {"by": 60}, {"by": "60"}, {"by": "-1s"}, {"to": "60s"}]:
                self.refused("invalid_request", 400, gateway.post, "/clock/advance", bad)
            moved = gateway.post("/clock/advance", {"by": "1500us"})
            self.assertEqual((moved["moved_ms"], moved["fired"], moved["waiting"]), (1.5, [], []))
            self.refused("invalid_request", 400, gateway.post, "/clock/next", {"by": "1s"})

    def test_another_clock_is_shown_and_cannot_be_moved(self):
        for script, kind in [({}, "real"), ({"gateway": {"clock": "instant"}}, "instant")]:
            with Program(script) as gateway:
                self.assertEqual((gateway.get("/clock")["kind"], gateway.get("/clock")["waiting"]), (kind, []))
                for path, body in ("/clock/advance", {"by": "1s"}), ("/clock/next", None):
                    message = self.refused("clock_is_real", 409, gateway.post, path, body)["message"]
                    self.assertIn("is instant, and nothing waits on it;" if script else "the gateway's clock is real;",
                                  message)

    def test_the_program_ends_at_once_while_the_clock_advances_over_many_tokens(self):
        # Sending the last token takes half a minute, even on an idle machine.
        slow = {"text": "a " * 1_000_000, "every": "1ms"}
        with Program({"gateway": {"clock": "manual"}, "stubs": [{"reply": slow}]}) as gateway:
            start = gateway.get("/clock")["now"]
            reply = self.pool.submit(gateway.chat, "Hi", stream=True)
            eventually(self, lambda: gateway.get("/clock")["waiting"], "nothing waits")
            moved = self.pool.submit(gateway.post, "/clock/advance", {"by": "1h"})
            eventually(self, lambda: gateway.get("/clock")["now"] != start, "the clock does not move")
            self.assertFalse(moved.done())
            began = time.monotonic()
            gateway.post("/stop")
            self.assertEqual(gateway.end(), 0)
            self.assertLess(time.monotonic() - began, 4)
            for ended in (moved, reply):
                self.assertIsInstance(ended.exception(program.TIMEOUT), (OSError, http.client.HTTPException, type(None)))

    def test_a_gate_holds_all_replies_that_name_it(self):
        held = {"text": "one two", "hold": {"gate": "first", "before_token": 2}}
        with Program({"stubs": [{"when": {"user_says": "file"}, "reply": held}]}) as gateway:
            gate = {"name": "first", "reached": 0, "passed": 0, "waiting": 0, "open": False}
            self.assertEqual(gateway.get("/gates"), {"gates": [gate]})
            gateway.post("/stubs", {"when": {"user_says": "api"}, "reply": held})
            self.assertFalse(gateway.get("/gates/first/wait", within="20ms")["reached"])
            one = self.pool.submit(gateway.chat, "file", stream=True)
            waited = gateway.get("/gates/first/wait", within="10s")
            self.assertEqual((waited["reached"], waited["message"]), (True, None))
            two = self.pool.submit(gateway.chat, "api", stream=True)
            waited = gateway.get("/gates/first/wait", **{"for": "delivered", "count": 2, "within": "10s"})
            self.assertEqual((waited["reached"], waited["gate"]["waiting"]), (True, 2))
            self.assertEqual(gateway.post("/gates/first/release")["waiting"], 1)
            self.assertIn(b"two", one.result()[1])
            missed = gateway.get("/gates/first/wait", count=3, within="20ms")
            self.assertEqual((missed["reached"], missed["message"]),
                             (False, 'gate "first": 2 of 3 exchanges have reached the gate'))
            opened = gateway.post("/gates/first/open")
            self.assertEqual(opened, {"name": "first", "reached": 2, "passed": 2, "waiting": 0, "open": True})
            self.assertIn(b"two", two.result()[1])
            error = self.refused("no_such_gate", 404, gateway.post, "/gates/fist/open")
            self.assertIn('did you mean "first"?', error["message"])
            for query in ({"for": "ever"}, {"count": 0}, {"count": 1_000_001}, {"within": "61s"}):
                self.refused("invalid_request", 400, gateway.get, "/gates/first/wait", **query)
            self.assertFalse(gateway.get("/gates/first/wait", count=1_000_000, within="0s")["reached"])
            began = time.monotonic()
            missed = gateway.get("/gates/first/wait", **{"for": "delivered", "count": 3})
            self.assertEqual((missed["reached"], missed["gate"]), (False, opened))
            self.assertTrue(0.99 <= time.monotonic() - began < 10, "a second is what it waits unless said")
            self.refused("invalid_request", 400, gateway.post, "/gates/first/release", {"times": 2})

    def test_a_file_read_while_stubs_are_mounted_shares_their_gate(self):
        # The stubs after this one give the other file time to be read.
        others = [{"when": {"user_says": f"never {number}"}, "reply": "x"} for number in range(200)]

        def stubs(turn, said):
            held = {"text": "one two", "hold": {"gate": f"g{turn}", "before_token": 2}}
            return {"stubs": [{"name": f"{said}{turn}", "when": {"user_says": f"{said}{turn}."}, "reply": held}] + others}

        with Program({"stubs": []}) as gateway:
            for turn in range(10 if program.IS_EXHAUSTIVE else 4):
                gateway.write_script(stubs(turn, "file"))
                mounted = self.pool.submit(gateway.post, "/stubs", stubs(turn, "api"))
                gateway.process.send_signal(signal.SIGHUP)
                mounted.result(program.TIMEOUT)
                eventually(self, lambda: any(stub["name"] == f"file{turn}" for stub in gateway.get("/stubs")["stubs"]),
                           "the file is not read")
                replies = [self.pool.submit(gateway.chat, f"{said}{turn}.", stream=True) for said in ("file", "api")]
                waited = gateway.get(f"/gates/g{turn}/wait", count=2, within="9s")
                self.assertTrue(waited["reached"], waited["message"])
                gateway.post(f"/gates/g{turn}/open")
                for reply in replies:
                    self.assertIn(b"[DONE]", reply.result(program.TIMEOUT)[1])

    def test_stubs_mounted_in_parallel_share_their_gate(self):
        def mount(said):
            # The stubs after this one give the other file time to be read.
            others = [{"when": {"user_says": f"never {number}"}, "reply": "x"} for number in range(100)]
            held = {"text": "one two", "hold": {"gate": gate, "before_token": 2}}
            both.wait()
            gateway.post("/stubs", {"stubs": [{"when": {"user_says": said}, "reply": held}] + others})

        both = threading.Barrier(2)
        with Program() as gateway:
            for turn in range(10):
                gate = f"g{turn}"
                for one in [self.pool.submit(mount, said) for said in (f"a{turn}.", f"b{turn}.")]:
                    one.result(program.TIMEOUT)
                replies = [self.pool.submit(gateway.chat, said, stream=True) for said in (f"a{turn}.", f"b{turn}.")]
                self.assertTrue(gateway.get(f"/gates/{gate}/wait", count=2, within="9s")["reached"])
                gateway.post(f"/gates/{gate}/open")
                for reply in replies:
                    self.assertIn(b"[DONE]", reply.result(program.TIMEOUT)[1])

    def test_a_gate_that_only_chaos_names_can_be_opened(self):
        with Program({"stubs": [{"reply": "one two"}]}) as gateway:
            gateway.post("/chaos", {"effect": {"stall_at_gate": "first"}, "after_tokens": 1, "nth": 1})
            reply = self.pool.submit(gateway.chat, stream=True)
            self.assertTrue(gateway.get("/gates/first/wait", within="9s")["reached"])
            gateway.post("/gates/first/open")
            self.assertEqual(reply.result(program.TIMEOUT)[0], 200)
            gateway.put("/script", {"mock_gateway": 1, "stubs": [
                {"reply": {"text": "a b", "hold": {"gate": "unused", "before_token": 2}}}]}, check=1)
            self.assertEqual([gate["name"] for gate in gateway.get("/gates")["gates"]], ["first"])


ASKS = {"stubs": [{"name": "asks", "when": {"user_says": "ask"}, "reply": {"ask": True}}, {"reply": "plain"}]}


class Asked(Evidence):
    def one(self, gateway, **query):
        return gateway.get("/asked", wait="10s", **query)["asked"][0]

    def test_the_test_supplies_the_reply(self):
        with Program(ASKS) as gateway:
            self.assertEqual(gateway.get("/asked"), {"asked": []})
            listening = self.pool.submit(self.one, gateway)
            response = self.pool.submit(gateway.chat, "ask me")
            asked = listening.result()
            self.assertEqual(list(asked), ["exchange", "stub", "request", "since"])
            self.assertEqual(asked["stub"]["name"], "asks")
            self.assertEqual(asked["request"]["messages"][0]["content"], "ask me")
            self.assertEqual(gateway.ask("other"), "plain")
            self.assertEqual(gateway.post(f"/asked/{asked['exchange']}", {"reply": "Yes."}), {})
            self.assertIn(b"Yes.", response.result()[1])
            self.refused("already_answered", 409, gateway.post, f"/asked/{asked['exchange']}", {"reply": "No."})
            self.refused("no_such_exchange", 404, gateway.post, "/asked/99", {"reply": "No."})
            self.refused("no_such_exchange", 404, gateway.post, "/asked/first", {"reply": "No."})
            self.assertEqual(gateway.get("/asked"), {"asked": []})
            shown = gateway.get(f"/journal/{asked['exchange']}")
            self.assertEqual((shown["stub"]["name"], shown["outcome"]), ("asks", "completed"))
            self.assertTrue(gateway.get("/verify")["ok"])

    def test_the_test_can_supply_every_reply_of_scripts(self):
        with Program(ASKS) as gateway:
            for reply, status, part in [
                ({"failure": "rate_limited", "retry_after": "2s"}, 429, b"rate"),
                ({"tool_call": {"name": "f", "arguments": {"a": 1}}}, 200, b'"tool_calls"'),
                ({"default": True}, 200, b"choices"),
                ({"scenario": "usage-chunk-without-choices"}, 200, b"choices"),
                ({"raw_reply": {"status": 418, "body": "short and stout"}}, 418, b"stout"),
            ]:
                response = self.pool.submit(gateway.chat, "ask")
                gateway.post(f"/asked/{self.one(gateway)['exchange']}", {"reply": reply})
                self.assertEqual(response.result()[0], status)
                self.assertIn(part, response.result()[1])
            held = self.pool.submit(gateway.chat, "ask", stream=True)
            reply = {"text": "one two", "hold": {"gate": "mine", "before_token": 2}}
            gateway.post(f"/asked/{self.one(gateway)['exchange']}", {"reply": reply})
            self.assertTrue(gateway.get("/gates/mine/wait", within="10s")["reached"])
            gateway.post("/gates/mine/release")
            self.assertIn(b"two", held.result()[1])

    def test_an_impossible_reply_changes_nothing_and_reports_its_place(self):
        with Program(ASKS) as gateway:
            response = self.pool.submit(gateway.chat, "ask")
            exchange = self.one(gateway)["exchange"]
            for body, code, pointer in [
                ({"reply": {"txt": "a"}}, "invalid_script", "/reply/txt"),
                ({"reply": {"ask": True}}, "invalid_script", "/reply"),
                ({"reply": {"failure": 99}}, "invalid_script", "/reply/failure"),
                ({"answer": "a"}, "invalid_request", "/answer"),
                ({}, "invalid_request", ""),
            ]:
                error = self.refused(code, 400, gateway.post, f"/asked/{exchange}", body)
                self.assertEqual(error["problems"][0]["pointer"], pointer)
                self.assertEqual(error["problems"][0]["line"], 1)
            many = {"reply": {f"wrong_{number}": 1 for number in range(30)}}
            error = self.refused("invalid_script", 400, gateway.post, f"/asked/{exchange}", many)
            self.assertEqual({problem["severity"] for problem in error["problems"]}, {"error"})
            self.assertEqual(len(error["problems"]), 20)
            self.assertEqual(error["message"].splitlines()[0], "the first 20 problems of more")
            gateway.post(f"/asked/{exchange}", {"reply": "after all"})
            self.assertIn(b"after all", response.result()[1])

    def test_a_client_that_left_gets_no_reply(self):
        with Program(ASKS) as gateway:
            body = json.dumps({"model": "mock-model", "messages": [{"role": "user", "content": "ask"}]})
            head = (
                f"POST /v1/chat/completions HTTP/1.1\r\nHost: {gateway.data.netloc}\r\nContent-Length: {len(body)}\r\n"
                f"Content-Type: application/json\r\nAuthorization: Bearer {gateway.info['api_key']}\r\n\r\n"
            )
            with socket.create_connection((gateway.data.hostname, gateway.data.port)) as client:
                client.sendall((head + body).encode())
                exchange = self.one(gateway)["exchange"]
            eventually(self, lambda: not gateway.get("/asked")["asked"], "it waits for a client that left")
            self.refused("already_answered", 409, gateway.post, f"/asked/{exchange}", {"reply": "late"})

    def test_stop_does_not_wait_for_a_supplied_reply(self):
        with Program(ASKS) as gateway:
            def chat():
                try:
                    return gateway.chat("ask")[0]
                except (OSError, http.client.HTTPException):
                    return None

            response = self.pool.submit(chat)
            self.one(gateway)
            began = time.monotonic()
        self.assertLess(time.monotonic() - began, 3)
        self.assertIsNone(response.result())


class Journal(Evidence):
    def test_the_journal_is_paged_newest_first(self):
        with Program() as gateway:
            for number in range(7):
                gateway.ask(f"question {number}")
            page = gateway.get("/journal", limit=3)
            self.assertEqual([one["id"] for one in page["exchanges"]], [7, 6, 5])
            self.assertTrue(page["more"])
            self.assertEqual(page["evicted"], 0)
            page = gateway.get("/journal", limit=3, before=5)
            self.assertEqual([one["id"] for one in page["exchanges"]], [4, 3, 2])
            page = gateway.get("/journal", limit=3, before=2)
            self.assertEqual(([one["id"] for one in page["exchanges"]], page["more"]), ([1], False))
            one = page["exchanges"][0]
            self.assertIn("question 0", json.dumps(one["request"]))
            self.assertTrue(one["summary"].startswith("#1 POST /v1/chat/completions 200"))

    def test_past_requests_are_counted_and_found_by_matchers(self):
        with Program({"stubs": [{"when": {"user_says": "weather"}, "reply": "Rain tomorrow."}]}) as gateway:
            scope = gateway.post("/scopes", {"name": "mine"})
            gateway.chat("weather in Berlin")
            gateway.chat("weather in Rome", stream=True)
            gateway.chat("the time", key=scope["api_key"])
            gateway.chat("weather", key=scope["api_key"])
            gateway.request("GET", "/v1/models")

            def count(when=None, **query):
                answer = gateway.post("/journal/count", {} if when is None else {"when": when}, **query)
                self.assertEqual(answer["at_least"], False)
                found = gateway.post("/journal/find", {} if when is None else {"when": when}, **query)
                self.assertEqual(len(found["exchanges"]), answer["count"])
                return [one["id"] for one in found["exchanges"]]

            self.assertEqual(count(), [5, 4, 3, 2, 1])
            self.assertEqual(count({"user_says": "weather"}), [4, 2, 1])
            self.assertEqual(count({"user_says": "weather", "stream_is": True}), [2])
            self.assertEqual(count({"not": {"user_says": "weather"}}), [3])
            self.assertEqual(count({"user_says": "weather"}, scope=scope["id"]), [4])
            self.assertEqual(count({"user_says": "the"}, status="422"), [3])
            self.assertEqual(count(text="berlin"), [1])
            self.assertEqual(count({"user_says": "weather"}, text="rome"), [2])
            page = gateway.post("/journal/find", {"when": {"user_says": "weather"}}, limit=1)
            self.assertEqual(([one["id"] for one in page["exchanges"]], page["more"]), ([4], True))
            page = gateway.post("/journal/find", {"when": {"user_says": "weather"}}, before=4)
            self.assertEqual([one["id"] for one in page["exchanges"]], [2, 1])

            error = self.refused("invalid_script", 400, gateway.post, "/journal/count", {"when": {"user_say": "a"}})
            self.assertEqual(error["problems"][0]["pointer"], "/when/user_say")
            self.assertIn('did you mean "user_says"?', error["message"])
            self.refused("invalid_request", 400, gateway.post, "/journal/find", {"wen": {}})
            self.refused("invalid_script", 400, gateway.post, "/journal/find", {"when": 7})
            self.refused("invalid_request", 400, gateway.post, "/journal/find", {}, text_in="answer")

    def test_a_text_that_is_too_long_for_a_pattern_is_an_error_of_a_count_and_a_problem(self):
        pattern = {"user_says": {"matches_regex": "secret"}}
        with Program({"stubs": [{"when": pattern, "never": True}, {"should": {"not": pattern}, "reply": "Hello."}]}) as gateway:
            gateway.chat("x" * 84000 + " secret")
            self.assertEqual([problem["kind"] for problem in gateway.get("/verify")["problems"]], ["not searched"] * 2)
            for path in "/journal/count", "/journal/find":
                for when in pattern, {"not": pattern}:
                    error = self.refused("invalid_request", 400, gateway.post, path, {"when": when})
                    self.assertIn("the text of exchange 1 was too long to be searched by a pattern", error["message"])
            self.assertEqual(gateway.post("/journal/count", {"when": {"user_says": "secret"}})["count"], 1)

    def test_a_fault_after_the_last_byte_of_a_plain_reply_is_a_problem(self):
        reply = {"text": "one two", "faults": [{"at_end": True, "effect": "truncate"}]}
        with Program({"stubs": [{"reply": reply}]}) as gateway:
            self.assertEqual(gateway.ask(), "one two")
            (exchange,) = gateway.get("/journal")["exchanges"]
            self.assertEqual((exchange["outcome"], exchange["faults"]), ("completed", ["truncate the body at the end: not reached"]))
            (problem,) = gateway.get("/verify")["problems"]
            self.assertIn("truncate the body at the end: the fault could not happen: every byte had been sent, and "
                          "Content-Length was met; place it before the last byte", problem["message"])
            self.assertNotIn("as scripted", gateway.get("/verify")["message"])

    def test_a_count_reports_evicted_exchanges(self):
        with Program({"gateway": {"journal_limits": {"entries": 2, "bytes": 1000000}}}) as gateway:
            for _ in range(3):
                gateway.chat("weather")
            self.assertEqual(gateway.post("/journal/count", {"when": {"user_says": "weather"}}),
                             {"count": 2, "at_least": True})

    def test_an_exchange_can_be_shown_and_repeated(self):
        with Program({"stubs": [{"reply": {"text": "one two", "every": "20ms"}}]}) as gateway:
            gateway.chat("it's", stream=True)
            shown = gateway.get("/journal/1")
            self.assertEqual(list(shown)[-5:], ["revision", "summary", "findings", "events", "answer"])
            events = shown["events"]
            self.assertEqual([event["number"] for event in events], list(range(1, len(events) + 1)))
            tokens = [event["at_ms"] for event in events if event["kind"] == "token"]
            self.assertEqual(len(tokens), 2)
            self.assertGreaterEqual(tokens[1], 20)
            self.assertTrue(all(event["bytes"] > 0 for event in events))
            answer = shown["answer"]
            self.assertEqual((answer["status"], answer["ending"], answer["streamed"]), (200, "whole", True))
            self.assertIn(["Content-Type", "text/event-stream"], [field[:1] + [field[1].split(";")[0]]
                                                                  for field in answer["headers"]])
            self.assertEqual(len(answer["parts"]), len(events))
            self.assertEqual("".join(part["text"] for part in answer["parts"]), answer["body"]["text"])
            self.assertTrue(answer["body"]["text"].endswith("data: [DONE]\n\n"))
            self.assertNotIn("answer", gateway.get("/journal")["exchanges"][0])
            status, headers, text = gateway.send("GET", API + "/journal/1/curl")
            self.assertEqual((status, headers["Content-Type"].split(";")[0]), (200, "text/plain"))
            self.assertTrue(text.startswith(b"curl ") and b"$OPENAI_API_KEY" in text)
            self.refused("no_such_exchange", 404, gateway.get, "/journal/2")
            self.refused("no_such_exchange", 404, gateway.get, "/journal/last")
            with socket.create_connection((gateway.data.hostname, gateway.data.port)) as client:
                client.sendall(b"GET\r\n\r\n")
                client.makefile("rb").read()
            self.assertEqual(gateway.get("/journal/2")["events"], [])

    def test_about_a_thousand_events_of_an_exchange_are_shown(self):
        with Program({"stubs": [{"reply": {"text": "x" * 2000, "chunked": {"characters": 1}}}]}) as gateway:
            gateway.chat("it's", stream=True)
            events = gateway.get("/journal/1")["events"]
            self.assertEqual([event["number"] for event in events], list(range(1, 1025)))

    def test_filters(self):
        script = {
            "stubs": [{"when": {"user_says": "Word"}, "reply": "yes"}],
            "keys": [{"name": "mine", "secret": "sk-mine"}],
        }
        with Program(script) as gateway:
            gateway.chat("word")  # 1: stubs match case-sensitively
            gateway.chat("Word")
            gateway.chat("Word", key="sk-mine")
            gateway.request("GET", "/v1/models")
            gateway.request("GET", "/nowhere")
            for query, ids in [
                ({"status": "422"}, [1]),
                ({"status": "4xx"}, [5, 1]),
                ({"status": "2xx"}, [4, 3, 2]),
                ({"decision": "unmatched"}, [1]),
                ({"decision": "stub"}, [3, 2]),
                ({"decision": "rejected"}, [5]),
                ({"key": "mine"}, [3]),
                ({"text": "WORD"}, [3, 2, 1]),
                ({"text": "nowhere"}, [5]),
                ({"text": "word", "status": "200"}, [3, 2]),
                ({"after": 0, "status": "200"}, [2, 3, 4]),
            ]:
                page = gateway.get("/journal", **query)
                self.assertEqual([one["id"] for one in page["exchanges"]], ids, query)
            for query in [
                {"status": "9"},
                {"status": "6xx"},
                {"status": "0xx"},
                {"status": "42x"},
                {"status": "4x2"},
                {"status": "4222"},
                {"status": "4xxx"},
                {"status": ""},
                {"decision": "stubs"},
                {"limit": 0},
                {"limit": 1001},
                {"after": 0, "before": 3},
                {"wait": "1s"},
                {"after": 0, "wait": "2m"},
                {"after": "x"},
                {"key": "sk-mine"},
            ]:
                error = self.refused("invalid_request", 400, lambda: gateway.get("/journal", **query))
                self.assertNotIn("sk-mine", error["message"])
            self.refused("no_such_scope", 404, gateway.get, "/journal", scope="key_7")

    def test_a_filter_for_each_kind_of_decision(self):
        script = {"stubs": [{"when": {"user_says": "stub"}, "reply": "yes"}],
                  "operations": [{"method": "GET", "path": "/v1/mine", "reply": {"json": 1}}]}
        with Program(script, "--cors", "http://a.example") as gateway:
            def break_off():
                with socket.create_connection((gateway.data.hostname, gateway.data.port), program.TIMEOUT) as client:
                    client.sendall(b"GET\r\n\r\n")
                    self.assertIn(b" 400 ", client.recv(65536))

            def preflight():
                page = {"Origin": "http://a.example", "Access-Control-Request-Method": "GET"}
                asked = http.client.HTTPConnection(gateway.data.netloc, timeout=program.TIMEOUT)
                with contextlib.closing(asked):
                    asked.request("OPTIONS", "/v1/models", headers=page)
                    self.assertEqual(asked.getresponse().status, 204)

            def fail(section, rule):
                gateway.post(section, rule)
                gateway.chat("stub")
                gateway.delete(section)

            def without_stubs():
                for stub in gateway.get("/stubs")["stubs"]:
                    gateway.delete(f"/stubs/{stub['id']}")
                gateway.ask("default")

            ways = {
                "stub": lambda: gateway.ask("stub"),
                "unmatched": lambda: gateway.chat("other"),
                "models": lambda: gateway.request("GET", "/v1/models"),
                "embeddings": lambda: gateway.request(
                    "POST", "/v1/embeddings", json.dumps({"model": "mock-model", "input": "a", "dimensions": 1})),
                "handler": lambda: gateway.request("GET", "/v1/mine"),
                "preflight": preflight,
                "rejected": lambda: gateway.request("GET", "/nowhere"),
                "malformed": break_off,
                "forced_failure": lambda: fail("/failures", {"failure": 503}),
                "chaos": lambda: fail("/chaos", {"failure": 503, "nth": 1}),
                "default_reply": without_stubs,
            }
            for way in ways.values():
                way()
            for id_, kind in enumerate(ways, 1):
                with self.subTest(kind):
                    for word in (kind, kind.replace("_", " ")):
                        (one,) = gateway.get("/journal", decision=word)["exchanges"]
                        self.assertEqual(one["id"], id_)
                        self.assertEqual(one["decision"]["kind"].replace(" ", "_"), kind)
            for kind in ("callback_failed", "answer_failed"):  # no script causes these
                self.assertEqual(gateway.get("/journal", decision=kind)["exchanges"], [])
            error = self.refused("invalid_request", 400, gateway.get, "/journal", decision="nothing")
            here = os.path.dirname(os.path.abspath(__file__))
            with open(os.path.join(here, "../../src/evidence/journal.hpp"), encoding="utf-8") as header:
                kinds = re.search(r"struct Decision \{\s*enum class Kind \{(.*?)\};", header.read(), re.DOTALL)[1]
            known = re.findall(r"^\s*(\w+),", kinds, re.MULTILINE)
            self.assertEqual(sorted([*ways, "callback_failed", "answer_failed"]), sorted(known))
            for kind in known:
                self.assertIn(kind, error["message"])

    def test_a_text_is_searched_in_the_chosen_places_only(self):
        with Program({"keys": [{"name": "the tester's key", "secret": "sk-mine"}]}) as gateway:
            gateway.request("GET", "/v1/models?in=target")
            gateway.chat("in body")
            gateway.request("GET", "/v1/models", key="sk-mine")
            gateway.chat(temperature="hot")
            for text, ids in [("in=target", [1]), ("in body", [2]), ("THE TESTER'S", [3]), ("invalid_type", [4]),
                              ("expected a number", [4]), ("authorization", []), ("key_2", []), ("", [4, 3, 2, 1])]:
                with self.subTest(text):
                    self.assertEqual([one["id"] for one in gateway.get("/journal", text=text)["exchanges"]], ids)

    def test_a_text_is_found_at_any_position_and_only_ascii_letters_ignore_case(self):
        body = '{"content": "aabaabaaab abcabcabd [Z@É"}'
        with Program() as gateway:
            self.assertEqual(gateway.request("POST", "/v1/chat/completions", body.encode(), key="sk-nobody")[0], 401)
            # Each of these texts begins inside an earlier partial match.
            found = ["aabaaab", "AABAAAB", "abaaab", "aaab", "abcabd", "baabaa", "d [z@É", "{", "}", body, body[1:]]
            for text in found + ["abcabcabcabd", "aabaaabb", "baaaab", "{z@", "[z`", "[z@é", "}}", body + " "]:
                with self.subTest(text):
                    exchanges = gateway.get("/journal", text=text)["exchanges"]
                    self.assertEqual(len(exchanges), 1 if text in found else 0)

    def test_a_filter_for_a_status_or_a_class(self):
        sent = [400, 499, 500, 599, 404]
        with Program(None, *(flag for status in sent for flag in ("--fail", str(status)))) as gateway:
            for status in sent:
                self.assertEqual(gateway.request("GET", "/v1/models")[0], status)
            self.assertEqual(gateway.request("GET", "/v1/models")[0], 200)
            for query, ids in [("4xx", [5, 2, 1]), ("5xx", [4, 3]), ("2xx", [6]), ("1xx", []), ("499", [2]),
                               ("500", [3]),
                               ("599", [4]), ("404", [5]), ("400", [1]), ("100", [])]:
                self.assertEqual([one["id"] for one in gateway.get("/journal", status=query)["exchanges"]], ids, query)
            for query in ("0xx", "6xx", "099", "600", "4x", "4xxx", "40", "4000", "4x0", "40x", "x00", "", "4 0"):
                self.refused("invalid_request", 400, lambda: gateway.get("/journal", status=query))

    def test_a_page_has_at_most_two_hundred_exchanges_by_default(self):
        with Program() as gateway:
            connection = http.client.HTTPConnection(gateway.data.hostname, gateway.data.port, timeout=program.TIMEOUT)
            sent = 0
            for count in 200, 201:
                while sent < count:
                    connection.request("GET", "/v1/models",
                                       headers={"Authorization": "Bearer " + gateway.info["api_key"]})
                    connection.getresponse().read()
                    sent += 1
                eventually(self, lambda: gateway.get("")["counts"]["requests"] == count, "requests are not counted")
                page = gateway.get("/journal")
                self.assertEqual((len(page["exchanges"]), page["more"]), (200, count > 200))
                page = gateway.get("/journal", limit=count)
                self.assertEqual((len(page["exchanges"]), page["more"]), (count, False))
            connection.close()

    def test_a_follower_sees_an_exchange_begin_and_end(self):
        held = {"text": "one two", "hold": {"gate": "g", "before_token": 2}}
        with Program({"stubs": [{"when": {"user_says": "hold"}, "reply": held}, {"reply": "plain"}]}) as gateway:
            cursor = gateway.get("/journal")["cursor"]
            self.assertEqual(gateway.get("/journal", after=cursor)["exchanges"], [])
            listening = self.pool.submit(gateway.get, "/journal", after=cursor, wait="10s")
            response = self.pool.submit(gateway.chat, "hold", stream=True)
            page = listening.result()
            self.assertEqual([(one["id"], one["outcome"]) for one in page["exchanges"]], [(1, "pending")])
            listening = self.pool.submit(gateway.get, "/journal", after=page["cursor"], wait="10s")
            gateway.post("/gates/g/open")
            ended = listening.result()
            self.assertEqual([(one["id"], one["outcome"]) for one in ended["exchanges"]], [(1, "completed")])
            self.assertGreater(ended["exchanges"][0]["revision"], page["exchanges"][0]["revision"])
            self.assertEqual(gateway.get("/journal", after=ended["cursor"])["exchanges"], [])
            self.assertEqual(response.result()[0], 200)
            self.assertEqual(gateway.get("/journal", after=10**12)["cursor"], ended["cursor"])

    def test_a_follower_misses_none_of_five_hundred_exchanges(self):
        """Each exchange is seen at least once, last with its final state."""
        with Program({"stubs": [{"reply": {"text": "a b c", "every": "3ms"}}]}) as gateway:
            seen = {}
            revisions = []
            done = threading.Event()

            def follow():
                cursor = 0
                while True:
                    last = done.is_set()
                    page = gateway.get("/journal", after=cursor, limit=37, **({} if last else {"wait": "100ms"}))
                    for one in page["exchanges"]:
                        seen.setdefault(one["id"], []).append(one["outcome"])
                        revisions.append(one["revision"])
                    cursor = page["cursor"]
                    if last and not page["more"]:
                        return

            following = self.pool.submit(follow)
            responses = [self.pool.submit(gateway.chat, stream=True) for _ in range(500)]
            for response in responses:
                self.assertEqual(response.result()[0], 200)
            eventually(self, lambda: gateway.get("/verify")["open"] == 0, "exchanges are open")
            done.set()
            following.result()
            self.assertEqual(sorted(seen), list(range(1, 501)))
            self.assertEqual(revisions, sorted(set(revisions)))
            for id_, outcomes in seen.items():
                self.assertEqual(outcomes[-1], "completed", id_)
                self.assertLessEqual(len(outcomes), 2, id_)

    def test_a_page_is_limited_in_size(self):
        with Program({"gateway": {"journal_limits": {"entries": 100, "bytes": 100_000_000}}}) as gateway:
            for _ in range(12):
                gateway.chat("x" * 1_000_000)
            page = gateway.get("/journal")
            self.assertTrue(page["more"])
            self.assertLess(len(page["exchanges"]), 12)
            rest = gateway.get("/journal", before=page["exchanges"][-1]["id"])
            self.assertEqual(len(page["exchanges"]) + len(rest["exchanges"]), 12)
            self.assertLess(len(gateway.send("GET", API + "/journal")[2]), 10_000_000)

    def test_evicted_or_cleared_exchanges_disappear_for_followers_too(self):
        with Program({"gateway": {"journal_limits": {"entries": 3, "bytes": 1_000_000}}}) as gateway:
            cursor = gateway.get("/journal")["cursor"]
            for number in range(10):
                gateway.chat(str(number))
            page = gateway.get("/journal", after=cursor)
            self.assertEqual([one["id"] for one in page["exchanges"]], [8, 9, 10])
            self.assertEqual(page["evicted"], 7)
            self.assertEqual(gateway.key("default key")["requests"], 10)
            self.assertEqual(gateway.call("DELETE", "/journal"), {})
            self.assertEqual(gateway.get("/journal")["exchanges"], [])
            self.assertEqual(gateway.get("/journal", after=0)["exchanges"], [])
            gateway.chat("after")
            self.assertEqual([one["id"] for one in gateway.get("/journal", after=page["cursor"])["exchanges"]], [11])
            self.assertIn("cleared", self.refused("no_such_exchange", 404, gateway.get, "/journal/10")["message"])

    def test_a_request_is_explained_without_being_sent(self):
        script = {
            "stubs": [
                {"name": "weather", "when": {"user_says": "weather", "has_tool": "f"}, "reply": "sunny"},
                {"name": "once", "when": {"user_says": "once"}, "times": 1, "reply": "one"},
            ]
        }

        def saying(*said):
            return {"model": "mock-model", "messages": [{"role": "user", "content": one} for one in said]}

        with Program(script) as gateway:

            def explain(text):
                return gateway.post("/journal/explain", saying(text))

            near = explain("weather")
            self.assertEqual((near["decision"], near["stub"]), ("unmatched", None))
            self.assertEqual((near["near_misses"][0]["matched"], near["near_misses"][0]["total"]), (1, 2))
            self.assertIsNone(near["near_misses"][0]["exchange"])
            for _ in range(2):
                self.assertEqual(explain("once")["stub"]["name"], "once")
            self.assertEqual(gateway.get("/journal")["exchanges"], [])
            self.assertEqual(gateway.ask("once"), "one")
            self.assertIn("exhausted after 1 call", explain("once")["message"])
            rejected = gateway.post("/journal/explain", saying())
            status, wire = gateway.request("POST", "/v1/chat/completions", json.dumps(saying()))
            self.assertEqual((rejected["decision"], status), ("rejected", 400))
            self.assertEqual(rejected["message"], json.loads(wire)["error"]["message"])
            status, _, body = gateway.send("POST", API + "/journal/explain", "{")
            self.assertEqual((status, json.loads(body)["decision"]), (200, "rejected"))
        with Program() as gateway:
            self.assertEqual(gateway.post("/journal/explain", saying("a"))["decision"], "default_reply")
            scope = gateway.post("/scopes", {"name": "mine"})["id"]
            gateway.post("/stubs", {"name": "scoped", "reply": "x"}, scope=scope)
            self.assertEqual(gateway.post("/journal/explain", saying("a"), scope=scope)["stub"]["name"], "scoped")
            self.assertIsNone(gateway.post("/journal/explain", saying("a"))["stub"])
            self.refused("invalid_request", 400, gateway.call, "DELETE", "/journal", {"of": scope})

    def test_an_explanation_of_an_unanswerable_default_reply_matches_the_response(self):
        schema = {"type": "json_schema", "json_schema": {"name": "endless", "schema": {"$ref": "#"}}}
        request = {"model": "mock-model", "messages": [{"role": "user", "content": "Hi"}], "response_format": schema}
        for script in (None, {"stubs": [{"reply": {"default": True}}]}):
            with Program(script) as gateway:
                explained = gateway.post("/journal/explain", request)
                self.assertEqual((explained["decision"], explained["stub"]), ("rejected", None))
                status, wire = gateway.request("POST", "/v1/chat/completions", json.dumps(request))
                self.assertEqual((status, json.loads(wire)["error"]["message"]), (400, explained["message"]))


class Scopes(Evidence):
    def test_a_stub_reports_its_source(self):
        with Program() as gateway:
            scope = gateway.post("/scopes", {"name": "here"})["id"]
            document = {"when": {"user_says": "Hi"}, "reply": "Hello.", "expect": 1, "source": "tests/test_agent.py:12"}
            stub = gateway.post("/stubs", document, scope=scope)["stubs"][0]
            self.assertEqual((stub["file"], stub["line"]), ("tests/test_agent.py", 12))
            self.assertEqual(stub["title"], "the stub at test_agent.py:12")
            problem = gateway.get("/verify", scope=scope)["problems"][0]
            self.assertIn("expectation not met  the stub at test_agent.py:12  expected 1 call, got 0", problem["message"])
            self.assertEqual((problem["file"], problem["line"]), ("tests/test_agent.py", 12))
            # The matchers distinguish stubs of the same line.
            twin = gateway.post("/stubs", {**document, "when": {"user_says": "Ho"}})["stubs"][0]
            self.assertEqual(twin["title"], 'the stub at test_agent.py:12 (user text contains "Ho")')
            plain = gateway.post("/stubs", {"reply": "x"})["stubs"][0]
            self.assertEqual((plain["file"], plain["line"], plain["title"]), (None, 1, "the stub at POST stubs:1"))
            refused = self.refused("invalid_script", 400, gateway.post, "/stubs", {**document, "source": "test_agent.py"})
            self.assertEqual(refused["problems"][0]["pointer"], "/source")

    def test_a_script_with_unknown_names(self):
        with Program({"stubs": [{"reply": "file"}]}, "--model", "fast") as gateway:
            named = {"mock_gateway": 1, "keys": [{"name": "ci"}], "stubs": [
                {"when": {"model_is": "fast"}, "reply": "a"}, {"when": {"model_is": "fasst"}, "reply": "b"},
                {"when": {"key_is": "ci"}, "reply": "c"}, {"when": {"key_is": "cii"}, "reply": "d"}]}
            checked = gateway.put("/script", named, check=1)["problems"]
            self.assertEqual([(problem["severity"], problem["pointer"]) for problem in checked],
                             [("warning", "/stubs/1/when/model_is"), ("warning", "/stubs/3/when/key_is")])
            self.assertIn('serves no model "fasst", and refuses requests for it; did you mean "fast"', checked[0]["message"])
            self.assertEqual(gateway.put("/script", named)["warnings"], checked)
            forced = {"mock_gateway": 1, "failures": [{"failure": 503, "for": {"key": "cii"}}]}
            refused = self.refused("invalid_script", 400, gateway.put, "/script", forced)
            self.assertEqual(refused["problems"][0]["pointer"], "/failures/0/for/key")
            self.assertIn('the gateway has no key "cii"', refused["message"])
            # Replacing the document also removes the old document's key.
            forced["failures"][0]["for"]["key"] = "ci"
            self.refused("invalid_script", 400, gateway.put, "/script", forced)
            self.assertEqual(len(gateway.get("/stubs")["stubs"]), 5)

    def test_a_scope_has_its_own_stubs_states_gates_failures_and_verdict(self):
        with Program({"stubs": [{"reply": "file"}]}) as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))
            self.assertEqual(list(one), ["id", "name", "api_key", "base_url"])
            self.assertEqual(one["base_url"], gateway.info["base_url"])
            self.assertEqual(gateway.get("/scopes")["scopes"], [{"id": s["id"], "name": s["name"]} for s in (one, two)])
            self.assertTrue(gateway.key("one")["scope"])
            for scope in (one, two):
                stubs = [
                    {"when": {"user_says": "next"}, "in_state": {"m": "moved"}, "reply": "moved"},
                    {"when": {"user_says": "next"}, "then_state": {"m": "moved"}, "reply": "to " + scope["name"]},
                    {"when": {"user_says": "hold"}, "reply": {"text": "a b", "hold": {"gate": "g", "before_token": 2}}},
                ]
                gateway.post("/stubs", {"stubs": stubs}, scope=scope["id"])
            self.assertEqual(gateway.ask("next", one["api_key"]), "to one")
            self.assertEqual(gateway.ask("next", one["api_key"]), "moved")
            self.assertEqual(gateway.ask("next", two["api_key"]), "to two")
            self.assertEqual(gateway.ask("next"), "file")

            held = self.pool.submit(gateway.chat, "hold", one["api_key"], stream=True)
            self.assertTrue(gateway.get("/gates/g/wait", scope=one["id"], within="10s")["reached"])
            self.assertEqual(gateway.get("/gates", scope=two["id"])["gates"][0]["reached"], 0)
            self.assertEqual(len(gateway.get("/gates")["gates"]), 2)
            self.refused("no_such_gate", 404, gateway.post, "/gates/g/open")
            gateway.post("/gates/g/open", scope=one["id"])
            self.assertEqual(held.result()[0], 200)

            gateway.post("/failures", {"failure": 503, "times": 1}, scope=two["id"])
            self.assertEqual(gateway.chat("next", one["api_key"])[0], 200)
            self.assertEqual(gateway.chat("next", two["api_key"])[0], 503)
            of_one = gateway.get("/journal", scope=one["id"])["exchanges"]
            self.assertEqual({exchange["key"]["description"] for exchange in of_one}, {"one"})
            ended = gateway.call("DELETE", "/scopes/" + one["id"])
            self.assertEqual(list(ended), ["ok", "message", "verify", "review"])
            self.assertTrue(ended["ok"], ended["message"])
            self.assertEqual(gateway.ask("next", two["api_key"]), "moved")

    def test_the_end_of_a_scope_reports_only_failures(self):
        with Program({"stubs": [{"reply": "file"}]}) as gateway:
            scope = gateway.post("/scopes", {"name": "hasty"})
            gateway.post("/failures", {"failure": "rate_limited", "retry_after": "1h"}, scope=scope["id"])
            for status in (429, 200):
                self.assertEqual(gateway.chat("again", scope["api_key"])[0], status)
            end = gateway.delete(f"/scopes/{scope['id']}")
            self.assertEqual((end["ok"], end["verify"]["ok"]), (False, True))
            self.assertEqual(end["message"], end["review"]["message"])

    def test_the_end_of_a_scope_reports_failures_and_removes_everything(self):
        with Program() as gateway:
            scope = gateway.post("/scopes", {"name": "test_x"})
            id_, key = scope["id"], scope["api_key"]
            stub = {
                "name": "twice",
                "when": {"user_says": "twice"},
                "expect": 2,
                "then_state": {"m": "x"},
                "reply": {"text": "a b", "hold": {"gate": "g", "before_token": 99}},
            }
            gateway.post("/stubs", stub, scope=id_)
            gateway.post("/failures", {"failure": 503, "times": 1}, scope=id_)
            gateway.chat("twice", key)
            gateway.ask("twice", key)
            gateway.chat("strange", key)
            gateway.post("/failures", {"failure": 500, "always": True}, scope=id_)
            self.assertFalse(gateway.get("/verify", scope=id_)["ok"])
            self.assertFalse(gateway.get("/verify")["ok"])
            ended = gateway.call("DELETE", "/scopes/" + id_)
            self.assertFalse(ended["ok"])
            self.assertIn("twice", ended["message"])
            self.assertIn("no stub matched", ended["message"])
            self.assertFalse(ended["verify"]["ok"])
            self.assertEqual(ended["review"]["judged"], 3)
            # Ending the scope removed everything.
            self.assertTrue(gateway.get("/verify")["ok"], gateway.get("/verify")["message"])
            self.assertEqual(gateway.get("/journal")["exchanges"], [])
            self.assertEqual(gateway.get("/stubs")["stubs"], [])
            self.assertEqual(gateway.get("/failures")["failures"], [])
            self.assertEqual(gateway.get("/states")["states"], {})
            self.assertEqual(gateway.get("/gates")["gates"], [])
            self.assertEqual(gateway.get("/scopes")["scopes"], [])
            self.assertEqual([k["name"] for k in gateway.get("/keys")["keys"]], ["default key"])
            self.assertEqual(gateway.chat("twice", key)[0], 401)
            self.refused("no_such_scope", 404, gateway.call, "DELETE", "/scopes/" + id_)
            self.refused("no_such_scope", 404, gateway.post, "/stubs", {"reply": "a"}, scope=id_)

    def test_a_waiting_reply_ends_with_its_test(self):
        with Program() as gateway:
            scope = gateway.post("/scopes")
            stubs = [
                {"when": {"user_says": "ask"}, "reply": {"ask": True}},
                {"reply": {"text": "a b", "hold": {"gate": "g", "before_token": 2}}},
            ]
            gateway.post("/stubs", {"stubs": stubs}, scope=scope["id"])
            asked = self.pool.submit(gateway.chat, "ask", scope["api_key"])
            held = self.pool.submit(gateway.chat, "hold", scope["api_key"], stream=True)
            gateway.get("/asked", wait="10s")
            self.assertTrue(gateway.get("/gates/g/wait", scope=scope["id"], within="10s")["reached"])
            began = time.monotonic()
            gateway.call("DELETE", "/scopes/" + scope["id"])
            self.assertEqual((asked.result()[0], held.result()[0]), (500, 200))
            self.assertLess(time.monotonic() - began, 8)  # gates and questions time out after ten seconds
            eventually(self, lambda: gateway.get("/verify")["open"] == 0, "exchanges are open")
            self.assertEqual(gateway.get("/journal")["exchanges"], [])

    def test_a_hundred_parallel_tests_are_isolated(self):
        def run(gateway, number):
            scope = gateway.post("/scopes", {"name": f"test_{number}"})
            try:
                replies = [f"first {number}", f"second {number}"]
                gateway.post("/stubs", {"replies": replies, "then": "nothing_more", "expect": 2}, scope=scope["id"])
                said = [gateway.ask("a", scope["api_key"]), gateway.ask("b", scope["api_key"])]
                exchanges = gateway.get("/journal", scope=scope["id"])["exchanges"]
            finally:
                ended = gateway.call("DELETE", "/scopes/" + scope["id"])
            return said == replies and len(exchanges) == 2 and ended["ok"]

        with Program() as gateway:
            self.assertTrue(all(self.pool.map(lambda number: run(gateway, number), range(100))))
            self.assertEqual(gateway.get("/stubs")["stubs"], [])

    def test_the_state_machines_of_a_scope_are_unknown_without_it(self):
        with Program() as gateway:
            id_ = gateway.post("/scopes", {})["id"]
            gateway.put("/states/order", {"state": "paid"}, scope=id_)
            gateway.put("/states/other:order", {"state": "new"})
            self.assertEqual(gateway.get("/states")["states"], {"other:order": "new"})
            for call in gateway.get, lambda path: gateway.put(path, {"state": "lost"}):
                told = self.refused("no_such_machine", 404, call, f"/states/{id_}:order")
                self.assertNotIn(f"{id_}:order", told["message"].replace(f'machine "{id_}:order"', ""))
            self.assertEqual(gateway.get("/states", scope=id_)["states"], {"order": "paid"})
            self.refused("no_such_machine", 404, gateway.get, "/states/order")

    def test_a_stub_states_its_scope_once(self):
        with Program() as gateway:
            scope = gateway.post("/scopes")
            stubs = [{"reply": "a"}, {"when": {"key_is": "key_1"}, "reply": "b"}]
            error = self.refused(
                "invalid_script", 400, gateway.post, "/stubs", {"stubs": stubs}, scope=scope["id"]
            )
            self.assertEqual(error["problems"][0]["pointer"], "/stubs/1/when/key_is")
            self.assertEqual(gateway.get("/stubs")["stubs"], [])

    def test_a_scopes_questions_are_its_own(self):
        with Program() as gateway:
            one, two = (gateway.post("/scopes") for _ in range(2))
            for scope in (one, two):
                gateway.post("/stubs", {"reply": {"ask": True}}, scope=scope["id"])
            responses = [self.pool.submit(gateway.ask, "Hi", scope["api_key"]) for scope in (one, two)]
            for scope in (one, two):
                asked = gateway.get("/asked", wait="10s", scope=scope["id"])["asked"]
                self.assertEqual(len(asked), 1)
                gateway.post(f"/asked/{asked[0]['exchange']}", {"reply": "to " + scope["id"]})
            self.assertEqual([response.result() for response in responses], ["to " + one["id"], "to " + two["id"]])

    def test_a_verdict_names_the_script_and_the_exchange(self):
        script = {"stubs": [{"name": "expected", "when": {"user_says": "this"}, "expect": 1, "reply": "a"}]}
        with Program(script) as gateway:
            gateway.chat("that")
            verdict = gateway.get("/verify")
            self.assertFalse(verdict["ok"])
            kinds = {problem["kind"] for problem in verdict["problems"]}
            self.assertEqual(kinds, {"unmatched", "unmet expectation"})
            unmet = next(p for p in verdict["problems"] if p["kind"] == "unmet expectation")
            self.assertEqual(unmet["file"], gateway.script)
            review = gateway.get("/review")
            self.assertEqual((review["judged"], review["ok"]), (1, not review["findings"]))


if __name__ == "__main__":
    program.main(threads=4)

"""Tests of POST /reset: the parts that it restores to the initial state, separately and together, and what it keeps.

Usage: control_reset_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN.
"""

import concurrent.futures
import json

import program
from control import Program, eventually
from control_test import Api


class Reset(Api):
    script = {"stubs": [{"name": "file", "when": {"user_says": "twice"}, "replies": ["1", "2"]}],
              "failures": [{"failure": 503, "for": {"model": "broken"}}], "states": {"order": "new"}}

    def test_a_reset_restores_the_initial_state(self):
        with Program(self.script, "--reply", "flag") as gateway:
            gateway.post("/stubs", {"when": {"user_says": "mine"}, "reply": "mine"})
            gateway.put("/script", {"mock_gateway": 1, "stubs": [{"when": {"user_says": "put"}, "reply": "put"}]})
            key = gateway.post("/keys", {"name": "kept"})
            gateway.post("/operations", {"method": "GET", "path": "/v1/kept", "reply": {"json": 1}})
            gateway.put("/states/order", {"state": "paid"})
            gateway.post("/chaos", {"failure": 503, "nth": 1})
            gateway.put("/listening", {"listening": False})
            gateway.delete("/failures")
            done = gateway.post("/reset")
            self.assertEqual(done["reset"], ["stubs", "states", "failures", "chaos", "connections", "journal"])
            self.assertIn("keys", done["kept"])
            self.assertEqual([gateway.ask(text) for text in ("twice", "mine", "put")], ["1", "flag", "flag"])
            self.assertEqual([stub["name"] for stub in gateway.get("/stubs")["stubs"]], ["file", "--reply"])
            self.assertEqual(gateway.get("/script")["document"], None)
            self.assertEqual(gateway.get("/states/order"), {"state": "new"})
            self.assertEqual(len(gateway.get("/failures")["failures"]), 1)
            self.assertEqual((gateway.get("/chaos"), gateway.get("/listening")), ({"chaos": []}, {"listening": True}))
            self.assertEqual(gateway.request("GET", "/v1/kept", key=key["secret"])[0], 200)
            self.assertEqual(gateway.get("")["counts"]["requests"], 4)

    def test_a_script_that_is_not_reloaded_is_mounted_again(self):
        with Program(self.script, "--no-reload") as gateway:
            self.assertEqual(gateway.ask("twice"), "1")
            gateway.put("/states/order", {"state": "paid"})
            gateway.delete("/failures")
            self.assertEqual(gateway.get("/script")["files"], [gateway.script])
            gateway.post("/reset", {"what": ["stubs"]})
            self.assertEqual(gateway.ask("twice"), "1")
            self.assertEqual((gateway.get("/states/order"), gateway.get("/failures")),
                             ({"state": "paid"}, {"failures": []}))
            gateway.post("/reset")
            self.assertEqual([gateway.ask("twice") for _ in range(3)], ["1", "2", "2"])
            self.assertEqual(gateway.get("/states/order"), {"state": "new"})
            self.assertEqual(len(gateway.get("/failures")["failures"]), 1)

    def test_a_reset_mounts_the_reloaded_script(self):
        with Program({"stubs": [{"reply": "old"}]}) as gateway:
            for text in "new", "newer":
                gateway.write_script({"stubs": [{"name": text, "replies": [text, "more"]}]})
                eventually(self, lambda: gateway.get("/stubs")["stubs"][0]["name"] == text, "it is not read again")
                for _ in range(2):
                    self.assertEqual([gateway.ask() for _ in range(2)], [text, "more"])
                    gateway.post("/reset")

    def test_failures_of_the_flags_are_forced_again(self):
        with Program(None, "--fail", "503", "--fail", "429:*@/v1/models") as gateway:
            for _ in range(2):
                self.assertEqual([gateway.chat()[0] for _ in range(2)], [503, 200])
                self.assertEqual([gateway.request("GET", "/v1/models")[0] for _ in range(2)], [429, 429])
                gateway.delete("/failures")
                self.assertEqual(gateway.request("GET", "/v1/models")[0], 200)
                gateway.post("/reset", {"what": ["stubs", "journal"]})
                self.assertEqual(gateway.request("GET", "/v1/models")[0], 200)
                gateway.post("/reset", {"what": ["failures"]})
                self.assertEqual([one["left"] for one in gateway.get("/failures")["failures"]], [1, None])

    def test_each_part_is_reset_alone_and_with_all(self):
        def answer_id():
            return json.loads(gateway.chat("unscripted")[1])["id"]

        def seen():
            return {
                "stubs": [stub["name"] for stub in gateway.get("/stubs")["stubs"]],
                "states": gateway.get("/states/order")["state"],
                "failures": len(gateway.get("/failures")["failures"]),
                "chaos": len(gateway.get("/chaos")["chaos"]),
                "connections": [gateway.get("/connections")["connections"], gateway.get("/listening")["listening"]],
                # Generated values depend on the number of equal requests.
                "journal": [gateway.get("")["counts"]["requests"], answer_id()],
            }

        def change():
            gateway.post("/stubs", {"name": "posted", "when": {"user_says": "posted"}, "reply": "x"})
            gateway.put("/states/order", {"state": "paid"})
            gateway.post("/failures", {"failure": 503, "for": {"model": "other"}})
            gateway.post("/chaos", {"failure": 503, "nth": 1_000_000})
            gateway.post("/connections", {"fault": "close_when_reused"})
            answer_id()

        with Program({**self.script, "gateway": {"unmatched": "gets_default_reply"}}) as gateway:
            start = seen()
            parts = list(start)
            self.assertEqual(sorted(gateway.post("/reset")["reset"]), sorted(parts))
            self.assertEqual(seen(), start)
            for part in parts:
                with self.subTest(part):
                    change()
                    changed = seen()
                    for one in parts:
                        self.assertNotEqual(changed[one], start[one], one)
                    gateway.post("/reset", {"what": [part]})
                    after = seen()
                    self.assertEqual(after[part], start[part])
                    for one in parts:
                        if one not in (part, "journal"):
                            self.assertEqual(after[one], changed[one], one)
                    if part != "journal":
                        self.assertNotEqual(after["journal"][1], changed["journal"][1])
                        self.assertGreater(after["journal"][0], changed["journal"][0])
                    gateway.post("/reset")
                    self.assertEqual(seen(), start)
                    gateway.post("/reset")

    def test_only_the_named_parts_are_reset(self):
        with Program(self.script, "--reply", "flag") as gateway:
            gateway.post("/stubs", {"when": {"user_says": "mine"}, "reply": "mine"})
            gateway.put("/states/order", {"state": "paid"})
            gateway.ask("twice")
            self.assertEqual(gateway.post("/reset", {"what": ["journal"]})["reset"], ["journal"])
            self.assertEqual([gateway.ask(text) for text in ("twice", "mine")], ["2", "mine"])
            self.assertEqual(gateway.get("/states/order"), {"state": "paid"})
            gateway.post("/reset", {"what": ["stubs"]})
            self.assertEqual([gateway.ask(text) for text in ("twice", "mine")], ["1", "flag"])
            self.assertEqual(gateway.get("/states/order"), {"state": "paid"})
            error = self.refused("invalid_request", 400, gateway.post, "/reset", {"what": ["stubs", "stats"]})
            self.assertEqual(error["problems"][0]["pointer"], "/what/1")
            self.assertIn('did you mean "states"', error["message"])
            self.refused("invalid_request", 400, gateway.post, "/reset", {"wat": []})

    def test_the_layer_of_a_stub_is_reported_until_the_stubs_are_reset(self):
        script = {"mock_gateway": 1, "stubs": [{"name": "put", "reply": "put"}]}
        with Program({"stubs": [{"name": "file", "reply": "file"}]}) as gateway:
            gateway.put("/script", script)
            gateway.post("/stubs", {"name": "posted", "reply": "posted"})

            def seen():
                stubs = {stub["name"]: (stub["layer"], stub["file"]) for stub in gateway.get("/stubs")["stubs"]}
                return stubs, gateway.get("/script")["document"]

            all_three = {"file": ("script", gateway.script), "put": ("api", None), "posted": ("api", None)}
            self.assertEqual(seen(), (all_three, script))
            for part in "journal", "failures", "states":
                gateway.post("/reset", {"what": [part]})
                self.assertEqual(seen(), (all_three, script), part)
            gateway.post("/reset", {"what": ["stubs"]})
            self.assertEqual(seen(), ({"file": ("script", gateway.script)}, None))

    def test_gates_are_closed_again_with_counts_of_zero(self):
        held = {"text": "one two", "hold": {"gate": "g", "before_token": 2}}
        gate = {"reached": 0, "passed": 0, "waiting": 0, "open": False}
        with Program({"stubs": [{"reply": held}]}) as gateway, concurrent.futures.ThreadPoolExecutor() as pool:
            for call in ("release", "open"):
                scope = gateway.post("/scopes", {"name": call})
                gateway.post("/stubs", {"reply": held}, scope=scope["id"])
                first = pool.submit(gateway.chat, stream=True)
                of_scope = pool.submit(gateway.chat, key=scope["api_key"], stream=True)
                self.assertTrue(gateway.get("/gates/g/wait", within="10s", **{"for": "delivered"})["reached"])
                self.assertTrue(gateway.get("/gates/g/wait", within="10s", scope=scope["id"])["reached"])
                gateway.post(f"/gates/g/{call}")
                gateway.post(f"/gates/g/{call}")  # lets the held reply pass
                self.assertIn(b"two", first.result()[1])
                gateway.post("/reset")
                self.assertIn(b"two", of_scope.result()[1])  # nothing else would release it
                self.assertEqual([{"name": one["name"], **gate} for one in gateway.get("/gates")["gates"]],
                                 gateway.get("/gates")["gates"])
                self.assertFalse(gateway.get("/gates/g/wait", within="20ms", **{"for": "delivered"})["reached"])
                second = pool.submit(gateway.chat, stream=True)
                waited = gateway.get("/gates/g/wait", within="10s")
                self.assertEqual(waited["gate"], {**gate, "name": "g", "reached": 1, "waiting": 1})
                self.assertFalse(second.done())
                gateway.post("/reset", {"what": ["stubs"]})
                self.assertIn(b"two", second.result()[1])

    def test_a_scope_is_reset_alone_part_by_part(self):
        with Program({"stubs": [{"reply": "file"}]}) as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))

            def fill(scope):
                of = {"scope": scope["id"]}
                hold = {"text": "a b", "hold": {"gate": "g", "before_token": 2}}
                stubs = [{"when": {"user_says": "mine"}, "reply": "mine"},
                         {"when": {"user_says": "hold"}, "reply": hold, "expect": 7}]
                gateway.post("/stubs", {"stubs": stubs}, **of)
                gateway.put("/states/order", {"state": "paid"}, **of)
                gateway.post("/chaos", {"failure": 502, "nth": 99}, **of)
                gateway.post("/gates/g/open", **of)
                gateway.ask("mine", scope["api_key"])
                gateway.post("/failures", {"failure": 503}, **of)

            def facts(scope):
                of = {"scope": scope["id"]}
                return {"stubs": len(gateway.get("/stubs", **of)["stubs"]), "states": gateway.get("/states", **of)["states"],
                        "failures": len(gateway.get("/failures", **of)["failures"]),
                        "chaos": len(gateway.get("/chaos", **of)["chaos"]),
                        "journal": len(gateway.get("/journal", **of)["exchanges"])}

            empty = {"stubs": 1, "states": {}, "failures": 0, "chaos": 0, "journal": 0}
            empty["stubs"] = facts(one)["stubs"]
            for scope in (one, two):
                fill(scope)
            full = facts(two)
            self.assertEqual((full["stubs"] - empty["stubs"], full["states"], full["journal"]), (2, {"order": "paid"}, 1))
            self.assertFalse(gateway.get("/verify", scope=one["id"])["ok"])
            left = dict(full)
            for part in ("stubs", "states", "failures", "chaos", "journal"):
                done = gateway.post("/reset", {"what": [part]}, scope=one["id"])
                self.assertEqual(done["reset"], [part])
                left[part] = empty[part]
                self.assertEqual(facts(one), left, part)
            self.assertTrue(gateway.get("/verify", scope=one["id"])["ok"])
            self.assertEqual(gateway.get("/gates", scope=one["id"])["gates"][0]["open"], False)
            self.assertEqual(facts(two), full)
            self.assertEqual(gateway.get("/gates", scope=two["id"])["gates"][0]["open"], True)
            done = gateway.post("/reset", scope=two["id"])
            self.assertEqual(done["reset"], ["stubs", "states", "failures", "chaos", "journal"])
            self.assertIn("connections", done["kept"])
            self.assertEqual(facts(two), empty)
            fill(one)
            self.assertEqual(facts(one), full)
            self.refused("invalid_request", 400, gateway.post, "/reset", {"what": ["connections"]}, scope=one["id"])

    def test_a_failure_for_a_key_survives_an_ambiguous_name_and_deletion(self):
        script = {"keys": [{"name": "billing", "secret": "sk-billing"}], "stubs": [{"name": "file", "reply": "file"}]}
        with Program(script, "--fail", "403@key=billing") as gateway:
            key = gateway.key("billing")
            gateway.post("/keys", {"name": "billing"})  # two keys have this name
            gateway.post("/reset")
            self.assertEqual([gateway.chat(key="sk-billing")[0] for _ in range(2)], [403, 200])
            gateway.delete("/keys/" + key["id"])
            gateway.post("/reset")
            self.assertEqual([stub["name"] for stub in gateway.get("/stubs")["stubs"]], ["file"])
            self.assertEqual(gateway.get("/failures")["failures"][0]["for"], f'key "{key["id"]}"')
            self.assertEqual(gateway.ask(), "file")

    def test_a_reset_while_the_file_changes_loses_nothing(self):
        with Program({"stubs": [{"name": "file", "reply": "0"}]}) as gateway:
            for number in range(1, 4):
                gateway.write_script({"stubs": [{"name": "file", "reply": str(number)}]})
                for _ in range(20):
                    gateway.post("/reset", {"what": ["stubs"]})
                    self.assertEqual([stub["name"] for stub in gateway.get("/stubs")["stubs"]], ["file"])
                eventually(self, lambda: gateway.ask() == str(number), "the file was never read again")


if __name__ == "__main__":
    program.main()

"""Tests of the control API as tests in any language use it: scripts, stubs, failures, chaos, connection faults,
operations, states and stop. Reset, and the routes of keys, clocks, gates and evidence, have their own files.

Usage: control_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN.
"""

import concurrent.futures
import http.client
import json
import os
import pathlib
import resource
import signal
import stat
import subprocess
import tempfile
import time
import unittest

import control
import program
from control import API, Program, Refused, eventually
from large_test import seconds


class Api(unittest.TestCase):
    maxDiff = None

    def refused(self, code, status, call, *arguments, **named):
        with self.assertRaises(Refused) as caught:
            call(*arguments, **named)
        self.assertEqual((caught.exception.code, caught.exception.status), (code, status), caught.exception.error)
        self.assertTrue(caught.exception.error["message"])
        return caught.exception.error


class Start(Api):
    def test_one_line_of_json_contains_everything_that_a_client_needs(self):
        with Program() as gateway:
            fields = "instance pid base_url api_key control_url control_token version"
            self.assertEqual(list(gateway.info), fields.split())
            self.assertEqual(gateway.info["pid"], gateway.process.pid)
            self.assertRegex(gateway.info["instance"], "^[-0-9A-Z_a-z]{22}$")
            self.assertRegex(gateway.info["control_token"], "^mgct_[A-Za-z0-9_-]{43}$")
            root = gateway.get("")
            for field in ("instance", "pid", "base_url", "control_url", "version"):
                self.assertEqual(root[field], gateway.info[field])
            gateway.process.stdin.close()
            self.assertEqual(gateway.end(), 0)
            self.assertEqual(gateway.output, "")  # nothing after that line

    def test_two_programs_have_two_instances_and_tokens(self):
        with Program() as one, Program() as other:
            self.assertNotEqual(one.info["instance"], other.info["instance"])
            self.assertNotEqual(one.info["control_token"], other.info["control_token"])

    def test_without_control_there_is_no_api(self):
        process = subprocess.run([program.PROGRAM, "serve", "--port", "0", "--print", "json", "--until-eof"],
                                 stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=program.TIMEOUT)
        info = json.loads(process.stdout)
        self.assertEqual((process.returncode, info["control_url"], info["control_token"]), (0, None, None))

    def test_the_program_stops_when_its_stdin_is_closed(self):
        with Program() as gateway:
            gateway.process.stdin.write("the program ignores this text\n")
            gateway.process.stdin.flush()
            gateway.get("")
            gateway.process.stdin.close()
            self.assertEqual(gateway.end(), 0)

    def test_only_the_owner_can_read_the_info_file_and_the_program_removes_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "info.json")
            with Program(None, "--info-file", path) as gateway:
                with open(path) as file:
                    self.assertEqual(json.load(file), gateway.info)
                self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o600)
            self.assertEqual(os.listdir(folder), [])

    def test_the_info_file_is_never_written_through_a_link(self):
        with tempfile.TemporaryDirectory() as folder:
            target, link = os.path.join(folder, "target"), os.path.join(folder, "link")
            open(target, "w").close()
            os.symlink(target, link)
            ended = program.execute("serve", "--port", "0", "--control", "0", "--info-file", link)
            self.assertEqual(ended.returncode, 2)
            self.assertIn("not a regular file", ended.stderr)
            self.assertEqual(os.path.getsize(target), 0)

    def test_run_gives_its_command_the_control_api(self):
        code = """
import json, urllib.request
info = json.load(open(os.environ["MOCK_GATEWAY_INFO"]))
headers = {"Authorization": "Bearer " + info["control_token"]}
body = json.dumps({"reply": "from the test"}).encode()
stub = urllib.request.Request(info["control_url"] + "/control/v1/stubs", body, headers)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
assert opener.open(stub).status == 201
assert chat() == 200
"""
        ended = program.run("--control", "0", command=program.python(code))
        self.assertEqual(ended.returncode, 0, ended.stderr)

    def test_flags_without_effect_are_errors(self):
        cases = [*((["--control", port], "--control: not a port") for port in ("65536", "-1", "yes", "1x", "")),
                 *((["--control", "0", "--control-allow-host", name], "without scheme and port: " + name)
                   for name in ("", "a/b", "a:1", "u@a", "a b")),
                 (["--control", "off", "--control-host", "127.0.0.1"], "--control-host"),
                 (["--control-host", "127.0.0.1"], "--control-host"),
                 (["--control-allow-host", "name"], "--control-allow-host"),
                 (["--control", "0", "--control-allow-host", "http://name"], "without scheme"),
                 (["--print", "yaml"], "--print")]
        for flags, message in cases:
            ended = program.execute("serve", "--port", "0", *flags)
            self.assertEqual((ended.returncode, ended.stdout), (2, ""), flags)
            self.assertIn(message, ended.stderr)
        for flags in (["--print", "json"], ["--until-eof"]):
            ended = program.run(*flags, command=["true"])
            self.assertEqual(ended.returncode, 2)
            self.assertIn("CMD", ended.stderr)

    def test_a_taken_port_is_an_error_with_the_flag(self):
        with Program() as gateway:
            ended = program.execute("serve", "--port", "0", "--control", str(gateway.control.port))
            self.assertEqual(ended.returncode, 2)
            self.assertIn("--control: cannot listen on 127.0.0.1", ended.stderr)

    def test_a_listener_on_the_network_prints_a_warning(self):
        with Program(None, "--control-host", "0.0.0.0") as gateway:
            self.assertEqual(gateway.info["control_url"], f"http://127.0.0.1:{gateway.control.port}")
            self.assertEqual(gateway.get("")["instance"], gateway.info["instance"])
            # The gateway refuses the Host 0.0.0.0. A browser sends it if a page of another origin redirects to 0.0.0.0.
            bearer = {"Authorization": "Bearer " + gateway.info["control_token"]}
            for name, status in ("localhost", 200), ("[::1]", 200), ("0.0.0.0", 421), ("[::]", 421):
                host = {"Host": f"{name}:{gateway.control.port}"}
                self.assertEqual(gateway.send("GET", API, None, {**bearer, **host})[0], status, name)
            gateway.post("/stop")
            gateway.end()
        self.assertIn("warning: the control API is listening on 0.0.0.0, reachable from the network", gateway.log)

    def test_a_weak_token_is_refused_and_not_repeated(self):
        for token in ("short", "0123456789abcde", "sixteen chars no", "0123456789abcde\x7f", ""):
            ended = program.execute("serve", "--port", "0", "--control", "0",
                                    env={**os.environ, "MOCK_GATEWAY_CONTROL_TOKEN": token})
            self.assertEqual(ended.returncode, 2)
            self.assertIn("MOCK_GATEWAY_CONTROL_TOKEN", ended.stderr)
            if token:
                self.assertNotIn(token, ended.stderr)
        token = "!~" * 8
        with Program(environment={"MOCK_GATEWAY_CONTROL_TOKEN": token}) as gateway:
            self.assertEqual(gateway.info["control_token"], token)
            self.assertEqual(gateway.get("")["instance"], gateway.info["instance"])


class Document(Api):
    def test_exactly_the_documented_routes_are_served(self):
        methods = ["GET", "PUT", "POST", "PATCH", "DELETE"]
        with Program() as gateway:
            served = gateway.get("/openapi.json")
            self.assertEqual(served, control.document())
            self.assertEqual(served["info"]["version"], gateway.info["version"])
            self.assertEqual(gateway.get("/schema"), json.loads(program.execute("schema").stdout))
            for path, item in served["paths"].items():
                offered = sorted(method.upper() for method in item if method.upper() in methods)
                self.assertTrue(offered, path)
                # No route has the method OPTIONS, so the response lists the methods of the path.
                status, headers, _ = gateway.send("OPTIONS", path.replace("{", "").replace("}", ""))
                self.assertEqual((status, sorted(headers["Allow"].split(", "))), (405, offered), path)
                for other in (path + "/", path + "/nothing/at/all"):
                    self.assertEqual(gateway.send("GET", other)[0], 404, other)

    def test_openapi_json_in_the_source_lists_the_documented_routes(self):
        path = pathlib.Path(__file__).parents[2] / "endpoint/control/openapi.json"
        described = {route.replace(" /", " /control/v1/").rstrip("/") for route in json.loads(path.read_bytes())["routes"]}
        documented = {f"{method.upper()} {path}" for path, item in control.document()["paths"].items()
                      for method in item if method != "parameters"}
        self.assertEqual(described, documented)

    @unittest.skipUnless(control.jsonschema, "jsonschema is not installed")
    def test_schemas_and_references_of_the_document_are_valid(self):
        document = control.document()
        self.assertEqual(document["openapi"][:4], "3.1.")
        for name, schema in document["components"]["schemas"].items():
            control.jsonschema.Draft202012Validator.check_schema(schema)

        def references(value):
            if isinstance(value, dict):
                if isinstance(value.get("$ref"), str):
                    yield value["$ref"]
                value = list(value.values())
            for part in value if isinstance(value, list) else []:
                yield from references(part)

        used = set(references(document))
        for kind in ("schemas", "responses"):
            for name in document["components"][kind]:
                self.assertIn(f"#/components/{kind}/{name}", used)
        for reference in used:
            place = document
            for name in reference.removeprefix("#/").split("/"):
                self.assertIn(name, place, reference)
                place = place[name]

    @unittest.skipUnless(control.jsonschema, "jsonschema is not installed")
    def test_a_response_that_contradicts_the_document_is_noticed(self):
        for answer in ({"listening": "yes"}, {}, {"listening": True, "more": 1}):
            with self.assertRaises(AssertionError):
                control.compare("GET", "/control/v1/listening", 200, answer)

    def test_errors_about_unknown_query_parameters_list_the_documented_ones(self):
        with Program() as gateway:
            for path, item in control.document()["paths"].items():
                for method, operation in item.items():
                    if method == "parameters" or path.endswith(("/stop", "/session")):
                        continue
                    url = path.replace("{", "").replace("}", "") + "?nonsense=1"
                    status, _, body = gateway.send(method.upper(), url)
                    error = json.loads(body)
                    self.assertEqual((status, error["code"]), (400, "invalid_request"), url)
                    for parameter in operation.get("parameters", []):
                        self.assertIn(parameter["name"], error["message"], url)


class Stubs(Api):
    def test_a_stub_answers_the_first_request_after_it_was_mounted(self):
        with Program() as gateway:
            for number in range(20):
                gateway.post("/stubs", {"reply": f"answer {number}"})
                self.assertEqual(gateway.ask(), f"answer {number}")

    def test_the_newest_call_has_priority_and_a_list_goes_from_top_to_bottom(self):
        script = {"stubs": [{"name": "file", "reply": "file"}]}
        with Program(script, "--reply", "flag") as gateway:
            one = gateway.post("/stubs", {"name": "one", "when": {"user_says": "x"}, "reply": "one"})["stubs"]
            both = gateway.post("/stubs", {"stubs": [{"name": "two", "when": {"user_says": "xy"}, "reply": "two"},
                                                     {"name": "three", "when": {"user_says": "x"}, "reply": "three"}]})
            asked = gateway.get("/stubs")["stubs"]
            self.assertEqual([stub["name"] for stub in asked], ["two", "three", "one", "file", "--reply"])
            self.assertEqual([stub["layer"] for stub in asked], ["api", "api", "api", "script", "flags"])
            self.assertEqual([gateway.ask(text) for text in ("xy", "x", "z")], ["two", "three", "file"])
            self.assertEqual([stub["id"] for stub in both["stubs"]], [stub["id"] for stub in asked[:2]])
            three, file, flag = asked[1], asked[3], asked[4]
            self.assertEqual(gateway.get(f"/stubs/{one[0]['id']}")["hidden_by"], three["id"])
            self.assertEqual((file["hidden_by"], flag["hidden_by"]), (None, file["id"]))
            self.assertEqual((file["file"], file["line"], three["file"]), (gateway.script, 1, None))
            self.assertEqual((flag["file"], flag["line"]), (None, None))
            self.assertEqual(three["conditions"], ['user text contains "x"'])

    def test_a_number_in_a_query_may_have_every_documented_value(self):
        with Program() as gateway:
            asked = 0
            for path, item in control.document()["paths"].items():
                for parameter in item.get("get", {}).get("parameters", []):
                    schema = parameter.get("schema", {})
                    if schema.get("type") != "integer" or "{" in path:
                        continue
                    for name, beyond in (("minimum", -1), ("maximum", 1)):
                        if name not in schema:
                            continue
                        for value, status in ((schema[name], 200), (schema[name] + beyond, 400)):
                            with self.subTest(path=path, parameter=parameter["name"], value=value):
                                url = f"{path}?{parameter['name']}={value}"
                                self.assertEqual(gateway.send("GET", url)[0], status)
                                asked += 1
            self.assertGreaterEqual(asked, 4)
            for value in ("", "x", "1x", "1.0", "+1", " 1", "99999999999999999999"):
                self.assertEqual(gateway.send("GET", f"/control/v1/journal?limit={value.replace(' ', '%20')}")[0], 400, value)

    def test_a_stub_that_does_not_always_answer_hides_no_other_stub(self):
        with Program({"stubs": [{"name": "last", "reply": "last"}]}) as gateway:
            for sometimes in ({"in_state": {"order": "started"}}, {"times": 1}, {"when": {"user_says": "x"}}):
                with self.subTest(sometimes):
                    stub = gateway.post("/stubs", {"name": "first", "reply": "first", **sometimes})["stubs"][0]
                    hidden = [other["hidden_by"] for other in gateway.get("/stubs")["stubs"]]
                    self.assertEqual(hidden, [None, None])
                    gateway.delete(f"/stubs/{stub['id']}")

    def test_a_stub_shows_its_script_without_keys(self):
        said = {"name": "a", "when": {"header_is": {"name": "x-a", "value": "sk-one-0123456789"}}, "reply": {"text": "b", "finish_reason": "length"}}
        with Program({"stubs": [said], "keys": [{"name": "one", "secret": "sk-one-0123456789"}]}) as gateway:
            (listed,) = gateway.get("/stubs")["stubs"]
            self.assertNotIn("script", listed)
            shown = gateway.get(f"/stubs/{listed['id']}")
            self.assertEqual((shown["script"]["reply"], shown["script"]["name"]), (said["reply"], "a"))
            self.assertNotIn("0123456789", json.dumps(shown))
            mounted = gateway.post("/stubs", {"reply": "c", "source": "test.py:7"})["stubs"][0]["id"]
            self.assertEqual(gateway.get(f"/stubs/{mounted}")["script"], {"reply": "c"})
        # JSON writes this key with escapes.
        odd = 'sk-a\\"b-0123456789'
        with Program({"stubs": [{"reply": f"It is {odd}."}], "keys": [{"name": "odd", "secret": odd}]}) as gateway:
            (listed,) = gateway.get("/stubs")["stubs"]
            self.assertRegex(gateway.get(f"/stubs/{listed['id']}")["script"]["reply"], r"^It is sk-\*+\.$")
        with Program(None, "--reply", "flagged") as gateway:
            (listed,) = gateway.get("/stubs")["stubs"]
            self.assertIsNone(gateway.get(f"/stubs/{listed['id']}")["script"])

    def test_stubs_are_listed_in_pages(self):
        with Program({"stubs": [{"name": name, "when": {"user_says": name}, "reply": name} for name in "abcde"]}) as gateway:
            def names(**query):
                answer = gateway.get("/stubs", **query)
                return "".join(stub["name"] for stub in answer["stubs"]), answer["total"]

            self.assertEqual(names(), ("abcde", 5))
            self.assertEqual(names(limit=2), ("ab", 5))
            self.assertEqual(names(limit=2, behind=2), ("cd", 5))
            self.assertEqual(names(behind=5), ("", 5))
            gateway.post("/stubs", {"reply": "all", "name": "z"})
            last = gateway.get("/stubs", limit=1, behind=5)["stubs"][0]
            self.assertIsNotNone(last["hidden_by"], "the stub that hides it is on another page")
            scope = gateway.post("/scopes", {"name": "one"})["id"]
            gateway.post("/stubs", {"reply": "mine", "name": "m"}, scope=scope)
            self.assertEqual(names(scope=scope, limit=3), ("m", 1))
            self.refused("invalid_request", 400, gateway.get, "/stubs", limit=0)

    def test_a_removed_stub_answers_nothing(self):
        with Program({"stubs": [{"reply": "file"}]}) as gateway:
            stub = gateway.post("/stubs", {"reply": "mine"})["stubs"][0]
            self.assertEqual(gateway.delete(f"/stubs/{stub['id']}")["id"], stub["id"])
            self.assertEqual(gateway.ask(), "file")
            self.refused("no_such_stub", 404, gateway.get, f"/stubs/{stub['id']}")
            self.refused("no_such_stub", 404, gateway.delete, f"/stubs/{stub['id']}")
            self.refused("no_such_stub", 404, gateway.get, "/stubs/first")

    def test_the_error_for_an_unknown_scope_lists_the_existing_scopes(self):
        with Program() as gateway:
            error = self.refused("no_such_scope", 404, gateway.get, "/stubs", scope="key_7")
            self.assertEqual(error["message"], 'there is no scope "key_7"; there is none yet')
            scope = gateway.post("/scopes", {"name": "mine"})["id"]
            error = self.refused("no_such_scope", 404, gateway.get, "/stubs", scope="nobody")
            self.assertIn(scope, error["message"])

    def test_calls_and_expectations(self):
        with Program() as gateway:
            stub = gateway.post("/stubs", {"name": "once", "reply": "x", "expect": {"at_least": 2}})["stubs"][0]
            self.assertEqual((stub["calls"], stub["expected"], stub["met"]), (0, "at least 2", False))
            gateway.ask()
            gateway.ask()
            stub = gateway.get(f"/stubs/{stub['id']}")
            self.assertEqual((stub["calls"], stub["met"]), (2, True))

    def test_waiting_for_calls(self):
        with Program() as gateway:
            wait = f"/stubs/{gateway.post('/stubs', {'name': 'slow', 'reply': 'x'})['stubs'][0]['id']}/wait"
            missed = gateway.get(wait, calls=1, within="20ms")
            self.assertFalse(missed["reached"])
            self.assertIn('"slow" (POST stubs:1) has answered 0 of 1 requests', missed["message"])
            with concurrent.futures.ThreadPoolExecutor(1) as pool:
                waiting = pool.submit(gateway.get, wait, calls=2, within="20s")
                gateway.ask()
                gateway.ask()
                reached = waiting.result()
            self.assertEqual((reached["reached"], reached["message"], reached["stub"]["calls"]), (True, None, 2))
            once = f"/stubs/{gateway.post('/stubs', {'name': 'once', 'reply': 'x'})['stubs'][0]['id']}/wait"
            self.assertFalse(gateway.get(once, within="0s")["reached"])
            gateway.ask()
            self.assertTrue(gateway.get(once, within="0s")["reached"])  # the default waits for one call
            self.refused("invalid_request", 400, gateway.get, wait, calls=0)
            self.refused("invalid_request", 400, gateway.get, wait, within="61s")
            self.refused("invalid_request", 400, gateway.get, wait, within="5")
            self.assertIn('did you mean "calls"',
                          self.refused("invalid_request", 400, gateway.get, wait, cals=1)["message"])

    def test_a_bad_list_mounts_nothing(self):
        with Program() as gateway:
            before = gateway.get("/stubs")
            error = self.refused("invalid_script", 400, gateway.post, "/stubs",
                                 '{"stubs": [\n  {"reply": "a"},\n  {"repply": "b"},\n  {"reply": 3}\n]}')
            self.assertEqual(gateway.get("/stubs"), before)
            first = error["problems"][0]
            self.assertEqual((first["file"], first["line"], first["column"], first["pointer"], first["source"]),
                             ("", 3, 4, "/stubs/1/repply", '  {"repply": "b"},'))
            self.assertIn('did you mean "reply"', first["message"])
            self.assertIn("/stubs/2/reply", [problem["pointer"] for problem in error["problems"]])
            self.assertIn("3:4: /stubs/1/repply", error["message"])

    def test_problems_of_one_stub_point_into_the_sent_document(self):
        with Program() as gateway:
            error = self.refused("invalid_script", 400, gateway.post, "/stubs", '{"reply": "a",\n "when": {"user": 1}}')
            self.assertEqual([(problem["pointer"], problem["line"], problem["column"]) for problem in error["problems"]],
                             [("/when/user", 2, 11)])
            self.refused("invalid_script", 400, gateway.post, "/stubs", "[]")
            self.refused("invalid_request", 400, gateway.post, "/stubs", {"stubs": [], "chaos": []})

    def test_the_response_to_mounted_stubs_warns_about_their_mistakes(self):
        with Program(None, "--model", "fast") as gateway:
            def warned(stubs, **query):
                answer = gateway.post("/stubs", stubs, **query)
                self.assertEqual(list(answer), ["stubs", "warnings"])
                return [(each["severity"], each["pointer"], each["line"], each["message"]) for each in answer["warnings"]]
            spelled = ('{"machine": "login", "state": "started"} names two state machines, "machine" and "state"; the '
                       'state machine "login" in the state "started" is {"login": "started"}')
            body = '{"in_state": {"machine": "login", "state": "started"}, "reply": "a"}'
            self.assertEqual(warned(body), [("warning", "/in_state", 1, spelled)])
            scope = gateway.post("/scopes", {"name": "a test"})["id"]
            self.assertEqual(warned(body, scope=scope), [("warning", "/in_state", 1, spelled)])
            self.assertEqual(warned('{"in_state": {"machine": "login", "state": "paid"}, "reply": "a"}'),
                             [("warning", "/in_state", 1, spelled.replace("started", "paid"))])
            self.assertEqual(warned('{"stubs": [{"reply": "a"},\n {"when": {"model_is": "fasst", "key_is": "cii"}, "reply": "b"}]}'),
                             [("warning", "/stubs/1", 2, "this stub never answers: the stub at POST stubs:1 matches every request that this one matches"),
                              ("warning", "/stubs/1/when/model_is", 2,
                               'the gateway serves no model "fasst", and refuses requests for it; did you mean "fast"?'),
                              ("warning", "/stubs/1/when/key_is", 2,
                               'the gateway has no key "cii", so this matches nothing until that key exists; '
                               'known: key_1, default key, key_2, a test')])
            # A later call may make a state reachable, and a stub of another call may be removed again.
            self.assertEqual(warned({"in_state": {"order": "paid"}, "reply": "a"}), [])
            self.assertEqual(warned({"reply": "a"}) + warned({"reply": "b"}), [])

    def test_errors_name_the_kind_of_object_that_cannot_be_mounted(self):
        headings = [
            ("post", "/stubs", {"reply": "a", "repply": "b"}, "a stub cannot be mounted\n1:16: /repply: unknown key"),
            ("post", "/stubs", [{"reply": 3}], "a stub cannot be mounted\n1:1: expected an object"),
            ("post", "/failures", {"failures": [{"failure": 503}, {"failure": 700}, {"a": 1}]},
             "a failure cannot be mounted; 3 problems\n"),
            ("post", "/chaos", {"nth": 0}, "a rule of chaos cannot be mounted"),
            ("post", "/connections", {"fault": "none"}, "a fault of connections cannot be mounted\n"),
            ("post", "/operations", {"method": "GET"}, "an operation cannot be mounted"),
            ("put", "/script", {"mock_gateway": 1, "stubs": [{"reply": 3}]}, "a script cannot be served\n"),
        ]
        with Program() as gateway:
            for call, path, body, heading in headings:
                message = self.refused("invalid_script", 400, getattr(gateway, call), path, body)["message"]
                with self.subTest(path):
                    self.assertEqual(message[:len(heading)], heading)

    def test_invalid_json_is_reported_with_its_place(self):
        with Program() as gateway:
            for body, line, column in (('{"reply": }', 1, 11), ('{"a": 1,\n "a": 2}', 2, 2)):
                error = self.refused("invalid_json", 400, gateway.post, "/stubs", body)
                self.assertEqual((error["problems"][0]["line"], error["problems"][0]["column"]), (line, column))
            self.refused("invalid_json", 400, gateway.post, "/stubs")
            self.assertEqual(gateway.post("/stubs", '// a comment\n{"reply": /* here */ "x"}')["stubs"][0]["line"], 2)


class Scopes(Api):
    def test_tests_with_scopes_are_isolated(self):
        with Program({"stubs": [{"reply": "shared"}]}) as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))
            stub = {"when": {"user_says": "pay"}, "in_state": {"order": "started"}, "then_state": {"order": "paid"},
                    "reply": "paid"}
            mine = gateway.post("/stubs", stub, scope=one["id"])["stubs"][0]
            gateway.post("/stubs", stub, scope=two["id"])
            self.assertEqual(mine["scope"], one["id"])
            self.assertEqual(gateway.ask("pay"), "shared")
            self.assertEqual(gateway.ask("pay", one["api_key"]), "paid")
            self.assertEqual(gateway.get("/states/order", scope=one["id"])["state"], "paid")
            self.assertEqual(gateway.get("/states/order", scope=two["id"])["state"], "started")
            self.assertEqual(gateway.ask("pay", one["api_key"]), "shared")
            self.assertEqual(gateway.ask("pay", two["api_key"]), "paid")
            self.assertEqual([stub["id"] for stub in gateway.get("/stubs", scope=one["id"])["stubs"]], [mine["id"]])
            self.refused("no_such_scope", 404, gateway.post, "/stubs", stub, scope="key_99")

    def test_failures_of_a_scope_apply_to_its_key(self):
        with Program() as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))
            for scope in (one, two):
                gateway.post("/failures", {"failure": 503, "always": True}, scope=scope["id"])
            self.assertEqual(gateway.chat()[0], 200)
            self.assertEqual(gateway.chat(key=one["api_key"])[0], 503)
            gateway.delete("/failures", scope=one["id"])
            self.assertEqual(gateway.chat(key=one["api_key"])[0], 200)
            self.assertEqual(gateway.chat(key=two["api_key"])[0], 503)
            listed = gateway.get("/failures")["failures"]
            self.assertEqual([(entry["left"], entry["for"]) for entry in listed], [(None, 'key "two"')])
            both = {"failure": 503, "for": {"model": "m"}}
            self.assertEqual(self.refused("invalid_script", 400, gateway.post, "/failures", both,
                                          scope=one["id"])["problems"][0]["pointer"], "/for")

    def test_chaos_of_a_scope_applies_to_its_key(self):
        with Program() as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))
            for scope in (one, two):
                gateway.post("/chaos", {"failure": 503, "first": 1}, scope=scope["id"])
            self.assertEqual(gateway.chat()[0], 200)
            for scope in (one, two):
                self.assertEqual([gateway.chat(key=scope["api_key"])[0] for _ in range(2)], [503, 200])
            self.assertEqual(len(gateway.get("/chaos", scope=one["id"])["chaos"]), 1)
            self.assertEqual(len(gateway.get("/chaos")["chaos"]), 2)
            gateway.post("/chaos", {"failure": 502}, scope=one["id"])
            self.assertEqual(gateway.chat(key=one["api_key"])[0], 502)
            gateway.delete("/chaos", scope=one["id"])
            self.assertEqual(gateway.chat(key=one["api_key"])[0], 200)
            self.assertEqual(len(gateway.get("/chaos")["chaos"]), 1)
            gateway.post("/chaos", {"failure": 502}, scope=one["id"])
            gateway.post("/chaos", {"failure": 500})
            gateway.call("DELETE", "/scopes/" + one["id"])
            self.assertEqual([rule["text"][:3] for rule in gateway.get("/chaos")["chaos"]], ["503", "500"])
            gateway.delete("/chaos")
            self.assertEqual(gateway.get("/chaos", scope=two["id"])["chaos"], [])

    def test_with_a_scope_only_its_own_objects_can_be_read_or_changed(self):
        with Program() as gateway:
            one, two = (gateway.post("/scopes", {"name": name}) for name in ("one", "two"))
            shared = gateway.post("/stubs", {"reply": "shared"})["stubs"][0]["id"]
            stub = gateway.post("/stubs", {"reply": "mine"}, scope=one["id"])["stubs"][0]["id"]
            self.assertEqual(gateway.ask("a", one["api_key"]), "mine")
            exchange = gateway.get("/journal")["exchanges"][0]["id"]
            named = [("GET", f"/stubs/{stub}", "no_such_stub"), ("GET", f"/stubs/{stub}/wait", "no_such_stub"),
                     ("GET", f"/journal/{exchange}", "no_such_exchange"),
                     ("GET", f"/journal/{exchange}/curl", "no_such_exchange"),
                     ("GET", f"/journal/{exchange}/bundle", "no_such_exchange"),
                     ("GET", f"/keys/{one['id']}", "no_such_key"),
                     ("POST", f"/keys/{one['id']}/disable", "no_such_key"),
                     ("POST", f"/keys/{one['id']}/enable", "no_such_key"),
                     ("DELETE", f"/stubs/{stub}", "no_such_stub"), ("DELETE", f"/keys/{one['id']}", "no_such_key")]
            for method, path, code in named:
                with self.subTest(method + path):
                    other = self.refused(code, 404, gateway.call, method, path, scope=two["id"])
                    self.assertIn(f"does not belong to the scope \"{two['id']}\"", other["message"])
                    gateway.call(method, path, scope=one["id"])
            self.refused("no_such_key", 404, gateway.call, "PATCH", f"/keys/{one['id']}", {"limit": "1/1s"}, scope=two["id"])
            self.refused("no_such_stub", 404, gateway.get, f"/stubs/{shared}", scope=two["id"])
            self.assertEqual(gateway.call("PATCH", f"/keys/{two['id']}", {"limit": "1/1s"}, scope=two["id"])["limit"], "1/1s")
            self.assertEqual([key["id"] for key in gateway.get("/keys", scope=two["id"])["keys"]], [two["id"]])

    def test_a_key_is_disabled_for_a_number_of_requests(self):
        script = {"keys": [{"name": "later", "secret": "sk-later-0123456789",
                            "state_for": [{"state": "disabled", "requests": 2}]}]}
        with Program(script) as gateway:
            key = gateway.key("later")["id"]
            self.assertEqual([gateway.chat(key="sk-later-0123456789")[0] for _ in range(3)], [403, 403, 200])
            self.assertEqual(gateway.post(f"/keys/{key}/disable", {"requests": 1})["state"], "disabled")
            self.assertEqual([gateway.chat(key="sk-later-0123456789")[0] for _ in range(2)], [403, 200])
            for wrong in (0, -1, 1.5, "2", None):
                self.refused("invalid_request", 400, gateway.post, f"/keys/{key}/disable", {"requests": wrong})
            made = gateway.post("/keys", {"state_for": [{"state": "enabled", "requests": 1}], "state": "disabled"})
            self.assertEqual([gateway.chat(key=made["secret"])[0] for _ in range(2)], [200, 403])

    def test_keys_share_a_limit(self):
        script = {"keys": [{"name": name, "secret": f"sk-{name}-0123456789", "limit": "2/1h", "limit_group": "team"}
                           for name in ("one", "two")]}
        with Program(script) as gateway:
            self.assertEqual([gateway.chat(key=f"sk-{name}-0123456789")[0] for name in ("one", "two", "one", "two")],
                             [200, 200, 429, 429])
            self.assertEqual(gateway.key("one")["limit_group"], "team")

    def limits(self, **limits):
        return {"limit": None, "limit_tokens": None, "limit_concurrent": None, "concurrent": 0, **limits}

    def test_the_limit_of_all_keys_is_set_and_removed(self):
        with Program(None, "--limit", "1/1h") as gateway:
            self.assertEqual(gateway.get("/limit"), self.limits(limit="1/1h"))
            self.assertEqual([gateway.chat()[0] for _ in range(2)], [200, 429])
            self.assertEqual(gateway.put("/limit", {"limit": "2/60s"}), self.limits(limit="2/1m"))
            self.assertEqual([gateway.chat()[0] for _ in range(3)], [200, 200, 429])
            self.assertEqual(gateway.put("/limit", {"limit": None}), self.limits())
            self.assertEqual([gateway.chat()[0] for _ in range(3)], [200] * 3)
            for wrong in ({}, {"limit": "many"}, {"limit": 2}, {"limit": "0/1m"}, {"limits": None}):
                self.refused("invalid_request", 400, gateway.put, "/limit", wrong)

    def test_tokens_are_limited_for_all_keys_and_for_one(self):
        with Program(None, "--limit-tokens", "20/1h") as gateway:
            self.assertEqual(gateway.get("/limit"), self.limits(limit_tokens="20/1h"))
            self.assertEqual([gateway.chat(max_tokens=n)[0] for n in (1000, 1, 15)], [429, 200, 429])
            self.assertEqual(gateway.put("/limit", {"limit": "9/1m"}), self.limits(limit="9/1m", limit_tokens="20/1h"))
            self.assertEqual(gateway.chat(max_tokens=15)[0], 429)
            self.assertEqual(gateway.put("/limit", {"limit_tokens": None, "limit": None}),
                             self.limits())
            self.assertEqual(gateway.chat(max_tokens=1000)[0], 200)
            key = gateway.post("/keys", {"limit_tokens": "20/60s"})
            self.assertEqual(key["limit_tokens"], "20/1m")
            self.assertEqual(gateway.chat(key=key["secret"], max_tokens=1000)[0], 429)
            path = "/keys/" + key["id"]
            self.assertEqual(gateway.call("PATCH", path, {"limit": "9/1m"})["limit_tokens"], "20/1m")
            self.assertEqual(gateway.call("PATCH", path, {"limit_tokens": "2000/1m"})["limit_tokens"], "2000/1m")
            self.assertEqual(gateway.chat(key=key["secret"], max_tokens=1000)[0], 200)
            self.assertEqual(gateway.call("PATCH", path, {"limit_tokens": None})["limit_tokens"], None)
            self.assertEqual(gateway.chat(key=key["secret"], max_tokens=9000)[0], 200)
            for wrong in ({"limit_tokens": "many"}, {"limit_tokens": 2}, {"limit_tokens": "0/1m"}):
                self.refused("invalid_request", 400, gateway.put, "/limit", wrong)
                self.refused("invalid_request", 400, gateway.call, "PATCH", path, wrong)

    def test_concurrent_requests_are_limited_for_all_keys_and_for_one(self):
        script = {"stubs": [{"when": {"user_says": "ask"}, "reply": {"ask": True}}, {"reply": "a"}]}
        with Program(script, "--limit-concurrent", "1") as gateway, concurrent.futures.ThreadPoolExecutor() as pool:
            self.assertEqual(gateway.get("/limit"), self.limits(limit_concurrent=1))
            key = gateway.post("/keys", {"limit_concurrent": 2})
            path = "/keys/" + key["id"]
            self.assertEqual((key["limit_concurrent"], key["concurrent"]), (2, 0))
            waiting = pool.submit(gateway.chat, "ask", key["secret"])
            asked = gateway.get("/asked", wait="5s")["asked"]
            self.assertEqual([gateway.get(one)["concurrent"] for one in (path, "/limit")], [1, 1])
            status, body = gateway.chat(key=key["secret"])
            self.assertEqual((status, json.loads(body)["error"]["code"]), (429, "rate_limit_exceeded"))
            self.assertIn(b"The limit of 1 concurrent request is exceeded.", body)
            self.assertEqual(gateway.put("/limit", {"limit_concurrent": None}), self.limits())
            self.assertEqual(gateway.chat(key=key["secret"])[0], 200)
            self.assertEqual(gateway.call("PATCH", path, {"limit_concurrent": 1})["limit_concurrent"], 1)
            self.assertEqual(gateway.chat(key=key["secret"])[0], 429)
            gateway.post("/reset", {"what": ["journal"]})
            self.assertEqual(gateway.chat(key=key["secret"])[0], 429)
            self.assertEqual(gateway.call("PATCH", path, {"limit_concurrent": None})["limit_concurrent"], None)
            self.assertEqual(gateway.chat(key=key["secret"])[0], 200)
            gateway.post(f"/asked/{asked[0]['exchange']}", {"reply": "a"})
            self.assertEqual(waiting.result()[0], 200)
            for wrong in (0, -1, "2", 1.5, True):
                self.refused("invalid_request", 400, gateway.put, "/limit", {"limit_concurrent": wrong})
                self.refused("invalid_request", 400, gateway.call, "PATCH", path, {"name": "x", "limit_concurrent": wrong})
                self.refused("invalid_request", 400, gateway.post, "/keys", {"limit_concurrent": wrong})
            self.assertEqual(gateway.get(path)["name"], "")

    def test_a_key_deletes_itself_and_no_reset_restores_it(self):
        script = {"gateway": {"clock": "manual"}, "stubs": [{"reply": "a"}], "keys": [
            {"name": "short", "secret": "sk-short-0123456789", "deleted_after": 2},
            {"name": "timed", "secret": "sk-timed-0123456789", "deleted_after": [9, "30m"]}]}
        with Program(script) as gateway:
            self.assertEqual([gateway.chat(key="sk-short-0123456789")[0] for _ in range(3)], [200, 200, 401])
            self.assertEqual(gateway.chat(key="sk-timed-0123456789")[0], 200)
            self.assertEqual((gateway.key("timed")["state"], gateway.key("timed")["ended"]), ("enabled", None))
            gateway.post("/clock/advance", {"by": "30m"})
            made = gateway.post("/keys", {"name": "made", "deleted_after": 1})
            self.assertEqual([gateway.chat(key=made["secret"])[0] for _ in range(2)], [200, 401])
            ended = {"short": "deleted after 2 requests", "timed": "expired 30m after first use", "made": "deleted after 1 request"}
            removed = gateway.post("/keys", {"name": "removed"})
            gateway.delete("/keys/" + removed["id"])
            for _ in range(2):
                listed = {key["name"]: key for key in gateway.get("/keys")["keys"]}
                self.assertEqual(set(listed), {"default key", *ended})
                for name, why in ended.items():
                    self.assertEqual((listed[name]["state"], listed[name]["ended"]), ("deleted", why))
                    self.assertEqual(gateway.get("/keys/" + listed[name]["id"]), listed[name])
                    self.refused("no_such_key", 404, gateway.post, f"/keys/{listed[name]['id']}/enable")
                gateway.post("/reset")
            self.assertEqual(gateway.chat(key="sk-timed-0123456789")[0], 401)
            self.assertEqual(gateway.get("/journal")["exchanges"][0]["decision"]["refusal"],
                             "the key is deleted: expired 30m after first use")
            gateway.write_script({**script, "stubs": [{"name": "new", "reply": "b"}]})
            eventually(self, lambda: gateway.get("/stubs")["stubs"][0]["name"] == "new", "it is not read again")
            self.assertEqual([gateway.chat(key=f"sk-{name}-0123456789")[0] for name in ("short", "timed")], [401, 401])
            for wrong in (0, "0s", "soon", True, ["30m", 5]):
                self.refused("invalid_request", 400, gateway.post, "/keys", {"deleted_after": wrong})

    def test_a_request_larger_than_the_limit_gets_413_if_a_script_says_so(self):
        with Program({"gateway": {"limit_tokens": "20/1h", "oversized_gets_413": True}}) as gateway:
            self.assertEqual([gateway.chat(max_tokens=n)[0] for n in (1000, 1, 15)], [413, 200, 429])

    def test_a_route_accepts_a_scope_or_explains_why_not(self):
        with Program() as gateway:
            scope = gateway.post("/scopes", {"name": "one"})["id"]
            refusing = 0
            for path, item in control.document()["paths"].items():
                for method, operation in item.items():
                    if method == "parameters" or path.endswith("/session"):
                        continue
                    takes = "scope" in [parameter["name"] for parameter in operation.get("parameters", [])]
                    url = path.replace("{", "").replace("}", "") + "?scope=" + ("key_99" if takes else scope)
                    status, _, body = gateway.send(method.upper(), url)
                    error = json.loads(body)
                    with self.subTest(method + path):
                        if takes:
                            self.assertIn(error["code"], ("no_such_scope", "no_such_exchange", "no_such_stub", "invalid_request"))
                            continue
                        refusing += 1
                        self.assertEqual((status, error["code"]), (400, "invalid_request"))
                        self.assertRegex(error["message"], r"^this route takes no \?scope=: .{20,}")
            self.assertGreater(refusing, 10)

    def test_the_states_of_a_scope_are_listed_without_a_prefix(self):
        with Program() as gateway:
            one, two = (gateway.post("/scopes", {"name": name})["id"] for name in ("one", "two"))
            gateway.call("PUT", "/states/order", {"state": "paid"}, scope=one)
            gateway.call("PUT", "/states/order", {"state": "sent"}, scope=two)
            gateway.call("PUT", "/states/order", {"state": "new"})
            self.assertEqual(gateway.get("/states", scope=one)["states"], {"order": "paid"})
            self.assertEqual(gateway.get("/states")["states"], {"order": "new"})


class Script(Api):
    def test_a_document_replaces_the_previous_one(self):
        with Program({"stubs": [{"name": "file", "reply": "file"}]}) as gateway:
            first = {"mock_gateway": 1, "stubs": [{"name": "a", "when": {"user_says": "a"}, "replies": ["1", "2"]},
                                                  {"name": "b", "when": {"user_says": "b"}, "reply": "b"}]}
            put = gateway.put("/script", first)
            self.assertEqual([stub["name"] for stub in put["stubs"]], ["a", "b"])
            self.assertEqual(gateway.ask("a"), "1")
            first["stubs"][1]["reply"] = "other"
            again = gateway.put("/script", first)
            self.assertEqual(again["stubs"][0]["calls"], 1)
            self.assertEqual(again["stubs"][0]["id"], put["stubs"][0]["id"])
            self.assertEqual([gateway.ask(text) for text in ("a", "b", "c")], ["2", "other", "file"])
            shown = gateway.get("/script")
            self.assertEqual(shown["document"], first)
            self.assertEqual(shown["files"], [gateway.script])
            self.assertEqual(len(shown["stubs"]), 3)
            gateway.put("/script", {"mock_gateway": 1})
            self.assertEqual([gateway.ask(text) for text in ("a", "b")], ["file", "file"])

    def test_all_sections_are_mounted_and_removed(self):
        with Program() as gateway:
            gateway.put("/script", {"mock_gateway": 1, "keys": [{"name": "k", "secret": "sk-put"}],
                                    "operations": [{"method": "GET", "path": "/v1/x", "reply": {"json": {"a": 1}}}],
                                    "failures": [{"failure": 503, "for": {"key": "k"}}], "states": {"m": "on"}})
            self.assertEqual(gateway.chat(key="sk-put")[0], 503)
            self.assertEqual(gateway.request("GET", "/v1/x", key="sk-put"), (200, b'{"a":1}'))
            self.assertEqual(gateway.get("/states/m"), {"state": "on"})
            self.assertNotIn("sk-put", json.dumps(gateway.get("/script")))
            gateway.put("/script", {"mock_gateway": 1})
            self.assertEqual(gateway.chat(key="sk-put")[0], 401)
            self.assertEqual(gateway.request("GET", "/v1/x")[0], 404)

    def test_a_bad_document_changes_nothing_and_reports_lines_of_the_body(self):
        with Program() as gateway:
            good = {"mock_gateway": 1, "stubs": [{"reply": "good"}]}
            gateway.put("/script", good)
            text = '{\n  // as in a file\n  "mock_gateway": 1,\n  "stubs": [{"reply": 1}]\n}'
            problem = self.refused("invalid_script", 400, gateway.put, "/script", text)["problems"][0]
            self.assertEqual((problem["line"], problem["pointer"]), (4, "/stubs/0/reply"))
            self.assertEqual(gateway.ask(), "good")
            self.assertEqual(gateway.get("/script")["document"], good)
            start = self.refused("invalid_script", 400, gateway.put, "/script",
                                 {"mock_gateway": 1, "gateway": {"seed": 2}})
            self.assertIn("--script", start["message"])
            self.assertEqual(start["problems"][0]["pointer"], "/gateway")

    def test_an_impossible_key_rejects_the_whole_document(self):
        with Program() as gateway:
            gateway.post("/keys", {"name": "other", "secret": "sk-taken-by-another"})
            error = self.refused("invalid_script", 400, gateway.put, "/script",
                                 {"mock_gateway": 1, "stubs": [{"reply": "x"}],
                                  "keys": [{"name": "new"}, {"name": "mine", "secret": "sk-taken-by-another"}]})
            self.assertEqual(error["problems"][0]["pointer"], "/keys/1/secret")
            self.assertNotIn("taken-by-another", json.dumps(error))
            self.assertEqual(len(gateway.get("/keys")["keys"]), 2)
            self.assertEqual(gateway.get("/stubs")["stubs"], [])

    def test_a_key_of_a_file_stays_when_a_document_that_names_it_is_removed(self):
        with Program({"keys": [{"name": "billing", "secret": "sk-billing"}]}) as gateway:
            posted = gateway.post("/keys", {"name": "posted"})["secret"]
            named = [{"name": "billing"}, {"name": "posted", "state": "disabled"}]
            gateway.put("/script", {"mock_gateway": 1, "keys": named})
            gateway.put("/script", {"mock_gateway": 1, "keys": named + [{"name": "k"}]})
            gateway.put("/script", {"mock_gateway": 1})
            self.assertEqual([gateway.chat(key=key)[0] for key in ("sk-billing", posted)], [200, 200])
            self.assertEqual([key["name"] for key in gateway.get("/keys")["keys"]],
                             ["default key", "billing", "posted"])

    def test_a_key_that_is_removed_and_added_again_has_its_newest_secret(self):
        def put(*keys, **query):
            return gateway.put("/script", {"mock_gateway": 1, "keys": list(keys)}, **query)

        with Program() as gateway:
            for secret, old in (("sk-first", None), ("sk-second", "sk-first"), ("sk-first", "sk-second")):
                put({"name": "k", "secret": secret})
                self.assertEqual((gateway.chat(key=secret)[0], old and gateway.chat(key=old)[0]), (200, old and 401))
                put()
                self.assertEqual(gateway.chat(key=secret)[0], 401)
                self.assertTrue(put({"name": "k", "secret": secret}, check=1)["ok"])
            gateway.post("/keys", {"name": "posted"})
            error = self.refused("invalid_script", 400, put, {"name": "k"}, {"name": "posted", "secret": "sk-other"})
            self.assertEqual(error["problems"][0]["pointer"], "/keys/1/secret")
            self.assertIn("has this name and another secret", error["message"])

    def test_a_changed_secret_in_a_file_takes_effect_or_is_reported(self):
        def write(secret):
            gateway.write_script({"keys": [{"name": "new", "secret": "sk-" + secret + "-new"},
                                           {"name": "ops", "secret": "sk-" + secret}]})

        with Program({"keys": [{"name": "ops", "secret": "sk-a"}]}) as gateway:
            for secret, old in (("b", "a"), ("a", "b")):
                write(secret)
                eventually(self, lambda: gateway.chat(key="sk-" + secret)[0] == 200, "the secret never changed")
                self.assertEqual(gateway.chat(key="sk-" + old)[0], 401)
            gateway.post("/keys", {"name": "posted", "secret": "sk-c"})
            write("c")
            eventually(self, lambda: gateway.get("/script")["problems"], "the conflict was never reported")
            self.assertIn('belongs to key "key_4" ("posted")', gateway.get("/script")["problems"][0]["message"])
            self.assertEqual([gateway.chat(key="sk-" + key)[0] for key in ("a", "a-new", "c-new")], [200, 200, 401])

    def test_many_warnings_of_a_one_line_script_give_a_small_response(self):
        stubs = {"stubs": [{"reply": "x" * 2000}] * 61}
        with Program(stubs) as gateway:
            body = json.dumps({"mock_gateway": 1, **stubs})
            for method, path in (("PUT", "/script?check=1"), ("GET", "/script"), ("GET", "")):
                _, _, answer = gateway.send(method, control.API + path, body if method == "PUT" else None)
                self.assertLess(len(answer), 100_000, path)
            for warnings in (gateway.put("/script", body, check=1)["problems"], gateway.get("")["script"]["warnings"],
                             gateway.get("/script")["warnings"]):
                self.assertEqual(len(warnings), 21)
                self.assertEqual((warnings[0]["line"], warnings[0]["pointer"]), (1, "/stubs/1"))
                self.assertEqual(warnings[20]["message"], "warnings not shown here: 40")

    def test_check_mounts_nothing(self):
        with Program() as gateway:
            hidden = {"mock_gateway": 1, "stubs": [{"reply": "a"}, {"name": "b", "reply": "b"}]}
            checked = gateway.put("/script", hidden, check=1)
            self.assertTrue(checked["ok"])
            self.assertEqual([(problem["severity"], problem["pointer"]) for problem in checked["problems"]],
                             [("warning", "/stubs/1")])
            bad = gateway.put("/script", '{"mock_gateway": 1, "stub": []}', check=1)
            self.assertFalse(bad["ok"])
            self.assertIn('did you mean "stubs"', bad["problems"][0]["message"])
            self.assertFalse(gateway.put("/script", "{", check=1)["ok"])
            self.assertEqual(gateway.get("/stubs")["stubs"], [])
            self.assertEqual(gateway.put("/script", hidden)["warnings"], checked["problems"])

    def test_a_changed_file_keeps_stubs_and_failures_mounted_by_the_api(self):
        with Program({"stubs": [{"name": "file", "reply": "old"}]}) as gateway:
            mine = gateway.post("/stubs", {"when": {"user_says": "mine"}, "reply": "mine"})["stubs"][0]
            gateway.post("/failures", {"failure": 503, "always": True, "for": {"model": "broken"}})
            gateway.put("/script", {"mock_gateway": 1, "stubs": [{"when": {"user_says": "put"}, "reply": "put"}]})
            gateway.ask("mine")
            gateway.write_script({"stubs": [{"name": "file", "reply": "new"}]})
            eventually(self, lambda: gateway.ask() == "new", "the file was never read again")
            self.assertEqual([gateway.ask(text) for text in ("mine", "put")], ["mine", "put"])
            self.assertEqual(gateway.get(f"/stubs/{mine['id']}")["calls"], 2)
            self.assertEqual(len(gateway.get("/failures")["failures"]), 1)

    def test_stubs_added_to_a_file_later_have_lower_priority_than_stubs_of_the_api(self):
        with Program({"states": {"m": "1"}}) as gateway:
            gateway.put("/script", {"mock_gateway": 1})
            gateway.post("/stubs", {"when": {"user_says": "a"}, "reply": "posted"})
            gateway.write_script({"stubs": [{"reply": "file"}]})
            eventually(self, lambda: gateway.chat("b")[0] == 200, "the file was never read again")
            self.assertEqual(gateway.ask("a"), "posted")
            gateway.put("/script", {"mock_gateway": 1, "stubs": [{"reply": "put"}]})
            self.assertEqual([gateway.ask(text) for text in ("a", "b")], ["posted", "put"])

    def test_an_unchanged_stub_of_a_file_is_reported_at_its_current_line(self):
        stub = '{"name": "a", "expect": 2, "reply": "a"}'
        with Program('{"mock_gateway": 1, "stubs": [\n' + stub + "]}") as gateway:
            self.assertEqual(gateway.ask(), "a")
            gateway.write_script('{"mock_gateway": 1,\n\n "stubs": [\n' + stub + "]}")
            eventually(self, lambda: gateway.get("/stubs")["stubs"][0]["line"] == 4, "the line number did not change")
            shown = gateway.get("/stubs")["stubs"][0]
            self.assertEqual((shown["calls"], shown["title"]), (1, '"a" (script.json:4)'))
            self.assertEqual([problem["line"] for problem in gateway.get("/verify")["problems"]], [4])

    def test_a_broken_file_is_reported_until_it_is_correct(self):
        with Program({"stubs": [{"name": "file", "reply": "good"}]}) as gateway:
            gateway.write_script('{"mock_gateway": 1,\n "stubs": [{"reply": 1}]}')
            eventually(self, lambda: gateway.get("/script")["problems"], "the problem was never reported")
            state = gateway.get("")["script"]
            self.assertEqual([(problem["file"], problem["line"]) for problem in state["problems"]],
                             [(gateway.script, 2)])
            self.assertEqual(len(state["errors"]), 1)
            self.assertEqual(gateway.ask(), "good")
            gateway.write_script({"stubs": [{"reply": "right"}]})
            eventually(self, lambda: not gateway.get("/script")["problems"], "the problem is still reported")
            self.assertEqual(len(gateway.get("")["script"]["errors"]), 1)
            self.assertEqual(gateway.ask(), "right")


class Failing(Api):
    def test_failures(self):
        with Program() as gateway:
            self.assertEqual(gateway.post("/failures", {"failure": "rate_limited", "times": 2}), {"mounted": 1})
            listed = gateway.get("/failures")["failures"]
            self.assertEqual(listed, [{"text": "429 rate_limit_exceeded", "left": 2, "for": None}])
            self.assertEqual([gateway.chat()[0] for _ in range(3)], [429, 429, 200])
            gateway.post("/failures", {"failures": [{"failure": 503}, {"failure": 504, "for": {"operation": "list_models"}}]})
            self.assertEqual(gateway.get("/failures")["failures"][1]["for"], "GET /v1/models")
            self.assertEqual(gateway.delete("/failures"), {})
            self.assertEqual((gateway.chat()[0], gateway.get("/failures")), (200, {"failures": []}))
            error = self.refused("invalid_script", 400, gateway.post, "/failures",
                                 {"failure": 503, "for": {"key": "defalt key"}})
            self.assertIn('did you mean "default key"', error["message"])
            self.refused("invalid_script", 400, gateway.post, "/failures",
                         {"failures": [{"failure": 503}, {"failure": 700}]})
            self.assertEqual(gateway.get("/failures"), {"failures": []})

    def test_a_failure_reports_its_target(self):
        with Program() as gateway:
            gateway.post("/keys", {"name": "named"})
            unnamed = gateway.post("/keys", {})["id"]
            scopes = [({}, None), ({"for": {"model": "m"}}, 'model "m"'), ({"for": {"key": "named"}}, 'key "named"'),
                      ({"for": {"key": unnamed}}, f'key "{unnamed}"'),
                      ({"for": {"operation": "POST /v1/x"}}, "POST /v1/x"),
                      ({"for": {"operation": "chat_completions"}}, "POST /v1/chat/completions")]
            gateway.post("/failures", {"failures": [{"failure": 503, "always": True, **scope} for scope, _ in scopes]})
            listed = gateway.get("/failures")["failures"]
            self.assertEqual([(one["left"], one["for"]) for one in listed], [(None, told) for _, told in scopes])

    def test_chaos(self):
        with Program() as gateway:
            self.assertEqual(gateway.post("/chaos", {"failure": "overloaded", "nth": 2}), {"mounted": 1})
            self.assertEqual([gateway.chat()[0] for _ in range(4)], [200, 529, 200, 529])
            self.assertIn("529", gateway.get("/chaos")["chaos"][0]["text"])
            gateway.delete("/chaos")
            self.assertEqual([gateway.chat()[0] for _ in range(2)], [200, 200])
            self.assertEqual(gateway.get("/chaos"), {"chaos": []})

    def test_connection_faults(self):
        with Program() as gateway:
            gateway.post("/connections", {"connections": [{"fault": "close_on_accept", "times": 2},
                                                          {"fault": "unsolicited_continue", "always": True}]})
            self.assertEqual([entry["left"] for entry in gateway.get("/connections")["connections"]], [2, None])
            for _ in range(2):
                with self.assertRaises((http.client.RemoteDisconnected, ConnectionError)):
                    gateway.chat()
            self.assertEqual(gateway.delete("/connections"), {})
            self.assertEqual(gateway.chat()[0], 200)

    def test_operations(self):
        file = {"operations": [{"method": "GET", "path": "/v1/of-file", "reply": {"body": "file"}}]}
        with Program(file) as gateway:
            gateway.post("/operations", {"method": "POST", "path": "/v1/images/{id}", "reply": {"status": 202, "json": 1}})
            self.assertEqual(gateway.request("POST", "/v1/images/7"), (202, b"1"))
            gateway.post("/operations", {"method": "GET", "path": "/health", "open": True, "reply": {"body": "up"}})
            self.assertEqual(gateway.request("GET", "/health", key="sk-nobody"), (200, b"up"))
            operations = gateway.get("/operations")["operations"]
            self.assertIn({"method": "POST", "path": "/v1/images/{id}", "open": False}, operations)
            self.assertIn({"method": "GET", "path": "/health", "open": True}, operations)
            gateway.delete("/operations")
            self.assertEqual(gateway.request("POST", "/v1/images/7")[0], 404)
            self.assertEqual(gateway.request("GET", "/v1/of-file"), (200, b"file"))
            error = self.refused("invalid_script", 400, gateway.post, "/operations",
                                 {"method": "GET", "path": "/v1/models/{id}", "reply": {}})
            self.assertIn("serves this itself", error["message"])

    def test_an_operation_of_the_api_overrides_that_of_the_file(self):
        def said(body, path="/v1/shared"):
            return {"method": "GET", "path": path, "reply": {"body": body}}

        def answer():
            return gateway.request("GET", "/v1/shared")[1].decode()

        with Program({"operations": [said("file")]}) as gateway:
            gateway.post("/operations", said("api"))
            self.assertEqual(answer(), "api")
            gateway.write_script({"operations": [said("changed"), said("other", "/v1/other")]})
            eventually(self, lambda: gateway.request("GET", "/v1/other")[0] == 200, "the file was not read again")
            self.assertEqual(answer(), "api")
            gateway.put("/script", {"mock_gateway": 1, "operations": [said("put")]})
            self.assertEqual(answer(), "put", "the newest operation has priority")
            gateway.post("/operations", said("newest"))
            self.assertEqual(answer(), "newest")
            self.assertEqual([one["path"] for one in gateway.get("/operations")["operations"]].count("/v1/shared"), 1)
            gateway.delete("/operations")
            self.assertEqual(answer(), "changed", "the operation of the file is served again")
            gateway.put("/script", {"mock_gateway": 1, "operations": [said("put")]})
            self.assertEqual(answer(), "put")
            gateway.put("/script", {"mock_gateway": 1})
            self.assertEqual(answer(), "changed")
            gateway.write_script({})
            eventually(self, lambda: gateway.request("GET", "/v1/shared")[0] == 404, "the removed operation is still served")

    def test_a_closed_port_is_opened_again(self):
        with Program() as gateway:
            self.assertEqual(gateway.put("/listening", {"listening": False}), {"listening": False})
            self.assertFalse(gateway.get("")["listening"])
            with self.assertRaises(ConnectionRefusedError):
                gateway.chat()
            self.assertEqual(gateway.put("/listening", {"listening": True}), {"listening": True})
            self.assertEqual(gateway.chat()[0], 200)
            for body, pointer in [({"listening": "no"}, "/listening"), ({"listening": None}, "/listening"), ({}, ""),
                                  ({"listen": True}, "/listen")]:
                error = self.refused("invalid_request", 400, gateway.put, "/listening", body)
                self.assertEqual(error["problems"][0]["pointer"], pointer)
            self.assertEqual(gateway.get("/listening"), {"listening": True})

    def test_states(self):
        stub = {"when": {"user_says": "go"}, "in_state": {"order": "paid"}, "then_state": {"order": "sent"}, "reply": "x"}
        with Program({"stubs": [stub, {"reply": "else"}]}) as gateway:
            self.assertEqual(gateway.get("/states"), {"states": {"order": "started"}})
            self.assertEqual(gateway.put("/states/order", {"state": "paid"}), {"state": "paid"})
            self.assertEqual(gateway.ask("go"), "x")
            self.assertEqual(gateway.get("/states/order"), {"state": "sent"})
            error = self.refused("no_such_machine", 404, gateway.get, "/states/ordr")
            self.assertIn('did you mean "order"', error["message"])
            gateway.put("/states/a%2Fb%20c", {"state": "x"})
            self.assertEqual(gateway.get("/states")["states"]["a/b c"], "x")


class Stop(Api):
    def test_stop_works_like_sigterm_and_writes_the_report(self):
        for end in ("stop", "signal"):
            with Program(None, "--report", "json:-") as gateway:
                gateway.post("/stubs", {"name": "wanted", "reply": "x", "expect": 2})
                gateway.ask()
                if end == "stop":
                    self.assertEqual(gateway.post("/stop"), {"stopping": True})
                else:
                    gateway.process.send_signal(signal.SIGTERM)
                self.assertEqual(gateway.end(), 1, end)
                report = json.loads(gateway.output)
                self.assertEqual(report["verify"]["problems"][0]["kind"], "unmet expectation")

    def test_the_response_to_stop_closes_the_connection(self):
        with Program() as gateway:
            connection = http.client.HTTPConnection(gateway.control.hostname, gateway.control.port, timeout=30)
            headers = {"Authorization": "Bearer " + gateway.info["control_token"]}
            for method, path, ends in [("GET", "/keys", None), ("POST", "/stop", "close")]:
                connection.request(method, control.API + path, headers=headers)
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.headers["Connection"], ends, path)
            self.assertEqual(gateway.end(), 0)

    def test_a_stop_with_unknown_fields_is_refused(self):
        with Program() as gateway:
            error = self.refused("invalid_request", 400, gateway.post, "/stop", {"after": "5s"})
            self.assertIn('unknown key "after"; this route takes none', error["message"])
            gateway.ask()

    def test_long_polls_end_at_once(self):
        script = {"gateway": {"clock": "manual"},
                  "stubs": [{"reply": {"text": "x", "hold": {"gate": "closed", "before_token": 1}}}]}
        with Program(script) as gateway:
            for _ in range(1000):  # records that must be freed at the end
                gateway.request("GET", "/v1/models")
            stub = gateway.get("/stubs")["stubs"][0]["id"]
            cursor = gateway.get("/journal", limit=1)["cursor"]
            headers = {"Authorization": "Bearer " + gateway.info["control_token"]}
            polls = []
            for path in 8 * (f"/stubs/{stub}/wait?calls=1&within=60s", "/gates/closed/wait?within=60s",
                             "/asked?wait=60s", f"/journal?after={cursor}&wait=60s"):
                poll = http.client.HTTPConnection(gateway.control.hostname, gateway.control.port, timeout=30)
                poll.request("GET", control.API + path, headers=headers)
                polls.append(poll)
            began = time.monotonic()
            gateway.post("/stop")  # on a connection that is accepted after those of the polls
            for poll in polls:
                try:
                    self.assertEqual(json.load(poll.getresponse())["code"], "stopping")
                except (OSError, http.client.HTTPException):
                    pass  # the connection ended before the response was sent
                poll.close()
            self.assertEqual(gateway.end(), 0)
            # It takes about 10 ms on an idle machine. The polls would wait for a minute.
            self.assertLess(time.monotonic() - began, 5)

    def test_a_search_of_the_journal_ends_with_the_program(self):
        def of_children():
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            return used.ru_utime + used.ru_stime

        control.document()  # in a separate program, whose CPU time must not count
        searches, most_bodies = 8, 60
        script = {"gateway": {"journal_limits": {"entries": 1000, "bytes": 1_000_000_000}}}
        ends = {"stop": lambda gateway: gateway.post("/stop"), "signal": lambda gateway: gateway.process.terminate(),
                "stdin": lambda gateway: gateway.process.stdin.close()}
        for name, end in ends.items():
            before = of_children()
            with self.subTest(name), Program(script) as gateway:
                text = "a" * 10 + "b"
                cost = bodies = 0
                while cost < 0.2 and bodies < most_bodies:
                    for _ in range(6):
                        status = gateway.request("POST", "/v1/models", b"a" * 2_000_000, key="sk-nobody")[0]
                        self.assertEqual(status, 401)
                    bodies += 6
                    began = seconds(gateway)
                    self.assertEqual(gateway.get("/journal", text=text)["exchanges"], [])
                    cost = seconds(gateway) - began
                self.assertGreater(cost, 0.02, "the search takes too little CPU time to measure")
                clients = []
                for _ in range(searches):
                    client = http.client.HTTPConnection(gateway.control.hostname, gateway.control.port, timeout=30)
                    self.addCleanup(client.close)
                    client.request("GET", f"{control.API}/journal?text={text}",
                                   headers={"Authorization": "Bearer " + gateway.info["control_token"]})
                    clients.append(client)
                began = seconds(gateway)
                eventually(self, lambda: seconds(gateway) > began + cost / 4, "no search has started")
                used = seconds(gateway)
                end(gateway)
                self.assertEqual(gateway.end(), 0)
                # Finishing all searches would take more than seven times the CPU time of one search. The limit is
                # half of that, because a search may finish its current body, and parallel threads cost CPU time.
                self.assertLess(of_children() - before - used, cost * searches / 2, f"one search takes {cost:.2f} s")


if __name__ == "__main__":
    program.main()

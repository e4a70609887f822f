"""Tests that the time for large scripts and bodies is proportional to the number of stubs and bytes.

Usage: large_test.py [PROGRAM]; the default program is $MOCK_GATEWAY_BIN. Measures the program's CPU time, which does
not depend on other load, and compares the ratio of two sizes. A PUT of a script reads and checks it as `validate` does.
Only MOCK_GATEWAY_TEST_ALL=1 also runs `validate` on all of these scripts.
"""

import json
import os
import subprocess
import tempfile
import threading
import time
import unittest

import control
import program
from control import API, Program

LEAST = 0.01  # seconds; shorter times cannot be measured
FACTOR = 4  # between the two sizes
MOST = 6  # times the time of the smaller size; quadratic growth would take 16 times as long


def seconds(gateway):
    """Returns the program's CPU time in seconds, including all current and former threads."""
    return time.clock_gettime((~gateway.process.pid << 3) | 2)  # the clock of clock_getcpuclockid(3)


def script(count, stub):
    return {"mock_gateway": 1, "stubs": [stub(number) for number in range(count)]}


def one_model(number):
    return {"when": {"model_is": "mock-model", "user_says": f"question {number}"}, "reply": f"answer {number}"}


def section(name, element):
    """Returns a function that makes a script with `count` elements of a section. `changed` makes different elements."""
    return lambda count, changed=0: {"mock_gateway": 1, name: [element(number, changed) for number in range(count)]}


def models(count, changed=0):
    """Returns a script with `count` models. Half of them have an owner."""
    return {"mock_gateway": 1, "gateway": {"models": [
        {"id": f"model {number}", "owner": f"owner {changed}"} if number % 2 else f"model {number}"
        for number in range(count)]}}


def unknown_keys(count, changed=0):
    """Returns a script with as many keys as stubs. Each stub names an unknown key."""
    return {"mock_gateway": 1,
            "keys": [{"name": f"key {number}", "secret": f"sk-of-number-{number}"} for number in range(count)],
            "stubs": [{"when": {"key_is": f"nobody {number}"}, "reply": str(changed)} for number in range(count)]}


def unreached_states(count, changed=0):
    """Returns a script with one machine. Stubs reach half of its states."""
    return {"mock_gateway": 1, "stubs": [
        {"when": {"user_says": f"question {number}"}, "reply": str(changed),
         **({"then_state": {"order": f"paid {number}"}} if number % 2 else {"in_state": {"order": f"lost {number}"}})}
        for number in range(count)]}


chaos = section("chaos", lambda number, changed: {"interim": "unsolicited_continue", "nth": number + 1 + changed})
operations = section("operations", lambda number, changed: {
    "method": "POST", "path": f"/v1/own/{number}", "reply": {"json": changed}})
connections = section("connections", lambda number, changed: {"fault": "reset_on_accept", "times": 1 + changed})
keys = section("keys", lambda number, changed: {
    "name": f"{'renamed' if changed else 'key'} {number}", "secret": f"sk-of-number-{number}"})


def failures_of_unknown_keys(count, changed=0):
    return {**keys(count), "failures": [{"failure": 503 + changed, "for": {"key": f"nobody {number}"}}
                                        for number in range(count)]}


# Functions that make scripts, each with the smaller number of elements.
SECTIONS = {"chaos": (chaos, 1500), "operations": (operations, 1500), "connections": (connections, 1000),
            "unknown keys": (unknown_keys, 150), "unreached states": (unreached_states, 250)}


class Large(unittest.TestCase):
    def assert_linear(self, costs, size):
        """Checks linear growth. `costs` returns the CPU time of each step of a run, by name. At FACTOR times the size,
        no step may take MOST times as long. A busy machine also increases CPU time a little: the minimum of up to three
        runs counts."""
        def least(earlier, count):
            return {step: min(earlier.get(step, cost), cost) for step, cost in costs(count).items()}

        small, large = {}, {}
        for _ in range(3):
            small, large = least(small, size), least(large, FACTOR * size)
            if all(large[step] <= MOST * max(small[step], LEAST) for step in small):
                break
        for step in small:
            told = f"{step}: {small[step]:.2f} s at {size}, {large[step]:.2f} s at {FACTOR * size}"
            if "MOCK_GATEWAY_SHOW_TIMES" in os.environ:
                print(self.id().rpartition(".")[2], told, flush=True)
            with self.subTest(step):
                self.assertLess(large[step], MOST * max(small[step], LEAST), told)

    def cost(self, gateway, *request, status=200):
        before = seconds(gateway)
        got, _, answer = gateway.send(*request)
        self.assertEqual(got, status, answer[:300])
        return seconds(gateway) - before

    def costs_of_putting(self, make, status=200):
        """Puts a script, the same script again, and a script in which each element has changed."""
        def costs(count):
            first, other = (json.dumps(make(count, changed)) for changed in (0, 1))
            with Program() as gateway:
                path = API + "/script"
                return {"put": self.cost(gateway, "PUT", path, first, status=status),
                        "the same again": self.cost(gateway, "PUT", path, first, status=status),
                        "another": self.cost(gateway, "PUT", path, other, status=status)}

        return costs

    def costs_of_validating(self, make, exit_code=0):
        def costs(count):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump(make(count), file)
                file.flush()
                process = subprocess.Popen([program.PROGRAM, "validate", file.name], stdin=subprocess.DEVNULL,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(process.pid, 0)  # of this process alone
                process.returncode = os.waitstatus_to_exitcode(status)
                self.assertEqual(process.returncode, exit_code)
            return {"validate": usage.ru_utime + usage.ru_stime}

        return costs

    def cost_of_reading_again(self, gateway, script, **counts):
        """Waits until the program prints that it has read the scripts. Sends no requests, which would cost CPU time."""
        before = seconds(gateway)
        gateway.write_script(script)
        self.assertIn("the scripts have changed and were reloaded", gateway.process.stderr.readline())
        cost = seconds(gateway) - before
        self.assertLessEqual(counts.items(), gateway.get("")["counts"].items())
        return cost

    def test_putting_and_listing_a_large_script(self):
        def costs(count):
            with Program() as gateway:
                body = json.dumps(script(count, one_model))
                return {"put": self.cost(gateway, "PUT", API + "/script", body),
                        "list": self.cost(gateway, "GET", API + "/stubs"),
                        "show": self.cost(gateway, "GET", API + "/script"),
                        "the same again": self.cost(gateway, "PUT", API + "/script", body)}

        self.assert_linear(costs, 2000)

    def test_serving_and_rereading_a_large_file(self):
        def costs(count):
            with Program(script(count, one_model)) as gateway:
                steps = {"start": seconds(gateway), "list": self.cost(gateway, "GET", API + "/stubs")}
                again = self.cost_of_reading_again(gateway, script(count + 1, one_model), stubs=count + 1)
                return {**steps, "read again": again}

        self.assert_linear(costs, 2000)

    def test_naming_and_renaming_many_keys_in_a_file(self):
        def costs(count):
            with Program(keys(count)) as gateway:
                started = seconds(gateway)
                again = self.cost_of_reading_again(gateway, keys(count + 1, 1), keys=count + 2)
                return {"start": started, "read again": again}

        self.assert_linear(costs, 2000)

    def test_putting_each_section(self):
        for name, (make, size) in SECTIONS.items():
            with self.subTest(name):
                self.assert_linear(self.costs_of_putting(make), size)

    def test_failures_for_many_unknown_keys(self):
        self.assert_linear(self.costs_of_putting(failures_of_unknown_keys, status=400), 150)

    def test_validate(self):
        shapes = {"stubs": (lambda count: script(count, one_model), 2000), "keys": (keys, 2000)}
        if program.IS_EXHAUSTIVE:
            shapes |= {**SECTIONS, "models": (models, 4000)}
        for name, (make, size) in shapes.items():
            with self.subTest(name):
                self.assert_linear(self.costs_of_validating(make), size)
        self.assert_linear(self.costs_of_validating(failures_of_unknown_keys, exit_code=2), 150)

    def test_many_models_in_a_file(self):
        def costs(count):
            with Program(models(count)) as gateway:
                return {"start": seconds(gateway)}

        self.assert_linear(costs, 4000)

    def test_adding_and_removing_many_operations(self):
        def costs(count):
            body = json.dumps({"operations": operations(count)["operations"]})
            with Program() as gateway:
                steps = {"post": self.cost(gateway, "POST", API + "/operations", body, status=201),
                         "post again": self.cost(gateway, "POST", API + "/operations", body, status=201),
                         "list": self.cost(gateway, "GET", API + "/operations")}
                before = seconds(gateway)
                self.assertEqual(gateway.request("GET", "/v1/nothing")[0], 404)
                steps["a path that is near to none"] = seconds(gateway) - before
                return {**steps, "delete": self.cost(gateway, "DELETE", API + "/operations")}

        self.assert_linear(costs, 2000)

    def test_ending_a_scope_with_many_stubs(self):
        def costs(count):
            with Program() as gateway:
                scope = gateway.post("/scopes", {"name": "large"})["id"]
                stubs = json.dumps({"stubs": [one_model(number) for number in range(count)]})
                return {"post": self.cost(gateway, "POST", f"{API}/stubs?scope={scope}", stubs, status=201),
                        "delete": self.cost(gateway, "DELETE", f"{API}/scopes/{scope}")}

        self.assert_linear(costs, 1000)

    def test_searching_a_text_in_a_large_body(self):
        with Program({"stubs": [{"reply": "a"}]}) as gateway:
            self.assertEqual(gateway.chat("a" * 400_000)[0], 200)
            # Each searched text almost matches at every position of the body.
            short, long = (min(self.cost(gateway, "GET", f"{API}/journal?text={'a' * size}b") for _ in range(5))
                           for size in (3, 3000))
            self.assertLess(long, 3 * max(short, LEAST), f"{short:.2f} s for 4 bytes, {long:.2f} s for 3,001")
            for text, found in ("a" * 4096, 1), ("A" * 50, 1), ("a" * 4095 + "b", 0), ("aaab", 0):
                with self.subTest(text[-5:]):
                    self.assertEqual(len(gateway.get("/journal", text=text)["exchanges"]), found)
            with self.assertRaises(control.Refused) as refused:
                gateway.get("/journal", text="a" * 4097)
            self.assertEqual((refused.exception.status, refused.exception.code), (400, "invalid_request"))
            self.assertIn("expected a text of at most 4096 bytes", str(refused.exception))


class Beside(unittest.TestCase):
    """A test of a client's latency while a large script is put."""

    alone = True  # because this test compares wall times

    def chats_until(self, gateway, ended, times):
        while not ended.is_set():
            began = time.monotonic()
            self.assertEqual(gateway.ask(), "Hello.")
            times.append(time.monotonic() - began)

    def test_no_chat_waits_for_a_large_script(self):
        stubs = [{"priority": 1, "when": {"user_says": "Hi"}, "reply": "Hello."}]
        bodies = [json.dumps({"mock_gateway": 1, "stubs": stubs + [
            {"when": {"user_says": f"question {number}"}, "reply": f"{answer} {number}"} for number in range(3_000)
        ]}) for answer in ("one", "two")]
        parts = []
        with Program() as gateway:
            gateway.put("/script", bodies[0])
            for body in bodies[::-1] * 2:
                ended, times = threading.Event(), []
                chats = threading.Thread(target=self.chats_until, args=(gateway, ended, times))
                chats.start()
                began = time.monotonic()
                self.assertEqual(gateway.send("PUT", API + "/script", body)[0], 200)
                took = time.monotonic() - began
                ended.set()
                chats.join()
                self.assertGreater(len(times), 5)
                parts.append(max(times) / took)
        # A chat that waits for the script does so in every round, unlike other load of the machine.
        if "MOCK_GATEWAY_SHOW_TIMES" in os.environ:
            print("the longest chat, of the time of a script:", *(f"{part:.3f}" for part in parts), flush=True)
        self.assertLess(min(parts), 0.05, parts)


if __name__ == "__main__":
    program.main(threads=2)

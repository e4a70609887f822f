"""What large scripts and large bodies cost the program: time for each stub and each byte, not for each two of them.

Usage: large_test.py [PROGRAM], else the program that MOCK_GATEWAY_BIN names. Times are of the program's processor, so
that they do not depend on what else the machine does; what is compared is their ratio at two sizes.
"""

import json
import os
import signal
import unittest

import control
import program
from control import API, Program

LEAST = 0.05  # seconds: what is shorter is not told from nothing


def seconds(gateway):
    """What the program has used of its processor."""
    with open(f"/proc/{gateway.process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def script(count, stub):
    return {"mock_gateway": 1, "stubs": [stub(number) for number in range(count)]}


def one_model(number):
    return {"when": {"model_is": "mock-model", "user_says": f"question {number}"}, "reply": f"answer {number}"}


class Large(unittest.TestCase):
    def assert_linear(self, cost, size):
        """`cost` of twice the size is less than three times that of the size."""
        half, whole = cost(size), cost(2 * size)
        self.assertLess(whole, 3 * max(half, LEAST), f"{half:.2f} s at {size}, {whole:.2f} s at {2 * size}")

    def cost(self, gateway, *request):
        before = seconds(gateway)
        status, _, answer = gateway.send(*request)
        self.assertLess(status, 300, answer[:300])
        return seconds(gateway) - before

    def stubs_of(self, gateway):
        return len(json.loads(gateway.send("GET", API + "/script")[2])["stubs"])

    def test_a_script_that_the_api_puts_and_lists(self):
        def cost(count):
            with Program() as gateway:
                body = json.dumps(script(count, one_model))
                return (self.cost(gateway, "PUT", API + "/script", body) + self.cost(gateway, "GET", API + "/stubs") +
                        self.cost(gateway, "PUT", API + "/script", body))

        self.assert_linear(cost, 1500)

    def test_a_file_that_is_served_and_read_again(self):
        def cost(count):
            with Program(script(count, one_model)) as gateway:
                started = seconds(gateway)
                listed = self.cost(gateway, "GET", API + "/stubs")
                gateway.write_script(script(count + 1, one_model))
                gateway.process.send_signal(signal.SIGHUP)
                control.eventually(self, lambda: self.stubs_of(gateway) == count + 1, "it is not read again")
                return started + listed + seconds(gateway)

        self.assert_linear(cost, 1500)

    def test_keys_that_a_file_names_and_renames(self):
        def keys(count, name):
            return {"mock_gateway": 1, "keys": [{"name": f"{name} {number}", "secret": f"sk-of-number-{number}"}
                                                for number in range(count)]}

        def cost(count):
            with Program(keys(count, "key")) as gateway:
                gateway.write_script(keys(count, "renamed"))
                gateway.process.send_signal(signal.SIGHUP)
                control.eventually(self, lambda: gateway.get("/keys")["keys"][-1]["name"] == f"renamed {count - 1}",
                                   "it is not read again")
                return seconds(gateway)

        self.assert_linear(cost, 2000)

    def test_the_stubs_of_a_scope_that_ends(self):
        def cost(count):
            with Program() as gateway:
                scope = gateway.post("/scopes", {"name": "large"})["id"]
                status, _, answer = gateway.send("POST", f"{API}/stubs?scope={scope}",
                                                 json.dumps({"stubs": [one_model(number) for number in range(count)]}))
                self.assertEqual(status, 201, answer[:300])
                return self.cost(gateway, "DELETE", f"{API}/scopes/{scope}")

        self.assert_linear(cost, 3000)

    def test_a_text_that_is_looked_for_in_a_body(self):
        with Program({"stubs": [{"reply": "a"}]}) as gateway:
            self.assertEqual(gateway.chat("a" * 400_000)[0], 200)
            # Each nearly matches at each place of the body.
            short, long = (self.cost(gateway, "GET", f"{API}/journal?text={'a' * size}b") for size in (3, 3000))
            self.assertLess(long, 3 * max(short, LEAST), f"{short:.2f} s for 4 bytes, {long:.2f} s for 3,001")
            for text, found in ("a" * 4096, 1), ("A" * 50, 1), ("a" * 4095 + "b", 0), ("aaab", 0):
                with self.subTest(text[-5:]):
                    self.assertEqual(len(gateway.get("/journal", text=text)["exchanges"]), found)
            with self.assertRaises(control.Refused) as refused:
                gateway.get("/journal", text="a" * 4097)
            self.assertEqual((refused.exception.status, refused.exception.code), (400, "invalid_request"))
            self.assertIn("expected a text of at most 4096 bytes", str(refused.exception))


if __name__ == "__main__":
    program.main()

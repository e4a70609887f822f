"""The client of requests-at-a-time.jsonc, with three threads: `right` waits and tries again, `wrong` gives up."""

import concurrent.futures
import sys
import time

from asking import chat, send


def ask(text):
    for _ in range(5):
        status, _, headers = send("/chat/completions", chat(text))
        if status == 200 or sys.argv[1] == "wrong":
            break
        time.sleep(float(headers["Retry-After"]))


with concurrent.futures.ThreadPoolExecutor(3) as pool:
    list(pool.map(ask, ["one", "two", "three"]))

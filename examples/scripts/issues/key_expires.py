"""The client of key-expires.jsonc: `right` fetches another key after 401, `wrong` keeps the first one."""

import sys
import urllib.parse

from asking import BASE, chat, send


def new_key():
    return send("/key", {}, base=urllib.parse.urljoin(BASE, "/").rstrip("/"))[1]


def send_with_key(*request):
    global key
    if send(*request, key=key)[0] == 401 and sys.argv[1] == "right":
        key = new_key()
        send(*request, key=key)


key = new_key()
for step in range(3):
    send_with_key("/models")
    send_with_key("/chat/completions", chat(f"Step {step}"))

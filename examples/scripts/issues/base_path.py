"""The client of base-path.jsonc: `right` keeps the path of the address, `wrong` replaces it by /v1 for chats."""

import sys
import urllib.parse

from asking import BASE, chat, send

send("/models")
send("/chat/completions", chat("Hi"), base=BASE if sys.argv[1] == "right" else urllib.parse.urljoin(BASE, "/v1"))

"""The client of no-key.jsonc: `right` sends no header or an empty key, `wrong` the text of a missing value."""

import sys

from asking import chat, send

for key in [None, ""] if sys.argv[1] == "right" else ["None", "undefined"]:
    send("/chat/completions", chat("Hi"), key=key)

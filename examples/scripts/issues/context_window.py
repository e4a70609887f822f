"""The client of context-window.jsonc: `right` removes old output from the prompt, `wrong` sends it again."""

import sys

from asking import chat, send

messages = ["Fix the test.", *(f"Output of step {step}: one two three" for step in range(5))]
for _ in range(4):
    status, answer, _ = send("/chat/completions", chat(*messages, model="small"))
    if status == 200:
        break
    if sys.argv[1] == "right" and answer["error"]["code"] == "context_length_exceeded":
        del messages[1:3]

"""The client of reasoning-returned.jsonc: `right` sends whole messages back, `wrong` only OpenAI's fields of them."""

import sys

from asking import chat, send

TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}]
messages = ["What is in the file?"]
for _ in range(2):
    status, answer, _ = send("/chat/completions", chat(*messages, model="deepseek-v4-pro", tools=TOOLS))
    message = answer["choices"][0]["message"] if status == 200 else {}
    if not message.get("tool_calls"):
        break
    results = [{"role": "tool", "tool_call_id": call["id"], "content": ""} for call in message["tool_calls"]]
    if sys.argv[1] == "wrong":
        message = {name: message[name] for name in ("role", "content", "tool_calls")}
    messages += [message, *results]

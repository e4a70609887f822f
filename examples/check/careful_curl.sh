#!/usr/bin/env bash
# A chat command on curl and jq that passes every plain scenario. careless_curl.sh is the version with bugs.
#
#   mock-gateway check --plain --fail-on warning -- bash examples/check/careful_curl.sh {prompt}
#
# The answer goes to stdout. The exit status is 0 only if the answer is complete.
set -uo pipefail

fail() {
  printf 'chat: %s\n' "$1" >&2
  exit 1
}

request=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$1" \
  '{model: $model, messages: [{role: "user", content: $prompt}]}') || exit
folder=$(mktemp -d) || exit
trap 'rm -rf "$folder"' EXIT
reply=$folder/reply head=$folder/head

# Retries temporary errors after the seconds of Retry-After: never 401, 403 or a used-up quota. If the server requests a
# long wait, or a date, the command reports the error.
for tries_left in 2 1 0; do
  status=$(curl --silent --show-error --max-time 5 --output "$reply" --dump-header "$head" --write-out '%{http_code}' \
    "$OPENAI_BASE_URL/chat/completions" --header "Authorization: Bearer $OPENAI_API_KEY" \
    --header 'Content-Type: application/json' --data "$request") || fail "curl failed with $?"
  [[ $status == 200 ]] && break
  error="$status $(head -c 2000 "$reply")"
  wait=$(tr -d '\r' <"$head" | sed -n 's/^[Rr]etry-[Aa]fter: *//p')
  [[ $status == 429 || $status == 5?? ]] && [[ $error != *[Qq]uota* ]] || fail "$error"
  [[ ${wait:=0.5} =~ ^([0-5]|0\.[0-9]+)$ && $tries_left != 0 ]] || fail "$error"
  sleep "$wait"
done

# A body with status 200 may be an error or no JSON at all, and a finish_reason such as length means that the text is
# incomplete. For empty input jq prints "" and succeeds, so the body is read as an array.
jq --slurp --join-output '.[0] |
  if .choices | length == 0 then error("no answer, but \(tostring)") else .choices[0] end |
  if .finish_reason | IN("stop", "") | not then error("the answer was cut off: \(.finish_reason)")
  elif .message.content | type != "string" or . == "" then error("the answer has no text")
  else .message.content end' "$reply"

#!/usr/bin/env bash
# A chat command of curl and jq, mended: it passes every plain scenario. careless_curl.sh is what it was before.
#
#   mock-gateway check --plain -- bash examples/check/careful_curl.sh {prompt}
#
# The answer is on stdout, and the exit status is 0 only when there is all of it.
set -uo pipefail

fail() {
  printf 'chat: %s\n' "$1" >&2
  exit 1
}

request=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$1" \
  '{model: $model, messages: [{role: "user", content: $prompt}]}') || exit
reply=$(mktemp) || exit
trap 'rm -f "$reply"' EXIT

# Only statuses that may pass are tried again: never 401 or 403. curl's own --retry waits as Retry-After says, and gives up
# when that is longer than --retry-max-time.
status=$(curl --silent --show-error --max-time 5 --retry 2 --retry-max-time 5 --output "$reply" --write-out '%{http_code}' \
  "$OPENAI_BASE_URL/chat/completions" --header "Authorization: Bearer $OPENAI_API_KEY" \
  --header 'Content-Type: application/json' --data "$request") || fail "curl failed with $?"
[[ $status == 200 ]] || fail "$status $(head --bytes 2000 "$reply")"

# A body with status 200 may be no JSON, or an error; and a finish_reason such as length says that the text is not all.
# jq gives "" with a status of 0 for no input at all, so that the whole is read as an array.
jq --slurp --join-output '.[0] |
  if .choices | length == 0 then error("no answer, but \(tostring)") else .choices[0] end |
  if .finish_reason | IN("stop", "") | not then error("the answer was cut off: \(.finish_reason)")
  elif .message.content | type != "string" or . == "" then error("the answer has no text")
  else .message.content end' "$reply"

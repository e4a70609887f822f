#!/usr/bin/env bash
# A chat command of curl and jq, mended: it passes every plain scenario. careless_curl.sh is what it was before.
#
#   mock-gateway check --plain --fail-on warning -- bash examples/check/careful_curl.sh {prompt}
#
# The answer is on stdout, and the exit status is 0 only when there is all of it.
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

# What passes is tried again, after the seconds that Retry-After names: never 401 or 403, and not when a quota is used up.
# Whoever is told to wait for long, or until a date, reports the error.
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

# A body with status 200 may be no JSON, or an error; and a finish_reason such as length says that the text is not all.
# jq gives "" with a status of 0 for no input at all, so that the whole is read as an array.
jq --slurp --join-output '.[0] |
  if .choices | length == 0 then error("no answer, but \(tostring)") else .choices[0] end |
  if .finish_reason | IN("stop", "") | not then error("the answer was cut off: \(.finish_reason)")
  elif .message.content | type != "string" or . == "" then error("the answer has no text")
  else .message.content end' "$reply"

#!/usr/bin/env bash
# curl and jq as a client of `mock-gateway check`: one call, whose answer is printed, streamed or in one piece.
#
#   mock-gateway check -- bash examples/check/curl.sh
#
# The exit status is 0 only when there is an answer. curl tries again after 429 and 5xx, and waits as Retry-After says.
set -uo pipefail

if [[ $MOCK_GATEWAY_STREAM == 1 ]]; then stream=true; else stream=false; fi
body=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$MOCK_GATEWAY_PROMPT" --argjson stream $stream \
  '{model: $model, stream: $stream, messages: [{role: "user", content: $prompt}]}') || exit 2

ask() {
  curl --silent --show-error --no-buffer --fail --retry 2 --retry-max-time 5 --max-time 5 \
    "$OPENAI_BASE_URL/chat/completions" \
    --header "Authorization: Bearer $OPENAI_API_KEY" --header 'Content-Type: application/json' --data "$body"
}

# A body may be no JSON, or have an error in place of choices.
if [[ $stream == true ]]; then
  ask | sed --quiet --unbuffered 's/^data: //p' | grep --line-buffered --invert-match '^\[DONE\]' |
    jq --unbuffered --join-output 'if .error then error(.error | tostring) else .choices[0].delta.content // empty end'
else
  answer=$(ask) || exit
  printf '%s' "$answer" | jq --exit-status --join-output '.choices[0].message.content | strings'
fi

#!/bin/sh
# curl and jq as a client of `mock-gateway check`: one plain call, whose answer is printed.
#
#   mock-gateway check --plain -- sh examples/check/curl.sh
#
# The exit status is 0 only when there is an answer. curl tries again after 429 and 5xx, and waits as Retry-After says.
set -u

body=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$MOCK_GATEWAY_PROMPT" \
  '{model: $model, messages: [{role: "user", content: $prompt}]}') || exit 2

answer=$(curl --silent --show-error --fail --retry 2 --retry-max-time 5 --max-time 5 \
  "$OPENAI_BASE_URL/chat/completions" \
  --header "Authorization: Bearer $OPENAI_API_KEY" --header 'Content-Type: application/json' --data "$body") || exit

# A body may be no JSON, or have an error in place of choices.
printf '%s' "$answer" | jq --exit-status --join-output '.choices[0].message.content | strings'

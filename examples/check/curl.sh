#!/usr/bin/env bash
# curl and jq as a client of `mock-gateway check`: sends one request and prints the answer, streamed or not.
#
#   mock-gateway check -- bash examples/check/curl.sh
#
# The exit status is 0 only if there is an answer. curl retries 429 and 5xx, and waits as Retry-After says.
set -uo pipefail

if [[ $MOCK_GATEWAY_STREAM == 1 ]]; then stream=true; else stream=false; fi
body=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$MOCK_GATEWAY_PROMPT" --argjson stream $stream \
  '{model: $model, stream: $stream, messages: [{role: "user", content: $prompt}]}') || exit 2

ask() {
  curl --silent --show-error --no-buffer --fail --retry 2 --retry-max-time 5 --max-time 5 \
    "$OPENAI_BASE_URL/chat/completions" \
    --header "Authorization: Bearer $OPENAI_API_KEY" --header 'Content-Type: application/json' --data "$body"
}

# A body may be no JSON, or an error without choices. A stream may be truncated, which only its missing end shows.
if [[ $stream == true ]]; then
  ask | sed --quiet --unbuffered -e '/^data: \{0,1\}\[DONE\]/d' -e 's/^data: \{0,1\}//p' |
    jq --null-input --unbuffered --join-output '
      foreach (inputs, null) as $event ("no finish_reason";
        if $event == null then if . == "stop" then . else error("it ended with \(.)") end
        elif $event.error then error($event.error | tostring)
        else $event.choices[0].finish_reason // . end;
        $event.choices[0].delta | .content // .refusal // empty |
        if type == "string" then . else error("content is no text") end)'
else
  answer=$(ask) || exit
  printf '%s' "$answer" | jq --slurp --exit-status --join-output '.[0].choices[0] |
    if .finish_reason | IN("stop", "") then .message | .content // .refusal | strings | select(. != "")
    else error("it ended with \(.finish_reason)") end'
fi

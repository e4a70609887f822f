#!/usr/bin/env bash
# A chat command on curl and jq, written quickly, with bugs that README.md lists. careful_curl.sh is the version without
# them.
#
#   mock-gateway check --plain --fail-on warning -- bash examples/check/careless_curl.sh {prompt}
set -u

request=$(jq --null-input --arg model "$MOCK_GATEWAY_MODEL" --arg prompt "$1" \
  '{model: $model, messages: [{role: "user", content: $prompt}]}') || exit
reply=$(mktemp) || exit
trap 'rm -f "$reply"' EXIT

for try in 1 2 3; do
  status=$(curl --silent --max-time 5 --output "$reply" --write-out '%{http_code}' \
    "$OPENAI_BASE_URL/chat/completions" --header "Authorization: Bearer $OPENAI_API_KEY" \
    --header 'Content-Type: application/json' --data "$request") # BUG: curl's own status is not looked at
  case $status in
    200) break ;;
    400 | 404 | 413) break ;;
  esac
  # BUG: retries 401 and 403 too
  sleep 0.1 # BUG: ignores Retry-After
done
[[ $status == 200 ]] || exit 1

answer=$(jq --raw-output '.choices[0].message.content' "$reply") || exit # BUG: an error becomes the answer null
# BUG: ignores finish_reason
echo $answer # BUG: without quotes the shell replaces each line end by a space

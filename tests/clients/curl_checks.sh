#!/usr/bin/env bash
# Checks what a user of curl sees, byte by byte where it is documented. MOCK_GATEWAY_BIN is the program. Prints a line
# per failed check, and the counts. With a path as argument, writes a JUnit report there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# The gateways run until every writer has closed this pipe, at the latest when this script ends.
mkfifo "$work/alive"
exec {alive}<>"$work/alive"
pids=()
models=(--model mock-model --model mock-small --model 'team/large model=a team')

# serve NAME FLAG...
serve() {
  local name=$1 out line flags=(--port 0 --control 0 --print json --until-eof --quiet "${models[@]}" "${@:2}")
  exec {out}< <(exec {alive}>&- && exec "$MOCK_GATEWAY_BIN" serve "${flags[@]}" <"$work/alive")
  pids+=("$!")
  read -r -t 30 line <&"$out" || {
    echo "$MOCK_GATEWAY_BIN did not print its address within 30 s" >&2
    exit 1
  }
  echo "$line" >"$work/$name.json"
}
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
# place NAME FIELD
place() { field "$2" <"$work/$1.json"; }

for profile in documented openai dashscope deepseek; do serve $profile --profile $profile; done
serve scripted --script "$(dirname "${BASH_SOURCE[0]}")/script.jsonc"

# report NAME [PROBLEM]: the name must contain no XML special characters
report() {
  if (($# == 1)); then
    passed=$((passed + 1))
    echo "<testcase classname=\"curl\" name=\"$1\"/>" >>"$work/cases"
  else
    failed=$((failed + 1))
    printf 'FAILED %s\n%s\n' "$1" "$2"
    echo "<testcase classname=\"curl\" name=\"$1\"><failure/></testcase>" >>"$work/cases"
  fi
}

# check NAME ACTUAL EXPECTED
check() {
  if [[ $2 == "$3" ]]; then
    report "$1"
  else
    report "$1" "$(printf '  expected %q\n  actual   %q' "$3" "$2")"
  fi
}

# check_matches NAME ACTUAL REGEX
check_matches() {
  if [[ $2 =~ $3 ]]; then
    report "$1"
  else
    report "$1" "$(printf '  expected to match %s\n  actual   %q' "$3" "$2")"
  fi
}

# Prints the status, then the body, of a request that ends by itself.
ask() { curl --silent --show-error --max-time 10 --write-out '%{stderr}%{http_code}' "$@" 2>"$work/status" || true; }
status() { cat "$work/status"; }

base=$(place scripted base_url)
key=$(place scripted api_key)
json=(--header 'Content-Type: application/json')
auth=(--header "Authorization: Bearer $key")
question='{"model":"mock-model","messages":[{"role":"user","content":"What is the capital of France?"}]}'
streamed=${question%\}},\"stream\":true\}

body=$(ask "$base/chat/completions" "${auth[@]}" "${json[@]}" --data "$question")
check 'a plain call succeeds' "$(status)" 200
check_matches 'a plain call has the documented keys' "$body" \
  '^\{"id":"[^"]+","object":"chat.completion","created":[0-9]+,"model":"mock-model","choices":\[\{"index":0,"message":\{"role":"assistant","content":"Paris\."\},"finish_reason":"stop"\}\],"usage":\{"prompt_tokens":[0-9]+,"completion_tokens":[0-9]+,"total_tokens":[0-9]+\}\}$'

body=$(ask "$base/models" "${auth[@]}")
check 'the models are listed' "$(status)" 200
check_matches 'the list names each model' "$body" \
  '^\{"object":"list","data":\[\{"id":"mock-model","object":"model","created":[0-9]+,"owned_by":"mock_gateway"\},'

ask --no-buffer --dump-header "$work/head" "$base/chat/completions" "${auth[@]}" "${json[@]}" --data "$streamed" \
  >"$work/stream"
check 'a stream succeeds' "$(status)" 200
check_matches 'a stream says what it is' "$(tr -d '\r' <"$work/head")" \
  'Content-Type: text/event-stream; charset=utf-8'
check 'every event is a data line and a blank one' "$(grep -cvE '^(data: .+)?$' "$work/stream")" 0
check 'the last event is [DONE]' "$(tail -c 14 "$work/stream" | od -An -c | tr -d ' \n')" 'data:[DONE]\n\n'
check_matches 'the first event names the role' "$(head -1 "$work/stream")" '"delta":\{"role":"assistant","content":""\}'

control_url=$(place scripted control_url)/control/v1
control_auth=(--header "Authorization: Bearer $(place scripted control_token)")
# control METHOD PATH [BODY]
control() { ask "$control_url$2" "${control_auth[@]}" "${json[@]}" --request "$1" ${3:+--data "$3"}; }

# The gateway holds the rest of the stream until curl times out, so received text arrived event by event.
control POST /stubs '{
  "when": {"user_says": {"equals": "hold"}},
  "reply": {"text": "one two three four", "faults": [{"after_tokens": 2, "effect": "stall"}]}
}' >/dev/null
check 'a stub is mounted' "$(status)" 201
curl --silent --no-buffer --max-time 1 "$base/chat/completions" "${auth[@]}" "${json[@]}" \
  --data "{\"model\":\"mock-model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hold\"}]}" \
  >"$work/stream" && ended=0 || ended=$?
check 'curl gives up on a held stream' "$ended" 28
check 'two words of a held stream came' "$(grep -o '"content":"[^"]*"' "$work/stream" | tr '\n' ' ')" \
  '"content":"" "content":"one" "content":" two" '

unauthorized='{"error":{"code":"unauthorized","message":"unauthorized","type":"error"}}'
body=$(ask "$base/models")
check 'a missing key is 401' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/models" --header 'Authorization: Bearer sk-unknown')
check 'an unknown key is 401' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/models" --header 'Authorization: Bearer no-prefix')
check 'a key without sk- is 401' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/models" --user "user:$key")
check 'another scheme is 401' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/models" --header "Authorization: Bearer sk-disabled-from-the-start")
check 'a disabled key is 403' "$(status) $body" "403 $unauthorized"
body=$(ask "$base/nothing" --header 'Authorization: Bearer sk-unknown')
check 'without a key an unknown path is 401 too' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/nothing" "${auth[@]}")
check 'an unknown path is 404' "$(status)" 404
check_matches 'an unknown path has a code' "$body" '^\{"error":\{"code":"unknown_path","message":"([^"\\]|\\.)+","type":"error"\}\}$'
ask --dump-header "$work/head" "$base/chat/completions" "${auth[@]}" >/dev/null
check 'a wrong method is 405' "$(status)" 405
check_matches 'the answer to a wrong method names the right one' "$(tr -d '\r' <"$work/head")" 'Allow: POST'

body=$(ask "$base/chat/completions" "${auth[@]}" --data "$question")
check 'curl --data without a content type is understood' "$(status)" 200
check_matches 'curl --data without a content type is answered' "$body" '"content":"Paris\."'
body=$(ask "$base/chat/completions" "${auth[@]}" --header 'Content-Type:' --data "$question")
check 'no content type is understood' "$(status)" 200
body=$(ask "$base/chat/completions" "${auth[@]}" --header 'Content-Type: application/xml' --data "$question")
check 'another content type is 415' "$(status)" 415
body=$(ask "$base/chat/completions" "${auth[@]}" "${json[@]}" --data '{"model":')
check 'half a body is 400' "$(status)" 400
check_matches 'the error for half a body names the mistake' "$body" '"code":"invalid_json"'

python3 -c 'import sys
sys.stdout.write("{\"model\":\"mock-model\",\"messages\":[{\"role\":\"user\",\"content\":\"capital of France ")
sys.stdout.write("x" * (2 << 20))
sys.stdout.write("\"}]}")' >"$work/large.json"
body=$(ask --verbose --expect100-timeout 10 "$base/chat/completions" "${auth[@]}" "${json[@]}" \
  --header 'Expect: 100-continue' --data-binary @"$work/large.json" 2>/dev/null)
check 'two megabytes after 100 Continue succeed' "$(tail -c 3 "$work/status")" 200
check_matches 'the gateway said to continue' "$(tr -d '\r' <"$work/status")" '< HTTP/1.1 100 Continue'
check_matches 'two megabytes are answered' "$body" '"content":"Paris\."'
body=$(ask "$base/chat/completions" "${auth[@]}" "${json[@]}" --header 'Transfer-Encoding: chunked' --header 'Expect:' \
  --data-binary @"$work/large.json")
check 'two megabytes in chunks succeed' "$(status)" 200

check 'one connection serves several requests' \
  "$(curl --silent --max-time 10 "${auth[@]}" --output /dev/null --output /dev/null --write-out '%{num_connects} ' \
    "$base/models" "$base/models/mock-small")" '1 0 '

for profile in documented openai dashscope deepseek; do
  body=$(ask "$(place $profile base_url)/chat/completions" "${json[@]}" --data "$streamed" \
    --header "Authorization: Bearer $(place $profile api_key)")
  check "an unscripted stream ends with [DONE] ($profile)" "$(status) ${body##*$'\n'}" '200 data: [DONE]'
done

# A scope with its own key, to review curl's requests.
new_scope() { control POST /scopes '{"name": "curl"}'; }
# fail_once SCOPE RETRY_AFTER
fail_once() {
  control POST "/stubs?scope=$1" '{
    "when": {"user_says": {"equals": "fail"}},
    "replies": [{"failure": {"status": 429, "code": "scripted", "message": "scripted"}, "retry_after": "'"$2"'"}, "Now."]
  }' >/dev/null
}
review() { control GET "/review?scope=$1" | field message; }
failing='{"model":"mock-model","messages":[{"role":"user","content":"fail"}]}'

scope=$(new_scope)
id=$(field id <<<"$scope")
own=(--header "Authorization: Bearer $(field api_key <<<"$scope")" "${json[@]}")
fail_once "$id" 1s
for data in "$question" "$streamed"; do ask "$base/chat/completions" "${own[@]}" --data "$data" >/dev/null; done
ask "$base/models" "${own[@]}" >/dev/null
body=$(ask "$base/chat/completions" "${own[@]}" --retry 2 --data "$failing")
check_matches 'curl --retry gets through a 429' "$body" '"content":"Now\."'
check 'the review of curl --retry is clean' "$(review "$id")" \
  "clean: 5 exchanges with key \"$id\" judged (4 calls, 5 tries, 1 injected fault)"

scope=$(new_scope)
id=$(field id <<<"$scope")
own=(--header "Authorization: Bearer $(field api_key <<<"$scope")" "${json[@]}")
fail_once "$id" 60s
for _ in 1 2; do ask "$base/chat/completions" "${own[@]}" --data "$failing" >/dev/null; done
check_matches 'a loop around curl that does not wait gets a finding' "$(review "$id")" \
  '^1 finding in 1 call, 2 tries, 1 injected fault'$'\n''retry_after_ignored \(exchange [0-9]+ after [0-9]+\): retried after 0(\.[0-9]+)? s, but Retry-After was 60 s\.'

exec {alive}>&-
for pid in "${pids[@]}"; do
  wait "$pid" && ended=0 || ended=$?
  check 'each gateway still runs at the end and exits with 0' "$ended" 0
done

if (($# > 0)); then
  { echo '<testsuite name="curl">' && cat "$work/cases" && echo '</testsuite>'; } >"$1"
fi
echo "curl: $passed passed, $failed failed"
((failed == 0))

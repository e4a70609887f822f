#!/usr/bin/env bash
# What a person with curl sees, to the byte where it is documented. Takes where the gateways are from CLIENTS_GATEWAYS;
# prints a line per check that fails, and the counts. Given a path, leaves a JUnit report there.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# place PROFILE KIND FIELD
place() {
  python3 -c 'import json, os, sys
place = json.loads(os.environ["CLIENTS_GATEWAYS"])
for name in sys.argv[1:]: place = place[name]
print(place)' "$@"
}

# report NAME [WHAT WAS WRONG]; a name has none of XML's characters
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

# The status, then the body, of a request that ends by itself.
ask() { curl --silent --show-error --max-time 10 --write-out '%{stderr}%{http_code}' "$@" 2>"$work/status" || true; }
status() { cat "$work/status"; }

base=$(place documented scripted base_url)
key=$(place documented scripted api_key)
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

# The gateway holds the rest back until curl gives up, so what is there came event by event.
held='break {\"trigger\":\"after_tokens\",\"count\":2,\"effect\":\"stall\",\"id\":\"'$RANDOM$RANDOM$RANDOM'\"}'
curl --silent --no-buffer --max-time 1 "$base/chat/completions" "${auth[@]}" "${json[@]}" \
  --data "{\"model\":\"mock-model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"$held\"}]}" \
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
body=$(ask "$base/models" --header "Authorization: Bearer $(place documented scripted disabled_key)")
check 'a disabled key is 403' "$(status) $body" "403 $unauthorized"
body=$(ask "$base/nothing" --header 'Authorization: Bearer sk-unknown')
check 'without a key an unknown path is 401 too' "$(status) $body" "401 $unauthorized"
body=$(ask "$base/nothing" "${auth[@]}")
check 'an unknown path is 404' "$(status)" 404
check_matches 'an unknown path has a code' "$body" '^\{"error":\{"code":"unknown_path","message":"[^"]+","type":"error"\}\}$'
ask --dump-header "$work/head" "$base/chat/completions" "${auth[@]}" >/dev/null
check 'a wrong method is 405' "$(status)" 405
check_matches 'a wrong method is told the right one' "$(tr -d '\r' <"$work/head")" 'Allow: POST'

body=$(ask "$base/chat/completions" "${auth[@]}" --data "$question")
check 'curl --data without a content type is understood' "$(status)" 200
check_matches 'and answered' "$body" '"content":"Paris\."'
body=$(ask "$base/chat/completions" "${auth[@]}" --header 'Content-Type:' --data "$question")
check 'no content type is understood' "$(status)" 200
body=$(ask "$base/chat/completions" "${auth[@]}" --header 'Content-Type: application/xml' --data "$question")
check 'another content type is 415' "$(status)" 415
body=$(ask "$base/chat/completions" "${auth[@]}" "${json[@]}" --data '{"model":')
check 'half a body is 400' "$(status)" 400
check_matches 'half a body is named' "$body" '"code":"invalid_json"'

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
  body=$(ask "$(place $profile unscripted base_url)/chat/completions" "${json[@]}" --data "$streamed" \
    --header "Authorization: Bearer $(place $profile unscripted api_key)")
  check "an unscripted stream ends with [DONE] ($profile)" "$(status) ${body##*$'\n'}" '200 data: [DONE]'
done

# A review of what curl did with a key of its own. The console is asked with the gateway's key.
reviewed=$(place reviewed base_url)
console=$(place reviewed root_url)/console
console_auth=(--header "Authorization: Bearer $(place reviewed api_key)")
new_key() { ask "$console/keys" "${console_auth[@]}" "${json[@]}" --data '{}'; }
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)[sys.argv[1]])' "$1"; }
review() { ask "$console/review?$1" "${console_auth[@]}" | field message; }

made=$(new_key)
own=(--header "Authorization: Bearer $(field secret <<<"$made")" "${json[@]}")
fail_once='{\"status\":429,\"retry_after\":\"1\",\"id\":\"'$RANDOM$RANDOM$RANDOM'\"}'
failing="{\"model\":\"mock-model\",\"messages\":[{\"role\":\"user\",\"content\":\"fail $fail_once\"}]}"
for data in "$question" "$streamed"; do ask "$reviewed/chat/completions" "${own[@]}" --data "$data" >/dev/null; done
ask "$reviewed/models" "${own[@]}" >/dev/null
body=$(ask "$reviewed/chat/completions" "${own[@]}" --retry 2 --data "$failing")
check_matches 'curl --retry gets through a 429' "$body" 'ok at attempt 2'
check 'curl comes out of a review clean' "$(review "$(field id <<<"$made")")" \
  "clean: 5 exchanges with key \"$(field id <<<"$made")\" judged"

made=$(new_key)
own=(--header "Authorization: Bearer $(field secret <<<"$made")" "${json[@]}")
for _ in 1 2; do ask "$reviewed/chat/completions" "${own[@]}" --data "${failing/\"1\\/\"60\\}" >/dev/null; done
check_matches 'a loop around curl that does not wait is told so' "$(review "$(field id <<<"$made")")" \
  '^retry_after_ignored \(exchange [0-9]+ after [0-9]+\): returned after 0(\.[0-9]+)? s, Retry-After was 60 s\.'

if (($# > 0)); then
  { echo '<testsuite name="curl">' && cat "$work/cases" && echo '</testsuite>'; } >"$1"
fi
echo "curl: $passed passed, $failed failed"
((failed == 0))

package mockgateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// recorded is a testing.TB for testing the helper: it records what a test would print and how it would fail.
type recorded struct {
	testing.TB
	name         string
	errors, logs []string
	cleanups     []func()
	fatal        bool
}

func (r *recorded) Name() string { return r.name }
func (r *recorded) Error(values ...any) {
	r.errors = append(r.errors, fmt.Sprint(values...))
}
func (r *recorded) Log(values ...any) { r.logs = append(r.logs, fmt.Sprint(values...)) }
func (r *recorded) Logf(format string, values ...any) {
	r.logs = append(r.logs, fmt.Sprintf(format, values...))
}
func (r *recorded) Cleanup(end func()) { r.cleanups = append(r.cleanups, end) }
func (r *recorded) Fatal(values ...any) {
	r.Error(values...)
	r.fatal = true
	runtime.Goexit()
}
func (r *recorded) Fatalf(format string, values ...any) { r.Fatal(fmt.Sprintf(format, values...)) }

// run runs the body of a test and then its cleanups, as go test does.
func run(t *testing.T, body func(t testing.TB)) *recorded {
	t.Helper()
	record := &recorded{TB: t, name: t.Name()}
	parts := []func(){func() { body(record) }}
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		done := make(chan struct{})
		go func() {
			defer close(done)
			part()
		}()
		<-done
		parts = append(parts, record.cleanups...)
		record.cleanups = nil
	}
	return record
}

// post sends a chat request, as a new call and not as a retry, and returns the status and the text of the reply or error.
func post(t testing.TB, gateway *Gateway, text string) (int, string) {
	t.Helper()
	var body bytes.Buffer
	json.NewEncoder(&body).Encode(M{"model": "mock-model", "messages": []M{{"role": "user", "content": text}}})
	request, err := http.NewRequest("POST", gateway.BaseURL+"/chat/completions", &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+gateway.APIKey)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Stainless-Retry-Count", "0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
		Error   struct{ Message string }
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Choices) == 0 {
		return response.StatusCode, answer.Error.Message
	}
	return response.StatusCode, answer.Choices[0].Message.Content
}

func expect[T comparable](t testing.TB, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func expectText(t testing.TB, text, part string) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%q is not in %q", part, text)
	}
}

func TestParallelTestsDoNotMeet(t *testing.T) {
	for number := range 16 {
		t.Run(fmt.Sprint(number), func(t *testing.T) {
			t.Parallel()
			gateway := Start(t)
			reply := fmt.Sprintf("I am number %d.", number)
			stub := gateway.Stub(M{"when": M{"user_says": "Who?"}, "reply": reply, "expect": 3})
			for range 3 {
				status, text := post(t, gateway, "Who?")
				expect(t, status, 200)
				expect(t, text, reply)
			}
			expect(t, stub.Calls(), 3)
			expect(t, gateway.Count(M{"user_says": "Who?"}), 3)
			expect(t, len(gateway.Journal(nil)), 3)
		})
	}
}

func TestFailuresAndLimitsOfAScopeAreItsOwnUntilTheyEnd(t *testing.T) {
	t.Parallel()
	gateway, other := Start(t), Start(t)
	for _, each := range []*Gateway{gateway, other} {
		each.Stub(M{"reply": "Hello."})
	}
	for _, row := range []struct {
		begin    func()
		statuses []int
		end      func()
	}{
		{func() { gateway.Fail(M{"failure": "overloaded", "times": 1}) }, []int{529}, func() {}},
		{gateway.Disable, []int{403}, gateway.Enable},
		{func() { gateway.Limit("2/1h") }, []int{200, 200, 429}, func() { gateway.Limit(nil) }},
		{func() { gateway.LimitTokens("1/1h") }, []int{429}, func() { gateway.LimitTokens(nil) }},
	} {
		row.begin()
		for _, want := range row.statuses {
			status, _ := post(t, gateway, "Hi")
			expect(t, status, want)
		}
		status, _ := post(t, other, "Hi")
		expect(t, status, 200)
		row.end()
		status, _ = post(t, gateway, "Hi")
		expect(t, status, 200)
	}
	expect(t, len(gateway.Journal(url.Values{"status": {"429"}})), 2)
	newest := gateway.Journal(url.Values{"limit": {"1"}})
	expect(t, len(newest), 1)
	expect(t, newest[0].Status, 200)
	expect(t, newest[0].Request.Path, "/v1/chat/completions")
	expect(t, newest[0].Decision.Kind, "stub")
}

func TestWhatIsWrongFailsItsTest(t *testing.T) {
	t.Parallel()
	record := run(t, func(t testing.TB) {
		gateway := Start(t)
		gateway.Stub(M{"when": M{"user_says": "Hi"}, "reply": "Hello.", "expect": 2})
		post(t, gateway, "Bye")
	})
	told := strings.Join(record.errors, "\n")
	expectText(t, told, "mockgateway_test.go:")
	expectText(t, told, "Bye")
	expectText(t, told, "expected 2 calls, got 0")
	expect(t, record.fatal, false)
}

func TestWhatATestHasLookedAtDoesNotFailIt(t *testing.T) {
	t.Parallel()
	record := run(t, func(t testing.TB) {
		gateway := Start(t)
		gateway.Stub(M{"when": M{"user_says": "Hi"}, "reply": "Hello.", "expect": 2})
		post(t, gateway, "Bye")
		judged := gateway.Verify()
		expect(t, judged.OK, false)
		expect(t, len(judged.Problems), 2)
		expect(t, gateway.Review().OK, true)
	})
	expect(t, strings.Join(record.errors, "\n"), "")
	record = run(t, func(t testing.TB) {
		gateway := Start(t)
		gateway.Stub(M{"when": M{"user_says": "Hi"}, "reply": "Hello."})
		post(t, gateway, "Bye")
		gateway.Verify()
		post(t, gateway, "Bye bye") // after the test has read the findings
	})
	expect(t, len(record.errors), 1)
	expectText(t, record.errors[0], "Bye bye")
}

func TestAskingAgainAtOnceIsToldAndFailsNothing(t *testing.T) {
	t.Parallel()
	record := run(t, func(t testing.TB) {
		gateway := Start(t)
		gateway.Stub(M{"replies": []any{M{"failure": "rate_limited", "retry_after": "30s"}, "Hello."}})
		post(t, gateway, "Hi")
		post(t, gateway, "Hi")
	})
	expect(t, strings.Join(record.errors, "\n"), "")
	expectText(t, strings.Join(record.logs, "\n"), "asked_again_early (exchange")
}

func TestATypoIsFoundWithItsLine(t *testing.T) {
	t.Parallel()
	record := run(t, func(t testing.TB) {
		Start(t).Stub(M{"when": M{"user_say": "Hi"}, "reply": "Hello."})
		t.Error("the test went on")
	})
	told := strings.Join(record.errors, "\n")
	expect(t, record.fatal, true)
	expectText(t, told, "mockgateway_test.go:")
	expectText(t, told, `unknown key "user_say"; did you mean "user_says"`)
	var refused *Error
	err := Start(t).Server.Control("POST", "/stubs", M{"stubs": []M{{"replay": "x"}}}, nil, nil)
	if !errors.As(err, &refused) {
		t.Fatalf("got %v", err)
	}
	expect(t, refused.Code, "invalid_script")
	expect(t, refused.Problems[0]["pointer"], any("/stubs/0/replay"))
}

func TestGatesHoldAndStubsAreWaitedFor(t *testing.T) {
	t.Parallel()
	gateway := Start(t)
	stub := gateway.Stub(M{"reply": M{"text": "Hello.", "hold": M{"gate": "door", "before_event": 1}}})
	answered := make(chan string)
	go func() {
		_, text := post(t, gateway, "Hi")
		answered <- text
	}()
	gate := gateway.Gate("door")
	gate.Wait(1, "20s", "reached")
	gate.Release()
	expect(t, <-answered, "Hello.")
	stub.Wait(1, "20s")
	gate.Open()
	_, text := post(t, gateway, "Hi")
	expect(t, text, "Hello.")
	stub.Remove()
	record := run(t, func(t testing.TB) { Start(t).Stub(M{"reply": "x"}).Wait(1, "10ms") })
	expect(t, record.fatal, true)
	expectText(t, record.errors[0], "mockgateway_test.go:")
}

func TestARequestCanBeAnsweredByTheTest(t *testing.T) {
	t.Parallel()
	gateway := Start(t)
	gateway.Stub(M{"reply": M{"ask": true}})
	gateway.LimitConcurrent(1)
	answered := make(chan string)
	go func() {
		_, text := post(t, gateway, "What?")
		answered <- text
	}()
	waiting := gateway.Asked("20s")
	expect(t, len(waiting), 1)
	status, _ := post(t, gateway, "Too many?")
	expect(t, status, 429)
	gateway.LimitConcurrent(nil)
	gateway.Answer(waiting[0].Exchange, "This.")
	expect(t, <-answered, "This.")
}

func TestStatesAreOfTheScope(t *testing.T) {
	t.Parallel()
	gateway, other := Start(t), Start(t)
	for _, each := range []*Gateway{gateway, other} {
		each.Stubs(M{"in_state": M{"door / one": "open"}, "reply": "In."},
			M{"in_state": M{"door / one": "started"}, "reply": "Out."})
	}
	gateway.SetState("door / one", "open")
	expect(t, gateway.State("door / one"), "open")
	expect(t, other.State("door / one"), "started")
	_, text := post(t, gateway, "Hi")
	expect(t, text, "In.")
	_, text = post(t, other, "Hi")
	expect(t, text, "Out.")
}

func TestAServerOfItsOwnTakesFlagsAndMovesItsClock(t *testing.T) {
	t.Parallel()
	script := filepath.Join(t.TempDir(), "manual.json")
	if err := os.WriteFile(script, []byte(`{"mock_gateway":1,"gateway":{"clock":"manual"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	server, err := StartServer("--script="+script, "--model=mock-model")
	if err != nil {
		t.Fatal(err)
	}
	record := run(t, func(t testing.TB) {
		gateway := server.Scope(t)
		gateway.Stub(M{"reply": "Hello."})
		gateway.Limit("1/60s")
		for _, want := range []int{200, 429} {
			status, _ := post(t, gateway, "Hi")
			expect(t, status, want)
		}
		if err := server.Advance("60s"); err != nil {
			t.Error(err)
		}
		status, _ := post(t, gateway, "Hi")
		expect(t, status, 200)
	})
	expect(t, strings.Join(record.errors, "\n"), "")
	var page []byte
	if err := server.Control("GET", "/openapi.json", nil, nil, &page); err != nil {
		t.Error(err)
	}
	expectText(t, string(page), `"openapi"`)
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	if err := server.Advance("1s"); err == nil {
		t.Error("a server that has ended answered")
	}
}

func TestTheProgramOfItsModuleComesAfterTheVariableAndBeforeThePath(t *testing.T) {
	program, ofModule := os.Getenv("MOCK_GATEWAY_BIN"), programOfModule
	t.Cleanup(func() { programOfModule = ofModule })
	programOfModule = func() (string, error) { return program, nil }
	t.Setenv("PATH", "/nowhere")
	t.Setenv("MOCK_GATEWAY_BIN", "")
	server, err := StartServer()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Stop(); err != nil {
		t.Error(err)
	}
	programOfModule = func() (string, error) { return "", errors.New("no room for it") }
	if _, err := StartServer(); err == nil || err.Error() != "no room for it" {
		t.Error(err)
	}
	t.Setenv("MOCK_GATEWAY_BIN", "/nowhere/mock-gateway")
	if _, err = StartServer(); err == nil {
		t.Fatal("it started")
	}
	expectText(t, err.Error(), "cannot run /nowhere/mock-gateway")
	expectText(t, err.Error(), "Set MOCK_GATEWAY_BIN to the program mock-gateway")
}

func TestFlagsThatItDoesNotTakeAreSaid(t *testing.T) {
	t.Parallel()
	_, err := StartServer("--no-such-flag")
	if err == nil {
		t.Fatal("it started")
	}
	expectText(t, err.Error(), "did not start")
}

func TestTheEnvironmentLeadsAProcessHere(t *testing.T) {
	t.Parallel()
	gateway := Start(t)
	gateway.Stub(M{"reply": "Hello.", "expect": 1})
	command := exec.Command("sh", "-c", `curl -sf "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \
		-H 'Content-Type: application/json' -d '{"model":"m","messages":[{"role":"user","content":"Hi"}]}'`)
	command.Env = append(os.Environ(), gateway.Env()...)
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	expectText(t, string(output), "Hello.")
	if !slices.Contains(gateway.Env(), "OPENAI_API_BASE="+gateway.BaseURL) {
		t.Error(gateway.Env())
	}
}

func TestWhatGoesAroundProxiesStillDoes(t *testing.T) {
	for _, row := range [][4]string{
		{"", "", "localhost,127.0.0.1", "localhost,127.0.0.1"},
		{".corp", "", ".corp,127.0.0.1", ".corp,127.0.0.1"},
		{"", ".corp", ".corp,127.0.0.1", ".corp,127.0.0.1"},
		{"a", "b", "a,127.0.0.1", "b,127.0.0.1"},
		{"*", "", "*", "*"},
	} {
		t.Setenv("NO_PROXY", row[0])
		t.Setenv("no_proxy", row[1])
		env := Start(t).Env()
		for _, want := range []string{"NO_PROXY=" + row[2], "no_proxy=" + row[3]} {
			if !slices.Contains(env, want) {
				t.Errorf("%s is not in %v", want, env)
			}
		}
	}
}

// Package mockgateway starts mock-gateway for tests and talks to its control API. It is one file that needs only the
// standard library and Go 1.22 or newer: copy it into a package of your module.
//
//	func TestGreeting(t *testing.T) {
//		gateway := mockgateway.Start(t)
//		gateway.Stub(mockgateway.M{"when": mockgateway.M{"user_says": "Hi"}, "reply": "Hello."})
//		client := openai.NewClient(option.WithBaseURL(gateway.BaseURL), option.WithAPIKey(gateway.APIKey))
//		…
//	}
//
// A Gateway is a scope with an API key for one test. Its stubs answer requests with this key only, so tests may run in
// parallel. After the test, the gateway verifies and reviews the requests with this key. Problems fail the test,
// unless the test has already read them. All tests of a process share one server. For other settings, start a server in
// TestMain or in a test: StartServer("--strict"), then server.Scope(t).
//
// Stubs, failures and keys have the same fields as in scripts. A call that the server refuses fails the test with its text.
package mockgateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// M is a JSON object: the fields of a stub, a failure or a request.
type M = map[string]any

// Error is an error response of the control API.
type Error struct {
	Code, Message string
	Problems      []M
}

func (e *Error) Error() string { return e.Message }

// Server is a running mock-gateway. It ends with Stop, or with this process, even if the process is killed.
type Server struct {
	BaseURL, APIKey string // this key belongs to no scope

	command *exec.Cmd
	stdin   io.Closer
	client  http.Client
	info    struct {
		Instance     string
		BaseURL      string `json:"base_url"`
		APIKey       string `json:"api_key"`
		ControlURL   string `json:"control_url"`
		ControlToken string `json:"control_token"`
	}
}

// programOfModule returns the program that a released module contains. This file alone contains none.
var programOfModule = func() (string, error) { return "", nil }

// StartServer starts the program and returns when it serves. The program is $MOCK_GATEWAY_BIN, the one in this module,
// or mock-gateway on the PATH. Flags are those of `mock-gateway serve`, such as "--script=agent.jsonc".
func StartServer(flags ...string) (*Server, error) {
	program := os.Getenv("MOCK_GATEWAY_BIN")
	if program == "" {
		var err error
		if program, err = programOfModule(); err != nil {
			return nil, err
		}
	}
	if program == "" {
		program = "mock-gateway"
	}
	words := append([]string{"serve", "--port=0", "--control=0", "--print=json", "--until-eof", "--quiet"}, flags...)
	s := &Server{command: exec.Command(program, words...)}
	s.client.Transport = &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32} // the server accepts 64 connections
	s.client.Timeout = 90 * time.Second
	s.command.Stderr = os.Stderr
	s.stdin, _ = s.command.StdinPipe()
	stdout, _ := s.command.StdoutPipe()
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w. Set MOCK_GATEWAY_BIN to the program mock-gateway, or put it on PATH; "+
			"examples/run.sh builds it", program, err)
	}
	late := time.AfterFunc(30*time.Second, func() { s.command.Process.Kill() })
	var about struct{ Instance string }
	err := json.NewDecoder(stdout).Decode(&s.info)
	if err == nil {
		err = s.Control("GET", "", nil, nil, &about)
	}
	if err == nil && about.Instance != s.info.Instance {
		err = errors.New("another process has its control port")
	}
	if late.Stop(); err != nil {
		s.stdin.Close()
		return nil, fmt.Errorf("%s did not start: %w; %v; its stderr says more", program, err, s.command.Wait())
	}
	s.BaseURL, s.APIKey = s.info.BaseURL, s.info.APIKey
	return s, nil
}

// Stop ends the program. It returns an error unless the exit code is 0; stderr says why.
func (s *Server) Stop() error {
	s.stdin.Close()
	defer time.AfterFunc(10*time.Second, func() { s.command.Process.Kill() }).Stop()
	return s.command.Wait()
}

// Control sends a request to the control API and decodes the JSON response, or stores its bytes in a *[]byte:
// Control("GET", "/journal", nil, url.Values{"limit": {"1"}}, &page). For status 400 and above it returns an *Error.
func (s *Server) Control(method, path string, body any, query url.Values, answer any) error {
	var content bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&content).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequest(method, s.info.ControlURL+"/control/v1"+path+"?"+query.Encode(), &content)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+s.info.ControlToken)
	request.Header.Set("Content-Type", "application/json")
	var text []byte
	response, err := s.client.Do(request)
	if err == nil {
		defer response.Body.Close()
		text, err = io.ReadAll(response.Body)
	}
	if err != nil {
		return fmt.Errorf("mock-gateway does not answer: %w", err)
	}
	if response.StatusCode >= 400 {
		refused := &Error{Message: string(text)}
		json.Unmarshal(text, refused)
		return refused
	}
	if raw, is := answer.(*[]byte); is {
		*raw = text
	} else if answer != nil {
		return json.Unmarshal(text, answer)
	}
	return nil
}

// Advance moves a manual clock forward, for example by "60s".
func (s *Server) Advance(by string) error {
	return s.Control("POST", "/clock/advance", M{"by": by}, nil, nil)
}

// Gateway is a key of a server with its stubs, failures, states, gates and requests. Errors fail the test.
type Gateway struct {
	BaseURL, APIKey string
	ID              string // ID of the key
	Server          *Server

	t    testing.TB
	lock sync.Mutex
	seen map[string]bool
}

var shared = sync.OnceValues(func() (*Server, error) { return StartServer() })

// Start returns a scope of the server that all tests of this process share. It verifies and reviews it after the test.
func Start(t testing.TB) *Gateway {
	server, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return server.Scope(t)
}

// Scope returns a scope of this server. It verifies and reviews the scope after the test.
func (s *Server) Scope(t testing.TB) *Gateway {
	var made struct {
		ID      string
		BaseURL string `json:"base_url"`
		APIKey  string `json:"api_key"`
	}
	if err := s.Control("POST", "/scopes", M{"name": t.Name()}, nil, &made); err != nil {
		t.Fatal(err)
	}
	g := &Gateway{BaseURL: made.BaseURL, APIKey: made.APIKey, ID: made.ID, Server: s, t: t, seen: map[string]bool{}}
	t.Cleanup(g.close)
	return g
}

// close removes the scope from the server and fails the test for problems that it has not read. It logs findings that
// do not fail a test, such as asked_again_early.
func (g *Gateway) close() {
	var judged struct{ Verify, Review Judgement }
	// If the test has read the scope's problems, the program's report leaves the scope out.
	var body any
	if len(g.seen) > 0 {
		body = M{"counts": false}
	}
	if err := g.Server.Control("DELETE", "/scopes/"+g.ID, body, nil, &judged); err != nil {
		g.t.Error(err)
		return
	}
	for _, each := range append(judged.Verify.Problems, judged.Review.Findings...) {
		switch {
		case g.seen[each.identity()] || each.Severity == "note":
		case each.Severity == "" || each.FailsReview:
			g.t.Error(each)
		default:
			g.t.Log(each)
		}
	}
}

// Control sends a request to the control API, limited to this scope.
func (g *Gateway) Control(method, path string, body any, query url.Values, answer any) {
	scoped := url.Values{"scope": {g.ID}}
	maps.Copy(scoped, query)
	g.must(g.Server.Control(method, path, body, scoped, answer))
}

func (g *Gateway) must(err error) {
	if err != nil {
		g.t.Fatalf("%s: %v", lineOfTest(), err)
	}
}

// Env returns environment variables for a client's process, as NAME=value: OPENAI_BASE_URL and more.
func (g *Gateway) Env() []string {
	env := []string{"OPENAI_BASE_URL=" + g.BaseURL, "OPENAI_API_BASE=" + g.BaseURL, "OPENAI_API_KEY=" + g.APIKey}
	// Clients read either variable, and some prefer one. If only one is set, both start from its value.
	for _, names := range [][]string{{"NO_PROXY", "no_proxy"}, {"no_proxy", "NO_PROXY"}} {
		hosts := cmp.Or(os.Getenv(names[0]), os.Getenv(names[1]), "localhost")
		if hosts != "*" {
			hosts += ",127.0.0.1"
		}
		env = append(env, names[0]+"="+hosts)
	}
	return env
}

// Stub mounts a stub: Stub(M{"when": M{"user_says": "Hi"}, "reply": "Hello.", "expect": 1}).
func (g *Gateway) Stub(fields M) *Stub { return g.Stubs(fields)[0] }

// Stubs mounts all stubs or none. The first matching stub answers. Stubs of later calls come before those of earlier
// calls. Logs warnings about likely mistakes.
func (g *Gateway) Stubs(documents ...M) []*Stub {
	placed := make([]M, len(documents))
	for i, fields := range documents {
		placed[i] = M{"source": lineOfTest()}
		maps.Copy(placed[i], fields)
	}
	var mounted struct {
		Stubs    []struct{ ID int }
		Warnings []struct{ Pointer, Message string }
	}
	g.Control("POST", "/stubs", M{"stubs": placed}, nil, &mounted)
	for _, warning := range mounted.Warnings {
		g.t.Logf("%s: %s: %s", lineOfTest(), warning.Pointer, warning.Message)
	}
	stubs := make([]*Stub, len(mounted.Stubs))
	for i, facts := range mounted.Stubs {
		stubs[i] = &Stub{g, "/stubs/" + strconv.Itoa(facts.ID)}
	}
	return stubs
}

// Disable makes requests with this test's key get 403 until Enable.
func (g *Gateway) Disable() {
	g.must(g.Server.Control("POST", "/keys/"+g.ID+"/disable", nil, nil, nil))
}
func (g *Gateway) Enable() { g.must(g.Server.Control("POST", "/keys/"+g.ID+"/enable", nil, nil, nil)) }

// Limit sets the key's request limit, such as "2/1m", or nil for no limit. Requests above it get 429.
func (g *Gateway) Limit(rate any) {
	g.must(g.Server.Control("PATCH", "/keys/"+g.ID, M{"limit": rate}, nil, nil))
}

// LimitTokens sets the key's token limit, such as "6000/1m", or nil for no limit.
func (g *Gateway) LimitTokens(rate any) {
	g.must(g.Server.Control("PATCH", "/keys/"+g.ID, M{"limit_tokens": rate}, nil, nil))
}

// LimitConcurrent sets the most requests at a time, or nil for no limit.
func (g *Gateway) LimitConcurrent(most any) {
	g.must(g.Server.Control("PATCH", "/keys/"+g.ID, M{"limit_concurrent": most}, nil, nil))
}

// Fail forces a failure with the fields of `failures` in scripts: Fail(M{"failure": "overloaded", "times": 2}).
func (g *Gateway) Fail(fields M) { g.Control("POST", "/failures", fields, nil, nil) }

// Wrong is a problem from Verify, with a Kind, or a finding from Review, with a Code and a Severity.
type Wrong struct {
	Kind, Code, Severity, Message string
	FailsReview                   bool `json:"fails_review"`
	Exchanges                     []int
	Stub                          struct{ ID int }
}

func (w Wrong) String() string {
	if w.Code == "" {
		return w.Message
	}
	return fmt.Sprintf("%s (exchange %s): %s", w.Code, strings.Trim(fmt.Sprint(w.Exchanges), "[]"), w.Message)
}

// identity distinguishes problems that have the same text.
func (w Wrong) identity() string {
	if w.Kind == "unmet expectation" { // later requests change its explanation, but not its first line
		first, _, _ := strings.Cut(w.Message, "\n")
		return fmt.Sprint(w.Stub.ID, first)
	}
	return fmt.Sprint(w.Code, w.Message, w.Exchanges)
}

// Judgement is the result of Verify or Review.
type Judgement struct {
	OK                 bool
	Message            string
	Problems, Findings []Wrong // from Verify, from Review
}

// Verify returns unmet expectations, Review mistakes of the client. Returned problems no longer fail the test.
func (g *Gateway) Verify() Judgement { return g.lookAt("/verify") }
func (g *Gateway) Review() Judgement { return g.lookAt("/review") }

func (g *Gateway) lookAt(path string) (judged Judgement) {
	g.Control("GET", path, nil, nil, &judged)
	g.lock.Lock()
	defer g.lock.Unlock()
	for _, each := range append(judged.Problems, judged.Findings...) {
		g.seen[each.identity()] = true
	}
	return judged
}

// Count returns how many requests fit the matchers, whether or not a stub answered them: Count(M{"user_says": "Hi"}).
func (g *Gateway) Count(when M) int {
	var counted struct{ Count int }
	g.Control("POST", "/journal/count", M{"when": when}, nil, &counted)
	return counted.Count
}

// Exchange is a request and its result. GET /journal/ID returns all of it: Control("GET", "/journal/7", …).
type Exchange struct {
	ID, Status       int
	Outcome, Summary string
	Request          struct {
		Method, Target, Path string
		Headers              [][2]string
		Body                 any
	}
	Decision struct{ Kind, Detail, Refusal string }
}

// Journal returns up to 200 exchanges, or "limit", newest first: Journal(url.Values{"status": {"429"}}).
func (g *Gateway) Journal(filters url.Values) []Exchange {
	var page struct{ Exchanges []Exchange }
	g.Control("GET", "/journal", nil, filters, &page)
	return page.Exchanges
}

// State returns the current state of a state machine.
func (g *Gateway) State(machine string) string {
	var current struct{ State string }
	g.Control("GET", "/states/"+url.PathEscape(machine), nil, nil, &current)
	return current.State
}

func (g *Gateway) SetState(machine, state string) {
	g.Control("PUT", "/states/"+url.PathEscape(machine), M{"state": state}, nil, nil)
}

// Asked waits up to `wait`, such as "5s", for a request whose reply is `ask`, and returns all of them. Answer sends a
// reply, in the form that stubs use, to the one with this exchange ID.
func (g *Gateway) Asked(wait string) []Asked {
	var waiting struct{ Asked []Asked }
	g.Control("GET", "/asked", nil, url.Values{"wait": {wait}}, &waiting)
	return waiting.Asked
}

func (g *Gateway) Answer(exchange int, reply any) {
	g.must(g.Server.Control("POST", fmt.Sprintf("/asked/%d", exchange), M{"reply": reply}, nil, nil))
}

// Asked is a request that waits for its reply.
type Asked struct {
	Exchange int
	Request  any
}

// Stub is a mounted stub.
type Stub handle

// Wait returns when the stub has answered this many requests. It fails the test after `within`, such as "5s".
func (s *Stub) Wait(calls int, within string) {
	(*handle)(s).wait(url.Values{"calls": {strconv.Itoa(calls)}, "within": {within}})
}

func (s *Stub) Calls() int {
	var facts struct{ Calls int }
	s.scope.Control("GET", s.path, nil, nil, &facts)
	return facts.Calls
}

func (s *Stub) Remove() { s.scope.Control("DELETE", s.path, nil, nil, nil) }

// Gate makes replies wait until Release lets one pass, or Open lets all pass.
type Gate handle

func (g *Gateway) Gate(name string) *Gate {
	return &Gate{g, "/gates/" + url.PathEscape(name)}
}

// Wait returns when this many replies have "reached" the gate. With "delivered" it also waits until clients have
// received everything before the gate. It fails the test after `within`.
func (g *Gate) Wait(count int, within, what string) {
	(*handle)(g).wait(url.Values{"for": {what}, "count": {strconv.Itoa(count)}, "within": {within}})
}
func (g *Gate) Release() { g.scope.Control("POST", g.path+"/release", nil, nil, nil) }
func (g *Gate) Open()    { g.scope.Control("POST", g.path+"/open", nil, nil, nil) }

// handle is a path of the control API within a scope.
type handle struct {
	scope *Gateway
	path  string
}

func (h *handle) wait(query url.Values) {
	var answer struct {
		Reached bool
		Message string
	}
	if h.scope.Control("GET", h.path+"/wait", nil, query, &answer); !answer.Reached {
		h.scope.t.Fatalf("%s: %s", lineOfTest(), answer.Message)
	}
}

// lineOfTest returns the line that called this file, for reports: "agent_test.go:12".
func lineOfTest() string {
	_, here, _, _ := runtime.Caller(0)
	for depth := 1; ; depth++ {
		_, file, line, known := runtime.Caller(depth)
		if !known || file != here {
			return fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
}

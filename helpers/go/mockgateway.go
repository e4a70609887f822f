// Package mockgateway starts mock-gateway for tests and talks to its control API. One file, the standard library, Go 1.22
// or newer: copy it into a package of your module.
//
//	func TestGreeting(t *testing.T) {
//		gateway := mockgateway.Start(t)
//		gateway.Stub(mockgateway.M{"when": mockgateway.M{"user_says": "Hi"}, "reply": "Hello."})
//		client := openai.NewClient(option.WithBaseURL(gateway.BaseURL), option.WithAPIKey(gateway.APIKey))
//		…
//	}
//
// A Gateway is a scope: an API key of the test's own. What it mounts answers this key alone, so that tests may run in
// parallel. When the test has ended, the gateway verifies and reviews what was asked with the key: what is wrong fails
// the test, except what the test has looked at itself. All tests of a process share a server; for other settings,
// TestMain or a test starts one: StartServer("--strict"), and server.Scope(t).
//
// The fields of stubs, failures and keys are those of scripts. What the server refuses fails the test with its text.
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

// Error is what the control API refused.
type Error struct {
	Code, Message string
	Problems      []M
}

func (e *Error) Error() string { return e.Message }

// Server is a running mock-gateway. It ends with Stop, and with this process, whatever ends that.
type Server struct {
	BaseURL, APIKey string // the key belongs to no scope

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

// programOfModule gives the program that a released module carries. This file alone has none.
var programOfModule = func() (string, error) { return "", nil }

// StartServer runs the program that MOCK_GATEWAY_BIN names, that of this module, or mock-gateway on the PATH, with flags
// of `mock-gateway serve`, such as "--script=agent.jsonc" or "--profile=openai", and returns when it serves.
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
	s.client.Transport = &http.Transport{MaxConnsPerHost: 32, MaxIdleConnsPerHost: 32} // the server takes 64 connections
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

// Stop ends the program. An error is all but exit code 0; stderr says why.
func (s *Server) Stop() error {
	s.stdin.Close()
	defer time.AfterFunc(10*time.Second, func() { s.command.Process.Kill() }).Stop()
	return s.command.Wait()
}

// Control makes a request of the control API, and decodes the JSON of the answer, or takes it into a *[]byte:
// Control("GET", "/journal", nil, url.Values{"limit": {"1"}}, &page). The error is an *Error for every status from 400 on.
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

// Advance moves a manual clock, by "60s".
func (s *Server) Advance(by string) error {
	return s.Control("POST", "/clock/advance", M{"by": by}, nil, nil)
}

// Gateway is a key of a server, and the stubs, failures, states, gates and requests that belong to it. Its methods fail
// the test for what the server refuses.
type Gateway struct {
	BaseURL, APIKey string
	ID              string // of its key
	Server          *Server

	t    testing.TB
	lock sync.Mutex
	seen map[string]bool
}

var shared = sync.OnceValues(func() (*Server, error) { return StartServer() })

// Start returns a scope of the server that all tests of this process share, and judges it when the test has ended.
func Start(t testing.TB) *Gateway {
	server, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return server.Scope(t)
}

// Scope returns a scope of this server, and judges it when the test has ended.
func (s *Server) Scope(t testing.TB) *Gateway {
	name := t.Name()
	if len(name) > 256 { // which is what the program takes
		name = strings.ToValidUTF8(name[:125], "") + "…" + strings.ToValidUTF8(name[len(name)-125:], "")
	}
	var made struct {
		ID      string
		BaseURL string `json:"base_url"`
		APIKey  string `json:"api_key"`
	}
	if err := s.Control("POST", "/scopes", M{"name": name}, nil, &made); err != nil {
		t.Fatal(err)
	}
	g := &Gateway{BaseURL: made.BaseURL, APIKey: made.APIKey, ID: made.ID, Server: s, t: t, seen: map[string]bool{}}
	t.Cleanup(g.close)
	return g
}

// close removes the scope from the server, and fails the test for what is wrong and was not looked at. What fails no
// test, such as asked_again_early, is logged.
func (g *Gateway) close() {
	var judged struct{ Verify, Review Judgement }
	if err := g.Server.Control("DELETE", "/scopes/"+g.ID, nil, nil, &judged); err != nil {
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

// Control makes a request of the control API about this scope alone.
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

// Env is what leads a client's process here: OPENAI_BASE_URL and more, as NAME=value.
func (g *Gateway) Env() []string {
	env := []string{"OPENAI_BASE_URL=" + g.BaseURL, "OPENAI_API_BASE=" + g.BaseURL, "OPENAI_API_KEY=" + g.APIKey}
	// Clients read either variable, and some prefer one: where only one is set, both go on from it.
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

// Stubs mounts stubs, all or none. The first that matches answers; those of earlier calls come after them. Logs what is
// hardly meant.
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

// Disable makes the key of this test get 403 until Enable.
func (g *Gateway) Disable() {
	g.must(g.Server.Control("POST", "/keys/"+g.ID+"/disable", nil, nil, nil))
}
func (g *Gateway) Enable() { g.must(g.Server.Control("POST", "/keys/"+g.ID+"/enable", nil, nil, nil)) }

// Limit says how many requests the key may make in what time, above which they get 429: "2/1m", or nil for no limit.
func (g *Gateway) Limit(rate any) {
	g.must(g.Server.Control("PATCH", "/keys/"+g.ID, M{"limit": rate}, nil, nil))
}

// LimitTokens says the same of tokens: "6000/1m", or nil for no limit.
func (g *Gateway) LimitTokens(rate any) {
	g.must(g.Server.Control("PATCH", "/keys/"+g.ID, M{"limit_tokens": rate}, nil, nil))
}

// Fail forces a failure, an entry of the scripts' `failures`: Fail(M{"failure": "overloaded", "times": 2}).
func (g *Gateway) Fail(fields M) { g.Control("POST", "/failures", fields, nil, nil) }

// Wrong is a problem of Verify, with its Kind, or a finding of Review, with its Code and Severity.
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

// identity tells it from others of the same words.
func (w Wrong) identity() string {
	if w.Kind == "unmet expectation" { // which later requests explain anew, below the first line
		first, _, _ := strings.Cut(w.Message, "\n")
		return fmt.Sprint(w.Stub.ID, first)
	}
	return fmt.Sprint(w.Code, w.Message, w.Exchanges)
}

// Judgement is the answer to Verify or Review.
type Judgement struct {
	OK                 bool
	Message            string
	Problems, Findings []Wrong // of Verify, of Review
}

// Verify is what did not go as the stubs say, Review what the client did wrong. What is reported does not fail the test.
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

// Count is how many requests there were that the matchers fit, whoever answered them: Count(M{"user_says": "Hi"}).
func (g *Gateway) Count(when M) int {
	var counted struct{ Count int }
	g.Control("POST", "/journal/count", M{"when": when}, nil, &counted)
	return counted.Count
}

// Exchange is a request and what became of it. GET /journal/ID has all of it: Control("GET", "/journal/7", …).
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

// Journal is the exchanges, newest first: Journal(url.Values{"status": {"429"}}). The newest 200, or "limit".
func (g *Gateway) Journal(filters url.Values) []Exchange {
	var page struct{ Exchanges []Exchange }
	g.Control("GET", "/journal", nil, filters, &page)
	return page.Exchanges
}

// State is that of a state machine.
func (g *Gateway) State(machine string) string {
	var current struct{ State string }
	g.Control("GET", "/states/"+url.PathEscape(machine), nil, nil, &current)
	return current.State
}

func (g *Gateway) SetState(machine, state string) {
	g.Control("PUT", "/states/"+url.PathEscape(machine), M{"state": state}, nil, nil)
}

// Asked is the requests whose reply is `ask`, once there is one, at the latest after `wait`, such as "5s". Answer gives
// the one of this exchange a reply as in stubs.
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

// Wait returns when it has answered so many requests, or fails the test after `within`, such as "5s".
func (s *Stub) Wait(calls int, within string) {
	(*handle)(s).wait(url.Values{"calls": {strconv.Itoa(calls)}, "within": {within}})
}

func (s *Stub) Calls() int {
	var facts struct{ Calls int }
	s.scope.Control("GET", s.path, nil, nil, &facts)
	return facts.Calls
}

func (s *Stub) Remove() { s.scope.Control("DELETE", s.path, nil, nil, nil) }

// Gate is a gate, at which replies wait until Release lets one pass, or Open all.
type Gate handle

func (g *Gateway) Gate(name string) *Gate {
	return &Gate{g, "/gates/" + url.PathEscape(name)}
}

// Wait returns when so many replies have "reached" it or, with "delivered", when clients have what stands before it. It
// fails the test after `within`.
func (g *Gate) Wait(count int, within, what string) {
	(*handle)(g).wait(url.Values{"for": {what}, "count": {strconv.Itoa(count)}, "within": {within}})
}
func (g *Gate) Release() { g.scope.Control("POST", g.path+"/release", nil, nil, nil) }
func (g *Gate) Open()    { g.scope.Control("POST", g.path+"/open", nil, nil, nil) }

// handle is what the control API has at a path of a scope.
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

// lineOfTest is the line that called this file, for reports: "agent_test.go:12".
func lineOfTest() string {
	_, here, _, _ := runtime.Caller(0)
	for depth := 1; ; depth++ {
		_, file, line, known := runtime.Caller(depth)
		if !known || file != here {
			return fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
}

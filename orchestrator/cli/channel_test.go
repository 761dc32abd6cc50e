package cli_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paw/orchestrator/cli"
)

// qwenEvents are lines as qwen 0.24.4 wrote them.
const (
	qwenStart    = `{"type":"system","subtype":"session_start","session_id":"11111111-2222-4333-8444-555555555555","data":{"protocol_version":2}}` + "\n"
	qwenSaid     = `{"type":"assistant","message":{"id":"m","role":"assistant","content":[{"type":"tool_use","name":"run_shell_command"}]}}` + "\n"
	qwenAsked    = `{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","input":{"command":"touch one"}}}` + "\n"
	qwenAsked2   = `{"type":"control_request","request_id":"r2","request":{"subtype":"can_use_tool","tool_name":"run_shell_command","input":{"command":"touch two"}}}` + "\n"
	qwenAnswered = `{"type":"control_response","response":{"subtype":"success","request_id":"r1","response":{"allowed":true}}}` + "\n"
	qwenWants    = `{"type":"control_request","request_id":"r3","request":{"subtype":"can_use_tool","tool_name":"ask_user_question","input":{"questions":[{"question":"Which?"}]}}}` + "\n"
)

// qwenChannel is the channel of a launch, with the files that qwen would open.
func qwenChannel(t *testing.T, l lab, events string) (channel cli.Channel, eventsFile, commandsFile string) {
	t.Helper()
	command := launch(t, "qwen", hooked(l.spec))
	for _, file := range command.Files[1:] {
		if err := os.MkdirAll(filepath.Dir(file.Path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file.Path, file.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	eventsFile, commandsFile = command.Files[1].Path, command.Files[2].Path
	var given struct {
		DualOutput struct{ JSONFile, InputFile string }
	}
	if err := json.Unmarshal(command.Files[0].Content, &given); err != nil || given.DualOutput.JSONFile != eventsFile || given.DualOutput.InputFile != commandsFile {
		t.Fatalf("%+v, %v", given, err)
	}
	if err := os.WriteFile(eventsFile, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	return get(t, "qwen").Channel(l.spec), eventsFile, commandsFile
}

// qwenStandIn reads commands as qwen does, until the test ends. It refuses requests that it does not know.
func qwenStandIn(t *testing.T, events, commands string, known ...string) (read func() []string) {
	t.Helper()
	var mu sync.Mutex
	var lines []string
	stop, ended := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(stop); <-ended })
	go func() {
		defer close(ended)
		for {
			content, _ := os.ReadFile(commands)
			mu.Lock()
			all := strings.SplitAfter(string(content), "\n")
			for _, line := range all[len(lines) : len(all)-1] {
				lines = append(lines, line)
				var c struct {
					Type, RequestID string
					ID              string `json:"request_id"`
				}
				if json.Unmarshal([]byte(line), &c) != nil || c.Type != "confirmation_response" {
					continue
				}
				answer := `{"type":"control_response","response":{"subtype":"error","request_id":"` + c.ID + `","error":"unknown request_id"}}` + "\n"
				if slices.Contains(known, c.ID) {
					answer = strings.ReplaceAll(qwenAnswered, "r1", c.ID)
				}
				f, err := os.OpenFile(events, os.O_APPEND|os.O_WRONLY, 0)
				if err == nil {
					_, _ = io.WriteString(f, answer)
					_ = f.Close()
				}
			}
			mu.Unlock()
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}()
	return func() []string { mu.Lock(); defer mu.Unlock(); return slices.Clone(lines) }
}

// TestQwenChannel: a prompt counts as handed over when qwen has answered what was written behind it.
func TestQwenChannel(t *testing.T) {
	l := newLab(t)
	channel, events, commands := qwenChannel(t, l, qwenStart+qwenSaid+qwenAsked)
	read := qwenStandIn(t, events, commands, "r1")
	if !channel.Open(t.Context()) {
		t.Fatal("it is not open")
	}
	prompt := "two\nlines \"quoted\" é"
	if err := channel.Submit(t.Context(), prompt, cli.Screen{}); err != nil {
		t.Fatal(err)
	}
	submitted := 0
	for _, line := range read() {
		var c struct{ Type, Text string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Errorf("%q: %v", line, err)
		}
		if c.Type == "submit" && c.Text == prompt {
			submitted++
		}
	}
	if submitted != 1 {
		t.Errorf("%d prompts", submitted)
	}
	if err := channel.Reply(t.Context(), "r1", cli.Option{Label: "Yes"}); err != nil {
		t.Error(err)
	}
	if _, waits := channel.Permission(t.Context()); waits {
		t.Error("it still waits")
	}
	if err := channel.Reply(t.Context(), "r7", cli.Option{Label: "Yes"}); !errors.Is(err, cli.ErrNotHandedOver) {
		t.Errorf("a request that nobody made: %v", err)
	}
}

// TestQwenChannelThatIsMissing: a qwen that has opened no file of events has no channel, and nobody waits for it.
func TestQwenChannelThatIsMissing(t *testing.T) {
	l := newLab(t)
	channel, _, commands := qwenChannel(t, l, "")
	began := time.Now()
	if channel.Open(t.Context()) || time.Since(began) > time.Second {
		t.Errorf("open after %s", time.Since(began))
	}
	if content, _ := os.ReadFile(commands); len(content) > 0 {
		t.Errorf("it was asked: %s", content)
	}
	if get(t, "claude").Channel(l.spec).Open(t.Context()) {
		t.Error("claude has none")
	}
}

// TestQwenPermissions: the oldest request without a response is the one that qwen shows.
func TestQwenPermissions(t *testing.T) {
	for _, c := range []struct{ name, events, want string }{
		{"none", qwenStart + qwenSaid, ""},
		{"one", qwenStart + qwenSaid + qwenAsked, "r1 Shell: touch one"},
		{"answered", qwenStart + qwenSaid + qwenAsked + qwenAnswered, ""},
		{"two", qwenStart + qwenSaid + qwenAsked + qwenAsked2, "r1 Shell: touch one"},
		{"the second", qwenStart + qwenSaid + qwenAsked + qwenAsked2 + qwenAnswered, "r2 Shell: touch two"},
		{"of an earlier message", qwenStart + qwenSaid + qwenAsked + qwenSaid, ""},
		{"a question of the model", qwenStart + qwenSaid + qwenWants, ""},
	} {
		channel, _, _ := qwenChannel(t, newLab(t), c.events)
		got := ""
		if p, waits := channel.Permission(t.Context()); waits {
			got = p.ID + " " + p.Question
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestOpencodeChannel: the API of opencode is asked with the password of the launch, and as the agent that its screen shows.
func TestOpencodeChannel(t *testing.T) {
	l := newLab(t)
	var asked []string
	folder := l.spec.Worktree
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, password, _ := r.BasicAuth(); password != "sesame" {
			out.WriteHeader(http.StatusUnauthorized)
			return
		}
		asked = append(asked, r.Method+" "+r.URL.RequestURI()+" "+string(body))
		switch r.URL.Path {
		case "/session/ses_1/message":
			_, _ = io.WriteString(out, `[{"info":{"role":"user","agent":"build"},"parts":[{"type":"text","text":"hello"}]}]`)
		case "/session/ses_1":
			_, _ = fmt.Fprintf(out, `{"id":"ses_1","directory":%q}`, folder)
		case "/agent":
			_, _ = io.WriteString(out, `[{"name":"build"},{"name":"plan"}]`)
		case "/permission":
			_, _ = io.WriteString(out, `[{"id":"per_1","permission":"bash","patterns":["touch one"],"always":["touch *","rm *"]},{"id":"per_2","permission":"edit"}]`)
		case "/tui/select-session", "/permission/per_1/reply", "/session/ses_1/prompt_async":
			_, _ = io.WriteString(out, "true")
		default:
			out.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	prompted := ""
	serve := func(address, password string) cli.Channel {
		path := filepath.Join(l.spec.StateDir, "opencode-server.json")
		if err := os.MkdirAll(l.spec.StateDir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(`{"url":"`+address+`","password":"`+password+`","session":"`+prompted+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		return get(t, "opencode").Channel(l.with("ses_1"))
	}
	for address, password := range map[string]string{server.URL: "guess", "http://192.0.2.1:4096": "sesame", "": "sesame", "http://127.0.0.1:1": "sesame"} {
		if serve(address, password).Open(t.Context()) {
			t.Errorf("%q with %q is open", address, password)
		}
	}
	channel := serve(server.URL, "sesame")
	if !channel.Open(t.Context()) {
		t.Fatal("it is not open")
	}
	for shown, as := range map[string]string{"Plan": "plan", "": "build", "Nobody": "build"} {
		asked = nil
		if err := channel.Submit(t.Context(), "do it", cli.Screen{Mode: shown}); err != nil {
			t.Fatal(err)
		}
		want := `POST /session/ses_1/prompt_async {"agent":"` + as + `","parts":[{"text":"do it","type":"text"}]}`
		if asked[len(asked)-1] != want || !slices.Contains(asked, `POST /tui/select-session {"sessionID":"ses_1"}`) {
			t.Errorf("%q", asked)
		}
	}
	if p, waits := channel.Permission(t.Context()); !waits || p.ID != "per_1" || p.Question != "bash: touch one" || len(p.Options) != 3 || p.Options[1].About != "allow always: touch *, rm *" {
		t.Errorf("%+v %v", p, waits)
	}
	asked = nil
	for label, reply := range map[string]string{"Allow once": "once", "Allow always": "always", "Reject": "reject"} {
		asked = nil
		if err := channel.Reply(t.Context(), "per_1", cli.Option{Label: label}); err != nil || asked[0] != `POST /permission/per_1/reply {"reply":"`+reply+`"}` {
			t.Errorf("%s: %q, %v", label, asked, err)
		}
	}
	if err := channel.Reply(t.Context(), "per_9", cli.Option{Label: "Yes"}); !errors.Is(err, cli.ErrNotHandedOver) {
		t.Errorf("a permission that nobody wants: %v", err)
	}
	if said, err := get(t, "opencode").History(t.Context(), l.with("ses_1")); err != nil || len(said.Messages) != 1 || said.Messages[0].Content != "hello" {
		t.Errorf("what was said, without a program: %+v, %v", said, err)
	}
	if get(t, "opencode").Channel(l.with("")).Open(t.Context()) {
		t.Error("without a conversation there is nothing to prompt")
	}

	folder = "/elsewhere"
	for _, prompted = range []string{"", "ses_1"} { // in this launch
		channel, asked = serve(server.URL, "sesame"), nil
		if channel.Open(t.Context()) != (prompted != "") {
			t.Errorf("prompted in %q: the channel of a conversation that /move has taken away", prompted)
		}
		if err := channel.Submit(t.Context(), "do it", cli.Screen{}); !errors.Is(err, cli.ErrNotHandedOver) || strings.Contains(fmt.Sprint(asked), "POST") {
			t.Errorf("prompted in %q: a prompt for elsewhere: %v, %q", prompted, err, asked)
		}
		if seen, err := get(t, "opencode").Observe(t.Context(), l.with("ses_1"), nil); err != nil || (seen.Folder == folder) != (prompted != "") {
			t.Errorf("prompted in %q: it works in %q, %v", prompted, seen.Folder, err)
		}
	}
}

// TestOpencodeServes: a launch listens on loopback, with a password of its own, unless its arguments name a port.
func TestOpencodeServes(t *testing.T) {
	l := newLab(t)
	one, other := launch(t, "opencode", hooked(l.spec)), launch(t, "opencode", hooked(l.spec))
	if args := strings.Join(one.Argv, " "); !strings.HasSuffix(args, " --hostname 127.0.0.1 --port 0") {
		t.Error(args)
	}
	password := func(c cli.Command) string { return c.Env[len(c.Env)-1] }
	if !strings.HasPrefix(password(one), "OPENCODE_SERVER_PASSWORD=") || len(password(one)) < 50 || password(one) == password(other) {
		t.Errorf("%q, %q", password(one), password(other))
	}
	if strings.Contains(strings.Join(one.Argv, " "), strings.TrimPrefix(password(one), "OPENCODE_SERVER_PASSWORD=")) {
		t.Error("everybody can read the password")
	}
	if own := launch(t, "opencode", hooked(l.spec, "--port=7")); len(own.Env) != 1 || len(own.Files) != 1 {
		t.Errorf("%q", own.Env)
	}
}

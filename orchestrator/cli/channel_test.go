package cli_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// opencodeState is what the plugin has told while two permissions wait.
const opencodeState = `{"session":"ses_1","asked":[{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["touch one"],"always":["touch *","rm *"]},` +
	`{"id":"per_2","permission":"edit"}],"answered":{"per_0":"once"}}`

// TestOpencodeChannel: prompts and answers are orders in the inbox of the plugin. An answer counts once the plugin has told of it.
func TestOpencodeChannel(t *testing.T) {
	l := newLab(t)
	command := launch(t, "opencode", hooked(l.spec))
	if err := os.MkdirAll(l.spec.StateDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, file := range command.Files {
		if err := os.WriteFile(file.Path, file.Content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	plugin, state, listens, inbox := command.Files[0], command.Files[1].Path, command.Files[2].Path, command.Files[3].Path
	for _, part := range []string{`listens = "` + listens + `"`, `inbox = "` + inbox + `"`, `state = "` + state + `"`, `told = {"session":"","asked":[],`} {
		if !strings.Contains(string(plugin.Content), part) {
			t.Errorf("the plugin has no %s", part)
		}
	}
	if again, err := get(t, "opencode").Resume(hooked(l.spec)); err != nil || !strings.Contains(content(t, again), `told = {"session":"`+id) {
		t.Errorf("what is resumed is not told: %v", err)
	}
	channel := func(conversation string) cli.Channel { return get(t, "opencode").Channel(l.with(conversation)) }
	tell := func(text string) {
		if err := os.WriteFile(state+".new", []byte(text), 0o600); err != nil {
			t.Error(err)
		}
		if err := os.Rename(state+".new", state); err != nil {
			t.Error(err)
		}
	}
	tell(opencodeState)
	if _, waits := channel("ses_1").Permission(t.Context()); waits || channel("ses_1").Open(t.Context()) {
		t.Error("it is open before the plugin listens")
	}
	if err := os.WriteFile(listens, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		t.Fatal(err)
	}
	taken := make(chan string, 9)
	inboxStandIn(t, inbox, func(order string) {
		if strings.Contains(order, `"reply":"once"`) {
			tell(strings.ReplaceAll(opencodeState, "per_0", "per_1"))
		}
		if strings.Contains(order, `"reply":"reject"`) { // the user was faster
			tell(strings.ReplaceAll(opencodeState, "per_0", "per_2"))
		}
		taken <- order
	})
	if channel("").Open(t.Context()) || channel("ses_0").Open(t.Context()) || !channel("ses_1").Open(t.Context()) {
		t.Error("it is not open for the conversation of the last prompt alone")
	}
	next := func() string {
		for {
			if order := <-taken; order != "" {
				return order
			}
		}
	}
	one := channel("ses_1")
	if err := one.Submit(t.Context(), "do \"it\"", cli.Screen{Mode: "Plan"}); err != nil || next() != `{"prompt":"do \"it\"","mode":"Plan"}` {
		t.Errorf("another order, or %v", err)
	}
	if p, waits := one.Permission(t.Context()); !waits || p.ID != "per_1" || p.Question != "bash: touch one" || len(p.Options) != 3 || p.Options[1].About != "allow always: touch *, rm *" {
		t.Errorf("%+v %v", p, waits)
	}
	if err := one.Reply(t.Context(), "per_1", cli.Option{Label: "Allow once"}); err != nil || next() != `{"mode":"","permission":"per_1","reply":"once"}` {
		t.Errorf("another order, or %v", err)
	}
	for id, why := range map[string]string{"per_2": "somebody else has answered", "per_9": "nobody wants it"} {
		if err := one.Reply(t.Context(), id, cli.Option{Label: "Reject"}); !errors.Is(err, cli.ErrNotHandedOver) {
			t.Errorf("%s: %v", why, err)
		}
	}
	tell(`{"session":"ses_1","asked":[]}`)
	if p, waits := channel("ses_1").Permission(t.Context()); waits {
		t.Errorf("%+v", p)
	}
}

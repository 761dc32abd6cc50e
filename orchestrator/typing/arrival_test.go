package typing

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/session"
	"paw/session/turn"
)

func TestPromptThatJoinsATurnHasArrived(t *testing.T) {
	const prompt = "  say \"a < b && c\" é\nand more"
	for name, arrive := range map[string]func(one *turn.Turn, transcript string) error{
		"told by a hook": func(one *turn.Turn, _ string) error { return one.Execute(prompt) },
		"in the transcript": func(_ *turn.Turn, transcript string) error {
			return os.WriteFile(transcript, []byte(`{"old":true}`+"\n"+`{"prompt":"  say \"a < b && c\" é\nand more"}`+"\n"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
			cli, _ := clis.New(nil).Get("claude")
			s := &session.Session{Name: "shop"}
			w := &session.Agent{Name: "one", TranscriptPath: filepath.Join(t.TempDir(), "transcript")}
			if err := os.WriteFile(w.TranscriptPath, []byte(`{"old":true}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			one := turn.New(h.TurnDir("shop", "one"), 1, h.Now)
			if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt}); err != nil {
				t.Fatal(err)
			}
			before := expect(t.Context(), h.Agent(s, w), cli, prompt)
			before.begin(h.Agent(s, w))
			if before.number != 1 || before.Queued() {
				t.Fatalf("last turn %d, queued %v: the same prompt began that turn, and has not come again", before.number, before.Queued())
			}
			if err := arrive(one, w.TranscriptPath); err != nil {
				t.Fatal(err)
			}
			if !before.Queued() {
				t.Error("the prompt arrived, and nothing says so")
			}
		})
	}
}

// codex keeps a prompt that comes while a tool runs to itself, and only its list of prompts says that it took it.
func TestPromptThatCodexTookWhileItRunsATool(t *testing.T) {
	const id, other, prompt = "01a1fb99-2663-7c13-80b5-311c45f2f134", "01a1fba0-7348-7553-975f-87745a66d304", "go on\nand \"on\""
	user := t.TempDir()
	rollout := filepath.Join(user, "sessions", "2026", "11", "21", "rollout-2026-11-21T00-54-40-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	appendTo(t, rollout, `{"type":"session_meta","payload":{"id":"`+id+`"}}`)
	history := filepath.Join(user, "history.jsonl")
	took := func(conversation, text string) {
		appendTo(t, history, `{"session_id":"`+conversation+`","ts":`+fmt.Sprint(time.Now().Unix())+`,"text":"`+text+`"}`)
	}
	took(id, `go on\nand \"on\"`)
	cli, _ := clis.New(nil).Get("codex")
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now, CLIs: clis.New(nil)}
	s := &session.Session{Name: "shop"}
	w := &session.Agent{Name: "one", CLI: "codex", ConversationIDs: []string{id}, Environment: map[string]string{"CODEX_HOME": user}}
	one := turn.New(h.TurnDir("shop", "one"), 1, h.Now)
	if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt, TurnID: "t1"}); err != nil {
		t.Fatal(err)
	}
	before := expect(t.Context(), h.Agent(s, w), cli, prompt)
	before.begin(h.Agent(s, w))
	took(other, `go on\nand \"on\"`)
	took(id, `or go on`)
	took(id, `go on like that`)
	if before.taken() {
		t.Error("taken by another conversation, or another prompt")
	}
	took(id, `go on\nand \"on\"`)
	if !before.taken() || before.Queued() || !stillRuns(t.Context(), h.Agent(s, w), 1) {
		t.Errorf("taken %v, queued %v, turn 1 runs %v", before.taken(), before.Queued(), stillRuns(t.Context(), h.Agent(s, w), 1))
	}
	if stillRuns(t.Context(), h.Agent(s, w), 0) {
		t.Error("a turn before the last one runs")
	}
	at := time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano)
	appendTo(t, rollout, `{"timestamp":"`+at+`","type":"event_msg","payload":{"type":"task_complete","turn_id":"t1","error":{"message":"overload"}}}`)
	if stillRuns(t.Context(), h.Agent(s, w), 1) {
		t.Error("a turn runs that failed")
	}
}

func appendTo(t *testing.T, path, line string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(line + "\n"); err != nil {
		t.Fatal(err)
	}
}

func TestPromptInALineOfARecord(t *testing.T) {
	since := time.Date(2026, 11, 22, 10, 0, 0, 500e6, time.UTC)
	for _, c := range []struct {
		cli, prompt, line string
		want              bool
	}{
		{"codex", "go", `{"text":"go"}`, true},
		{"codex", "go", `{"text":"go\nthere"}`, false},
		{"codex", "go", `{"text":"go \t \r\n"}`, true},
		{"codex", "go", `{"text":"\n\n \tgo"}`, true},
		{"codex", "  go \nthere", `{"text":"go \nthere"}`, true},
		{"codex", "go", `{"no":"going","deep":[{"text":"go"}]}`, true},
		{"codex", "go", `{"text":"going"}`, false},
		{"codex", "go", `{"text":"rm everything go"}`, false},
		{"codex", "go", `{"text":"say \"go\""}`, false},
		{"codex", `say "go"`, `{"text":"say \"go\""}`, true},
		{"codex", `a\b < c & é`, `{"text":"a\\b < c & é"}`, true},
		{"codex", "go", `{"text":"go"`, false}, // cut short
		{"codex", "\tgo\n\tthere", `{"text":"go\n    there"}`, false},
		{"claude", "\tgo\n\tthere", `{"text":"go\n    there"}`, true},
		{"claude", "go \u202ethere", `{"text":"go there"}`, true},
		// The line of an earlier prompt may come late.
		{"claude", "go", `{"timestamp":"2026-11-22T10:00:00.400Z","text":"go"}`, false},
		{"claude", "go", `{"timestamp":"2026-11-22T10:00:00.500Z","text":"go"}`, true},
		{"demo", "go", `{"at":"2026-11-22T09:59:59.9Z","description":"go"}`, false},
		{"codex", "go", `{"ts":1795341600,"text":"go"}`, true},
		{"codex", "go", `{"ts":1795341599,"text":"go"}`, false},
	} {
		cli, _ := clis.New(nil).Get(c.cli)
		a := Arrival{cli: cli, prompt: cli.Canonical(c.prompt), since: since}
		if got := a.inLine([]byte(c.line)); got != c.want {
			t.Errorf("%s: %q in %s: got %v", c.cli, c.prompt, c.line, got)
		}
	}
}

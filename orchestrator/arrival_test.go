package orchestrator

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/agent"
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
			p := &Paw{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
			cli, _ := agent.New(nil).Get("claude")
			s := &session.Session{Name: "shop"}
			w := &session.Worktree{Agent: "one", TranscriptPath: filepath.Join(t.TempDir(), "transcript")}
			if err := os.WriteFile(w.TranscriptPath, []byte(`{"old":true}`+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			one := turn.New(p.turnDir("shop", "one"), 1, p.Now)
			if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt}); err != nil {
				t.Fatal(err)
			}
			before := p.arrivalOf(t.Context(), s, w, cli, prompt)
			if before.number != 1 || before.queued() {
				t.Fatalf("last turn %d, queued %v: the same prompt began that turn, and has not come again", before.number, before.queued())
			}
			if err := arrive(one, w.TranscriptPath); err != nil {
				t.Fatal(err)
			}
			if !before.queued() {
				t.Error("the prompt arrived, and nothing says so")
			}
		})
	}
}

// codex keeps a prompt that comes while a tool runs to itself, and only its list of prompts says that it took it.
func TestPromptThatCodexTookWhileItRunsATool(t *testing.T) {
	const id, other, prompt = "01a1fb99-2663-7c13-80b5-311c45f2f134", "01a1fba0-7348-7553-975f-87745a66d304", "go on\nand \"on\""
	home := t.TempDir()
	rollout := filepath.Join(home, "sessions", "2026", "11", "21", "rollout-2026-11-21T00-54-40-"+id+".jsonl")
	if err := os.MkdirAll(filepath.Dir(rollout), 0o700); err != nil {
		t.Fatal(err)
	}
	appendTo(t, rollout, `{"type":"session_meta","payload":{"id":"`+id+`"}}`)
	history := filepath.Join(home, "history.jsonl")
	took := func(conversation, text string) {
		appendTo(t, history, `{"session_id":"`+conversation+`","ts":1795268185,"text":"`+text+`"}`)
	}
	took(id, `go on\nand \"on\"`)
	cli, _ := agent.New(nil).Get("codex")
	p := &Paw{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now, CLIs: agent.New(nil)}
	s := &session.Session{Name: "shop"}
	w := &session.Worktree{Agent: "one", CLI: "codex", ConversationIDs: []string{id}, Environment: map[string]string{"CODEX_HOME": home}}
	one := turn.New(p.turnDir("shop", "one"), 1, p.Now)
	if err := one.Start(turn.Start{Type: turn.TypePrompt, Prompt: prompt, TurnID: "t1"}); err != nil {
		t.Fatal(err)
	}
	before := p.arrivalOf(t.Context(), s, w, cli, prompt)
	took(other, `go on\nand \"on\"`)
	took(id, `or go on`)
	took(id, `go on like that`)
	if before.taken() {
		t.Error("taken by another conversation, or another prompt")
	}
	took(id, `go on\nand \"on\"`)
	if !before.taken() || before.queued() || !p.stillRuns(t.Context(), s, w, 1) {
		t.Errorf("taken %v, queued %v, turn 1 runs %v", before.taken(), before.queued(), p.stillRuns(t.Context(), s, w, 1))
	}
	if p.stillRuns(t.Context(), s, w, 0) {
		t.Error("a turn before the last one runs")
	}
	at := time.Now().UTC().Add(time.Second).Format(time.RFC3339Nano)
	appendTo(t, rollout, `{"timestamp":"`+at+`","type":"event_msg","payload":{"type":"task_complete","turn_id":"t1","error":{"message":"overload"}}}`)
	if p.stillRuns(t.Context(), s, w, 1) {
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

func TestMark(t *testing.T) {
	for _, c := range []struct {
		prompt, line string
		want         bool
	}{
		{"go", `{"text":"go"}`, true},
		{"go", `{"text":"go\nthere"}`, true},
		{"go", `{"text":"go \t \r\nthere"}`, true},
		{"go", `{"text":"\n\n \tgo"}`, true},
		{"  go \nthere", `{"text":"go\nthere"}`, true},
		{"go", `{"no":"going","text":"go"}`, true},
		{"go", `{"text":"algorithm"}`, false},
		{"go", `{"text":"going"}`, false},
		{"go", `{"text":"let it go"}`, false},
		{"go", `{"text":"let\ngo"}`, false},
		{"go", `{"text":"C:\\ngo"}`, false},
		{"go", `{"text":"say \"go\""}`, false},
		{`say "go"`, `{"text":"say \"go\""}`, true},
		{`a\b < c & é`, `{"text":"a\\b < c & é"}`, true},
		{"", `{"text":""}`, false},
	} {
		if got := markOf(c.prompt).in([]byte(c.line)); got != c.want {
			t.Errorf("%q in %s: got %v", c.prompt, c.line, got)
		}
	}
}

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/clis"
)

var update = flag.Bool("update", false, "write what the transcripts of testdata/history are read as")

// recording is a conversation that a real CLI wrote down, and where it lies.
type recording struct {
	name, cli, id string
	file          func(l lab) string // below HOME
	more          func(l lab)        // what else has to be there
}

const (
	codexSample   = "01a1fb99-2663-7c13-80b5-311c45f2f134"
	codexResumed  = "01a1fb9c-4339-77c0-8020-5e879127aa17"
	codexForked   = "01a1fba0-7348-7553-975f-87745a66d304"
	qwenSample    = "11111111-2222-4333-8444-555555555555"
	copilotSample = "f8582031-12a9-43e4-8640-9df83bc622ea"
	opencodeID    = "ses_e04587f94ffePrMAnaMHZnsxAW"
)

func rollout(id string) string {
	return filepath.Join(".codex", "sessions", "2026", "11", "21", "rollout-2026-11-21T01-00-00-"+id+".jsonl")
}

var recordings = []recording{
	{name: "claude.jsonl", cli: "claude", id: claudeID, file: func(l lab) string {
		return filepath.Join(".claude", "projects", dash(l.worktree), claudeID+".jsonl")
	}},
	{name: "codex.jsonl", cli: "codex", id: codexSample, file: func(lab) string { return rollout(codexSample) }},
	{name: "codex-resumed.jsonl", cli: "codex", id: codexResumed, file: func(lab) string { return rollout(codexResumed) }},
	{name: "codex-fork.jsonl", cli: "codex", id: codexForked, file: func(lab) string { return rollout(codexForked) }, more: func(l lab) {
		l.put(rollout(codexResumed), l.sample("history/codex-resumed.jsonl"))
	}},
	{name: "qwen.jsonl", cli: "qwen", id: qwenSample, file: func(l lab) string {
		return filepath.Join(".qwen", "projects", dash(l.worktree), "chats", qwenSample+".jsonl")
	}},
	{name: "copilot.jsonl", cli: "copilot", id: copilotSample, file: func(lab) string {
		return filepath.Join(".copilot", "session-state", copilotSample, "events.jsonl")
	}},
	{name: "pi.jsonl", cli: "pi", id: qwenSample, file: func(l lab) string { return piFile(l, qwenSample) }},
	{name: "opencode.json", cli: "opencode", id: opencodeID, file: func(lab) string { return "export.json" }},
}

// read reads a conversation whose file has this content.
func (r recording) read(l lab, content string) cli.Transcript {
	l.t.Helper()
	path := l.put(r.file(l), content)
	if r.more != nil {
		r.more(l)
	}
	s := l.with(r.id)
	if r.cli == "opencode" {
		s.Executable = exporter(l, path)
	}
	got, err := get(l.t, r.cli).History(context.Background(), s)
	if err != nil {
		l.t.Fatal(err)
	}
	return got
}

// exporter stands in for opencode: it exports a file, and has no other conversation.
func exporter(l lab, path string) string {
	l.t.Helper()
	l.put(".local/share/opencode/opencode.db", "")
	script := l.put("bin/opencode", "#!/bin/sh\n"+
		`test "$1 $2 $3" = "--pure export `+opencodeID+`" || { echo "Error: Session not found: $3" >&2; exit 1; }`+"\n"+
		"echo Exporting session: $3 >&2\ncat '"+path+"'\n")
	if err := os.Chmod(script, 0o700); err != nil {
		l.t.Fatal(err)
	}
	return script
}

// encoded is a transcript as it stands in a golden file: what is known of it, then a line for each message.
func encoded(t *testing.T, got cli.Transcript) string {
	t.Helper()
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(map[string]any{"id": got.ID, "skipped": got.Skipped})
	for _, m := range got.Messages {
		err = errors.Join(err, encoder.Encode(m))
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHistory compares what recorded transcripts are read as with what they say, message by message.
func TestHistory(t *testing.T) {
	for _, r := range recordings {
		t.Run(r.name, func(t *testing.T) {
			l := newLab(t)
			got := encoded(t, r.read(l, l.sample("history/"+r.name)))
			golden := filepath.Join("testdata", "history", strings.TrimSuffix(strings.TrimSuffix(r.name, "l"), ".json")+".golden")
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestHistoryTorn: a crash tears the last line; it is counted, and what is before it stays. So does a line in the midst.
func TestHistoryTorn(t *testing.T) {
	for _, r := range recordings {
		if r.cli == "opencode" {
			continue // a database has no lines
		}
		t.Run(r.name, func(t *testing.T) {
			l := newLab(t)
			content := l.sample("history/" + r.name)
			whole := r.read(l, content)
			torn := r.read(l, content+`{"type":"user","message":{"role":"us`)
			if torn.Skipped != whole.Skipped+1 {
				t.Errorf("%d lines were skipped, of the whole file %d", torn.Skipped, whole.Skipped)
			}
			if diff := cmp.Diff(whole.Messages, torn.Messages); diff != "" {
				t.Errorf("-whole +torn\n%s", diff)
			}
			unknown := r.read(l, content+`{"type":"from the future","uuid":"","timestamp":"2027-01-01T00:00:00Z"}`+"\n")
			if unknown.Skipped != whole.Skipped {
				t.Errorf("with an unknown line %d were skipped, of the whole file %d", unknown.Skipped, whole.Skipped)
			}
		})
	}
}

// TestHistoryMissing: a conversation that is not there, and CLIs that keep none that could be read.
func TestHistoryMissing(t *testing.T) {
	l := newLab(t)
	l.put(".local/share/opencode/opencode.db", "")
	s := l.with("00000000-0000-4000-8000-000000000000")
	s.Executable = exporter(l, "/nowhere")
	for _, cliName := range []string{"claude", "codex", "opencode", "qwen", "copilot", "pi", "demo"} {
		got, err := get(t, cliName).History(context.Background(), s)
		var missing *cli.ConversationError
		if !errors.As(err, &missing) || missing.CLI != cliName || len(got.Messages) > 0 {
			t.Errorf("%s: %v, %+v", cliName, err, got)
		}
		if _, err := get(t, cliName).History(context.Background(), l.with("../../etc/passwd")); !errors.As(err, &missing) {
			t.Errorf("%s: an id that is a path: %v", cliName, err)
		}
	}
	s.Executable = ""
	if _, err := get(t, "opencode").History(context.Background(), s); !errors.Is(err, cli.ErrNotInstalled) {
		t.Errorf("opencode that is not installed: %v", err)
	}
	amp, _ := clis.New(map[string]config.CLI{"amp": {Command: []string{"amp"}}}).Get("amp")
	for _, c := range []cli.CLI{get(t, "aider"), amp} {
		if _, err := c.History(context.Background(), s); !errors.Is(err, cli.ErrNoTranscript) {
			t.Errorf("%s: %v", c.Name(), err)
		}
	}
}

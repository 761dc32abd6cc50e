package qwen

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/orchestrator/cli"
	"paw/session/turn"
)

// qwen says that it is idle after each turn, and its record how the turn ended. What ends a turn here must not be an end
// that another hook is about to report.
func TestEndUnheard(t *testing.T) {
	lines := qwenEnds(t)
	hang, aborted, prompt, failed := lines[7], lines[8], lines[9], lines[10]
	call, result, words := lines[2], lines[4], lines[6]
	answer := lines[5] + words
	before := strings.Join(lines[:7], "") // a turn that was answered
	const atOnce = time.Duration(0)
	for _, c := range []struct {
		name    string
		record  string
		began   string // line that is the turn's first, "" for the first of the record
		kind    turn.Kind
		message string
		final   time.Duration // how long the record may lag behind
	}{
		{"Esc", hang + aborted, "", turn.KindInterrupt, "", atOnce},
		{"Esc after some words", hang + aborted + words, "", turn.KindInterrupt, "", atOnce},
		{"Esc in the midst of the words", hang + words, "", turn.KindInterrupt, "", 200 * time.Millisecond},
		{"Esc in the midst of the words after a tool", prompt + lines[1] + call + result + words, "", turn.KindInterrupt, "", 200 * time.Millisecond},
		{"Esc before anything", prompt, "", turn.KindInterrupt, "", 2 * time.Second},
		{"Esc while a tool runs", prompt + call, "", turn.KindInterrupt, "", 2 * time.Second},
		{"Esc after a tool", prompt + call + result, "", turn.KindInterrupt, "", 2 * time.Second},
		{"an error", prompt + failed, "", turn.KindError, "401 fakellm scripted error 401", atOnce},
		{"an error that was tried again", prompt + failed + answer, "", turn.KindEnd, "qwen ok", 2 * time.Second},
		{"an answer", prompt + call + result + answer, "", turn.KindEnd, "qwen ok", 2 * time.Second},
		{"an answer after an Esc", hang + aborted + prompt + answer, "", turn.KindEnd, "qwen ok", 2 * time.Second},
		{"an error after an answer", prompt + answer + prompt + failed, "", turn.KindError, "401 fakellm scripted error 401", atOnce},
		{"Esc after an answer", prompt + answer + hang, "", turn.KindInterrupt, "", 2 * time.Second},
		{"no record", "", "", turn.KindInterrupt, "", 2 * time.Second},
		{"only the turn before is recorded yet", before, hang, turn.KindInterrupt, "", 2 * time.Second},
		{"only the Esc before is recorded yet", before + hang + aborted, prompt, turn.KindInterrupt, "", 2 * time.Second},
		{"only the error before is recorded yet", before + hang + failed, "2026-11-21T01:10:39.431Z", turn.KindInterrupt, "", 2 * time.Second},
		{"Esc, recorded behind the turn before", before + hang + aborted, hang, turn.KindInterrupt, "", atOnce},
		{"an error, recorded behind an Esc", before + hang + aborted + prompt + failed, prompt, turn.KindError, "401 fakellm scripted error 401", atOnce},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec := cli.Spec{StateDir: t.TempDir(), ConversationID: "c"}
			chat := filepath.Join(spec.StateDir, "c.jsonl")
			if c.record != "" {
				if err := os.WriteFile(chat, []byte(c.record), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			last := &turn.Record{State: turn.InProgress}
			if c.began != "" {
				last.StartedAt = timeOf(t, c.began)
			}
			at := last.StartedAt.Add(time.Millisecond)
			rest(t, spec, "c", at)
			for _, waited := range []time.Duration{0, 199 * time.Millisecond, 200 * time.Millisecond, 1999 * time.Millisecond, 2 * time.Second} {
				e := endUnheard(spec, chat, last, at.Add(waited))
				switch {
				case waited < c.final && e != nil:
					t.Errorf("after %s: %q %q", waited, e.Kind, e.Message)
				case waited >= c.final && e == nil:
					t.Errorf("after %s: no end", waited)
				case e != nil && (e.Kind != c.kind || e.Message != c.message || e.Conversation != "c" || !e.At.Equal(at)):
					t.Errorf("after %s: %q %q in %q at %s", waited, e.Kind, e.Message, e.Conversation, e.At)
				}
			}
			if e := endUnheard(spec, chat, last, at.Add(-time.Hour)); e == nil || e.Kind != c.kind {
				t.Errorf("after the clock was set back: %v", e)
			}
		})
	}
}

// A notice is about a turn that began before it, in the same conversation.
func TestNoEndWithoutANotice(t *testing.T) {
	began := time.Date(2026, 11, 21, 1, 10, 36, 740e6, time.UTC)
	last := &turn.Record{State: turn.InProgress, StartedAt: began}
	spec := cli.Spec{StateDir: t.TempDir(), ConversationID: "c"}
	check := func(what string) {
		t.Helper()
		if e := endUnheard(spec, "", last, began.Add(time.Hour)); e != nil {
			t.Errorf("%s: %q", what, e.Kind)
		}
	}
	check("no notice")
	rest(t, spec, "c", began)
	check("the notice of the turn before")
	rest(t, spec, "other", began.Add(time.Second))
	check("the notice of another conversation")
}

// A turn goes on while its subagents work in the background, though qwen is idle meanwhile. At the end of each, qwen prompts itself.
func TestNoEndWhileSubagentsWork(t *testing.T) {
	e, err := Driver.(driver).Event("Stop", []byte(`{"session_id":"c","background_tasks":[{"status":"running"},{"status":"completed"},{"status":"running"}]}`))
	if err != nil || e.Subagents != 2 {
		t.Fatalf("%d subagents, %v", e.Subagents, err)
	}
	lines := qwenEnds(t)
	spec := cli.Spec{StateDir: t.TempDir(), ConversationID: "c"}
	chat := filepath.Join(spec.StateDir, "c.jsonl")
	last := &turn.Record{State: turn.InProgress, StartedAt: timeOf(t, lines[0]), Held: &turn.Held{Subagents: 2, At: timeOf(t, lines[6]).Add(time.Millisecond)}}
	rest(t, spec, "c", last.Held.At.Add(time.Second))
	check := func(record []string, kind turn.Kind) {
		t.Helper()
		if err := os.WriteFile(chat, []byte(strings.Join(record, "")), 0o600); err != nil {
			t.Fatal(err)
		}
		if e := endUnheard(spec, chat, last, last.Held.At.Add(time.Hour)); (e == nil) != (kind == "") || e != nil && e.Kind != kind {
			t.Errorf("after %d lines: %+v, not %q", len(record), e, kind)
		}
	}
	check(lines[:7], "")
	check(lines[:9], turn.KindInterrupt) // an Esc after the report of a subagent
}

// The record of a turn that an Esc stopped is written by qwen, as is the notice: Observe reads both.
func TestObserveReadsTheNotice(t *testing.T) {
	dir := t.TempDir()
	spec := cli.Spec{StateDir: dir, Worktree: dir, ConversationID: "c", Env: []string{"QWEN_RUNTIME_DIR=" + dir}}
	last := &turn.Record{State: turn.InProgress, StartedAt: time.Now().Add(-time.Hour)}
	for _, record := range []string{"", strings.Join(qwenEnds(t)[:7], "")} {
		file := Driver.(driver).file(spec)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if record != "" {
			if err := os.WriteFile(file, []byte(record), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		rest(t, spec, "c", time.Now().Add(-time.Minute))
		seen, err := Driver.(driver).Observe(t.Context(), spec, last)
		if err != nil || seen.Ended == nil || seen.Ended.Kind != turn.KindInterrupt || !seen.Known || seen.Busy {
			t.Errorf("with a record of %d bytes: %+v, %v", len(record), seen, err)
		}
	}
}

// A turn begins when its hook runs, unless that is long after qwen called the hook: an Esc, and the notice after it,
// can come in between.
func TestBegins(t *testing.T) {
	now := time.Date(2026, 11, 21, 1, 10, 36, 740e6, time.UTC)
	for called, want := range map[time.Time]time.Time{
		{}:                                now,
		now:                               now,
		now.Add(-999 * time.Millisecond):  now,
		now.Add(-5 * time.Second):         now.Add(-4 * time.Second),
		now.Add(time.Hour):                now, // the clock was set back
		now.Add(-1000 * time.Millisecond): now,
	} {
		if got := begins(called, now); !got.Equal(want) {
			t.Errorf("called at %s: %s, want %s", called, got, want)
		}
	}
}

// rest stores a notice as the hook reports it.
func rest(t *testing.T, spec cli.Spec, conversation string, at time.Time) {
	t.Helper()
	payload := fmt.Sprintf(`{"session_id":%q,"notification_type":"idle_prompt","timestamp":%q}`, conversation, at.UTC().Format(time.RFC3339Nano))
	e, err := Driver.(driver).Event("Notification", []byte(payload))
	if err != nil || e.Kind != turn.KindIdle {
		t.Fatalf("%q, %v", e.Kind, err)
	}
	if err := (Driver.(driver)).Rests(spec, e); err != nil {
		t.Fatal(err)
	}
}

func qwenEnds(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile("../testdata/qwen-ends.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(string(data), "\n")
}

// timeOf returns the time of a line of a record, or a time.
func timeOf(t *testing.T, line string) time.Time {
	t.Helper()
	if at, err := time.Parse(time.RFC3339, line); err == nil {
		return at
	}
	var fields struct {
		Timestamp time.Time `json:"timestamp"`
	}
	if err := json.Unmarshal([]byte(line), &fields); err != nil {
		t.Fatal(err)
	}
	return fields.Timestamp
}

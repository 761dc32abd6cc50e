package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"paw/session/turn"
)

// qwen says that it is idle after each turn, at the same time as it says how the turn ended: what ends a turn here must
// not be an end that the other hook reports.
func TestQwenIdle(t *testing.T) {
	data, err := os.ReadFile("testdata/qwen-ends.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	hang, aborted, prompt, failed := lines[7], lines[8], lines[9], lines[10]
	call, result, words := lines[2], lines[4], lines[6]
	answer := lines[5] + words
	for _, c := range []struct {
		name    string
		lines   []string
		kind    turn.Kind // "" for no event
		message string
	}{
		{"Esc", []string{hang, aborted}, turn.KindInterrupt, ""},
		{"Esc after some words", []string{hang, aborted, words}, turn.KindInterrupt, ""},
		{"Esc in the midst of the words", []string{hang, words}, turn.KindInterrupt, ""},
		{"Esc in the midst of the words after a tool", []string{prompt, lines[1], call, result, words}, turn.KindInterrupt, ""},
		{"Esc before anything", []string{prompt}, turn.KindInterrupt, ""},
		{"Esc while a tool runs", []string{prompt, call}, turn.KindInterrupt, ""},
		{"Esc after a tool", []string{prompt, call, result}, turn.KindInterrupt, ""},
		{"an error", []string{prompt, failed}, turn.KindError, "401 fakellm scripted error 401"},
		{"an error that was tried again", []string{prompt, failed, answer}, "", ""},
		{"an answer", []string{prompt, call, result, answer}, "", ""},
		{"an answer after an Esc", []string{hang, aborted, prompt, answer}, "", ""},
		{"an error after an answer", []string{prompt, answer, prompt, failed}, turn.KindError, "401 fakellm scripted error 401"},
		{"Esc after an answer", []string{prompt, answer, hang}, turn.KindInterrupt, ""},
		{"no record", nil, turn.KindInterrupt, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "c.jsonl")
			if c.lines != nil {
				if err := os.WriteFile(path, []byte(strings.Join(c.lines, "")), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			checkIdle(t, path, c.kind, c.message)
		})
	}
}

// The record of an end may be later than the notice.
func TestQwenIdleBeforeItsRecord(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/qwen-ends.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(data), "\n")
	path := filepath.Join(t.TempDir(), "c.jsonl")
	if err := os.WriteFile(path, []byte(lines[9]), 0o600); err != nil {
		t.Fatal(err)
	}
	written := time.AfterFunc(200*time.Millisecond, func() {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.WriteString(lines[10])
			f.Close()
		}
		if err != nil {
			t.Error(err)
		}
	})
	defer written.Stop()
	checkIdle(t, path, turn.KindError, "401 fakellm scripted error 401")
}

// checkIdle compares what the notice means over the record at path.
func checkIdle(t *testing.T, path string, wantKind turn.Kind, wantMessage string) {
	t.Helper()
	payload, err := json.Marshal(map[string]string{"session_id": "c", "transcript_path": path, "notification_type": "idle_prompt"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := get(t, "qwen").Event("Notification", payload)
	if err != nil || e.Kind != wantKind || e.Message != wantMessage {
		t.Errorf("%q %q, %v", e.Kind, e.Message, err)
	}
}

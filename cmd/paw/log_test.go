package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator"
	"paw/orchestrator/cli"
	"paw/session/history"
)

func TestFewLines(t *testing.T) {
	long := strings.Repeat("é", longestLine)
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"one\ntwo", "one\ntwo"},
		{"1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\n6"},
		{"1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\n5\n6\n... 1 more line"},
		{long, long},
		{long + "x", long + "...\n... 1 more character"},
		{long + "xy\n2\n3\n4\n5\n6\n7\n8", long + "...\n2\n3\n4\n5\n6\n... 2 more lines, 2 more characters"},
	} {
		if diff := cmp.Diff(c.want, fewLines(c.text)); diff != "" {
			t.Errorf("%q: -want +got\n%s", c.text, diff)
		}
	}
}

func TestTurnsWere(t *testing.T) {
	for want, list := range map[string][]int{"turn 3 was": {3}, "turns 1 to 2 were": {1, 2}, "turns 1 to 3, 5, 7 to 8 were": {1, 2, 3, 5, 7, 8}} {
		if got := turnsWere(list); got != want {
			t.Errorf("%v: %q, want %q", list, got, want)
		}
	}
}

// TestPrintLog: the log shows all messages, with colours on a terminal and else without.
func TestPrintLog(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	l := &orchestrator.Logged{Agent: "demo", Transcript: cli.Transcript{Messages: []history.Message{
		{Role: history.RoleUser, Content: "two\n\nlines \x1b[31m\n", Timestamp: at},
		{Role: history.RoleAssistant, ToolCalls: []history.ToolCall{{ID: "a", Name: "Bash\x1b[2J", Arguments: "{\n  \"command\": \"ls\"\n}"}}, Timestamp: at},
		{Role: history.RoleTool, ToolCallID: "a", Content: "x\r\ny\a"},
		{Role: history.RoleSystem},
	}}}
	print := func(coloured, full bool) string {
		var out bytes.Buffer
		o := logOptions{invocation: &invocation{printer: printer{stdout: &out, stderr: &bytes.Buffer{}, colours: &coloured}}, full: full}
		o.printLog("shop", l)
		return out.String()
	}
	want := `user  2026-01-02 03:04:05
  two

  lines

assistant  2026-01-02 03:04:05
  → Bash { "command": "ls" }

tool  Bash
  x
  y

system
`
	if diff := cmp.Diff(want, print(false, false)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if got := print(true, false); !strings.HasPrefix(got, "\x1b[38;5;28;1muser\x1b[0m  2026") || strings.Contains(got, "\x1b[31m") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("on a terminal: %q", got)
	}
	if got := print(false, true); !strings.Contains(got, "  → Bash {\n    \"command\": \"ls\"\n  }\n") {
		t.Errorf("in full: %s", got)
	}
}

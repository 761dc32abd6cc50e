package tmux

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestTimer starts two timers of one pane: both programs run, with no environment but the given one, and the mark tells
// the later one.
func TestTimer(t *testing.T) {
	c := privateClient(t)
	created, err := c.Create(t.Context(), NewSession{Name: "paw-s", PawSession: "s", Dir: "/", Agents: agentPanes(t, "s", 1)})
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	program := filepath.Join(dir, "a program; #{pid}")
	script := "#!/bin/sh\necho \"$1 $A_FOLDER ${TMUX-none}\" >'" + dir + "/'\"$1\"\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	pane := created.Panes["a1"]
	if mark, err := c.TimerMark(t.Context(), pane, ""); mark != "" || err != nil {
		t.Errorf("mark %q, %v", mark, err)
	}
	for _, mark := range []string{"one", "two"} {
		timer := Timer{Pane: pane, Mark: mark, After: 50 * time.Millisecond, Program: program, Words: []string{mark}, Env: map[string]string{"A_FOLDER": `$HOME "x"`}}
		if err := c.SetTimer(t.Context(), created.SessionID, timer); err != nil {
			t.Fatal(err)
		}
	}
	for _, mark := range []string{"one", "two"} {
		want, said := mark+` $HOME "x" none`+"\n", ""
		waitFor(t, "a program that was started", func() bool {
			data, _ := os.ReadFile(filepath.Join(dir, mark))
			said = string(data)
			return said != ""
		})
		if said != want {
			t.Errorf("%s said %q, want %q", mark, said, want)
		}
	}
	if mark, err := c.TimerMark(t.Context(), pane, ""); mark != "two" || err != nil {
		t.Errorf("mark %q, %v", mark, err)
	}
	other := Timer{Name: "other", Pane: pane, Mark: "three", After: time.Hour, Program: program, Words: []string{"three"}}
	if err := c.SetTimer(t.Context(), created.SessionID, other); err != nil {
		t.Fatal(err)
	}
	first, _ := c.TimerMark(t.Context(), pane, "")
	second, _ := c.TimerMark(t.Context(), pane, "other")
	if first != "two" || second != "three" {
		t.Errorf("marks %q and %q", first, second)
	}
}

func TestTimerTakesWordsOnly(t *testing.T) {
	c := New("/nonexistent/socket")
	for name, call := range map[string]struct {
		session string
		timer   Timer
	}{
		"name":     {"$1", Timer{Pane: "%1", Mark: "m", Name: "a b"}},
		"session":  {"shop", Timer{Pane: "%1", Mark: "m"}},
		"pane":     {"$1", Timer{Pane: "one", Mark: "m"}},
		"mark":     {"$1", Timer{Pane: "%1", Mark: "a b"}},
		"word":     {"$1", Timer{Pane: "%1", Mark: "m", Words: []string{"a;b"}}},
		"variable": {"$1", Timer{Pane: "%1", Mark: "m", Env: map[string]string{"A B": "x"}}},
	} {
		if err := c.SetTimer(t.Context(), call.session, call.timer); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

// TestTimerSaysNothing: tmux shows what a program of a timer says, and that it has failed, in view mode, which takes the keys of
// the pane.
func TestTimerSaysNothing(t *testing.T) {
	c := privateClient(t)
	created, err := c.Create(t.Context(), NewSession{Name: "paw-s", PawSession: "s", Dir: "/", Agents: agentPanes(t, "s", 1)})
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho out; echo err >&2; touch '"+dir+"/'\"$1\"; exit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{"one", "two"} { // tmux has dealt with the first when it has started the second
		timer := Timer{Pane: created.Panes["a1"], Mark: mark, After: 10 * time.Millisecond, Program: program, Words: []string{mark}}
		if err := c.SetTimer(t.Context(), created.SessionID, timer); err != nil {
			t.Fatal(err)
		}
		waitFor(t, "a program that was started", func() bool { _, err := os.Stat(filepath.Join(dir, mark)); return err == nil })
	}
	if mode, err := c.fact(t.Context(), created.Panes["a1"], "#{pane_mode}"); mode != "" || err != nil {
		t.Errorf("the pane is in %q, %v", mode, err)
	}
}

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/orchestrator/cli"
)

// TestClaudeAway: what claude's daemon runs is the agent's where it has the agent's conversation or worktree, and nothing else is.
func TestClaudeAway(t *testing.T) {
	l := newLab(t)
	link := filepath.Join(l.home, "link")
	if err := os.Symlink(l.worktree, link); err != nil {
		t.Fatal(err)
	}
	const other = "0f1cb337-3bbd-4023-a2c8-51d21e2faa33"
	for _, c := range []struct {
		name, kind, conversation, cwd string
		pid                           int
		away                          bool
	}{
		{"its conversation", "bg", claudeEnds, "/elsewhere", os.Getpid(), true},
		{"its worktree", "bg", other, l.worktree, os.Getpid(), true},
		{"its worktree by another way", "bg", other, link, os.Getpid(), true},
		{"another worktree", "bg", other, l.worktree + "_2", os.Getpid(), false},
		{"a terminal", "interactive", claudeEnds, l.worktree, os.Getpid(), false},
		{"a terminal of an older claude", "", claudeEnds, l.worktree, os.Getpid(), false},
		{"a spare one", `bg","spare":true,"x":"`, other, l.worktree, os.Getpid(), false},
		{"dead", "bg", claudeEnds, l.worktree, 2147483646, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l.put(filepath.Join(".claude", "sessions", "1.json"), fmt.Sprintf(
				`{"pid":%d,"sessionId":%q,"cwd":%q,"kind":"%s","jobId":"85ed78df","status":"busy","statusUpdatedAt":1}`, c.pid, c.conversation, c.cwd, c.kind))
			var want []cli.Away
			if c.away {
				stop := cli.Command{Argv: []string{"/nowhere/cli", "stop", "85ed78df"}, Unset: []string{cli.ChildSession}}
				want = []cli.Away{{PID: c.pid, Conversation: c.conversation, End: stop}}
			}
			if diff := cmp.Diff(want, get(t, "claude").Away(l.with(claudeEnds))); diff != "" {
				t.Error(diff)
			}
			seen, err := get(t, "claude").Observe(t.Context(), l.with(claudeEnds), nil)
			if err != nil {
				t.Fatal(err)
			}
			if its := c.away && c.conversation == claudeEnds; (seen.Away == c.pid) != its {
				t.Errorf("observed pid %d outside of the pane", seen.Away)
			}
		})
	}
	l.put(filepath.Join(".claude", "sessions", "1.json"), fmt.Sprintf(`{"pid":%d,"sessionId":%q,"kind":"bg","status":"busy"}`, os.Getpid(), claudeEnds))
	if away := get(t, "claude").Away(l.with(claudeEnds)); len(away) != 1 || away[0].End.Argv != nil {
		t.Errorf("a process without a name is ended by a command: %+v", away)
	}
}

// TestClaudeElsewhere: claude's registry says in which folder it works, also once its model has entered another worktree.
func TestClaudeElsewhere(t *testing.T) {
	l := newLab(t)
	for _, cwd := range []string{l.worktree, "", "/src/shop/.claude/worktrees/elsewhere"} {
		l.put(filepath.Join(".claude", "sessions", "1.json"), fmt.Sprintf(
			`{"pid":%d,"sessionId":%q,"cwd":%q,"kind":"interactive","status":"idle","statusUpdatedAt":1}`, os.Getpid(), claudeEnds, cwd))
		seen, err := get(t, "claude").Observe(t.Context(), l.with(claudeEnds), nil)
		if err != nil || seen.Folder != cwd {
			t.Errorf("in %q: %q, %v", cwd, seen.Folder, err)
		}
	}
}

// TestClaudeStaysInItsPane: paw's settings keep the agent view off, by which one key takes a conversation out of its pane.
func TestClaudeStaysInItsPane(t *testing.T) {
	l := newLab(t)
	for given, want := range map[string]string{"": "true", "{}": "true", `{"disableAgentView":false}`: "false"} {
		spec := hooked(l.spec)
		if given != "" {
			spec = hooked(l.spec, "--settings", given)
		}
		var settings map[string]json.RawMessage
		if err := json.Unmarshal([]byte(content(t, launch(t, "claude", spec))), &settings); err != nil {
			t.Fatal(err)
		}
		if got := string(settings["disableAgentView"]); got != want {
			t.Errorf("--settings %s: disableAgentView %s", given, got)
		}
	}
}

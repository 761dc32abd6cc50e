package landing

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// TestCLIVersion: a program that was written, or linked, after a turn began says nothing of that turn.
func TestCLIVersion(t *testing.T) {
	dir, at := t.TempDir(), time.Now().Add(-time.Hour)
	program, link := filepath.Join(dir, "claude-1"), filepath.Join(dir, "claude")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho '2.1.7 (Claude Code)'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
	h := &app.App{Env: env, CLIs: clis.New(nil)}
	made := func(at time.Time) []turns.Turn { return []turns.Turn{{Record: turn.Record{StartedAt: at}}} }
	for _, c := range []struct {
		what, cli string
		made      []turns.Turn
		want      string
	}{
		{"after the program", "claude", made(time.Now().Add(time.Hour)), "2.1.7"},
		{"before the program", "claude", made(at), ""},
		{"no turns", "claude", nil, ""},
		{"not there", "codex", made(time.Now().Add(time.Hour)), ""},
		{"no such CLI", "mine", made(time.Now().Add(time.Hour)), ""},
	} {
		if got := (work{asked: asked{Agent: app.Agent{App: h, Record: &session.Agent{Name: "a", CLI: c.cli}}}}).cliVersion(t.Context())(c.made); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
	if err := os.Chtimes(program, at.Add(-time.Hour), at.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	if got := (work{asked: asked{Agent: app.Agent{App: h, Record: &session.Agent{Name: "a", CLI: "claude"}}}}).cliVersion(t.Context())(made(at)); got != "" {
		t.Errorf("a link that is newer: %q", got)
	}
}

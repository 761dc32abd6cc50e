package orchestrator

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/orchestrator/turns"
)

// TestGitProcessesOfATurn: a turn that changes nothing takes two git processes at its begin and at its end, one that looks
// at the files and one that makes the refs.
func TestGitProcessesOfATurn(t *testing.T) {
	m := newLandModel(t, t.TempDir())
	git, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := fmt.Sprintf("#!/bin/sh\necho \"$*\" >>'%s'\nexec '%s' \"$@\"\n", log, git)
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	s := m.load()
	for _, one := range []struct {
		what string
		do   func() error
	}{
		{"begin", func() error { return turns.BeginOwn(t.Context(), m.h.Agent(s, s.Agent("a")), "do it") }},
		{"end", func() error { return turns.EndOwn(t.Context(), m.h.Agent(s, s.Agent("a"))) }},
	} {
		if err := os.WriteFile(log, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := one.do(); err != nil {
			t.Fatal(err)
		}
		ran, err := os.ReadFile(log)
		if err != nil || strings.Count(string(ran), "\n") > 2 {
			t.Errorf("%s: %v, git ran\n%s", one.what, err, ran)
		}
	}
}

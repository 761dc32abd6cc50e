package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Six agents whose turns end at the same time each get their own next tag.
func TestSixTurnsEndAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo,demo,demo,demo,demo,demo", "--detach", "--prompt", "first"))
	names := []string{"demo", "demo_2", "demo_3", "demo_4", "demo_5", "demo_6"}
	for n := 1; n <= 3; n++ {
		for _, name := range names {
			waitFor(t, fmt.Sprintf("turn %d of %s is tagged", n, name), func() bool {
				tag := fmt.Sprintf("afk-shop_%s-%d", name, n)
				return strings.Contains(w.git(w.repo, "tag", "--list", tag), tag)
			})
		}
		if n == 3 {
			break
		}
		w.okAll(w.atOnce(len(names), func(i int) []string { return []string{"send", names[i], fmt.Sprintf("turn %d", n+1)} }))
	}
	for _, name := range names {
		if highest := w.checkTurns(name); highest != 3 {
			t.Errorf("%s has %d turns, want 3", name, highest)
		}
	}
	if log, err := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/hooks.log")); err == nil {
		t.Errorf("hooks failed:\n%s", log)
	}
}

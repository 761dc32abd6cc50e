package orchestrator

import (
	"os"
	"path/filepath"
	"testing"

	"paw/orchestrator/app"
)

// TestHighlight takes the colours of a program only where that has changed no line.
func TestHighlight(t *testing.T) {
	t.Parallel()
	const diff = "\x1b[1mdiff --git a/a b/a\x1b[m\n@@ -1 +1 @@\n-a\n+b\n"
	for name, one := range map[string]struct{ program, script, want string }{
		"delta":            {"delta", `test "$1 $3" = "--color-only --dark" && sed 's/^+.*/\x1b[32m&\x1b[m/'`, "diff --git a/a b/a\n@@ -1 +1 @@\n-a\n\x1b[32m+b\x1b[m\n"},
		"bat of Debian":    {"batcat", `sed 's/^-.*/\x1b[31m&\x1b[m/'`, "diff --git a/a b/a\n@@ -1 +1 @@\n\x1b[31m-a\x1b[m\n+b\n"},
		"nothing":          {"less", "exit 1", diff},
		"it fails":         {"delta", "cat; exit 1", diff},
		"it drops a line":  {"delta", "sed 1d", diff},
		"it alters a line": {"delta", "sed 's/^+//'", diff},
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, one.program), []byte("#!/bin/sh\nPATH=/usr/bin:/bin\n"+one.script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if got := Highlight(t.Context(), &app.App{Env: []string{"PATH=" + folder}}, diff, true); got != one.want {
			t.Errorf("%s: %q, want %q", name, got, one.want)
		}
	}
}

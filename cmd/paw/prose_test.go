package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config/display"
)

// Lines break between words and before a command, not within one; tables, other lines and line ends
// stay.
func TestBroken(t *testing.T) {
	for text, want := range map[string]string{
		"short\n":                                  "short\n",
		"no end":                                   "no end",
		"one two three four five six\n":            "one two three four\n  five six\n",
		"    deep three four five six\nnext\n":     "    deep three four\n      five six\nnext\n",
		"kept; paw land --undo 3\n":                "kept;\n  paw land --undo 3\n",
		"paw remove agent --keep-worktree\n":       "paw remove agent --keep-worktree\n",
		"gone: paw remove agent --keep-worktree\n": "gone:\n  paw remove agent --keep-worktree\n",
		"anExtremelyLongWordOfMore and more\n":     "anExtremelyLongWordOfMore\n  and more\n",
		"\x1b[2mcoloured and longer\x1b[m than\n":  "\x1b[2mcoloured and longer\x1b[m\n  than\n",
		"ok  in two columns, the second\n":         "ok  in two columns,\n    the second\n",
	} {
		if diff := cmp.Diff(want, display.Broken(text, 20, 2)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
		if words := strings.Fields(display.Broken(text, 20, 2)); !cmp.Equal(words, strings.Fields(text)) {
			t.Errorf("%q: has other words now: %q", text, words)
		}
	}
}

// A text that begins with a command stays beside what it stands behind.
func TestHanging(t *testing.T) {
	for text, want := range map[string]string{
		"git log leaves all tags out": "git log leaves all tags out",
		"it is one two three":         "it is one two\n      three",
		"kept; paw land --undo 3":     "kept;\n      paw land --undo 3",
	} {
		if got := hanging("note:", text, 20); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

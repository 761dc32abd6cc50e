package ui

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each part of a long line of output has the line's style, and the next line does not; lines with
// hashes of a diff are left out.
func TestOutputIsBroken(t *testing.T) {
	r := &run{words: []string{"diff"}, lines: []string{"\x1b[1mdiff --git a/long b/long\x1b[m", "\x1b[1mindex 0e0ef99..abc6e10\x1b[m", "short"}}
	want := []string{"\x1b[1mdiff --git\x1b[m", "\x1b[1ma/long b/long\x1b[m", "short"}
	if diff := cmp.Diff(want, r.wrapped(&Model{}, 14)); diff != "" {
		t.Error(diff)
	}
}

// A row does not say twice that a turn was cut.
func TestBriefly(t *testing.T) {
	for about, want := range map[string]string{
		"turn 2 was cut: add a box": "add a box", "turn 2 failed: overloaded": "failed: overloaded", "turn 12 was cut: x": "turn 12 was cut: x",
	} {
		if got := briefly(Agent{Cut: true, Turn: "2", About: about}); got != want {
			t.Errorf("%q: %q, want %q", about, got, want)
		}
	}
}

func TestPullRequestHasItsNumber(t *testing.T) {
	for address, want := range map[string]string{"": "", "https://github.com/acme/shop/pull/7": "#7", "https://gitlab.com/acme/shop/-/merge_requests/12": "#12"} {
		if got := (&Model{}).frame().cells(Agent{Pull: address}, false)[colPull]; got != want {
			t.Errorf("%q: %q, want %q", address, got, want)
		}
	}
}

package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Outcomes, questions and messages of errors are what agents make them.
func TestTableDoesNotActOnTheTerminal(t *testing.T) {
	var out bytes.Buffer
	plain := false
	a := &app{stdout: &out, stderr: &bytes.Buffer{}, colours: &plain}
	a.printTable(&out, "  ", [][]cell{
		{{text: "one"}, {"x\x1b]0;title\a", "error"}, {text: "bad \x1b[2Jnews\n  two  demo  idle"}},
		{{text: "three"}, {text: "success"}, {text: "\u009b2Ja\tb\r"}},
	})
	want := "  one    x        bad news   two  demo  idle\n  three  success  2Ja b\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

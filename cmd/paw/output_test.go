package main

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The texts of outcomes, questions and errors come from agents, and are printed without control
// characters.
func TestTableDoesNotActOnTheTerminal(t *testing.T) {
	var out bytes.Buffer
	plain := false
	a := &invocation{printer: printer{stdout: &out, stderr: &bytes.Buffer{}, colours: &plain}}
	a.printTable(&out, "  ", [][]cell{
		{{text: "one"}, {"x\x1b]0;title\a", "error"}, {text: "bad \x1b[2Jnews\n  two  demo  idle"}},
		{{text: "three"}, {text: "success"}, {text: "\u009b2Ja\tb\r"}},
	})
	want := "  one    x        bad news   two  demo  idle\n  three  success  2Ja b\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Columns are aligned after characters that take two columns or none.
func TestTableCountsColumns(t *testing.T) {
	var out bytes.Buffer
	a := &invocation{printer: printer{stdout: &out, colourFlag: "never"}}
	a.printTable(&out, "", [][]cell{texts("店店", "a"), texts("e\u0301e\u0301e\u0301", "b"), texts("four", "c"), texts("👩‍👩‍👧", "d")})
	if want := "店店  a\ne\u0301e\u0301e\u0301   b\nfour  c\n👩‍👩‍👧    d\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

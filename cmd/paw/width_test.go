package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCutTo(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"tests", 5, "tests"}, {"tests", 4, "tes…"}, {"tests", 1, "…"}, {"tests", 0, ""}, {"", 3, ""},
		{"店店店", 6, "店店店"}, {"店店店", 5, "店店…"}, {"店店店", 4, "店…"},
		{"e\u0301e\u0301e\u0301", 3, "e\u0301e\u0301e\u0301"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{"👩‍👩‍👧 family", 5, "👩‍👩‍👧 f…"},
	} {
		if got := cutTo(c.text, c.width); got != c.want || columns(got) > c.width {
			t.Errorf("cutTo(%q, %d) = %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestWrapTo(t *testing.T) {
	for _, c := range []struct {
		text        string
		width, most int
		want        []string
	}{
		{"", 5, 2, nil},
		{"one two", 7, 2, []string{"one two"}},
		{"one two", 6, 2, []string{"one", "two"}},
		{"one two three", 7, 2, []string{"one two", "three"}},
		{"one two three four", 7, 2, []string{"one two", "three …"}},
		{"abcdefgh", 3, 3, []string{"abc", "def", "gh"}},
		{"店店店", 3, 9, []string{"店", "店", "店"}},
		{"店", 1, 9, []string{"…"}},
	} {
		if diff := cmp.Diff(c.want, wrapTo(c.text, c.width, c.most)); diff != "" {
			t.Errorf("wrapTo(%q, %d, %d) (-want +got)\n%s", c.text, c.width, c.most, diff)
		}
	}
}

package hosting

import (
	"os"
	"path/filepath"
	"testing"
)

// An answer without what was asked for is an error and not a request in no state, and no output is an empty list.
func TestAnswersWithoutWhatWasAsked(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gh", "glab"} {
		for _, answer := range []string{"null", "{}", ""} {
			dir := t.TempDir()
			p := Program{Name: name, Path: filepath.Join(dir, name), Dir: dir}
			if err := os.WriteFile(p.Path, []byte("#!/bin/sh\nprintf '%s' '"+answer+"'\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			of, _ := PlaceOf("https://github.com/acme/shop")
			if o, err := p.Opened(t.Context(), of, 7); err == nil {
				t.Errorf("%s, %q: the pull request is %q", name, answer, o.InWords())
			}
			if issue, err := p.Issue(t.Context(), of, 7); err == nil {
				t.Errorf("%s, %q: the issue is %q", name, answer, issue.Title)
			}
			if address, err := p.Find(t.Context(), Request{From: of, Into: of}); answer == "" && (address != "" || err != nil) {
				t.Errorf("%s says nothing: found %q, %v", name, address, err)
			}
		}
	}
}

// A list may come in several pages, one after the other, whose texts may look like their ends.
func TestPagesAreOneList(t *testing.T) {
	t.Parallel()
	for out, want := range map[string]string{
		`[{"a":"]["}][{"a":"2"}]`:  `[{"a":"]["},{"a":"2"}]`,
		"[1,2]\n[3]\n":             `[1,2,3]`,
		"[]\n[1]\n":                `[1]`,
		`[1]`:                      `[1]`,
		`null`:                     `null`,
		`{"a":[1]}`:                `{"a":[1]}`,
		`[1]{"message":"not yet"}`: `[1]{"message":"not yet"}`,
		`[1][2`:                    `[1][2`,
	} {
		if got := string(onePage(out)); got != want {
			t.Errorf("%s: is %s", out, got)
		}
	}
}

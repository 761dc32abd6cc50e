package session

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestEarlyHearsOfTheSocketOfWhatIsRead: of the record that is loaded, and of those that are about a place, but of no others.
func TestEarlyHearsOfTheSocketOfWhatIsRead(t *testing.T) {
	w := newWorld(t)
	w.save(t, "far", w.two, w.elsewhere)
	for name, socket := range map[string]string{"app": "/tmp/a b", "far": "other"} {
		if _, err := w.st.Update(t.Context(), name, func(s *Session) error { s.Tmux.Socket = socket; return nil }); err != nil {
			t.Fatal(err)
		}
	}
	var heard []string
	st := w.st
	st.Early = func(socket string) { heard = append(heard, socket) }
	if s, err := st.FindByRepo(w.claude); err != nil || s.Name != "app" {
		t.Fatalf("found %v, %v", s, err)
	}
	if _, err := st.Load("far"); err != nil {
		t.Fatal(err)
	}
	if s, err := st.FindByRepo(t.TempDir()); s != nil || err != nil {
		t.Fatalf("found %v, %v", s, err)
	}
	if diff := cmp.Diff([]string{"/tmp/a b", "other"}, heard); diff != "" {
		t.Error(diff)
	}
	if err := os.WriteFile(filepath.Join(st.Dir, "far.json"), []byte("{\"tmux\": {\"socket\": \"x\""), 0o600); err != nil {
		t.Fatal(err)
	}
	var corrupt *CorruptError
	if _, err := st.Load("far"); !errors.As(err, &corrupt) || len(heard) != 2 {
		t.Errorf("a torn record: %v, heard %q", err, heard)
	}
}

func TestSocketOf(t *testing.T) {
	for text, want := range map[string]string{
		`{"version": 1, "repo_path": "/\"tmux\": {\"socket\": \"no\"", "tmux": {"session": "paw-s", "socket": "/s"}, "worktrees": [`: "/s",
		`{"tmux": {}, "x": `:                   "",
		`{"a": {"tmux": {"socket": "inner"}}}`: "none",
		`{"tmux": {"socket": 5}}`:              "none",
		`{"a": [}`:                             "none",
		`[]`:                                   "none",
		``:                                     "none",
	} {
		got, ok := socketOf([]byte(text))
		if !ok {
			got = "none"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

package session

import "testing"

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

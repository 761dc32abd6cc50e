package session

import (
	"slices"
	"testing"
)

// family is a session of agents and their parents.
func family(pairs ...string) *Session {
	s := &Session{Name: "shop"}
	for i := 0; i < len(pairs); i += 2 {
		s.Worktrees = append(s.Worktrees, Worktree{Agent: pairs[i], Parent: pairs[i+1]})
	}
	return s
}

func TestFamily(t *testing.T) {
	s := family("a", "", "b", "a", "c", "b", "d", "a", "e", "", "f", "gone", "x", "y", "y", "x", "z", "z")
	for _, tt := range []struct {
		agent       string
		children    []string
		descendants []string
		depth       int
	}{
		{"a", []string{"b", "d"}, []string{"b", "d", "c"}, 0},
		{"b", []string{"c"}, []string{"c"}, 1},
		{"c", nil, nil, 2},
		{"e", nil, nil, 0},
		{"f", nil, nil, 0}, // its parent left the session
		{"x", []string{"y"}, []string{"y"}, 1},
		{"z", []string{"z"}, nil, 0},
		{"", nil, nil, 0},
		{"unknown", nil, nil, 0},
	} {
		if got := s.Children(tt.agent); !slices.Equal(got, tt.children) {
			t.Errorf("children of %q: %v, want %v", tt.agent, got, tt.children)
		}
		if got := s.Descendants(tt.agent); !slices.Equal(got, tt.descendants) {
			t.Errorf("descendants of %q: %v, want %v", tt.agent, got, tt.descendants)
		}
		if got := s.Depth(tt.agent); got != tt.depth {
			t.Errorf("depth of %q: %d, want %d", tt.agent, got, tt.depth)
		}
	}
}

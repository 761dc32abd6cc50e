package session

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// family is a session of agents and their parents.
func family(pairs ...string) *Session {
	s := &Session{Name: "shop"}
	for i := 0; i < len(pairs); i += 2 {
		s.Agents = append(s.Agents, Agent{Name: pairs[i], Parent: pairs[i+1]})
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

func TestSettleWait(t *testing.T) {
	for name, c := range map[string]struct {
		told    map[string]int // before
		telling map[string]int
		want    map[string]int
	}{
		"first ends":                   {telling: map[string]int{"b": 1, "d": 4}, want: map[string]int{"b": 1, "d": 4}},
		"later ends":                   {told: map[string]int{"b": 1}, telling: map[string]int{"b": 2}, want: map[string]int{"b": 2}},
		"never backwards":              {told: map[string]int{"b": 3}, telling: map[string]int{"b": 2}, want: map[string]int{"b": 3}},
		"an exit without a turn":       {telling: map[string]int{"b": -1}, want: map[string]int{"b": -1}},
		"a turn after such an exit":    {told: map[string]int{"b": -1}, telling: map[string]int{"b": 1}, want: map[string]int{"b": 1}},
		"an exit after a turn":         {told: map[string]int{"b": 2}, telling: map[string]int{"b": -1}, want: map[string]int{"b": 2}},
		"a child that left":            {telling: map[string]int{"gone": 1}, want: map[string]int{}},
		"not told of those still busy": {telling: map[string]int{"b": 1}, want: map[string]int{"b": 1}},
		"nothing was typed":            {want: map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			s := family("a", "", "b", "a", "d", "a")
			s.Agent("a").Wait = &Wait{ID: "1", Children: []string{"b", "d", "gone"}, Telling: c.telling}
			for agent, n := range c.told {
				s.Agent(agent).Told = n
			}
			s.SettleWait("a")
			got := map[string]int{}
			for _, w := range s.Agents {
				if w.Told != 0 {
					got[w.Name] = w.Told
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("told (-want +got)\n%s", diff)
			}
			if s.Agent("a").Wait != nil {
				t.Error("the wait is still there")
			}
			s.SettleWait("a") // of no wait
			s.SettleWait("unknown")
		})
	}
}

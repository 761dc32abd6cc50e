package landing

import (
	"slices"
	"testing"
)

func TestOrder(t *testing.T) {
	agents := func(list ...Outlook) []Outlook { return list }
	for _, c := range []struct {
		name   string
		agents []Outlook
		pairs  []Pair
		want   []string
	}{
		{"nothing", nil, nil, nil},
		{"age, where nothing else differs", agents(Outlook{Agent: "a", Files: 1}, Outlook{Agent: "b", Files: 1}), nil, []string{"a", "b"}},
		{"fewer files", agents(Outlook{Agent: "a", Files: 9}, Outlook{Agent: "b", Files: 1}), nil, []string{"b", "a"}},
		{"nothing to land", agents(Outlook{Agent: "a"}, Outlook{Agent: "b", Files: 1}), nil, []string{"b"}},
		{"with the target", agents(Outlook{Agent: "a", Files: 1, Conflicts: []string{"x"}}, Outlook{Agent: "b", Files: 9}), nil, []string{"b", "a"}},
		{
			"fewest of the rest", agents(Outlook{Agent: "hub", Files: 1}, Outlook{Agent: "a", Files: 2}, Outlook{Agent: "b", Files: 3}),
			[]Pair{{One: "hub", Other: "a"}, {One: "hub", Other: "b"}}, []string{"a", "hub", "b"},
		},
		{
			"two that collide", agents(Outlook{Agent: "a", Files: 5}, Outlook{Agent: "b", Files: 2}, Outlook{Agent: "c", Files: 8}),
			[]Pair{{One: "a", Other: "b"}}, []string{"c", "b", "a"},
		},
	} {
		if got := order(c.agents, c.pairs); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

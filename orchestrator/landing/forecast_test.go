package landing

import (
	"slices"
	"testing"

	"paw/orchestrator/observe"
)

func TestOrder(t *testing.T) {
	type agents = []observe.Forecast
	for _, c := range []struct {
		name   string
		agents agents
		want   []string
	}{
		{"nothing", nil, nil},
		{"age, where nothing else differs", agents{{Agent: "a", Files: 1}, {Agent: "b", Files: 1}}, []string{"a", "b"}},
		{"fewer files", agents{{Agent: "a", Files: 9}, {Agent: "b", Files: 1}}, []string{"b", "a"}},
		{"nothing to land", agents{{Agent: "a"}, {Agent: "b", Files: 1}}, []string{"b"}},
		{"with the target", agents{{Agent: "a", Files: 1, Conflicts: []string{"x"}}, {Agent: "b", Files: 9}}, []string{"b"}},
		{"a last turn that was cut", agents{{Agent: "a", Files: 1, LeftOut: "turn 1 was cut by a crash"}, {Agent: "b", Files: 9}}, []string{"b"}},
		{
			"fewest of the rest", agents{{Agent: "hub", Files: 1, Others: []string{"a", "b"}}, {Agent: "a", Files: 2, Others: []string{"hub"}},
				{Agent: "b", Files: 3, Others: []string{"hub"}}}, []string{"a", "b", "hub"},
		},
		{
			"the same work twice, and two that collide with it", agents{
				{Agent: "a", Files: 1, Others: []string{"c", "d", "e"}}, {Agent: "b", Files: 1, Others: []string{"c", "d", "e"}},
				{Agent: "c", Files: 1, Others: []string{"a", "b", "e"}}, {Agent: "d", Files: 1, Others: []string{"a", "b", "e"}},
				{Agent: "e", Files: 1, Others: []string{"a", "b", "c", "d"}},
			},
			[]string{"a", "b", "c", "d", "e"},
		},
		{
			"two that collide", agents{{Agent: "a", Files: 5, Others: []string{"b"}}, {Agent: "b", Files: 2, Others: []string{"a"}}, {Agent: "c", Files: 8}},
			[]string{"c", "b", "a"},
		},
	} {
		if got := order(c.agents); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

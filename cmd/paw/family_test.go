package main

import (
	"strings"
	"testing"

	"paw/orchestrator/observe"
	"paw/session"
)

func TestFamilies(t *testing.T) {
	for _, c := range []struct {
		name   string
		agents string // each as "agent<parent"
		want   string
	}{
		{"no family", "a b c", "a,b,c"},
		{"children behind their parents", "a b c<a d<b e<a", "a,└ c,└ e,b,└ d"},
		{"deeper ones further", "a b<a c<b d<c e<a", "a,└ b,  └ c,    └ d,└ e"},
		{"a child before its parent", "b<a a", "a,└ b"},
		{"the parent has left", "b<gone c<b", "b,└ c"},
		{"an ancestor of itself", "a b<c c<b d<d", "a,b,└ c,d"},
		{"nobody", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var agents []observe.AgentStatus
			for _, word := range strings.Fields(c.agents) {
				name, parent, _ := strings.Cut(word, "<")
				agents = append(agents, observe.AgentStatus{Record: session.Agent{Name: name, Parent: parent}})
			}
			var labels []string
			for _, r := range families(agents) {
				labels = append(labels, r.label())
			}
			if got := strings.Join(labels, ","); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

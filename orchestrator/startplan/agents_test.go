package startplan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config"
	"paw/orchestrator/cli/clis"
)

func TestPlanAgents(t *testing.T) {
	set := clis.New(map[string]config.CLI{"mycli": {Command: []string{"mycli"}}})
	for _, c := range []struct {
		name     string
		items    []string
		branches []string
		taken    []string
		want     string // agent:cli:branch ...
		err      string
	}{
		{name: "one", items: []string{"claude"}, want: "claude:claude:"},
		{name: "two", items: []string{"claude", "codex"}, want: "claude:claude: codex:codex:"},
		{name: "same twice", items: []string{"claude", "claude", "claude"}, want: "claude:claude: claude_2:claude: claude_3:claude:"},
		{name: "named", items: []string{"api=claude", "web=claude"}, want: "api:claude: web:claude:"},
		{name: "custom", items: []string{"mycli"}, want: "mycli:mycli:"},
		{name: "spaces", items: []string{" claude "}, want: "claude:claude:"},
		{name: "given name wins over derived", items: []string{"claude", "claude=codex"}, want: "claude_2:claude: claude:codex:"},
		{name: "taken moves on", items: []string{"claude"}, taken: []string{"claude"}, want: "claude_2:claude:"},
		{name: "one CLI, many branches", items: []string{"claude"}, branches: []string{"feat/a", "feat/b"}, want: "feat_a:claude:feat/a feat_b:claude:feat/b"},
		{name: "paired", items: []string{"claude", "codex"}, branches: []string{"x", "y"}, want: "x:claude:x y:codex:y"},
		{name: "paired with name", items: []string{"a=claude", "codex"}, branches: []string{"x", "y"}, want: "a:claude:x y:codex:y"},
		{name: "branches of one name", items: []string{"claude"}, branches: []string{"f/a", "f-a"}, want: "f_a:claude:f/a f_a_2:claude:f-a"},
		{name: "branches of paw", items: []string{"demo"}, branches: []string{"paw/shop/api", "paw/old/a/b", "paw/x"}, want: "api:demo:paw/shop/api a_b:demo:paw/old/a/b paw_x:demo:paw/x"},
		{name: "branch without letters", items: []string{"claude"}, branches: []string{"--"}, want: "claude:claude:--"},
		{name: "too few branches", items: []string{"claude", "codex", "claude"}, branches: []string{"x", "y"}, err: "--branches: 2 branches for 3 CLIs"},
		{name: "name twice", items: []string{"a=claude", "a=codex"}, err: "agent a: the name is taken; a_2 is free"},
		{name: "given name taken", items: []string{"a=claude"}, taken: []string{"a", "a_2"}, err: "agent a: the name is taken by somebody; a_3 is free"},
		{name: "unknown", items: []string{"nosuch"}, err: "nosuch: unknown CLI"},
		{name: "nearly", items: []string{"cladue"}, err: "did you mean claude?"},
		{name: "bad name", items: []string{"a-b=claude"}, err: "only letters, digits and _"},
		{name: "empty name", items: []string{"=claude"}, err: "agent name"},
		{name: "empty item", items: []string{"a="}, err: "no CLI named"},
		{name: "nothing", err: "no CLI named"},
	} {
		t.Run(c.name, func(t *testing.T) {
			taken := map[string]string{}
			for _, name := range c.taken {
				taken[name] = " by somebody"
			}
			agents, err := Agents(c.items, c.branches, set, taken)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Fatalf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range agents {
				got = append(got, a.Name+":"+a.CLI+":"+a.Branch)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

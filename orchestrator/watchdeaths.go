package orchestrator

import (
	"context"
	"slices"

	"paw/session"
)

// needed are the variables without which another paw would not find what this one
// has written.
var needed = []string{
	"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR", "TMPDIR",
}

// watchDeaths lets tmux tell a parent of children whose CLI dies without a word:
// a killed one calls no hook. It is a help that may fail: without it the next
// command or event finds the end.
func (p *Paw) watchDeaths(ctx context.Context, s *session.Session, parent string, children []string) {
	f, err := p.observe(ctx, s)
	if err != nil || f.tmuxID == "" {
		return
	}
	var panes []string
	for _, a := range f.agents {
		if a.pane != nil && slices.Contains(children, a.record.Agent) {
			panes = append(panes, a.pane.ID)
		}
	}
	env := map[string]string{}
	for _, name := range needed {
		if value := p.getenv(name); value != "" {
			env[name] = value
		}
	}
	words := Claim{}.arguments(s.Name, parent)
	if err := p.tmuxFor(s).OnDeath(ctx, f.tmuxID, panes, p.Executable, words, env); err != nil {
		p.logHook("paw", "deliver", err)
	}
}

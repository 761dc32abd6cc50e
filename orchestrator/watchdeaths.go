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
	arguments := map[string][]string{}
	for _, a := range f.agents {
		if a.pane != nil && slices.Contains(children, a.record.Agent) {
			// What a killed CLI leaves behind, such as a hook, may hold its lock for a moment.
			arguments[a.pane.ID] = Claim{Leaving: a.record.Agent}.arguments(s.Name, parent)
		}
	}
	env := map[string]string{}
	for _, name := range needed {
		if value := p.getenv(name); value != "" {
			env[name] = value
		}
	}
	if err := p.tmuxFor(s).OnDeath(ctx, f.tmuxID, p.Executable, env, arguments); err != nil && ctx.Err() == nil {
		p.logHook("paw", "deliver", err)
	}
}

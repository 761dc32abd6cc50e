package orchestrator

import (
	"context"
	"slices"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
	"paw/session"
)

// AddForecast says of each agent how its work goes together with the branch that it lands on, and with that of the others,
// as paw forecast does. A session of which that cannot be told gets a note.
func AddForecast(ctx context.Context, h *home.Home, statuses []fleet.SessionStatus) {
	for i := range statuses {
		st := &statuses[i]
		if len(st.Session.Worktrees) == 0 {
			continue
		}
		outlooks, err := Outlooks(ctx, h, st.Session)
		if err != nil {
			h.Notef("%s: no forecast: %v", st.Session.Name, err)
			continue
		}
		for k := range st.Agents {
			st.Agents[k].Outlook = outlooks[st.Agents[k].Record.Agent]
		}
	}
}

// Outlooks says of each agent of a session how its work would land, by name.
func Outlooks(ctx context.Context, h *home.Home, s *session.Session) (map[string]*fleet.Outlook, error) {
	f, err := landing.Look(ctx, h, s, nil, "")
	if err != nil {
		return nil, err
	}
	outlooks := map[string]*fleet.Outlook{}
	for _, w := range s.Worktrees {
		if o := outlookIn(f, w.Agent); o != nil {
			outlooks[w.Agent] = o
		}
	}
	return outlooks, nil
}

// outlookIn is what a forecast says of one agent, nil for nothing.
func outlookIn(f *landing.Forecast, agent string) *fleet.Outlook {
	at := slices.IndexFunc(f.Agents, func(o landing.Outlook) bool { return o.Agent == agent })
	if at < 0 {
		return nil
	}
	found := &fleet.Outlook{Target: f.Target, Changes: f.Agents[at].Files, Files: f.Agents[at].Conflicts}
	for _, p := range f.Pairs {
		switch agent {
		case p.One:
			found.Others = append(found.Others, p.Other)
		case p.Other:
			found.Others = append(found.Others, p.One)
		}
	}
	return found
}

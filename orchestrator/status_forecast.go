package orchestrator

import (
	"context"
	"slices"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
)

// AddForecast says of each agent how its work goes together with the branch that it lands on, and with that of the others,
// as paw forecast does. A session of which that cannot be told gets a note.
func AddForecast(ctx context.Context, h *home.Home, statuses []fleet.SessionStatus) {
	for i := range statuses {
		st := &statuses[i]
		if len(st.Session.Worktrees) == 0 {
			continue
		}
		f, err := landing.Look(ctx, h, st.Session, nil, "")
		if err != nil {
			h.Notef("%s: no forecast: %v", st.Session.Name, err)
			continue
		}
		for k := range st.Agents {
			st.Agents[k].Outlook = outlookIn(f, st.Agents[k].Record.Agent)
		}
	}
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

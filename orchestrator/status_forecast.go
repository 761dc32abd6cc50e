package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/session"
)

// AddForecast says of each agent how its work goes together with the branch that it lands on, and with that of the others,
// as paw forecast does. A session of which that cannot be told gets a note.
func AddForecast(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	for i := range statuses {
		st := &statuses[i]
		if len(st.Session.Agents) == 0 {
			continue
		}
		forecasts, err := Outlooks(ctx, h, st.Session)
		if err != nil {
			h.Notef("%s: no forecast: %v", st.Session.Name, err)
			continue
		}
		for k := range st.Agents {
			st.Agents[k].Forecast = forecasts[st.Agents[k].Record.Name]
		}
	}
}

// Outlooks says of each agent of a session how its work would land, by name.
func Outlooks(ctx context.Context, h *app.App, s *session.Session) (map[string]*observe.Forecast, error) {
	f, err := landing.Look(ctx, h, s, nil, "")
	if err != nil {
		return nil, err
	}
	forecasts := make(map[string]*observe.Forecast, len(f.Agents))
	for i := range f.Agents {
		forecasts[f.Agents[i].Agent] = &f.Agents[i]
	}
	return forecasts, nil
}

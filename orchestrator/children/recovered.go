package children

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

// WaitsOf loads the agents of a session that are at work or wait, and their children, and returns the families of those
// who wait, by name. It prompts nobody.
func WaitsOf(ctx context.Context, h *app.App, s *session.Session, ask observe.AskPanes) (map[string]live.Family, error) {
	waits := map[string]live.Family{}
	if !slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.Wait != nil }) {
		return waits, nil
	}
	registry := live.NewRegistry(liveSource(h, s.Name, ask, observe.NotAtScreens))
	if err := registry.LoadActive(ctx); err != nil {
		return nil, err
	}
	for _, w := range s.Agents {
		one := registry.Get(live.Branch{Repository: s.GitCommonDir, Name: w.Branch})
		if w.Wait != nil && one != nil {
			waits[w.Name] = one.Family()
		}
	}
	return waits, nil
}

// WithWaits adds to each result a note on the children that the agent still waits for.
func WithWaits(results []launch.Result, waits map[string]live.Family) []launch.Result {
	for i := range results {
		family, there := waits[results[i].Agent]
		if text := live.Recall(family); there && text != "" {
			results[i].Notes = append(results[i].Notes, text)
		}
	}
	return results
}

// owedIn are the parents that wait and were typed nothing yet.
func owedIn(waits map[string]live.Family) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(waits)), func(name string) bool { return !live.Owed(waits[name].Parent.Record) })
}

// ResumeWaits is WaitsOf for a session that was brought back, and lets somebody look at those who wait.
func ResumeWaits(ctx context.Context, h *app.App, s *session.Session, ask observe.AskPanes) (map[string]live.Family, error) {
	waits, err := WaitsOf(ctx, h, s, ask)
	if err == nil && slices.ContainsFunc(slices.Collect(maps.Values(waits)), live.Family.Restarted) {
		err = keepResumed(ctx, h, s.Name, waits)
	}
	if err == nil {
		watchWaits(ctx, h, s, owedIn(waits))
	}
	return waits, err
}

// keepResumed writes down what has ended by now for each parent that came back: nobody prompts it for that by itself.
func keepResumed(ctx context.Context, h *app.App, sessionName string, waits map[string]live.Family) error {
	_, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		for name, family := range waits {
			w, known := rec.Agent(name), family.Parent.Record.Wait
			if w == nil || known == nil || !live.Owed(*w) || w.Wait.ID != known.ID || !family.Restarted() {
				continue
			}
			if launch := family.Parent.Launch; w.Wait.Resumed == nil || w.Wait.Resumed.Launch != launch {
				w.Wait.Resumed = &session.Resumed{Launch: launch, Ended: family.Telling()}
			}
		}
		return nil
	})
	return err
}

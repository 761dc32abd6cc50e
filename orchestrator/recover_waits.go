package orchestrator

import (
	"context"
	"maps"
	"slices"

	"paw/orchestrator/live"
	"paw/session"
)

// waitsOf loads the agents of a session that are at work or wait, and their children, and returns the families of those
// who wait, by name. It prompts nobody.
func (p *Paw) waitsOf(ctx context.Context, s *session.Session, ask askPanes) (map[string]live.Family, error) {
	registry := live.NewRegistry(p.liveSource(s.Name, ask, notAtScreens))
	if err := registry.LoadActive(ctx); err != nil {
		return nil, err
	}
	waits := map[string]live.Family{}
	for _, w := range s.Worktrees {
		one := registry.Get(live.Branch{Repository: s.GitCommonDir, Name: w.Branch})
		if w.Wait != nil && one != nil {
			waits[w.Agent] = one.Family()
		}
	}
	return waits, nil
}

// withWaits adds to what became of agents whom they still wait for.
func withWaits(results []Result, waits map[string]live.Family) []Result {
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
	return slices.DeleteFunc(slices.Sorted(maps.Keys(waits)), func(name string) bool { return !owed(waits[name].Parent.Record) })
}

// resumeWaits is waitsOf for a session that was brought back. What has ended by then is written down for each parent
// that came back: nobody prompts it for that by itself.
func (p *Paw) resumeWaits(ctx context.Context, s *session.Session, ask askPanes) (map[string]live.Family, error) {
	waits, err := p.waitsOf(ctx, s, ask)
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Values(waits)), live.Family.Restarted) {
		return waits, err
	}
	_, err = p.update(ctx, s.Name, func(rec *session.Session) error {
		for name, family := range waits {
			w, known := rec.Worktree(name), family.Parent.Record.Wait
			if w == nil || known == nil || !owed(*w) || w.Wait.ID != known.ID || !family.Restarted() {
				continue
			}
			if launch := family.Parent.Launch; w.Wait.Resumed == nil || w.Wait.Resumed.Launch != launch {
				w.Wait.Resumed = &session.Resumed{Launch: launch, Ended: family.Telling()}
			}
		}
		return nil
	})
	return waits, err
}

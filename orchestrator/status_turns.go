package orchestrator

import (
	"context"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session/turn"
	"paw/worktree"
)

// tagReader reads the turn tags of each repository once.
type tagReader struct {
	home *home.Home
	read map[string]map[string][]int // by common directory, then turn session
}

// add fills in which tag an agent has last, and how many turns it has finished:
// the record counts them, for agents of an older paw the tags do.
func (r tagReader) add(ctx context.Context, st *fleet.SessionStatus) {
	commonDir := st.Session.GitCommonDir
	numbers, done := r.read[commonDir]
	if !done {
		if repository, err := worktree.Discover(commonDir); err == nil {
			numbers, _ = turns.AllTags(ctx, r.home.Manager(repository))
		}
		r.read[commonDir] = numbers
	}
	for i := range st.Agents {
		a := &st.Agents[i]
		finished := a.Record.Finished
		counted := finished.Last > 0 || !a.Record.CreatedAt.IsZero()
		for _, n := range numbers[a.Record.TurnSession] {
			if counted && n > finished.Last {
				break // somebody else's, or of a turn that is just ending
			}
			if n > 0 && !counted {
				a.TurnsCompleted++
			}
			a.LastTag = turn.TagName(a.Record.TurnSession, n)
		}
		if counted {
			a.TurnsCompleted = finished.Turns
		}
	}
}

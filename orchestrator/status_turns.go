package orchestrator

import (
	"context"
	"slices"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Whether the hooks of an agent's CLI report.
const (
	HooksSeen   = "seen"   // they reported in this launch
	HooksSilent = "silent" // the CLI has hooks and they have not reported yet
	HooksNone   = "none"   // the CLI has none, or does not run
)

// turnsOfPaw is what adapters without hooks say of their turns.
const turnsOfPaw = "only those that paw makes"

// hooksOf tells whether the hooks of an agent report.
func hooksOf(a agentFacts) string {
	switch {
	case !a.turns.visible || a.lock.State != session.LockHeld || a.turns.headless:
		return HooksNone
	case a.turns.hooksSeen.IsZero():
		return HooksSilent
	}
	return HooksSeen
}

// tagReader reads the turn tags of each repository once.
type tagReader struct {
	p    *Paw
	read map[string]map[string][]int // by common directory, then turn session
}

// add fills in which tag an agent has last, and how many turns it has finished:
// the record counts them, for agents of an older paw the tags do.
func (r tagReader) add(ctx context.Context, st *SessionStatus) {
	commonDir := st.Session.GitCommonDir
	numbers, done := r.read[commonDir]
	if !done {
		var ok bool
		var err error
		numbers, ok, err = worktree.TurnTags(commonDir)
		if err == nil && !ok {
			numbers = r.p.listTags(ctx, commonDir)
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

// listTags asks git for the turn tags of a repository whose refs are not files.
func (p *Paw) listTags(ctx context.Context, commonDir string) map[string][]int {
	numbers := map[string][]int{}
	repository, err := worktree.Discover(commonDir)
	if err != nil {
		return numbers
	}
	refs, err := p.manager(repository).Refs(ctx, "refs/tags/afk-")
	if err != nil {
		return numbers
	}
	for ref := range refs {
		if name, n, ok := turn.ParseTag(ref[len("refs/tags/"):]); ok {
			numbers[name] = append(numbers[name], n)
		}
	}
	for name := range numbers {
		slices.Sort(numbers[name])
	}
	return numbers
}

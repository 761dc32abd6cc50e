package orchestrator

import (
	"context"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// tagReader looks for turn tags.
type tagReader struct {
	home *home.Home
	tags map[string]*worktree.Tags   // by common directory, nil where git has to list them
	seen map[[2]string]bool          // which tags are there, by common directory and name
	read map[string]map[string][]int // all numbers, by common directory, then turn session
}

func newTagReader(h *home.Home) tagReader {
	return tagReader{home: h, tags: map[string]*worktree.Tags{}, seen: map[[2]string]bool{}, read: map[string]map[string][]int{}}
}

// look looks for the tags that add will ask for.
func (r tagReader) look(s *session.Session) {
	for i := range s.Worktrees {
		if w := &s.Worktrees[i]; countsTurns(w) {
			r.has(s.GitCommonDir, turn.TagName(w.TurnSession, w.Last))
		}
	}
}

// countsTurns reports whether the record of an agent says how many turns it has finished: that of an older paw does not.
func countsTurns(w *session.Worktree) bool { return w.Last > 0 || !w.CreatedAt.IsZero() }

// add fills in what is known of the finished turns of each agent.
func (r tagReader) add(ctx context.Context, st *fleet.SessionStatus) {
	for i := range st.Agents {
		r.addTo(ctx, st, &st.Agents[i])
		st.Agents[i].ToReview = max(st.Agents[i].TurnsCompleted-st.Agents[i].Record.Seen.Turns, 0)
	}
}

// addTo fills in which tag an agent has last, and how many turns it has finished:
// the record counts them, for agents of an older paw the tags do.
func (r tagReader) addTo(ctx context.Context, st *fleet.SessionStatus, a *fleet.AgentStatus) {
	finished := a.Record.Finished
	counted := countsTurns(&a.Record)
	if counted {
		a.TurnsCompleted = finished.Turns
		name := turn.TagName(a.Record.TurnSession, finished.Last)
		there, known := r.has(st.Session.GitCommonDir, name)
		if there {
			a.LastTag = name
		}
		if there || known && finished.Last == 0 {
			return // no tag has a lower number
		}
	}
	for _, n := range r.all(ctx, st.Session.GitCommonDir)[a.Record.TurnSession] {
		if counted && n > finished.Last {
			break // somebody else's, or of a turn that is just ending
		}
		if n > 0 && !counted {
			a.TurnsCompleted++
		}
		a.LastTag = turn.TagName(a.Record.TurnSession, n)
	}
}

// has reports whether a tag is there, if files tell.
func (r tagReader) has(commonDir, name string) (there, known bool) {
	tags, asked := r.tags[commonDir]
	if !asked {
		if found, ok, err := worktree.TagsOf(commonDir); err == nil && ok {
			tags = found
		}
		r.tags[commonDir] = tags
	}
	if tags == nil {
		return false, false
	}
	there, looked := r.seen[[2]string{commonDir, name}]
	if !looked {
		there = tags.Has(name)
		r.seen[[2]string{commonDir, name}] = there
	}
	return there, true
}

// all reads the tags of a repository once.
func (r tagReader) all(ctx context.Context, commonDir string) map[string][]int {
	numbers, done := r.read[commonDir]
	if !done {
		if repository, err := worktree.Discover(commonDir); err == nil {
			numbers, _ = turns.AllTags(ctx, r.home.Manager(repository))
		}
		r.read[commonDir] = numbers
	}
	return numbers
}

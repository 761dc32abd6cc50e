package orchestrator

import (
	"context"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// tagReader looks for turn tags.
type tagReader struct {
	home *app.App
	tags map[string]*worktree.Tags   // by common directory, nil where git has to list them
	seen map[[2]string]string        // what tags are on, by common directory and name
	read map[string]map[string][]int // all numbers, by common directory, then turn session
}

func newTagReader(h *app.App) tagReader {
	return tagReader{home: h, tags: map[string]*worktree.Tags{}, seen: map[[2]string]string{}, read: map[string]map[string][]int{}}
}

// look looks for the tags that add will ask for.
func (r tagReader) look(s *session.Session) {
	for i := range s.Agents {
		if w := &s.Agents[i]; countsTurns(w) {
			r.id(s.GitCommonDir, turn.TagName(w.TurnSession, w.Last))
		}
	}
}

// countsTurns reports whether the record of an agent says how many turns it has finished: that of an older paw does not.
func countsTurns(w *session.Agent) bool { return w.Last > 0 || !w.CreatedAt.IsZero() }

// add fills in what is known of the finished turns of each agent.
func (r tagReader) add(ctx context.Context, st *observe.SessionStatus) {
	for i := range st.Agents {
		r.addTo(ctx, st, &st.Agents[i])
		st.Agents[i].ToReview = max(st.Agents[i].TurnsCompleted-st.Agents[i].Record.Seen.Turns, 0)
	}
}

// addTo fills in which tag an agent has last, and how many turns it has finished:
// the record counts them, for agents of an older paw the tags do.
func (r tagReader) addTo(ctx context.Context, st *observe.SessionStatus, a *observe.AgentStatus) {
	finished := a.Record.Finished
	counted := countsTurns(&a.Record)
	if counted {
		a.TurnsCompleted = finished.Turns
		name := turn.TagName(a.Record.TurnSession, finished.Last)
		id, known := r.id(st.Session.GitCommonDir, name)
		if id != "" && finished.Last == a.LastTurn && a.LastCommit != "" && id != a.LastCommit {
			a.Reason = strings.TrimPrefix(a.Reason+"; tag "+name+" is not on its commit, see paw turns", "; ")
			return // somebody has moved it
		}
		if id != "" {
			a.LastTag = name
		}
		if id != "" || known && finished.Last == 0 {
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

// id is what a tag is on, "" where there is none, if files tell.
func (r tagReader) id(commonDir, name string) (id string, known bool) {
	tags, asked := r.tags[commonDir]
	if !asked {
		if found, ok, err := worktree.TagsOf(commonDir); err == nil && ok {
			tags = found
		}
		r.tags[commonDir] = tags
	}
	if tags == nil {
		return "", false
	}
	id, looked := r.seen[[2]string{commonDir, name}]
	if !looked {
		id = tags.ID(name)
		r.seen[[2]string{commonDir, name}] = id
	}
	return id, true
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

package launch

import (
	"context"
	"maps"
	"os"
	"path/filepath"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// TagStarts tags the base of each agent that is being made as turn 0, before
// anything else of it is made. The ref of the owner comes first, so that of any
// number of sessions with the same names one gets each: a tag that is there already
// is an error, unless an interrupted run of the same session has left it.
func TagStarts(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, jobs []Job) error {
	var agents []*session.Agent
	for _, j := range jobs {
		if j.Result != ResultRefused && j.Worktree == WorktreeCreate {
			agents = append(agents, s.Agent(j.Agent))
		}
	}
	if len(agents) == 0 {
		return nil
	}
	owner, err := m.Objects().KeepBlob(ctx, app.OwnerOf(s, ""))
	if err != nil {
		return err
	}
	// Where there is no tag the attempt itself is the look: it fails when somebody else
	// is or was faster, and the second one finds out who.
	for try := 1; ; try++ {
		refs, err := missingStarts(ctx, m, agents, owner, try > 1)
		if err != nil {
			return err
		}
		if err = m.Refs().CreateAll(ctx, refs); err == nil {
			break
		}
		if try == 3 {
			return err
		}
	}
	for _, w := range agents {
		// The folder says whose tag it is when there is no record any more (loggedAgents).
		if err := os.MkdirAll(h.TurnDir(s.Name, w.Name).Path, 0o700); err != nil {
			return err
		}
	}
	h.Step("start.tagged")
	return nil
}

// missingStarts are the refs that agents of the owner still need to have a start.
// Whose an agent's name is, is looked up when it has tags, or when sure is asked for.
func missingStarts(ctx context.Context, m worktree.Manager, agents []*session.Agent, owner string, sure bool) (map[string]string, error) {
	refs := map[string]string{}
	for _, w := range agents {
		tagged, err := turns.Tags(ctx, m, w.TurnSession)
		if err != nil {
			return nil, err
		}
		var known map[string]string
		if sure || len(tagged) > 0 {
			if known, err = m.Refs().List(ctx, turn.OwnerRef(w.TurnSession)); err != nil {
				return nil, err
			}
		}
		now, taken := known[turn.OwnerRef(w.TurnSession)]
		if taken && now != owner || !taken && len(tagged) > 0 {
			return nil, errs.New(errs.Usage, "%s: %w: %s", w.TurnSession, turns.ErrNameTaken, turn.TagName(w.TurnSession, 0)).Hint("paw status --all")
		}
		if !taken {
			refs[turn.OwnerRef(w.TurnSession)] = owner
		}
		if len(tagged) == 0 {
			refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
		}
	}
	return refs, nil
}

// untagStarts takes the tags of agents back that never started.
func untagStarts(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session) error {
	refs := map[string]string{}
	for _, w := range s.Agents {
		own, err := turns.Own(ctx, m, s, w.Name)
		if err != nil {
			return err
		}
		tagged, err := turns.Tags(ctx, m, w.TurnSession)
		if err != nil {
			return err
		}
		if len(own) > 0 && len(tagged) <= 1 {
			known, err := m.Refs().List(ctx, turn.OwnerRef(w.TurnSession))
			if err != nil {
				return err
			}
			maps.Copy(refs, known)
			if len(tagged) == 1 && tagged[0] == 0 {
				refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
			}
		}
		_ = os.Remove(h.TurnDir(s.Name, w.Name).Path) // when it is empty
	}
	_ = os.Remove(filepath.Join(h.Paths.TurnsDir(), s.Name))
	return m.Refs().Delete(ctx, refs)
}

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

// TagStarts tags the bases of new agents as turn 0, before anything else of them is made. The owner
// ref and the tag are created together: of several sessions with the same names only one gets them.
// An existing tag is an error, unless an interrupted run of the same session left it.
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
	// Where no tag is seen, creating the refs is the check: it fails when another session was
	// faster, and the next attempt looks up the owner.
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
		// The folder marks the owner of the tag when there is no record any more (loggedAgents).
		if err := os.MkdirAll(h.TurnDir(s.Name, w.Name).Path, 0o700); err != nil {
			return err
		}
	}
	h.Step("start.tagged")
	return nil
}

// missingStarts returns the refs that the agents still need. The owner of a name is looked up when
// it has tags, or when sure is set.
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

// untagStarts deletes the tags and owner refs of agents that never started.
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
		_ = os.Remove(h.TurnDir(s.Name, w.Name).Path) // Remove only deletes an empty folder
	}
	_ = os.Remove(filepath.Join(h.Paths.TurnsDir(), s.Name))
	return m.Refs().Delete(ctx, refs)
}

package orchestrator

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// errNameTaken is the cause of a refusal because another session, of another user
// or of before, has turns under the same name in the repository.
var errNameTaken = errors.New("the name is taken in this repository")

// tagStarts tags the base of each agent that is being made as turn 0, before
// anything else of it is made. Tag and owner are made in one transaction or not at
// all, so that of any number of sessions with the same names one gets each: a tag
// that is there already is an error, unless an interrupted run of the same session
// has left it.
func (p *Paw) tagStarts(ctx context.Context, m worktree.Manager, s *session.Session, jobs []job) error {
	var agents []*session.Worktree
	for _, j := range jobs {
		if j.result != ResultRefused && j.worktree == worktreeCreate {
			agents = append(agents, s.Worktree(j.agent))
		}
	}
	if len(agents) == 0 {
		return nil
	}
	owner, err := m.KeepBlob(ctx, ownerOf(s, ""))
	if err != nil {
		return err
	}
	// Where there is no tag the attempt itself is the look: it fails when somebody else
	// is or was faster, and the second one finds out who.
	for try := 1; ; try++ {
		refs, err := p.missingStarts(ctx, m, agents, owner, try > 1)
		if err != nil {
			return err
		}
		if err = m.CreateRefs(ctx, refs); err == nil {
			break
		}
		if try == 3 {
			return err
		}
	}
	for _, w := range agents {
		// The folder says whose tag it is when there is no record any more (loggedAgents).
		if err := os.MkdirAll(p.turnDir(s.Name, w.Agent).Path, 0o700); err != nil {
			return err
		}
	}
	p.Step("start.tagged")
	return nil
}

// missingStarts are the refs that agents of the owner still need to have a start.
// Whose an agent's name is, is looked up when it has tags, or when sure is asked for.
func (p *Paw) missingStarts(ctx context.Context, m worktree.Manager, agents []*session.Worktree, owner string, sure bool) (map[string]string, error) {
	refs := map[string]string{}
	for _, w := range agents {
		tagged, err := p.turnTags(ctx, m, w.TurnSession)
		if err != nil {
			return nil, err
		}
		var known map[string]string
		if sure || len(tagged) > 0 {
			if known, err = m.Refs(ctx, turn.OwnerRef(w.TurnSession)); err != nil {
				return nil, err
			}
		}
		now, taken := known[turn.OwnerRef(w.TurnSession)]
		if taken && now != owner || !taken && len(tagged) > 0 {
			return nil, failf(KindUsage, "%s: %w: %s", w.TurnSession, errNameTaken, turn.TagName(w.TurnSession, 0)).hint("paw status --all")
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

// ownTurns reports whether the turns under the name of an agent are those of s,
// and not of another user's session of the same name.
func (p *Paw) ownTurns(ctx context.Context, m worktree.Manager, s *session.Session, agentName string) (bool, error) {
	ref := turn.OwnerRef(s.Name + "_" + agentName)
	known, err := m.Refs(ctx, ref)
	if err != nil || known[ref] == "" {
		return true, err
	}
	owner, err := m.KeepBlob(ctx, ownerOf(s, ""))
	return known[ref] == owner, err
}

// untagStarts takes the tags of agents back that never started.
func (p *Paw) untagStarts(ctx context.Context, m worktree.Manager, s *session.Session) error {
	refs := map[string]string{}
	for _, w := range s.Worktrees {
		own, err := p.ownTurns(ctx, m, s, w.Agent)
		if err != nil {
			return err
		}
		tagged, err := p.turnTags(ctx, m, w.TurnSession)
		if err != nil {
			return err
		}
		if own && len(tagged) <= 1 {
			known, err := m.Refs(ctx, turn.OwnerRef(w.TurnSession))
			if err != nil {
				return err
			}
			maps.Copy(refs, known)
			if len(tagged) == 1 && tagged[0] == 0 {
				refs[turn.TagRef(w.TurnSession, 0)] = w.BaseCommit
			}
		}
		_ = os.Remove(p.turnDir(s.Name, w.Agent).Path) // when it is empty
	}
	_ = os.Remove(filepath.Join(p.Paths.TurnsDir(), s.Name))
	return m.DeleteRefs(ctx, refs)
}

// takenTurnSessions are the turn sessions that have tags already: their names
// cannot be used again, or turns of two sessions would be mixed.
func (p *Paw) takenTurnSessions(ctx context.Context, commonDir string) (map[string]bool, error) {
	numbers, ok, err := worktree.TurnTags(commonDir)
	if err != nil && !errors.Is(err, worktree.ErrNotRepository) {
		return nil, err
	}
	if err == nil && !ok {
		numbers = p.listTags(ctx, commonDir)
	}
	taken := map[string]bool{}
	for name := range numbers {
		taken[name] = true
	}
	return taken, nil
}

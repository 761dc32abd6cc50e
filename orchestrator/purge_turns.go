package orchestrator

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// PurgeTurns deletes the turn tags, hidden refs and turn logs that a session
// without a record has left in the repository one stands in. Rescues, which may
// be the only place where work still is, go only by force.
func (p *Paw) PurgeTurns(ctx context.Context, name string, force bool) (*Purged, error) {
	if err := session.ValidateName("session", name); err != nil {
		return nil, failf(KindUsage, "%w", err)
	}
	repository, err := worktree.Discover(p.Dir)
	if err != nil {
		return nil, err
	}
	if len(p.loggedAgents(name)) == 0 {
		return nil, failf(KindNotFound, "%s: no such session, and no turns of one", name).hint("paw status --all")
	}
	purged := &Purged{Session: name}
	return purged, p.purgeTurns(ctx, p.manager(repository), &session.Session{Name: name}, purged, force)
}

// loggedAgents are the agents of a session that have turn logs: unlike the names
// of tags, the folders tell session and agent apart.
func (p *Paw) loggedAgents(name string) []string {
	entries, err := os.ReadDir(filepath.Join(p.Paths.TurnsDir(), name))
	if err != nil {
		return nil
	}
	var agents []string
	for _, e := range entries {
		agents = append(agents, e.Name())
	}
	return agents
}

// purgeTurns deletes everything that names a turn of the session: all refs of an
// agent in one transaction, then its logs.
func (p *Paw) purgeTurns(ctx context.Context, m worktree.Manager, s *session.Session, purged *Purged, force bool) error {
	name, agents := s.Name, map[string]bool{}
	for _, w := range s.Worktrees {
		own, err := p.ownTurns(ctx, m, s, w.Agent)
		if err != nil {
			return err
		}
		agents[w.Agent] = own // or those of another user
	}
	for _, agent := range p.loggedAgents(name) {
		if _, known := agents[agent]; known {
			continue
		}
		agents[agent] = true
	}
	kept := 0
	for agent, own := range agents {
		if !own {
			continue
		}
		turnSession := name + "_" + agent
		refs, err := m.Refs(ctx, turn.RefPrefix(turnSession))
		if err != nil {
			return err
		}
		tags, err := m.Refs(ctx, "refs/tags/afk-"+turnSession+"-")
		if err != nil {
			return err
		}
		for ref := range refs {
			// A rescue may be the only place where work still is.
			if !force && strings.HasPrefix(ref, turn.RefPrefix(turnSession)+"rescue/") {
				delete(refs, ref)
				purged.Rescues = append(purged.Rescues, ref)
			}
		}
		for ref, oid := range tags {
			if owner, _, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && owner == turnSession {
				refs[ref] = oid
			}
		}
		if err := m.DeleteRefs(ctx, refs); err != nil {
			return err
		}
		dir := p.turnDir(name, agent).Path
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if len(purged.Rescues) > kept {
			// The empty folder says whose rescues these are, for a later --force.
			kept = len(purged.Rescues)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		p.Step("purge.turns")
	}
	if kept > 0 {
		return nil
	}
	return os.RemoveAll(filepath.Join(p.Paths.TurnsDir(), name))
}

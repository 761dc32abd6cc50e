package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// PurgeTurns deletes the turn tags, hidden refs and turn logs that a session
// without a record has left in the repository one stands in. Rescues, which may
// be the only place where work still is, go only by force, as do logs of turns
// that the repository does not have.
func (p *Paw) PurgeTurns(ctx context.Context, name string, force bool) (*Purged, error) {
	if err := session.ValidateName("session", name); err != nil {
		return nil, failf(KindUsage, "%w", err)
	}
	repository, err := worktree.Discover(p.Dir)
	if err != nil {
		return nil, err
	}
	space, err := p.turnSpaceOf(ctx, repository)
	if err != nil {
		return nil, err
	}
	earlier := space.of(name)
	agents := slices.Concat(earlier.here, earlier.fetched)
	if force {
		agents = append(agents, earlier.elsewhere...)
	}
	if len(agents) == 0 {
		return nil, notPurged(name, earlier)
	}
	purged := &Purged{Session: name}
	return purged, p.purgeTurns(ctx, p.manager(repository), name, agents, purged, force)
}

// notPurged says why nothing of a session without a record can be deleted.
func notPurged(name string, earlier earlierTurns) error {
	switch {
	case len(earlier.elsewhere) > 0:
		return failf(KindRefused, "%s: not purged: the turns of %s are in another repository, whose logs these are", name, strings.Join(earlier.elsewhere, ", ")).
			hint("cd to that repository or, when it is gone: paw purge %s --tags --force", name)
	case len(earlier.stranger) > 0:
		return failf(KindRefused, "%s: not purged: the turns of %s were made by a paw that keeps its records elsewhere", name, strings.Join(earlier.stranger, ", "))
	}
	return failf(KindNotFound, "%s: no such session, and no turns of one", name).hint("paw status --all")
}

// turnsToPurge are the agents of a session with a record whose turns go with it:
// its own, and those that were removed before and have turns in the repository, but
// none that another user's session of the name has made there.
func (p *Paw) turnsToPurge(ctx context.Context, m worktree.Manager, s *session.Session) ([]string, error) {
	space, err := p.turnSpaceOf(ctx, m.Repository)
	if err != nil {
		return nil, err
	}
	var agents []string
	for _, agent := range append(agentNames(s), space.of(s.Name).here...) {
		own, err := p.ownTurns(ctx, m, s, agent)
		if err != nil {
			return nil, err
		}
		if own {
			agents = append(agents, agent)
		}
	}
	slices.Sort(agents)
	return slices.Compact(agents), nil
}

// purgeTurns deletes everything that names a turn of these agents: all refs of
// one in one transaction, then its logs.
func (p *Paw) purgeTurns(ctx context.Context, m worktree.Manager, name string, agents []string, purged *Purged, force bool) error {
	for _, agent := range agents {
		rescues, err := p.deleteTurnRefs(ctx, m, name+"_"+agent, force)
		if err != nil {
			return err
		}
		purged.Rescues = append(purged.Rescues, rescues...)
		dir := p.turnDir(name, agent).Path
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if len(rescues) > 0 {
			// The empty folder says whose rescues these are, for a later --force.
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		p.Step("purge.turns")
	}
	err := os.Remove(filepath.Join(p.Paths.TurnsDir(), name))
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// deleteTurnRefs deletes the tags and hidden refs of a turn session, but for rescues unless by force: these it returns.
func (p *Paw) deleteTurnRefs(ctx context.Context, m worktree.Manager, turnSession string, force bool) (rescues []string, err error) {
	refs, err := m.Refs(ctx, turn.RefPrefix(turnSession))
	if err != nil {
		return nil, err
	}
	tags, err := m.Refs(ctx, "refs/tags/afk-"+turnSession+"-")
	if err != nil {
		return nil, err
	}
	for ref := range refs {
		// A rescue may be the only place where work still is.
		if !force && strings.HasPrefix(ref, turn.RefPrefix(turnSession)+"rescue/") {
			delete(refs, ref)
			rescues = append(rescues, ref)
		}
	}
	for ref, oid := range tags {
		if owner, _, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && owner == turnSession {
			refs[ref] = oid
		}
	}
	return rescues, m.DeleteRefs(ctx, refs)
}

package orchestrator

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// PurgeTurns deletes the turn tags, hidden refs and turn logs that a session
// without a record has left in the repository one stands in. Rescues, which may
// be the only place where work still is, go only by force, as do logs of turns
// that the repository does not have.
func PurgeTurns(ctx context.Context, h *home.Home, name string, force bool) (*Purged, error) {
	if err := session.ValidateName("session", name); err != nil {
		return nil, fault.New(fault.Usage, "%w", err)
	}
	repository, err := worktree.Discover(h.Dir)
	if err != nil {
		return nil, err
	}
	space, err := turns.SpaceOf(ctx, h, repository)
	if err != nil {
		return nil, err
	}
	earlier := space.Of(name)
	agents := slices.Concat(earlier.Here, earlier.Fetched)
	if force {
		agents = append(agents, earlier.Elsewhere...)
	}
	if len(agents) == 0 {
		return nil, notPurged(name, earlier)
	}
	purged := &Purged{Session: name}
	return purged, purgeTurns(ctx, h, h.Manager(repository), name, agents, purged, force)
}

// notPurged says why nothing of a session without a record can be deleted.
func notPurged(name string, earlier turns.Earlier) error {
	switch {
	case len(earlier.Elsewhere) > 0:
		return fault.New(fault.Refused, "%s: not purged: the turns of %s are in another repository, whose logs these are", name, strings.Join(earlier.Elsewhere, ", ")).
			Hint("cd to that repository or, when it is gone: paw purge %s --tags --force", name)
	case len(earlier.Stranger) > 0:
		return fault.New(fault.Refused, "%s: not purged: the turns of %s were made by a paw that keeps its records elsewhere", name, strings.Join(earlier.Stranger, ", "))
	}
	return fault.New(fault.NotFound, "%s: no such session, and no turns of one", name).Hint("paw status --all")
}

// turnsToPurge are the agents of a session with a record whose turns go with it:
// its own, and those that were removed before and have turns in the repository, but
// none that another user's session of the name has made there.
func turnsToPurge(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session) ([]string, error) {
	space, err := turns.SpaceOf(ctx, h, m.Repository)
	if err != nil {
		return nil, err
	}
	agents := append(home.AgentNames(s), space.Of(s.Name).Here...)
	slices.Sort(agents)
	return turns.Own(ctx, m, s, slices.Compact(agents)...)
}

// purgeTurns deletes everything that names a turn of these agents: all refs in
// one transaction, then the logs, which say that they were of this repository.
func purgeTurns(ctx context.Context, h *home.Home, m worktree.Manager, name string, agents []string, purged *Purged, force bool) error {
	all, err := turnRefs(ctx, m, name, agents)
	if err != nil {
		return err
	}
	doomed, rescues := map[string]string{}, map[string][]string{}
	for _, agent := range agents {
		rescues[agent] = addTurnRefs(doomed, name+"_"+agent, all, force)
	}
	if err := m.DeleteRefs(ctx, doomed); err != nil {
		return err
	}
	for _, agent := range agents {
		purged.Rescues = append(purged.Rescues, rescues[agent]...)
		dir := h.TurnDir(name, agent).Path
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
		if len(rescues[agent]) > 0 {
			// The empty folder says whose rescues these are, for a later --force.
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
		}
		h.Step("purge.turns")
	}
	err = os.Remove(filepath.Join(h.Paths.TurnsDir(), name))
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// turnRefs are the tags and hidden refs of agents.
func turnRefs(ctx context.Context, m worktree.Manager, sessionName string, agents []string) (map[string]string, error) {
	if len(agents) == 0 {
		return nil, nil
	}
	var prefixes []string
	for _, agent := range agents {
		turnSession := sessionName + "_" + agent
		prefixes = append(prefixes, turn.RefPrefix(turnSession), turns.TagPrefix(turnSession))
	}
	return m.Refs(ctx, prefixes...)
}

// addTurnRefs adds to doomed those of all that are tags and hidden refs of a turn session, but for rescues unless by
// force: these it returns.
func addTurnRefs(doomed map[string]string, turnSession string, all map[string]string, force bool) (rescues []string) {
	for ref, oid := range all {
		hidden := strings.HasPrefix(ref, turn.RefPrefix(turnSession))
		owner, _, isTurn := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/"))
		switch {
		case hidden && !force && strings.HasPrefix(ref, turn.RefPrefix(turnSession)+"rescue/"): // it may be the only place where work still is
			rescues = append(rescues, ref)
		case hidden || isTurn && owner == turnSession:
			doomed[ref] = oid
		}
	}
	return rescues
}

package orchestrator

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// Purged is what purge did.
type Purged struct {
	Session string
	Removed []string          // agents
	Deleted []string          // branches
	Kept    map[string]string // branches that stay, with the reason
	Rescues []string          // refs with rescued work, which stay
	Aside   []Removed         // agents of which something is kept, or would be

	Gone      string   // the repository when it is gone: only the record could be deleted
	Worktrees []string // directories of such a session, which stay
}

// Purge ends a session for good: stop, remove every agent, delete the merged
// branches that paw made, and the record. It refuses as a whole, before it
// changed anything, when one agent cannot be removed.
func Purge(ctx context.Context, h *home.Home, s *session.Session, o RemoveOptions) (*Purged, error) {
	if err := h.RequireGit(ctx); err != nil {
		return nil, err
	}
	repository, err := h.RepositoryOf(ctx, s)
	if err != nil && !errors.Is(err, home.ErrGone) {
		return nil, err
	}
	if err := betweenTurns(ctx, h, s, home.AgentNames(s), o); err != nil {
		return nil, err
	}
	if err != nil {
		return purgeWithoutRepository(ctx, h, s, o)
	}
	m := h.Manager(repository)
	planned := &Purged{Session: s.Name}
	found, err := allRemovable(ctx, m, s, o)
	planned.Aside = slices.DeleteFunc(slices.Clone(found), func(r Removed) bool { return len(r.Aside) == 0 })
	if err != nil || o.DryRun {
		return planned, err
	}
	if err := finishLandings(ctx, h, s, false); err != nil { // its record says how
		return nil, err
	}
	if _, err := Stop(ctx, h, s, StopOptions{}); err != nil {
		return nil, err
	}
	stopped, err := fleet.ObserveRevived(ctx, h, s)
	if err != nil {
		return nil, err
	}
	purged := &Purged{Session: s.Name, Kept: map[string]string{}}
	m, sweep := m.SweepLater()
	defer sweep(ctx)
	if err := purgeAgents(ctx, h, m, s, o, stopped, found, purged); err != nil {
		return purged, err
	}
	deleteBranches(ctx, m, s, removedBefore(ctx, h, m, s), purged)
	place, err := landing.RemoveCheckPlace(ctx, h, m, s)
	if err != nil {
		return purged, err
	}
	if place.Trash != "" {
		purged.Aside = append(purged.Aside, Removed{Agent: "the checks", Trash: place.Trash, Aside: place.Aside})
	}
	// The record has the agents to the end: it is what a purge that is cut short here and repeated knows their logs by.
	return purged, h.DeleteSession(ctx, s.Name, purged.Removed, func() error {
		if err := deleteState(h, s.Name); err != nil || !o.Tags {
			return err
		}
		agents, err := turnsToPurge(ctx, h, m, s)
		if err != nil {
			return err
		}
		return purgeTurns(ctx, h, m, s.Name, agents, purged, o.Force)
	})
}

// allRemovable refuses as removable does for the first agent of a session that cannot be removed. It looks at as many
// worktrees at once as there are processors, and returns what it has seen of each agent.
func allRemovable(ctx context.Context, m worktree.Manager, s *session.Session, o RemoveOptions) ([]Removed, error) {
	found, errs := make([]Removed, len(s.Worktrees)), make([]error, len(s.Worktrees))
	var all sync.WaitGroup
	free := make(chan struct{}, runtime.NumCPU())
	for i := range s.Worktrees {
		all.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			found[i].Agent = s.Worktrees[i].Agent
			found[i].seen, errs[i] = removable(ctx, m, s, &s.Worktrees[i], o)
			found[i].Aside = found[i].seen.Aside
		})
	}
	all.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	return found, nil
}

// purgeWithoutRepository ends a session whose repository is gone. Nobody can say
// what would be lost with its worktrees, so they stay.
func purgeWithoutRepository(ctx context.Context, h *home.Home, s *session.Session, o RemoveOptions) (*Purged, error) {
	purged := &Purged{Session: s.Name, Gone: s.RepoPath}
	for _, w := range s.Worktrees {
		if _, err := os.Lstat(w.WorktreePath); err == nil {
			purged.Worktrees = append(purged.Worktrees, w.WorktreePath)
		}
	}
	if o.DryRun {
		return purged, nil
	}
	if _, err := Stop(ctx, h, s, StopOptions{}); err != nil {
		return nil, err
	}
	return purged, h.DeleteSession(ctx, s.Name, home.AgentNames(s), func() error {
		if err := deleteState(h, s.Name); err != nil || !o.Tags {
			return err
		}
		return os.RemoveAll(filepath.Join(h.Paths.TurnsDir(), s.Name))
	})
}

// deleteState deletes what paw keeps of a session beside its record and its turns.
func deleteState(h *home.Home, name string) error {
	for _, dir := range []string{filepath.Join(h.Paths.LaunchDir(), name), filepath.Dir(h.StateDir(name, "x"))} {
		if err := os.RemoveAll(dir); err != nil {
			return err
		}
	}
	return nil
}

// purgeAgents removes the agents of a session that was stopped and looked at, and leaves them in its record unless the
// worktree of one of them has to stay. Their branches go while the record still says that paw made them.
func purgeAgents(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session, o RemoveOptions, stopped fleet.Facts, found []Removed, purged *Purged) error {
	var failed error
	var gone []session.Worktree
	for i, w := range s.Worktrees {
		if failed = purgeAgent(ctx, h, m, s.Name, w, o, stopped, found[i], purged); failed != nil {
			break
		}
		gone = append(gone, w)
		purged.Removed = append(purged.Removed, w.Agent)
		h.Step("purge.removed")
	}
	deleteBranches(ctx, m, s, gone, purged)
	if failed != nil && len(gone) > 0 {
		return errors.Join(failed, dropAgents(ctx, h, s.Name, purged.Removed...))
	}
	return failed
}

// purgeAgent ends one agent and takes its worktree away, and leaves it in the record.
func purgeAgent(ctx context.Context, h *home.Home, m worktree.Manager, sessionName string, w session.Worktree, o RemoveOptions, stopped fleet.Facts, found Removed, purged *Purged) error {
	rec, err := h.Update(ctx, sessionName, func(rec *session.Session) error {
		w, err := home.AgentNamed(rec, w.Agent)
		if err == nil {
			w.Phase = removalPhase(o)
		}
		return err
	})
	if err != nil {
		return h.RecordError(sessionName, err)
	}
	removed := &Removed{Agent: w.Agent, seen: found.seen}
	err = endAndClear(ctx, h, m, rec, w.Agent, removed, stopped)
	if len(removed.Kept()) > 0 {
		purged.Aside = append(purged.Aside, *removed)
	}
	return err
}

// removedBefore are the agents of a session that were removed earlier: their turn logs are here, and so may be the branches
// that paw made for them. What cannot be told stays.
func removedBefore(ctx context.Context, h *home.Home, m worktree.Manager, s *session.Session) []session.Worktree {
	logs, _ := os.ReadDir(filepath.Join(h.Paths.TurnsDir(), s.Name))
	logs = slices.DeleteFunc(logs, func(d os.DirEntry) bool { return s.Worktree(d.Name()) != nil })
	if len(logs) == 0 {
		return nil
	}
	var removed []session.Worktree
	agents, _ := turnsToPurge(ctx, h, m, s)
	for _, agent := range agents {
		logged := slices.ContainsFunc(logs, func(d os.DirEntry) bool { return d.Name() == agent })
		if logged {
			removed = append(removed, session.Worktree{Agent: agent, Branch: home.AutomaticBranch(s.Name, agent)})
		}
	}
	return removed
}

// deletedElsewhere deletes a branch that has no commit of its own, and reports whether it did: another branch has them
// all, or a tag that is not of a turn.
func deletedElsewhere(ctx context.Context, m worktree.Manager, branch, tip string) bool {
	ref, err := m.AlsoOn(ctx, tip, branch, turn.TagPrefix)
	if err != nil || ref == "" {
		return false
	}
	stay := m.DeleteBranches(ctx, map[string]string{branch: tip}, ref)
	return stay[branch] == nil
}

// deleteBranches deletes the branches that paw made for agents, where nothing on them would be lost: HEAD has it all, or
// another branch, or it has landed.
func deleteBranches(ctx context.Context, m worktree.Manager, s *session.Session, agents []session.Worktree, purged *Purged) {
	tips, landed := map[string]string{}, map[string]string{}
	for _, w := range agents {
		landed[w.Branch] = landing.Safe(ctx, m, s, &w)
		if !home.MadeByPaw(purged.Session, w) {
			purged.Kept[w.Branch] = "paw did not make it"
			continue
		}
		tip, err := m.Tip(ctx, w.Branch)
		switch {
		case err != nil:
			purged.Kept[w.Branch] = err.Error()
		case tip != "":
			tips[w.Branch] = tip
		}
	}
	stay := m.DeleteBranches(ctx, tips, "HEAD")
	for _, branch := range slices.Sorted(maps.Keys(tips)) {
		switch err := stay[branch]; {
		case err == nil:
			purged.Deleted = append(purged.Deleted, branch)
		case errors.Is(err, worktree.ErrNotMerged) && landed[branch] != "" &&
			m.DeleteBranches(ctx, map[string]string{branch: tips[branch]}, landed[branch])[branch] == nil:
			purged.Deleted = append(purged.Deleted, branch)
		case errors.Is(err, worktree.ErrNotMerged) && deletedElsewhere(ctx, m, branch, tips[branch]):
			purged.Deleted = append(purged.Deleted, branch)
		case errors.Is(err, worktree.ErrNotMerged):
			purged.Kept[branch] = "not merged"
		default:
			purged.Kept[branch] = err.Error()
		}
	}
}

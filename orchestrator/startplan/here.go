package startplan

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// adopt has new agents go on with what the user has begun by hand: the only one in his worktree here, on the branch
// that it has, or all with a copy of his conversation.
func (a *Addition) adopt(ctx context.Context, h *app.App, o Options, here worktree.Entry) error {
	if o.Here != "" {
		w := &a.Draft.Agents[0]
		w.Here, w.WorktreePath, w.BaseCommit = true, here.Path, here.Head
		a.Steps = append(a.Steps, "take "+here.Path+" as it is, which stays yours", "run "+w.CLI+" in a pane of tmux session paw-"+a.Draft.Name)
	}
	if o.Conversation == "" {
		return nil
	}
	return a.takeConversation(ctx, h, o.Conversation, o.Prompt)
}

// userWorktree returns the linked worktree at a path, and refuses one that an agent cannot have to itself.
func userWorktree(ctx context.Context, h *app.App, m *worktree.Manager, path string) (worktree.Entry, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(h.Dir, path)
	}
	refuse := func(why string) (worktree.Entry, error) {
		return worktree.Entry{}, errs.New(errs.Refused, "--here %s: %s", path, why).Hint("git worktree list")
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return worktree.Entry{}, err
	}
	at := slices.IndexFunc(entries, func(e worktree.Entry) bool { return !e.Bare && disk.SamePath(e.Path, path) })
	sessions, _, listErr := h.Store.ListAll()
	switch {
	case listErr != nil:
		return worktree.Entry{}, listErr
	case at < 0:
		return refuse("is no worktree of this repository")
	case disk.SamePath(entries[at].Path, m.Repository.Path):
		return refuse("is the main checkout, which is yours")
	case strings.HasPrefix(entries[at].LockReason, app.OwnerPrefix):
		return refuse("is an agent's already")
	case entries[at].Branch == "":
		return refuse("is on no branch")
	case entries[at].Head == "" || gitdir.Verify(entries[at].Path, m.Repository.CommonDir, "") != nil:
		return refuse("has no commit, or does not lead to this repository")
	}
	for _, s := range sessions {
		if slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return disk.SamePath(w.WorktreePath, entries[at].Path) }) {
			return refuse("is an agent's already")
		}
	}
	return entries[at], nil
}

// requireHere looks at the worktree that --here names, and gives the one new agent its branch.
func (o *Options) requireHere(ctx context.Context, h *app.App, m *worktree.Manager) (entry worktree.Entry, err error) {
	if o.Here == "" {
		return entry, nil
	}
	if entry, err = userWorktree(ctx, h, m, o.Here); err == nil && len(strings.Split(strings.Join(o.CLIs, ","), ",")) != 1 {
		err = errs.New(errs.Usage, "--here: one worktree takes one CLI")
	}
	o.Branches = []string{entry.Branch}
	return entry, err
}

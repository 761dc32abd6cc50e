package startplan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// Session returns the record and the worktree plans of a new session, and refuses what cannot work.
func Session(ctx context.Context, h *app.App, repository gitdir.Repository, asked, from string, handed *Handed, agents []Agent) (*session.Session, []worktree.Plan, error) {
	if err := refuseElsewhere(repository); err != nil {
		return nil, nil, err
	}
	m := h.Manager(repository)
	base, err := baseCommit(ctx, m, cmp.Or(handed.base(), from))
	if err != nil {
		return nil, nil, err
	}
	name, err := Name(ctx, h, repository, asked, agents)
	if err != nil {
		return nil, nil, err
	}
	socket, err := h.TmuxFor(nil).SocketPath()
	if err != nil {
		return nil, nil, err
	}
	root := app.RootIn(repository)
	s := &session.Session{
		Name: name, ID: uuid.NewString(), RepoPath: root, GitCommonDir: repository.CommonDir, ProjectName: filepath.Base(root),
		CreatedAt: h.Now().UTC(), Status: session.StatusActive, BaseCommit: base,
		Tmux: session.Tmux{Session: "paw-" + name, Socket: socket}, Target: m.Refs().CurrentBranch(),
	}
	if err := addAgents(ctx, h, s, m, agents, base); err != nil {
		return nil, nil, err
	}
	if err := handed.giveTo(s.Agents); err != nil {
		return nil, nil, err
	}
	if err := h.RequireSpace(ctx, m, s); err != nil {
		return nil, nil, err
	}
	plans := app.PlansOf(s, s.Agents)
	if err := m.Check(ctx, plans); err != nil {
		if now, nameErr := Name(ctx, h, repository, asked, agents); nameErr == nil && now != name {
			return nil, nil, fmt.Errorf("%w: %w", turns.ErrNameTaken, err) // another session took the name after it was chosen
		}
		return nil, nil, app.Conflict(err)
	}
	return s, plans, nil
}

// refuseElsewhere refuses a repository whose core.worktree is a folder from which git does not find
// the repository.
func refuseElsewhere(repository gitdir.Repository) error {
	if repository.Path == "" {
		return nil
	}
	if there, err := gitdir.Discover(repository.Path); err == nil && there.CommonDir == repository.CommonDir {
		return nil
	}
	return errs.New(errs.Refused, "%s: core.worktree is %s, from where git does not find this repository", repository.CommonDir, repository.Path).
		Hint("echo %s > %s", errs.Quote("gitdir: "+repository.CommonDir), errs.Quote(filepath.Join(repository.Path, ".git")))
}

// addAgents adds the planned agents to the record, in the phase creating.
func addAgents(ctx context.Context, h *app.App, s *session.Session, m worktree.Manager, agents []Agent, base string) error {
	agents = slices.Clone(agents) // the copy gets branches of this session
	named := make([]string, 0, len(agents))
	for i, a := range agents {
		if a.branch == "" {
			agents[i].branch = app.AutomaticBranch(s.Name, a.name)
		}
		named = append(named, agents[i].branch)
	}
	existing, err := m.Refs().Branches(ctx, named)
	if err != nil {
		return err
	}
	target := ""
	if s.Target != "" {
		if target, err = m.Refs().BranchTip(ctx, s.Target); err != nil {
			return err
		}
	}
	for _, a := range agents {
		if err := session.ValidTurnSession(s.Name, a.name); err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
		path, err := h.Config.WorktreePath(s.RepoPath, s.Name, a.name)
		if err != nil {
			return errs.New(errs.Usage, "%w", err)
		}
		cli, _ := h.CLIs.Get(a.CLI)
		w := session.Agent{
			Name: a.name, CLI: a.CLI, Branch: a.branch, WorktreePath: path, TurnSession: s.Name + "_" + a.name,
			Phase: session.PhaseCreating, BaseCommit: base, CreatedAt: h.Now().UTC(), Environment: h.Specs().Remembered(cli),
		}
		if oid, ok := existing[a.branch]; ok {
			w.BaseCommit = oid
		} else {
			w.BranchCreated = true
		}
		w.BaseOnTarget = w.BaseCommit == target
		w.AddConversation(cli.NewConversation())
		s.Enlist(w)
	}
	return nil
}

// withoutCommit returns the refusal of a repository without a commit. The hint commits all existing
// files, but not in the user's home directory.
func withoutCommit(r gitdir.Repository) error {
	e := errs.New(errs.Failed, "%s: the repository has no commit yet", r.Path)
	files, err := os.ReadDir(r.Path)
	if home, homeErr := os.UserHomeDir(); homeErr == nil && home == r.Path || err == nil && len(files) <= 1 { // only .git
		return e.Hint("git commit --allow-empty -m 'first commit'")
	}
	return e.Hint("git add . && git commit -m 'first commit'")
}

// baseCommit returns the commit from which new branches start.
func baseCommit(ctx context.Context, m worktree.Manager, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	base, err := m.Refs().Head(ctx, ref)
	switch {
	case errors.Is(err, refs.ErrNoCommits):
		return "", withoutCommit(m.Repository)
	case err != nil && ref != "HEAD":
		return "", errs.New(errs.Usage, "--base %w", err).Hint("git branch --all")
	}
	return base, err
}

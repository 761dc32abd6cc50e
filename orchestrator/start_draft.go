package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"paw/session"
	"paw/worktree"
)

// draft makes the record and the worktree plans of a new session, and refuses
// what cannot work.
func (p *Paw) draft(ctx context.Context, repository worktree.Repository, o StartOptions, agents []plannedAgent) (*session.Session, []worktree.Plan, error) {
	m := p.manager(repository)
	base, err := p.baseCommit(ctx, m, o.Base)
	if err != nil {
		return nil, nil, err
	}
	name, err := p.sessionName(ctx, repository, o, agents)
	if err != nil {
		return nil, nil, err
	}
	socket, err := p.tmuxFor(nil).SocketPath()
	if err != nil {
		return nil, nil, err
	}
	root := rootIn(repository)
	s := &session.Session{
		Name: name, ID: uuid.NewString(), RepoPath: root, GitCommonDir: repository.CommonDir, ProjectName: filepath.Base(root),
		CreatedAt: p.Now().UTC(), Status: session.StatusActive, BaseCommit: base,
		Tmux: session.Tmux{Session: "paw-" + name, Socket: socket},
	}
	if err := p.addAgents(ctx, s, m, agents, base); err != nil {
		return nil, nil, err
	}
	plans := plansOf(s, s.Worktrees)
	if err := m.Check(ctx, plans); err != nil {
		if now, nameErr := p.sessionName(ctx, repository, o, agents); nameErr == nil && now != name {
			return nil, nil, fmt.Errorf("%w: %w", errNameTaken, err) // somebody took it since it was chosen
		}
		return nil, nil, conflict(err)
	}
	return s, plans, nil
}

// addAgents writes the planned agents into the record as "creating".
func (p *Paw) addAgents(ctx context.Context, s *session.Session, m worktree.Manager, agents []plannedAgent, base string) error {
	agents = slices.Clone(agents) // their branches are those of this session alone
	named := make([]string, 0, len(agents))
	for i, a := range agents {
		if a.branch == "" {
			agents[i].branch = automaticBranch(s.Name, a.name)
		}
		named = append(named, agents[i].branch)
	}
	existing, err := m.Branches(ctx, named)
	if err != nil {
		return err
	}
	for _, a := range agents {
		if err := session.ValidTurnSession(s.Name, a.name); err != nil {
			return failf(KindUsage, "%w", err)
		}
		path, err := p.Config.WorktreePath(s.RepoPath, s.Name, a.name)
		if err != nil {
			return failf(KindUsage, "%w", err)
		}
		cli, _ := p.CLIs.Get(a.cli)
		w := session.Worktree{
			Agent: a.name, CLI: a.cli, Branch: a.branch, WorktreePath: path, TurnSession: s.Name + "_" + a.name,
			Phase: session.PhaseCreating, BaseCommit: base, CreatedAt: p.Now().UTC(), Environment: p.rememberedEnvironment(cli),
		}
		if oid, ok := existing[a.branch]; ok {
			w.BaseCommit = oid
		} else {
			w.BranchCreated = true
		}
		w.AddConversation(cli.NewConversation())
		s.Worktrees = append(s.Worktrees, w)
	}
	return nil
}

// baseCommit resolves the commit that new branches start from.
func (p *Paw) baseCommit(ctx context.Context, m worktree.Manager, ref string) (string, error) {
	if ref == "" {
		ref = "HEAD"
	}
	base, err := m.Head(ctx, ref)
	switch {
	case errors.Is(err, worktree.ErrNoCommits):
		return "", failf(KindError, "%s: the repository has no commit yet", m.Repository.Path).hint("git commit --allow-empty -m 'first commit'")
	case err != nil && ref != "HEAD":
		return "", failf(KindUsage, "--base %s: %w", ref, err)
	}
	return base, err
}

// branchPrefix begins the branches that paw names itself.
const branchPrefix = "paw/"

// automaticBranch is the branch of an agent for which nobody named another.
func automaticBranch(sessionName, agentName string) string {
	return branchPrefix + sessionName + "/" + agentName
}

// madeByPaw reports whether a branch was made for an agent, in this session or in
// an earlier one of the same name.
func madeByPaw(sessionName string, w session.Worktree) bool {
	return w.BranchCreated || w.Branch == automaticBranch(sessionName, w.Agent)
}

// plansOf are the worktree plans of agents.
func plansOf(s *session.Session, agents []session.Worktree) []worktree.Plan {
	plans := make([]worktree.Plan, 0, len(agents))
	for _, w := range agents {
		plans = append(plans, planOf(s, w))
	}
	return plans
}

func planOf(s *session.Session, w session.Worktree) worktree.Plan {
	return worktree.Plan{
		Agent: w.Agent, Branch: w.Branch, Path: w.WorktreePath, Base: w.BaseCommit,
		CreateBranch: w.BranchCreated, TakeBack: w.TakenBack, Owner: ownerOf(s, w.Agent),
	}
}

// ownerPrefix begins what paw writes into the locks of worktrees it made.
const ownerPrefix = "paw "

// ownerOf is what paw writes into the lock of a worktree it made. The name of the
// session is for people: two users may have one of the same name in a repository.
func ownerOf(s *session.Session, agentName string) string {
	return strings.TrimSpace(ownerPrefix + s.Name + "/" + agentName + " " + s.ID)
}

// conflict puts a refusal of the worktree package into the user's words.
func conflict(err error) error {
	var c *worktree.ConflictError
	if !errors.As(err, &c) {
		return err
	}
	e := failf(KindError, "%w", err)
	if c.Hint != "" {
		return e.hint("%s", c.Hint)
	}
	return e
}

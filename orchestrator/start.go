package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/session"
	"paw/worktree"
)

// Started is what start made, or with --dry-run would make.
type Started struct {
	Session *session.Session
	Results []Result // one per agent
	Notes   []string // what the user would otherwise miss
	Plan    []string // the steps, for --dry-run
}

// Start makes a new session: a branch, a worktree and a pane for each agent.
// Everything that can be refused is refused before the first side effect.
func (p *Paw) Start(ctx context.Context, o StartOptions) (*Started, error) {
	o, err := applyPreset(o, p.Config.Presets)
	if err != nil {
		return nil, err
	}
	agents, err := planAgents(o.CLIs, o.Branches, p.CLIs, nil)
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		if err := session.ValidateName("session", o.Name); err != nil {
			return nil, failf(KindUsage, "%w", err)
		}
	}
	if err := p.requireTools(ctx); err != nil {
		return nil, err
	}
	if err := p.requireCLIs(agents, o.Prompt); err != nil {
		return nil, err
	}
	repository, initialized, err := p.repositoryForStart(ctx, o)
	if err != nil {
		return nil, err
	}
	s, plans, err := p.draft(ctx, repository, o, agents)
	if err == nil && !o.DryRun {
		err = p.begin(ctx, s, o.Prompt)
	}
	if err != nil && initialized {
		err = errors.Join(err, worktree.Uninit(context.WithoutCancel(ctx), p.Dir))
	}
	if err != nil {
		return nil, err
	}
	if initialized {
		p.say("%s is now a git repository", p.Dir)
	}
	started := &Started{Session: s, Notes: p.notes(ctx, repository, s)}
	if o.DryRun {
		started.Plan = describeStart(s, plans)
		return started, nil
	}
	jobs := make([]job, len(s.Worktrees))
	for i, w := range s.Worktrees {
		jobs[i] = job{agent: w.Agent, worktree: worktreeCreate, result: ResultFresh, prompt: o.Prompt}
	}
	s, results, err := p.bringUp(ctx, s, jobs)
	if err != nil {
		return nil, p.undoStart(s, plans, err)
	}
	started.Session, started.Results = s, results
	return started, nil
}

// requireCLIs refuses CLIs that are not installed and prompts they cannot take.
func (p *Paw) requireCLIs(agents []plannedAgent, prompt string) error {
	for _, a := range agents {
		cli, _ := p.CLIs.Get(a.cli)
		executable, err := p.executable(cli)
		if err != nil {
			return err
		}
		if prompt == "" {
			continue
		}
		if _, err := cli.Launch(p.draftSpec(cli, executable, prompt)); err != nil && !canOnlyBeSent(err) {
			return failf(KindUsage, "%s: %w", a.cli, err)
		}
	}
	return nil
}

// repositoryForStart finds the repository to work in. An empty directory becomes
// one, because what can be refused is only known then.
func (p *Paw) repositoryForStart(ctx context.Context, o StartOptions) (repository worktree.Repository, initialized bool, err error) {
	repository, err = worktree.Discover(p.Dir)
	if err == nil || !errors.Is(err, worktree.ErrNotRepository) {
		return repository, false, err
	}
	entries, err := os.ReadDir(p.Dir)
	if err != nil {
		return repository, false, err
	}
	if len(entries) > 0 {
		return repository, false, failf(KindError, "%s: not a git repository, and not empty", p.Dir).hint("git init && git add -A && git commit -m 'first commit'")
	}
	name := o.Name
	if name == "" {
		name = defaultName(p.Dir)
	}
	if o.DryRun {
		return repository, false, failf(KindError, "%s: empty directory; start would make it a git repository", p.Dir)
	}
	if err := worktree.Init(ctx, p.Dir, fmt.Sprintf("afk: session %s initialized", name)); err != nil {
		return repository, false, err
	}
	repository, err = worktree.Discover(p.Dir)
	return repository, true, err
}

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
		Name: name, RepoPath: root, GitCommonDir: repository.CommonDir, ProjectName: filepath.Base(root),
		CreatedAt: p.Now().UTC(), Status: session.StatusActive, BaseCommit: base,
		Tmux: session.Tmux{Session: "paw-" + name, Socket: socket},
	}
	if err := p.addAgents(ctx, s, m, agents, base); err != nil {
		return nil, nil, err
	}
	plans := plansOf(s, s.Worktrees)
	if err := m.Check(ctx, plans); err != nil {
		return nil, nil, conflict(err)
	}
	return s, plans, nil
}

// addAgents writes the planned agents into the record as "creating".
func (p *Paw) addAgents(ctx context.Context, s *session.Session, m worktree.Manager, agents []plannedAgent, base string) error {
	named := make([]string, 0, len(agents))
	for i, a := range agents {
		if a.branch == "" {
			agents[i].branch = fmt.Sprintf("paw/%s/%s", s.Name, a.name)
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
			Phase: session.PhaseCreating, BaseCommit: base, Environment: p.rememberedEnvironment(cli),
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
		CreateBranch: w.BranchCreated, Owner: ownerOf(s.Name, w.Agent),
	}
}

// ownerPrefix begins what paw writes into the locks of worktrees it made.
const ownerPrefix = "paw "

// ownerOf is what paw writes into the lock of a worktree it made.
func ownerOf(sessionName, agentName string) string {
	return ownerPrefix + sessionName + "/" + agentName
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

// begin writes the intent: the record that names everything start will make.
func (p *Paw) begin(ctx context.Context, s *session.Session, prompt string) error {
	aside, err := p.Store.SetAsideCorrupt(s.Name)
	if err != nil {
		return p.recordError(s.Name, err)
	}
	if aside != "" {
		p.note("the corrupt record of an earlier session %s is kept as %s", s.Name, aside)
	}
	ctx, cancel := context.WithTimeout(ctx, lockWait)
	defer cancel()
	if err := p.Store.Create(ctx, s, func() error { return p.keepPrompts(s, s.Worktrees, prompt) }); err != nil {
		var taken *session.TakenError
		if errors.As(err, &taken) {
			return failf(KindUsage, "%w", err).hint("paw status --all")
		}
		return p.recordError(s.Name, err)
	}
	p.Step("start.recorded")
	return nil
}

// describeStart lists what start would do.
func describeStart(s *session.Session, plans []worktree.Plan) []string {
	steps := []string{fmt.Sprintf("record session %s for %s", s.Name, s.RepoPath)}
	for i, plan := range plans {
		if plan.CreateBranch {
			steps = append(steps, fmt.Sprintf("create branch %s at %.12s", plan.Branch, plan.Base))
		}
		steps = append(steps, fmt.Sprintf("check out %s in %s", plan.Branch, plan.Path))
		steps = append(steps, fmt.Sprintf("run %s in a pane of tmux session paw-%s", s.Worktrees[i].CLI, s.Name))
	}
	return steps
}

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

// startTries bounds the race for a name that nobody asked for: each lost one means
// that another paw has won.
const startTries = 20

// Start makes a new session: a branch, a worktree and a pane for each agent.
// Everything that can be refused is refused before the first side effect. A name
// that somebody else takes in the meantime is another one where the user named none.
func (p *Paw) Start(ctx context.Context, o StartOptions) (*Started, error) {
	o, err := applyPreset(o, p.Config.Presets)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		started, err := p.startOnce(ctx, o)
		var taken *session.TakenError
		if o.Name != "" || try == startTries || !errors.Is(err, errNameTaken) && !errors.As(err, &taken) {
			return started, err
		}
	}
}

func (p *Paw) startOnce(ctx context.Context, o StartOptions) (*Started, error) {
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
	repository, s, plans, err := p.recordStart(ctx, o, agents)
	if err != nil {
		return nil, err
	}
	started := &Started{Session: s, Notes: p.notes(ctx, repository, s)}
	if o.DryRun {
		started.Plan = describeStart(s, plans)
		return started, nil
	}
	p.Step("start.recorded")
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

// recordStart plans a session and writes it down. Meanwhile no other start can
// make a repository of the directory, or take one back.
func (p *Paw) recordStart(ctx context.Context, o StartOptions, agents []plannedAgent) (worktree.Repository, *session.Session, []worktree.Plan, error) {
	unlock, aloneErr := worktree.Alone(ctx, p.Dir)
	defer unlock()
	repository, initialized, err := p.repositoryForStart(ctx, &o, agents)
	if err != nil {
		return repository, nil, nil, err
	}
	s, plans, err := p.draft(ctx, repository, o, agents)
	if err == nil && !o.DryRun {
		err = p.begin(ctx, s, o.Prompt)
	}
	if err != nil && initialized && aloneErr == nil {
		err = errors.Join(err, worktree.Uninit(context.WithoutCancel(ctx), p.Dir))
	}
	if err == nil && initialized {
		p.say("%s is now a git repository", p.Dir)
	}
	return repository, s, plans, err
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
			return failf(KindUsage, "%w", err)
		}
	}
	return nil
}

// repositoryForStart finds the repository to work in. An empty directory becomes
// one, because what can be refused is only known then; the name of the session,
// which its first commit tells, is settled before.
func (p *Paw) repositoryForStart(ctx context.Context, o *StartOptions, agents []plannedAgent) (repository worktree.Repository, initialized bool, err error) {
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
	if o.DryRun {
		return repository, false, failf(KindError, "%s: empty directory; start would make it a git repository", p.Dir)
	}
	dir, err := filepath.EvalSymlinks(p.Dir)
	if err != nil {
		return repository, false, err
	}
	o.Name, err = p.sessionName(ctx, worktree.Repository{Path: dir, CommonDir: filepath.Join(dir, ".git")}, *o, agents)
	if err != nil {
		return repository, false, err
	}
	if err := worktree.Init(ctx, p.Dir, fmt.Sprintf("afk: session %s initialized", o.Name)); err != nil {
		return repository, false, err
	}
	repository, err = worktree.Discover(p.Dir)
	return repository, true, err
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

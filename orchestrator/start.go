package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/launch"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// Started is what start made, or with --dry-run would make.
type Started struct {
	Session *session.Session
	Results []launch.Result // one per agent
	Notes   []string        // what the user would otherwise miss
	Plan    []string        // the steps, for --dry-run
}

// startTries bounds the race for a name that nobody asked for: each lost one means
// that another paw has won.
const startTries = 20

// Start makes a new session: a branch, a worktree and a pane for each agent.
// Everything that can be refused is refused before the first side effect. A name
// that somebody else takes in the meantime is another one where the user named none.
func Start(ctx context.Context, h *home.Home, o StartOptions) (*Started, error) {
	o, err := applyPreset(o, h.Config.Presets)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		started, err := startOnce(ctx, h, o)
		var taken *session.TakenError
		if o.Name != "" || try == startTries || !errors.Is(err, turns.ErrNameTaken) && !errors.As(err, &taken) {
			return started, err
		}
	}
}

func startOnce(ctx context.Context, h *home.Home, o StartOptions) (*Started, error) {
	agents, err := planAgents(o.CLIs, o.Branches, h.CLIs, nil)
	if err != nil {
		return nil, err
	}
	if o.Name != "" {
		if err := session.ValidateName("session", o.Name); err != nil {
			return nil, fault.New(fault.Usage, "%w", err)
		}
	}
	if err := h.RequireTools(ctx); err != nil {
		return nil, err
	}
	if err := requireCLIs(h, agents, o.Prompt); err != nil {
		return nil, err
	}
	repository, s, plans, err := recordStart(ctx, h, o, agents)
	if err != nil {
		return nil, err
	}
	started := &Started{Session: s, Notes: notes(ctx, h, repository, s)}
	if o.DryRun {
		started.Plan = describeStart(s, plans)
		return started, nil
	}
	h.Step("start.recorded")
	jobs := make([]launch.Job, len(s.Worktrees))
	for i, w := range s.Worktrees {
		jobs[i] = launch.Job{Agent: w.Agent, Worktree: launch.WorktreeCreate, Result: launch.ResultFresh, Prompt: o.Prompt}
	}
	s, results, err := launch.BringUp(ctx, h, s, jobs)
	if err != nil {
		return nil, launch.UndoStart(h, s, plans, err)
	}
	started.Session, started.Results = s, results
	return started, nil
}

// recordStart plans a session and writes it down. Meanwhile no other start can
// make a repository of the directory, or take one back.
func recordStart(ctx context.Context, h *home.Home, o StartOptions, agents []plannedAgent) (worktree.Repository, *session.Session, []worktree.Plan, error) {
	unlock, aloneErr := worktree.Alone(ctx, h.Dir)
	defer unlock()
	repository, initialized, err := repositoryForStart(ctx, h, &o, agents)
	if err != nil {
		return repository, nil, nil, err
	}
	s, plans, err := newSession(ctx, h, repository, o.Name, o.Base, agents)
	if err == nil && !o.DryRun {
		err = begin(ctx, h, s, o.Prompt)
	}
	if err != nil && initialized && aloneErr == nil {
		err = errors.Join(err, worktree.Uninit(context.WithoutCancel(ctx), h.Dir))
	}
	if err == nil && initialized {
		h.Sayf("%s is now a git repository", h.Dir)
	}
	return repository, s, plans, err
}

// requireCLIs refuses CLIs that are not installed and prompts they cannot take.
func requireCLIs(h *home.Home, agents []plannedAgent, prompt string) error {
	for _, a := range agents {
		cli, _ := h.CLIs.Get(a.cli)
		executable, err := h.Program(cli)
		if err != nil {
			return err
		}
		if prompt == "" {
			continue
		}
		if _, err := cli.Launch(h.DraftSpec(cli, executable, prompt)); err != nil && !launch.CanOnlyBeSent(err) {
			return fault.New(fault.Usage, "%w", err)
		}
	}
	return nil
}

// repositoryForStart finds the repository to work in. An empty directory becomes
// one, because what can be refused is only known then; the name of the session,
// which its first commit tells, is settled before.
func repositoryForStart(ctx context.Context, h *home.Home, o *StartOptions, agents []plannedAgent) (repository worktree.Repository, initialized bool, err error) {
	repository, err = worktree.Discover(h.Dir)
	if err == nil || !errors.Is(err, worktree.ErrNotRepository) {
		return repository, false, err
	}
	entries, err := os.ReadDir(h.Dir)
	if err != nil {
		return repository, false, err
	}
	if len(entries) > 0 {
		return repository, false, fault.New(fault.Failed, "%s: not a git repository, and not empty", h.Dir).Hint("git init && git add -A && git commit -m 'first commit'")
	}
	if o.DryRun {
		return repository, false, fault.New(fault.Failed, "%s: empty directory; start would make it a git repository", h.Dir)
	}
	dir, err := filepath.EvalSymlinks(h.Dir)
	if err != nil {
		return repository, false, err
	}
	o.Name, err = sessionName(ctx, h, worktree.Repository{Path: dir, CommonDir: filepath.Join(dir, ".git")}, o.Name, agents)
	if err != nil {
		return repository, false, err
	}
	if err := worktree.Init(ctx, h.Dir, fmt.Sprintf("afk: session %s initialized", o.Name)); err != nil {
		return repository, false, err
	}
	repository, err = worktree.Discover(h.Dir)
	return repository, true, err
}

// begin writes the intent: the record that names everything start will make.
func begin(ctx context.Context, h *home.Home, s *session.Session, prompt string) error {
	aside, err := h.Store.SetAsideCorrupt(s.Name)
	if err != nil {
		return h.RecordError(s.Name, err)
	}
	if aside != "" {
		h.Notef("the corrupt record of an earlier session %s is kept as %s", s.Name, aside)
	}
	ctx, cancel := context.WithTimeout(ctx, home.LockWait)
	defer cancel()
	if err := h.Store.Create(ctx, s, func() error { return launch.KeepPrompts(h, s, s.Worktrees, prompt) }); err != nil {
		var taken *session.TakenError
		if errors.As(err, &taken) {
			return fault.New(fault.Usage, "%w", err).Hint("paw status --all")
		}
		return h.RecordError(s.Name, err)
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

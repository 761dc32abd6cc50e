package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"paw/session"
	"paw/tmux"
	"paw/worktree"
)

// launchPatience is how long start and recover wait for the panes they opened.
const launchPatience = 5 * time.Second

// ResultKind is how an agent comes out of start, add or recover.
type ResultKind string

// The results of DESIGN's recover; start and add only know fresh and refused.
const (
	ResultAlive   ResultKind = "alive"   // was running, left alone
	ResultResumed ResultKind = "resumed" // the CLI's own conversation goes on
	ResultFresh   ResultKind = "fresh"   // a new conversation, with the reason
	ResultRefused ResultKind = "refused" // not started, with the reason and the way out
	ResultStopped ResultKind = "stopped" // stopped by the user, left alone
	ResultRemoved ResultKind = "removed" // its removal had been cut short and was finished
)

// Result is what became of one agent.
type Result struct {
	Agent  string
	CLI    string
	Kind   ResultKind
	Reason string
	Hints  []string
	Notes  []string // what else happened to its worktree
}

// worktreeStep is what has to happen to a worktree before anything runs in it.
type worktreeStep string

const (
	worktreeKeep    worktreeStep = ""
	worktreeCreate  worktreeStep = "create"
	worktreeRestore worktreeStep = "restore"
)

// job is what bringUp does for one agent.
type job struct {
	agent    string
	worktree worktreeStep
	result   ResultKind
	reason   string
	hints    []string
	notes    []string
	prompt   string // first prompt, only ever set by start and add
	sendIt   bool   // the CLI cannot take the prompt as an argument: it is typed once it is ready
	// learnt are conversations found on disk, newest last; planned is the newest
	// one the plan was made from, chosen the id of a fresh one. Another paw may
	// have chosen in between: then its choice stays.
	learnt     []string
	unverified bool // nobody but the CLI can say whether it has the conversation
	planned    string
	chosen     string
}

// bringUp makes the worktrees of the jobs and starts their agents. It may be
// repeated: whatever is there already is left as it is.
func (p *Paw) bringUp(ctx context.Context, s *session.Session, jobs []job) (*session.Session, []Result, error) {
	repository, err := worktree.Discover(s.GitCommonDir)
	if err != nil {
		return s, nil, fmt.Errorf("%s: %w", s.RepoPath, err)
	}
	m := p.manager(repository)
	if err := p.prepareWorktrees(ctx, m, s, jobs); err != nil {
		return s, nil, err
	}
	if err := p.tagStarts(ctx, m, s, jobs); err != nil {
		return s, nil, err
	}
	if s, err = p.settleHeadless(ctx, s, jobs); err != nil {
		return s, nil, err
	}
	s, launched, err := p.openPanes(ctx, s, jobs)
	if err != nil {
		return s, nil, err
	}
	p.Step("panes.recorded")
	p.awaitLaunches(ctx, s, jobs, launched)
	if s, err = p.startRefused(ctx, s, jobs, launched); err != nil {
		return s, nil, err
	}
	p.sendFirstPrompts(ctx, s, jobs, launched)
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		results[i] = Result{Agent: j.agent, CLI: s.Worktree(j.agent).CLI, Kind: j.result, Reason: j.reason, Hints: j.hints, Notes: j.notes}
	}
	return s, results, nil
}

// starts tells whether the job has a CLI to start.
func (j *job) starts() bool { return j.result == ResultResumed || j.result == ResultFresh }

// refuse turns a job into a refusal.
func (j *job) refuse(err error, hints ...string) {
	j.result, j.reason, j.hints = ResultRefused, err.Error(), hints
	var e *Error
	if errors.As(err, &e) {
		j.hints = append(j.hints, e.Hints...)
	}
}

// prepareWorktrees makes, restores and sets up what the jobs ask for.
func (p *Paw) prepareWorktrees(ctx context.Context, m worktree.Manager, s *session.Session, jobs []job) error {
	var plans []worktree.Plan
	for i := range jobs {
		if jobs[i].result != ResultRefused && jobs[i].worktree == worktreeCreate {
			plans = append(plans, planOf(s, *s.Worktree(jobs[i].agent)))
		}
	}
	warnings := map[string]string{}
	if len(plans) > 0 {
		made, err := m.Create(ctx, plans, p.Step)
		if err != nil {
			return conflict(err)
		}
		for _, one := range made {
			warnings[one.Agent] = one.Warning
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if warnings[j.agent] != "" {
			j.notes = append(j.notes, warnings[j.agent])
		}
		w := s.Worktree(j.agent)
		if j.result != ResultRefused && j.worktree == worktreeCreate {
			p.restoreOrigin(ctx, m, w, j)
		}
		if j.result == ResultRefused || j.worktree != worktreeRestore {
			continue
		}
		rescue, err := m.Restore(ctx, planOf(s, *w))
		if err != nil {
			j.refuse(conflict(err))
			continue
		}
		j.notes = append(j.notes, fmt.Sprintf("its worktree was missing and was checked out again from %s; files that were not committed are not in it", w.Branch))
		if rescue != "" {
			j.notes = append(j.notes, "what it had staged is kept in "+rescue)
		}
		p.Step("worktree.restored")
	}
	p.setUpWorktrees(ctx, m, s, jobs)
	return nil
}

// openPanes starts the agents: under the session lock it looks once more at
// panes and locks, opens a pane for each agent that has none, and records it.
// Of any number of paws that do this at once, one opens the panes and the
// others find them.
func (p *Paw) openPanes(ctx context.Context, s *session.Session, jobs []job) (*session.Session, map[string]int, error) {
	launched := map[string]int{}
	saved, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		f, err := p.observe(ctx, rec)
		if err != nil {
			return err
		}
		if f.tmux == session.TmuxUnknown {
			return tmuxError(f.tmuxErr)
		}
		generation := nextGeneration(rec, f)
		var add []tmux.AgentPane
		respawn := map[string]tmux.AgentPane{}
		for i := range jobs {
			j := &jobs[i]
			a := f.agent(j.agent)
			if !j.starts() || a == nil {
				continue
			}
			if reason := withdrawn(rec, j.agent); reason != "" {
				j.refuse(errors.New(reason), "paw recover "+rec.Name)
				continue
			}
			if a.lock.State == session.LockHeld || (a.pane != nil && !a.pane.Dead && !a.launchedAt.IsZero()) {
				j.result, j.reason = ResultAlive, "" // another paw was faster
				continue
			}
			pane, err := p.prepareLaunch(ctx, rec, j, generation)
			if err != nil {
				j.refuse(err)
				continue
			}
			launched[j.agent] = generation
			if a.pane != nil && a.pane.Dead && a.pane.SessionID == f.tmuxID {
				respawn[a.pane.ID] = pane
			} else {
				add = append(add, pane)
			}
		}
		if len(launched) > 0 {
			rec.Generation = generation
		}
		p.Step("panes.prepared")
		if err := p.placePanes(ctx, rec, f, add, respawn); err != nil {
			return err
		}
		p.Step("panes.opened")
		return p.recordPanes(ctx, rec, jobs)
	})
	if err != nil {
		return s, nil, p.recordError(s.Name, err)
	}
	return saved, launched, nil
}

// withdrawn says why an agent must not be started any more although start or
// recover set out to: a stop or a remove came in between. "" when it may.
func withdrawn(s *session.Session, agentName string) string {
	switch phase := s.Worktree(agentName).Phase; phase {
	case session.PhaseStopping, session.PhaseStopped:
		return "it was stopped in the meantime"
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return "it is being removed"
	case session.PhaseCreating, session.PhaseLive:
	}
	if s.Status == session.StatusStopped {
		return "the session was stopped in the meantime"
	}
	return ""
}

// nextGeneration is above every launch that record or tmux know of.
func nextGeneration(s *session.Session, f facts) int {
	highest := s.Generation
	for _, a := range f.agents {
		highest = max(highest, a.lock.Holder.Generation)
		if a.pane != nil {
			highest = max(highest, a.pane.Identity.Generation)
		}
	}
	return highest + 1
}

// agent finds the facts of one agent.
func (f facts) agent(name string) *agentFacts {
	for i := range f.agents {
		if f.agents[i].record.Agent == name {
			return &f.agents[i]
		}
	}
	return nil
}

// placePanes creates the tmux session or adds to it, and revives dead panes in their place.
func (p *Paw) placePanes(ctx context.Context, s *session.Session, f facts, add []tmux.AgentPane, respawn map[string]tmux.AgentPane) error {
	client := p.tmuxFor(s)
	for id, pane := range respawn {
		if err := client.Respawn(ctx, id, pane); err != nil && !errors.Is(err, tmux.ErrStillActive) {
			return tmuxError(err)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if f.tmuxID != "" {
		_, err := client.AddPanes(ctx, f.tmuxID, p.Config.Tmux.Layout, add)
		return tmuxError(err)
	}
	width, height := p.terminalSize()
	created, err := client.Create(ctx, tmux.NewSession{
		Name: s.Tmux.Session, PawSession: s.Name, Dir: s.RepoPath, Width: width, Height: height,
		Layout: p.Config.Tmux.Layout, Agents: add,
	})
	if err != nil {
		return tmuxError(err)
	}
	s.Tmux.Socket, s.Tmux.ServerPID, s.Tmux.ServerStarted = created.Server.Socket, created.Server.PID, created.Server.Started
	return nil
}

// recordPanes reads the panes back from tmux and writes them into the record.
func (p *Paw) recordPanes(ctx context.Context, s *session.Session, jobs []job) error {
	f, err := p.observe(ctx, s)
	if err != nil {
		return err
	}
	if f.tmux != session.TmuxAlive {
		return nil
	}
	s.Tmux.ServerPID, s.Tmux.ServerStarted = f.server.PID, f.server.Started
	for i := range jobs {
		a, w := f.agent(jobs[i].agent), s.Worktree(jobs[i].agent)
		if a == nil || a.pane == nil || jobs[i].result == ResultRefused {
			continue
		}
		w.PaneID, w.Phase = a.pane.ID, session.PhaseLive
	}
	return nil
}

// awaitLaunches waits until each launched agent holds its lock or gave up, so
// that start and recover tell the truth about what they started. Those that
// ended by the time the last one runs are found, too.
func (p *Paw) awaitLaunches(ctx context.Context, s *session.Session, jobs []job, launched map[string]int) {
	deadline := time.Now().Add(launchPatience)
	for i := range jobs {
		j := &jobs[i]
		generation, ok := launched[j.agent]
		for ok && j.starts() && ctx.Err() == nil && p.waitsForLauncher(s, j.agent, generation) {
			if time.Now().After(deadline) {
				j.notes = append(j.notes, "its pane has not started yet")
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	var seen *facts // looked at once, for all that ended
	for i := range jobs {
		generation, ok := launched[jobs[i].agent]
		if !ok || !jobs[i].starts() || p.launchOpen(s.Name, jobs[i].agent, generation) {
			continue
		}
		if lock, err := p.Locks.ProbeAgent(s.Name, jobs[i].agent); err == nil && lock.State == session.LockFree {
			if seen == nil {
				f, err := p.observe(ctx, s)
				if err != nil {
					return
				}
				seen = &f
			}
			p.gaveUp(s, &jobs[i], *seen)
		}
	}
}

// waitsForLauncher tells whether a launch is still on its way to its pane.
func (p *Paw) waitsForLauncher(s *session.Session, name string, generation int) bool {
	lock, err := p.Locks.ProbeAgent(s.Name, name)
	return err != nil || (lock.State != session.LockHeld && p.launchOpen(s.Name, name, generation))
}

// gaveUp explains an agent that ended at once.
func (p *Paw) gaveUp(s *session.Session, j *job, f facts) {
	if reason := p.launchFailure(s.Name, j.agent); reason != "" {
		j.refuse(errors.New(reason), "paw recover "+s.Name)
		return
	}
	if j.unverified {
		return // startRefused looks at it
	}
	a := f.agent(j.agent)
	if a == nil || a.pane == nil || !a.pane.Dead {
		return // a wrapper that has handed over to its program
	}
	ended := session.Observe(f.evidence(*a))
	if ended.State == session.StateCompleted {
		j.notes = append(j.notes, s.Worktree(j.agent).CLI+" ended at once, with success")
		return
	}
	j.refuse(fmt.Errorf("%s ended at once: %s", s.Worktree(j.agent).CLI, ended.Reason), fmt.Sprintf("paw attach %s %s", s.Name, j.agent))
}

// prepareLaunch writes the launch of one agent and returns the pane that runs it.
func (p *Paw) prepareLaunch(ctx context.Context, s *session.Session, j *job, generation int) (tmux.AgentPane, error) {
	w := s.Worktree(j.agent)
	cli, executable, err := p.cliOf(w)
	if err != nil {
		return tmux.AgentPane{}, err
	}
	spec := p.spec(s, w, executable)
	command, err := cli.Resume(spec)
	if j.result == ResultFresh {
		spec.Prompt = j.prompt
		command, err = p.freshCommand(ctx, s, w, cli, spec, j)
		if j.sendIt = canOnlyBeSent(err); j.sendIt {
			spec.Prompt = ""
			command, err = p.freshCommand(ctx, s, w, cli, spec, j)
		}
	}
	if err != nil {
		return tmux.AgentPane{}, failf(KindError, "%s: %w", w.Agent, err)
	}
	for _, file := range command.Files {
		if err := writePrivate(file.Path, file.Content); err != nil {
			return tmux.AgentPane{}, err
		}
	}
	path, err := p.writeLaunch(launchFile{
		Session: s.Name, Agent: w.Agent, Generation: generation, Worktree: w.WorktreePath,
		GitCommonDir: s.GitCommonDir, LocksDir: p.Paths.LocksDir(), Argv: command.Argv, Env: p.environment(s, w, generation, command),
		PromptFile: p.promptFileFor(s, w, spec.Prompt),
	})
	if err != nil {
		return tmux.AgentPane{}, err
	}
	w.Command = recordedCommand(command.Argv, j.prompt)
	return tmux.AgentPane{
		Identity: tmux.Identity{Session: s.Name, Agent: w.Agent, Generation: generation},
		Argv:     []string{p.Executable, "__agent", s.Name, w.Agent, fmt.Sprint(generation), path},
		Label:    w.Agent,
	}, nil
}

// promptFileFor is the saved first prompt that this launch delivers, if any.
func (p *Paw) promptFileFor(s *session.Session, w *session.Worktree, prompt string) string {
	if prompt == "" {
		return ""
	}
	return p.promptPath(s.Name, w.Agent)
}

// recordedCommand is the argv without the user's first prompt, which is no
// business of the record.
func recordedCommand(argv []string, prompt string) []string {
	if prompt == "" {
		return argv
	}
	kept := make([]string, 0, len(argv))
	for _, arg := range argv {
		option, isOption := strings.CutSuffix(arg, "="+prompt)
		switch {
		case arg == prompt || arg == " "+prompt:
		case isOption && strings.HasPrefix(option, "-"):
			kept = append(kept, option)
		default:
			kept = append(kept, arg)
		}
	}
	return kept
}

// undelivered says that the first prompt of an agent was never handed over.
func (p *Paw) undelivered(s *session.Session, agentName string) string {
	path := p.promptPath(s.Name, agentName)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return "its first prompt was never sent; it is kept in " + path
}

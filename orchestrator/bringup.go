package orchestrator

import (
	"context"

	"paw/session"
	"paw/worktree"
)

// ResultKind is how an agent comes out of start, add or recover.
type ResultKind string

// The results; start and add only know fresh and refused.
const (
	ResultAlive   ResultKind = "alive"   // was running, left alone
	ResultResumed ResultKind = "resumed" // the CLI's own conversation goes on
	ResultFresh   ResultKind = "fresh"   // a new conversation, with the reason
	ResultRefused ResultKind = "refused" // not started, with the reason and the way out
	ResultStopped ResultKind = "stopped" // stopped by the user, left alone
	ResultRemoved ResultKind = "removed" // its removal had been cut short and was finished

	ResultCompleted ResultKind = "completed" // its CLI ended with 0 before, left alone
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
	worktreeKeep     worktreeStep = ""
	worktreeCreate   worktreeStep = "create"
	worktreeRestore  worktreeStep = "restore"
	worktreeRegister worktreeStep = "register" // the directory stays, git knows it again
)

// job is what bringUp does for one agent.
type job struct {
	agent    string
	worktree worktreeStep
	result   ResultKind
	reason   string
	hints    []string
	notes    []string
	parent   string // of a child that is just being spawned
	prompt   string // first prompt, only ever set by start, add and spawn
	sendIt   bool   // the CLI cannot take the prompt as an argument: it is typed once it is ready
	// found is a conversation to resume that is not the recorded one; planned is the newest
	// one the plan was made from, chosen the id of a fresh one. Another paw may
	// have chosen in between: then its choice stays.
	found      string
	unverified bool // nobody but the CLI can say whether it has the conversation
	planned    string
	chosen     string
}

// bringUp makes the worktrees of the jobs and starts their agents. It may be
// repeated: whatever is there already is left as it is.
func (p *Paw) bringUp(ctx context.Context, s *session.Session, jobs []job) (*session.Session, []Result, error) {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return s, nil, err
	}
	m := p.manager(repository)
	if err := p.tagStarts(ctx, m, s, jobs); err != nil {
		return s, nil, err
	}
	if err := p.prepareWorktrees(ctx, m, s, jobs); err != nil {
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
	j.result, j.reason, j.hints = ResultRefused, err.Error(), append(hints, hintsOf(err)...)
}

// prepareWorktrees makes, restores and sets up what the jobs ask for.
func (p *Paw) prepareWorktrees(ctx context.Context, m worktree.Manager, s *session.Session, jobs []job) error {
	var plans []worktree.Plan
	for i := range jobs {
		if jobs[i].result != ResultRefused && jobs[i].worktree == worktreeCreate {
			plans = append(plans, planOf(s, *s.Worktree(jobs[i].agent)))
		}
	}
	if err := p.keepOrigins(ctx, m, s, jobs); err != nil {
		return err
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
		if j.result != ResultRefused && (j.worktree == worktreeRestore || j.worktree == worktreeRegister) {
			p.restoreWorktree(ctx, m, s, w, j)
		}
	}
	p.setUpWorktrees(ctx, m, s, jobs)
	return nil
}

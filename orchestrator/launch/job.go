package launch

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree/gitdir"
)

// ResultKind tells how an agent comes out of start, add or recover.
type ResultKind string

// The results. start and add return only fresh and refused.
const (
	ResultAlive   ResultKind = "alive"   // was running, left alone
	ResultResumed ResultKind = "resumed" // the CLI resumed its conversation
	ResultFresh   ResultKind = "fresh"   // a new conversation, with the reason
	ResultRefused ResultKind = "refused" // not started, with the reason and the way out
	ResultStopped ResultKind = "stopped" // stopped by the user, left alone
	ResultRemoved ResultKind = "removed" // an interrupted removal was finished

	ResultLeft ResultKind = "left" // more agents may not run at the same time; left alone

	ResultCompleted ResultKind = "completed" // the agent's CLI exited with 0 before; left alone
)

// WorktreeStep is the work to do on a worktree before the agent starts.
type WorktreeStep string

// The steps for a worktree.
const (
	WorktreeKeep    WorktreeStep = ""
	WorktreeCreate  WorktreeStep = "create"
	WorktreeRestore WorktreeStep = "restore"
)

// Job is the work of BringUp for one agent.
type Job struct {
	Result
	Worktree WorktreeStep
	Parent   string // parent of a child that is being spawned
	Prompt   string // first prompt, set only by start, add and spawn
	// number of the launch in the record (Session.Generation), 0 before BringUp has launched the agent
	generation int
	// setUp is the repository from whose main checkout the launcher sets the worktree up before it
	// becomes the CLI, nil where nothing is to be done.
	setUp        *gitdir.Repository
	AwaitSetUp   bool   // BringUp waits until the set-up is over
	sendIt       bool   // the CLI cannot take the prompt as an argument: the prompt is typed once the CLI is ready
	Continuation        // with a NewID only where the CLI starts fresh with that
	planned      string // recorded conversation at the time of the plan; one that another paw has recorded since wins
}

// headless reports whether the job makes an agent without a pane.
func (j Job) headless() bool { return j.Kind == ResultStopped && j.Worktree == WorktreeCreate }

// Starts reports whether the result is a CLI that starts.
func (r Result) Starts() bool { return r.Kind == ResultResumed || r.Kind == ResultFresh }

// launched reports whether the job's CLI was launched and has not been found to have failed.
func (j *Job) launched() bool { return j.generation != 0 && j.Starts() }

// Refuse makes the result a refusal with the reason and the hints of err, and with hints before
// those. A reason does not name the agent again.
func (r *Result) Refuse(err error, hints ...string) {
	r.Kind, r.Reason, r.Hints = ResultRefused, strings.TrimPrefix(err.Error(), r.Agent+": "), append(hints, errs.HintsOf(err)...)
}

// NothingToDo reports whether no job changes anything and no pane of a killed start is left.
func NothingToDo(f observe.Facts, jobs []Job) bool {
	return f.Tmux != session.TmuxUnknown && len(f.Left) == 0 && !slices.ContainsFunc(jobs, func(j Job) bool { return j.Starts() || j.Worktree != WorktreeKeep })
}

func pointersTo(jobs []Job) []*Job {
	all := make([]*Job, len(jobs))
	for i := range jobs {
		all[i] = &jobs[i]
	}
	return all
}

// Result is the outcome for one agent.
type Result struct {
	Agent  string
	CLI    string
	Kind   ResultKind
	Reason string
	Hints  []string
	Notes  []string // other notes about its worktree
	// CutTurn is the number of the turn that was cut or failed before the agent came back, 0 for
	// none.
	CutTurn int
}

// ResultsOf returns the results of jobs that were carried out.
func ResultsOf(s *session.Session, jobs []Job) []Result {
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		results[i] = j.Result
		if w := s.Agent(j.Agent); w != nil { // nil for one that was removed in the meantime
			results[i].CLI = w.CLI
		}
	}
	return results
}

// wouldBe describes the steps in a dry run.
var wouldBe = map[WorktreeStep]string{
	WorktreeCreate:  "its worktree would be made",
	WorktreeRestore: "its worktree would be made again, from its branch",
}

// Foretold returns the results that a plan would have.
func Foretold(ctx context.Context, h *app.App, s *session.Session, jobs []Job) []Result {
	for i := range jobs {
		j, w := &jobs[i], s.Agent(jobs[i].Agent)
		if cli, executable, err := h.ProgramOf(w); err == nil && j.Kind == ResultFresh {
			j.forks(ctx, h.Agent(s, w), cli, h.Specs().Launch(s, w, executable))
		}
	}
	results := ResultsOf(s, jobs)
	for i, j := range jobs {
		if would := wouldBe[j.Worktree]; would != "" && j.Kind != ResultRefused {
			results[i].Notes = append(slices.Clone(j.Notes), would)
		}
	}
	return results
}

// Intend writes the plan for one agent into its record, before anything is made. Conversation ids
// are only added; the plan's id is dropped when another paw has recorded one since.
func Intend(w *session.Agent, j Job) {
	if w == nil || j.Kind == ResultRefused || j.Kind == ResultStopped || j.Kind == ResultLeft {
		return
	}
	if j.Kind == ResultCompleted {
		if w.Phase == session.PhaseLive {
			w.Phase = session.PhaseExited
		}
		return
	}
	if w.Conversation() == j.planned {
		w.AddConversation(cmp.Or(j.Found, j.NewID))
	}
	if w.Phase.Stop() || w.Phase == session.PhaseExited {
		w.Phase = session.PhaseLive
	}
}

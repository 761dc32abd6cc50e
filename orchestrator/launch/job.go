package launch

import (
	"slices"

	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// ResultKind is how an agent comes out of start, add or recover.
type ResultKind string

// Result is what became of one agent.
type Result struct {
	Agent  string
	CLI    string
	Kind   ResultKind
	Reason string
	Hints  []string
	Notes  []string // what else happened to its worktree
	// CutTurn is the number of the turn that was cut or has failed before it came back, 0 for none.
	CutTurn int
}

// WorktreeStep is what has to happen to a worktree before anything runs in it.
type WorktreeStep string

// Job is what BringUp does for one agent.
type Job struct {
	Agent    string
	Worktree WorktreeStep
	Result   ResultKind
	Reason   string
	Hints    []string
	Notes    []string
	CutTurn  int    // as in Result
	Parent   string // of a child that is just being spawned
	Prompt   string // first prompt, only ever set by start, add and spawn
	// generation of its launch, 0 as long as it was not launched.
	generation int
	sendIt     bool // the CLI cannot take the prompt as an argument: it is typed once it is ready
	// found is a conversation to resume that is not the recorded one; planned is the newest
	// one the plan was made from, chosen the id of a fresh one. Another paw may
	// have chosen in between: then its choice stays.
	found      string
	unverified bool // nobody but the CLI can say whether it has the conversation
	// refusedBefore: it ended at once when it was asked for the conversation last, however long that takes it.
	refusedBefore bool
	planned       string
	chosen        string
}

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

// The steps.
const (
	WorktreeKeep     WorktreeStep = ""
	WorktreeCreate   WorktreeStep = "create"
	WorktreeRestore  WorktreeStep = "restore"
	WorktreeRegister WorktreeStep = "register" // the directory stays, git knows it again
)

// Starts reports whether the job has a CLI to start.
func (j *Job) Starts() bool { return j.Result == ResultResumed || j.Result == ResultFresh }

// NothingToDo reports whether all agents of the jobs are as they are to be, and no pane of a start that was killed is left.
func NothingToDo(f observe.Facts, jobs []Job) bool {
	return f.Tmux != session.TmuxUnknown && len(f.Left) == 0 && !slices.ContainsFunc(jobs, func(j Job) bool { return j.Starts() || j.Worktree != WorktreeKeep })
}

// pointersTo are the jobs themselves, to be changed.
func pointersTo(jobs []Job) []*Job {
	all := make([]*Job, len(jobs))
	for i := range jobs {
		all[i] = &jobs[i]
	}
	return all
}

// launched reports whether the CLI of the job was started, and nobody has found since that it did not start.
func (j *Job) launched() bool { return j.generation != 0 && j.Starts() }

// refuse turns a job into a refusal.
func (j *Job) refuse(err error, hints ...string) {
	j.Result, j.Reason, j.Hints = ResultRefused, err.Error(), append(hints, errs.HintsOf(err)...)
}

// wouldBe says what is going to happen to a worktree.
var wouldBe = map[WorktreeStep]string{
	WorktreeCreate:   "its worktree would be made",
	WorktreeRestore:  "its worktree would be made again, from its branch",
	WorktreeRegister: "git would know its worktree again; no file in it would change",
}

// Foretold are the results that a plan would have.
func Foretold(s *session.Session, jobs []Job) []Result {
	results := ResultsOf(s, jobs)
	for i, j := range jobs {
		if would := wouldBe[j.Worktree]; would != "" && j.Result != ResultRefused {
			results[i].Notes = append(slices.Clone(j.Notes), would)
		}
	}
	return results
}

// ResultsOf are the results of jobs that were carried out.
func ResultsOf(s *session.Session, jobs []Job) []Result {
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		results[i] = Result{Agent: j.Agent, CLI: s.Agent(j.Agent).CLI, Kind: j.Result, Reason: j.Reason, Hints: j.Hints, Notes: j.Notes, CutTurn: j.CutTurn}
	}
	return results
}

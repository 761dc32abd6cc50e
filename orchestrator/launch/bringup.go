// Package launch starts and ends agents: from a plan of jobs over worktrees, tags and set-up to the
// panes, and from there, inside the pane, to the CLI.
//
// BringUp carries out jobs; PlanRecover makes the jobs of agents that ran before (recover_plan.go
// is the pure table). A launch is written to a file; the launcher in the pane (exec.go) reads and
// deletes the file and becomes the CLI. EndAgents ends running agents; UndoStart and UndoAdd take
// back agents that never started. The package may import orchestrator/app, observe, turns and
// typing. Begin with bringup.go.
package launch

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
)

// BringUp makes the worktrees of the jobs and starts their agents. It may be repeated: it leaves
// what already exists unchanged.
func BringUp(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, []Result, error) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return s, nil, err
	}
	if err := TagStarts(ctx, h, m, s, jobs); err != nil {
		return s, nil, err
	}
	if err := PrepareWorktrees(ctx, h, m, s, jobs); err != nil {
		return s, nil, err
	}
	if s, err = SettleHeadless(ctx, h, s, jobs); err != nil {
		return s, nil, err
	}
	starting := pointersTo(jobs)
	if s, err = openPanes(ctx, h, s, starting); err != nil {
		return s, nil, err
	}
	h.Step("panes.recorded")
	awaitLaunches(ctx, h, s, starting)
	if s, err = startRefused(ctx, h, s, starting); err != nil {
		return s, nil, err
	}
	sendFirstPrompts(ctx, h, s, starting)
	return s, ResultsOf(s, jobs), nil
}

// PrepareWorktrees creates, restores and sets up the worktrees that the jobs ask for.
func PrepareWorktrees(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, jobs []Job) error {
	var plans []worktree.Plan
	for i := range jobs {
		if jobs[i].Result != ResultRefused && jobs[i].Worktree == WorktreeCreate {
			plans = append(plans, app.PlanOf(s, *s.Agent(jobs[i].Agent)))
		}
	}
	if err := keepOrigins(ctx, h, m, s, jobs); err != nil {
		return err
	}
	warnings := map[string]string{}
	if len(plans) > 0 {
		made, err := m.Create(ctx, plans, h.Step)
		if err != nil {
			return app.Conflict(err)
		}
		for _, one := range made {
			warnings[one.Agent] = one.Warning
		}
	}
	for i := range jobs {
		j := &jobs[i]
		if warnings[j.Agent] != "" {
			j.Notes = append(j.Notes, warnings[j.Agent])
		}
		w := s.Agent(j.Agent)
		if j.Result != ResultRefused && j.Worktree == WorktreeCreate {
			restoreOrigin(ctx, h, m, w, j)
		}
		if j.Result != ResultRefused && (j.Worktree == WorktreeRestore || j.Worktree == WorktreeRegister) {
			restoreWorktree(ctx, h, m, s, w, j)
		}
	}
	setUpWorktrees(ctx, h, m, s, jobs)
	return nil
}

// ResultKind tells how an agent comes out of start, add or recover.
type ResultKind string

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

// WorktreeStep is the work to do on a worktree before the agent starts.
type WorktreeStep string

// Job is the work of BringUp for one agent.
type Job struct {
	Agent    string
	Worktree WorktreeStep
	Result   ResultKind
	Reason   string
	Hints    []string
	Notes    []string
	CutTurn  int    // as Result.CutTurn
	Parent   string // parent of a child that is being spawned
	Prompt   string // first prompt, set only by start, add and spawn
	// generation of the launch, 0 before it
	generation int
	sendIt     bool // the CLI cannot take the prompt as an argument: the prompt is typed once the CLI is ready
	// found is a conversation to resume other than the recorded one; planned is the recorded one at
	// the time of the plan; chosen is the id for a fresh one. When another paw has recorded a
	// conversation since planned, the record wins.
	found      string
	unverified bool // only the CLI can say whether the conversation still exists
	// refusedBefore means that the CLI ended at once when it last resumed the conversation: its
	// answer is awaited longer.
	refusedBefore bool
	planned       string
	chosen        string
}

// The results. start and add return only fresh and refused.
const (
	ResultAlive   ResultKind = "alive"   // was running, left alone
	ResultResumed ResultKind = "resumed" // the CLI resumed its conversation
	ResultFresh   ResultKind = "fresh"   // a new conversation, with the reason
	ResultRefused ResultKind = "refused" // not started, with the reason and the way out
	ResultStopped ResultKind = "stopped" // stopped by the user, left alone
	ResultRemoved ResultKind = "removed" // an interrupted removal was finished

	ResultCompleted ResultKind = "completed" // the agent's CLI exited with 0 before; left alone
)

// The steps for a worktree.
const (
	WorktreeKeep     WorktreeStep = ""
	WorktreeCreate   WorktreeStep = "create"
	WorktreeRestore  WorktreeStep = "restore"
	WorktreeRegister WorktreeStep = "register" // the directory stays, and git registers the worktree again
)

// Starts reports whether the job starts a CLI.
func (j *Job) Starts() bool { return j.Result == ResultResumed || j.Result == ResultFresh }

// NothingToDo reports whether no job changes anything and no pane of a killed start is left.
func NothingToDo(f observe.Facts, jobs []Job) bool {
	return f.Tmux != session.TmuxUnknown && len(f.Left) == 0 && !slices.ContainsFunc(jobs, func(j Job) bool { return j.Starts() || j.Worktree != WorktreeKeep })
}

// pointersTo returns pointers to the elements of jobs.
func pointersTo(jobs []Job) []*Job {
	all := make([]*Job, len(jobs))
	for i := range jobs {
		all[i] = &jobs[i]
	}
	return all
}

// launched reports whether the job's CLI was launched and has not been found to have failed.
func (j *Job) launched() bool { return j.generation != 0 && j.Starts() }

// refuse turns a job into a refusal.
func (j *Job) refuse(err error, hints ...string) {
	j.Result, j.Reason, j.Hints = ResultRefused, err.Error(), append(hints, errs.HintsOf(err)...)
}

// wouldBe describes the steps in a dry run.
var wouldBe = map[WorktreeStep]string{
	WorktreeCreate:   "its worktree would be made",
	WorktreeRestore:  "its worktree would be made again, from its branch",
	WorktreeRegister: "git would know its worktree again; no file in it would change",
}

// Foretold returns the results that a plan would have.
func Foretold(s *session.Session, jobs []Job) []Result {
	results := ResultsOf(s, jobs)
	for i, j := range jobs {
		if would := wouldBe[j.Worktree]; would != "" && j.Result != ResultRefused {
			results[i].Notes = append(slices.Clone(j.Notes), would)
		}
	}
	return results
}

// ResultsOf returns the results of jobs that were carried out.
func ResultsOf(s *session.Session, jobs []Job) []Result {
	results := make([]Result, len(jobs))
	for i, j := range jobs {
		results[i] = Result{Agent: j.Agent, CLI: s.Agent(j.Agent).CLI, Kind: j.Result, Reason: j.Reason, Hints: j.Hints, Notes: j.Notes, CutTurn: j.CutTurn}
	}
	return results
}

// Intend writes the plan for one agent into its record, before anything is made. Conversation ids
// are only added; the plan's id is dropped when another paw has recorded one since.
func Intend(w *session.Agent, j Job) {
	if w == nil || j.Result == ResultRefused || j.Result == ResultStopped {
		return
	}
	if j.Result == ResultCompleted {
		if w.Phase == session.PhaseLive {
			w.Phase = session.PhaseExited
		}
		return
	}
	if w.Conversation() == j.planned {
		w.AddConversation(cmp.Or(j.found, j.chosen))
	}
	if w.Phase == session.PhaseStopping || w.Phase == session.PhaseStopped || w.Phase == session.PhaseExited {
		w.Phase = session.PhaseLive
	}
}

// DropAgent removes an agent from a record.
func DropAgent(s *session.Session, name string) {
	s.Agents = slices.DeleteFunc(s.Agents, func(w session.Agent) bool { return w.Name == name })
	for i := range s.Agents {
		// A later agent of the same name is not their parent.
		if s.Agents[i].Parent == name {
			s.Agents[i].Parent = ""
		}
	}
}

// UndoStart removes what a failed start made, unless an agent was launched; in that case hints are
// added to cause.
func UndoStart(h *app.App, s *session.Session, plans []worktree.Plan, cause error) error {
	// The user's Ctrl-C must not stop the clean-up.
	ctx := context.Background()
	if err := rollbackWorktrees(ctx, h, s, plans); err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name, "paw purge "+s.Name)
	}
	known := make([]string, len(plans))
	for i, plan := range plans {
		known[i] = plan.Agent
	}
	if err := h.DeleteSession(ctx, s.Name, known, func() error { return nil }); err != nil {
		return errs.WithHints(cause, "paw purge "+s.Name)
	}
	return cause
}

// UndoAdd removes agents that never started, from the disk and from the record.
func UndoAdd(h *app.App, s *session.Session, plans []worktree.Plan, cause error) error {
	draft := *s
	draft.Agents = nil
	for _, plan := range plans {
		if w := s.Agent(plan.Agent); w != nil {
			draft.Agents = append(draft.Agents, *w)
		}
	}
	ctx := context.Background()
	if err := rollbackWorktrees(ctx, h, &draft, plans); err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name)
	}
	_, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, plan := range slices.Backward(plans) {
			rec.GiveBackNumber(plan.Agent)
			DropAgent(rec, plan.Agent)
		}
		return nil
	})
	if err != nil {
		return errs.WithHints(cause, "paw recover "+s.Name)
	}
	return cause
}

// rollbackWorktrees removes the worktrees and branches of agents that never started. It refuses
// when one of them was launched.
func rollbackWorktrees(ctx context.Context, h *app.App, s *session.Session, plans []worktree.Plan) error {
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	for _, a := range f.Agents {
		if a.EverLaunched(s) || a.Pane != nil {
			return fmt.Errorf("%s was started", a.Record.Name)
		}
	}
	repository, err := app.Discover(s)
	if err != nil {
		return err
	}
	var made []worktree.Made
	for _, plan := range plans {
		if plan.TakeBack { // the worktree existed before
			if err := h.Manager(repository).Release(ctx, plan); err != nil {
				return err
			}
			continue
		}
		// Create itself has taken back what it could not complete.
		if _, err := os.Lstat(plan.Path); err == nil {
			one := worktree.Made{Agent: plan.Agent, BranchCreated: plan.CreateBranch}
			if w := s.Agent(plan.Agent); w != nil && w.From != nil {
				one.Snapshot = w.From.Snapshot
			}
			made = append(made, one)
		}
	}
	if err := h.Manager(repository).Rollback(ctx, plans, made); err != nil {
		return err
	}
	if err := untagStarts(ctx, h, h.Manager(repository), s); err != nil {
		return err
	}
	if err := dropOrigins(ctx, h.Manager(repository), s); err != nil {
		return err
	}
	for _, w := range s.Agents {
		if err := WithdrawLaunches(h, s.Name, w.Name); err != nil {
			return err
		}
		_ = os.Remove(h.Texts().PromptPath(s.Name, w.Name))
		h.ForgetAgent(s.Name, w.Name)
	}
	_ = os.Remove(filepath.Join(h.Paths.LaunchDir(), s.Name)) // Remove only deletes an empty folder
	return nil
}

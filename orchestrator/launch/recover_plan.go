package launch

import (
	"errors"
	"fmt"
	"strings"

	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/session"
)

// Continuation says how an agent goes on: with a conversation that its CLI still has, or with a
// fresh one.
type Continuation struct {
	Resumable  bool
	unverified bool // resumable, but paw could not read the conversation's file
	// refusedBefore means that the CLI ended at once when it last resumed the conversation.
	refusedBefore bool
	FreshReason   string // why there is nothing to resume
	KeepID        bool   // the id may be used again for a fresh start
	Found         string // conversation to resume when it is not the recorded one
	NewID         string // id for a fresh start, "" where the CLI chooses
}

// RecoverFacts has the facts about one agent that planAgent decides by.
type RecoverFacts struct {
	sessionName string
	repoPath    string
	named       bool // the user named the session: stopped agents come back too
	record      session.Agent
	tmux        session.Liveness
	tmuxReason  string
	running     live.Running
	pid         int  // process that holds the agent's lock, 0 where unknown
	exited      bool // the CLI exited with 0, or the user left the CLI
	launched    bool // a launcher of this session ran at some time

	worktreeMissing bool   // the worktree does not exist, or a killed recover has left it half made
	worktreeWrong   string // why the directory is not the agent's worktree, "" if it is
	wayBack         string // command that helps with a wrong worktree
	unlinked        bool   // only the link to the repository is broken; recover repairs the link before it plans
	unregistered    bool   // git does not list the directory any more, see worktree.Manager.Unregistered
	onBranch        bool   // HEAD of the worktree names the branch, whether the branch exists or not
	branchExists    bool
	branchAt        string // other worktree with the branch, "" for none
	lastCommit      string // newest known commit of the agent

	cliError error // the CLI is unknown or not installed
	Continuation
	promptUnsent string
}

// planAgent decides what recover does for one agent. It is pure: a test covers each cell of its
// table.
func planAgent(f RecoverFacts) Job {
	j := Job{Agent: f.record.Name, planned: f.record.Conversation(), found: f.Found}
	switch {
	case f.tmux == session.TmuxUnknown:
		j.refuse(errors.New(f.tmuxReason), "paw status "+f.sessionName)
		return j
	case f.record.Phase == session.PhaseCreating && f.record.Headless && !f.named && f.running.Free():
		// Complete what an interrupted paw run was making: an agent without a pane.
		j.Result, j.Worktree, j.Reason = ResultStopped, WorktreeCreate, "paw run "+f.record.Name+" uses it without a pane"
		return j
	case f.record.Phase == session.PhaseStopped && !f.named:
		j.Result, j.Reason = ResultStopped, "paw recover "+f.sessionName+" brings it back"
		return j
	case f.running == live.InPane && f.worktreeMissing:
		j.refuse(errors.New("it runs, and "+session.ReasonWorktreeGone), endsAndReturns(f))
		return j
	case f.running == live.InPane:
		j.Result = ResultAlive
		return j
	case f.running == live.Headless:
		j.refuse(fmt.Errorf("a headless turn runs (pid %d)", f.pid), endsAndReturns(f))
		return j
	case f.running.Held() && f.pid == 0:
		j.refuse(errors.New("something that it started still runs outside of tmux and holds its lock"), "paw recover "+f.sessionName)
		return j
	case f.running.Held():
		j.refuse(fmt.Errorf("pid %d still runs outside of tmux", f.pid), endsAndReturns(f))
		return j
	case f.running == live.LockUnreadable:
		j.refuse(errors.New("its lock cannot be read"), "paw doctor")
		return j
	case f.running == live.Starting:
		j.Result, j.Reason = ResultAlive, "starting"
		return j
	case f.exited && !f.named:
		j.Result, j.Reason = ResultCompleted, session.ReasonOver+"; paw recover "+f.sessionName+" brings it back"
		return j
	case f.cliError != nil:
		j.refuse(f.cliError)
		return j
	}
	if !planWorktree(f, &j) {
		return j
	}
	if f.promptUnsent != "" {
		j.Notes = append(j.Notes, f.promptUnsent)
	}
	if f.Resumable {
		j.Result, j.unverified, j.refusedBefore = ResultResumed, f.unverified || f.refusedBefore, f.refusedBefore
		return j
	}
	j.Result, j.Reason = ResultFresh, f.FreshReason
	if !f.KeepID {
		j.chosen = f.NewID
	}
	return j
}

// endsAndReturns returns the command that ends an agent without a pane or worktree and brings it
// back with both.
func endsAndReturns(f RecoverFacts) string {
	return fmt.Sprintf("paw stop %s %s --only && paw recover %s", f.sessionName, f.record.Name, f.sessionName)
}

// planWorktree decides what happens to the worktree; false when the agent must not start in it.
func planWorktree(f RecoverFacts, j *Job) bool {
	path := f.record.WorktreePath
	lost := f.worktreeMissing || f.unregistered
	switch {
	case f.record.Phase == session.PhaseCreating && !f.launched:
		j.Worktree = WorktreeCreate
	case (lost || f.onBranch) && !f.branchExists:
		what := fmt.Errorf("its branch %s is gone", f.record.Branch)
		if f.worktreeMissing {
			what = fmt.Errorf("its worktree %s and its branch %s are gone", path, f.record.Branch)
		}
		j.refuse(what, fmt.Sprintf("git -C %s branch %s && paw recover %s", errs.Quote(f.repoPath), strings.TrimSpace(errs.Quote(f.record.Branch)+" "+f.lastCommit), f.sessionName))
		return false
	case lost && f.branchAt != "":
		j.refuse(fmt.Errorf("its worktree is gone and its branch %s is checked out in %s", f.record.Branch, f.branchAt),
			fmt.Sprintf("git -C %s switch --detach && paw recover %s", errs.Quote(f.branchAt), f.sessionName))
		return false
	case f.worktreeMissing:
		j.Worktree = WorktreeRestore
	case f.unregistered:
		j.Worktree = WorktreeRegister
	case f.unlinked: // only in a dry run: otherwise recover has repaired the link
		j.Notes = append(j.Notes, "its worktree would be linked to the repository again")
	case f.worktreeWrong != "":
		j.refuse(errors.New(f.worktreeWrong), f.wayBack)
		return false
	}
	return true
}

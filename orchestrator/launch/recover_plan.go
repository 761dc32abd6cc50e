package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// Continuation says how an agent goes on: with a conversation that its CLI still has, or with a
// fresh one.
type Continuation struct {
	Resumable  bool
	unverified bool // resumable, but only the CLI can say whether the conversation still exists
	// refusedBefore means that the CLI ended at once when it last resumed the conversation: its
	// answer is awaited longer.
	refusedBefore bool
	FreshReason   string // why there is nothing to resume
	KeepID        bool   // the id may be used again for a fresh start
	Found         string // conversation to resume when it is not the recorded one
	HeldBy        int    // living process that has the conversation open, 0 for none
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
	headless    string // what a paw does that holds the agent's lock without a pane
	making      string // who makes the agent's worktree now
	pid         int    // process that holds the agent's lock, 0 where unknown
	exited      bool   // the CLI exited with 0, or the user left the CLI
	launched    bool   // a launcher of this session ran at some time

	worktreeMissing bool     // the worktree does not exist, or a killed recover has left it half made
	worktreeWrong   string   // why the directory is not the agent's worktree, "" if it is
	wayBack         []string // commands that help with a wrong worktree
	unlinked        bool     // only the link to the repository is broken; recover repairs the link before it plans
	onBranch        bool     // HEAD of the worktree names the branch, whether the branch exists or not
	branchExists    bool
	branchAt        string // other worktree with the branch, "" for none
	moved           bool   // it is the agent's, which was moved from its path
	lastCommit      string // newest known commit of the agent

	cliError error // the CLI is unknown or not installed
	Continuation
	promptUnsent string
}

// planAgent decides what recover does for one agent. It is pure: a test covers each cell of its
// table.
func planAgent(f RecoverFacts) Job {
	j := Job{Result: Result{Agent: f.record.Name}, planned: f.record.Conversation(), Continuation: f.Continuation}
	j.NewID = ""
	switch {
	case f.tmux == session.TmuxUnknown:
		j.Refuse(errors.New(f.tmuxReason), "paw status "+f.sessionName)
		return j
	case f.record.Phase == session.PhaseCreating && f.record.Headless && !f.named && f.running.Free() && f.running != live.Making:
		// Complete what an interrupted paw run was making: an agent without a pane.
		j.Kind, j.Worktree, j.Reason = ResultStopped, WorktreeCreate, errs.Line("paw run %s", f.record.Name)+" uses it without a pane"
		return j
	case f.record.Phase == session.PhaseStopped && !f.named:
		j.Kind, j.Reason = ResultStopped, errs.Line("paw recover %s", f.sessionName)+" brings it back"
		return j
	case f.running == live.InPane && f.worktreeMissing:
		j.Refuse(errors.New("it runs, and "+session.ReasonWorktreeGone), endsAndReturns(f))
		return j
	case f.running == live.InPane:
		j.Kind = ResultAlive
		return j
	case f.running == live.Headless:
		j.Refuse(errors.New(f.headless), endsAndReturns(f))
		return j
	case f.running.Held():
		refuseHeld(f, &j)
		return j
	case f.running == live.LockUnreadable:
		j.Refuse(errors.New("its lock cannot be read"), "paw doctor")
		return j
	case f.running == live.Making || f.running == live.Starting:
		j.Kind, j.Reason = ResultAlive, cmp.Or(f.making, "starting")
		return j
	case f.exited && !f.named:
		j.Kind, j.Reason = ResultCompleted, session.ReasonOver+"; "+errs.Line("paw recover %s", f.sessionName)+" brings it back"
		return j
	case f.cliError != nil:
		j.Refuse(f.cliError)
		return j
	}
	if !planWorktree(f, &j) {
		return j
	}
	if f.promptUnsent != "" {
		j.Notes = append(j.Notes, f.promptUnsent)
	}
	if f.Resumable && f.HeldBy != 0 {
		j.Refuse(fmt.Errorf("its conversation is open in pid %d, which is not paw's", f.HeldBy), fmt.Sprintf("ps -o pid,args -p %d", f.HeldBy))
		return j
	}
	if f.Resumable {
		j.Kind = ResultResumed
		return j
	}
	j.Kind, j.Reason = ResultFresh, f.FreshReason
	if !f.KeepID {
		j.NewID = f.NewID
	}
	return j
}

// refuseHeld refuses an agent whose lock is held without a pane.
func refuseHeld(f RecoverFacts, j *Job) {
	switch {
	case f.running == live.Elsewhere:
		j.Refuse(errors.New(session.ReasonOtherMachine), "paw status "+f.sessionName)
	case f.pid == 0:
		j.Refuse(errors.New("something that it started still runs outside of tmux and holds its lock"), "paw recover "+f.sessionName)
	default:
		j.Refuse(fmt.Errorf("pid %d still runs outside of tmux", f.pid), endsAndReturns(f))
	}
}

// endsAndReturns returns the command that ends an agent without a pane or worktree and brings it
// back with both.
func endsAndReturns(f RecoverFacts) string {
	return fmt.Sprintf("paw stop %s %s --only && paw recover %s", f.sessionName, f.record.Name, f.sessionName)
}

// planWorktree decides what happens to the worktree; false when the agent must not start in it.
func planWorktree(f RecoverFacts, j *Job) bool {
	path := f.record.WorktreePath
	switch {
	case f.record.Phase == session.PhaseCreating && !f.launched:
		j.Worktree = WorktreeCreate
	case (f.worktreeMissing || f.onBranch) && !f.branchExists:
		what := fmt.Errorf("its branch %s is gone", f.record.Branch)
		if f.worktreeMissing {
			what = fmt.Errorf("its worktree %s and its branch %s are gone", path, f.record.Branch)
		}
		j.Refuse(what, fmt.Sprintf("git -C %s branch %s && paw recover %s", errs.Quote(f.repoPath), strings.TrimSpace(errs.Quote(f.record.Branch)+" "+f.lastCommit), f.sessionName))
		return false
	case f.worktreeMissing && f.moved:
		j.Refuse(fmt.Errorf("its worktree was moved to %s", f.branchAt),
			fmt.Sprintf("git -C %s worktree move -f -f %s %s && paw recover %s", errs.Quote(f.repoPath), errs.Quote(f.branchAt), errs.Quote(path), f.sessionName))
		return false
	case f.worktreeMissing && f.branchAt != "":
		j.Refuse(fmt.Errorf("its worktree is gone and its branch %s is checked out in %s", f.record.Branch, f.branchAt),
			fmt.Sprintf("git -C %s switch --detach && paw recover %s", errs.Quote(f.branchAt), f.sessionName))
		return false
	case f.worktreeMissing && f.record.Here:
		j.Refuse(fmt.Errorf("its worktree %s, which is yours, is gone", path),
			fmt.Sprintf("git -C %s worktree add %s %s && paw recover %s", errs.Quote(f.repoPath), errs.Quote(path), errs.Quote(f.record.Branch), f.sessionName))
		return false
	case f.worktreeMissing:
		j.Worktree = WorktreeRestore
	case f.unlinked: // only in a dry run: otherwise recover has repaired the link
		j.Notes = append(j.Notes, "its worktree would be linked to the repository again")
	case f.worktreeWrong != "":
		j.Refuse(errors.New(f.worktreeWrong), f.wayBack...)
		return false
	}
	return true
}

// PlanRecover gathers the remaining facts about git, files and CLIs, and plans a job per agent.
func PlanRecover(ctx context.Context, h *app.App, f observe.Facts, named bool) ([]Job, error) {
	s := f.Session
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(s.Agents))
	for i, w := range s.Agents {
		names[i] = w.Branch
	}
	branches, err := m.Refs().Branches(ctx, names)
	if err != nil {
		return nil, err
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]Job, len(f.Agents))
	for i, a := range f.Agents {
		rf := factsFor(ctx, h, f, a)
		rf.named = named
		_, rf.branchExists = branches[a.Record.Branch]
		rf.lookAtBranch(entries)
		if rf.worktreeWrong != "" && m.HalfMade(a.Record.WorktreePath) {
			rf.worktreeMissing, rf.worktreeWrong = true, ""
		}
		if rf.worktreeWrong != "" {
			if rf.unlinked, err = m.Registry().Unlinked(ctx, app.PlanOf(s, a.Record)); err != nil {
				return nil, err
			}
		}
		rf.lastCommit = lastCommitOf(h, entries, s, a.Record)
		jobs[i] = planAgent(rf)
	}
	return jobs, nil
}

// lookAtBranch finds the worktrees that have the agent's branch checked out.
func (f *RecoverFacts) lookAtBranch(entries []worktree.Entry) {
	for i, e := range entries {
		switch {
		case e.Branch != f.record.Branch:
		case e.Path == f.record.WorktreePath:
			f.onBranch = true
		case f.branchAt == "":
			f.branchAt, f.moved = e.Path, disk.Exists(gitdir.FilledMark(e.AdminDir)) || f.record.Here && i > 0 // the first is the main worktree
		}
	}
}

// factsFor gathers the facts about one agent that planAgent needs.
func factsFor(ctx context.Context, h *app.App, f observe.Facts, a observe.Agent) RecoverFacts {
	s, w := f.Session, a.Record
	rf := RecoverFacts{
		sessionName: s.Name, repoPath: s.RepoPath, record: w, tmux: f.Tmux, running: f.Running(a), pid: a.Lock.PID(), headless: observe.HolderWords(a.Lock),
		launched: a.EverLaunched(s), promptUnsent: observe.Undelivered(h, s, w.Name),
	}
	rf.exited = w.Phase == session.PhaseExited || a.Exited()
	if f.TmuxErr != nil {
		rf.tmuxReason = observe.Silence(f.TmuxErr)
	}
	if rf.running == live.Making {
		rf.making = f.State(a).Reason
		return rf
	}
	if rf.running.Held() {
		rf.worktreeMissing = f.Observation(a).WorktreeGone
		return rf
	}
	if _, err := os.Lstat(w.WorktreePath); errors.Is(err, os.ErrNotExist) {
		rf.worktreeMissing = true
	} else if err := gitdir.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
		rf.worktreeWrong, rf.wayBack = err.Error(), WayBack(s, &w)
	}
	cli, executable, err := h.ProgramOf(&w)
	if err != nil {
		rf.cliError = err
		return rf
	}
	spec := h.Specs().Launch(s, &w, executable)
	rf.Continuation = FindContinuation(ctx, h, s, cli, spec)
	rf.refusedBefore = rf.Resumable && refusedLast(f, a, cli, spec)
	rf.unverified = rf.unverified || rf.refusedBefore
	return rf
}

// refusedLast reports whether the agent's last launch resumed the conversation of spec and exited
// with an error before a turn began: the dead pane and the recorded command show that.
func refusedLast(f observe.Facts, a observe.Agent, cli cli.CLI, spec cli.Spec) bool {
	if a.Lock.State != session.LockFree || a.Pane == nil || !a.Pane.Dead || a.Pane.ExitCode == nil || *a.Pane.ExitCode == 0 || a.Left() {
		return false
	}
	launch := observe.LaunchID(f.Session.Name, a.Record.Name, a.Pane.Identity.Generation)
	if last := a.Turns.Last; last != nil && last.Launch == launch {
		return false
	}
	resume, err := cli.Resume(spec)
	return err == nil && slices.Equal(resume.Argv, a.Record.Command)
}

// killedPatience is how long a CLI that was killed may take to end: it has its conversation open until then.
const killedPatience = 2 * time.Second

// FindContinuation finds the agent's conversation that its CLI still has. The recorded one, which
// paw chose or which the agent's hooks named last, has precedence; others on disk may belong to a
// CLI that the user runs in the same folder.
func FindContinuation(ctx context.Context, h *app.App, s *session.Session, c cli.CLI, spec cli.Spec) Continuation {
	how := Continuation{NewID: c.NewConversation(), FreshReason: "it had no conversation yet"}
	w := s.Agent(spec.Agent)
	hooked := observe.HooksEverSeen(h, s.Name, w)
	if spec.ConversationID != "" {
		conversation, err := c.Conversation(ctx, spec)
		poll.Until(ctx, 10*poll.Tick, killedPatience, func() bool {
			how.HeldBy = c.HeldBy(spec)
			return how.HeldBy == 0
		})
		how.KeepID, how.FreshReason = !conversation.NewID, conversation.Reason
		var impossible *cli.ConversationError
		switch {
		case errors.As(err, &impossible):
			how.FreshReason = err.Error()
		case err != nil: // a slow opencode on a busy machine, for example: the conversation may exist
			how.Resumable, how.unverified = true, true
			return how
		case conversation.Resumable:
			how.Resumable, how.unverified = true, conversation.Transcript == ""
			if conversation.Reason == "" {
				return how
			}
		}
		records, problems := h.TurnDir(s.Name, w.Name).Records()
		if len(problems) == 0 && hooked && cleared(w.ConversationIDs, records) {
			how.FreshReason = "its conversation was cleared, and nothing was said since"
			return how
		}
	}
	others, err := c.Learn(ctx, spec) // also where the CLI asks before it resumes, as about one that was archived
	if err != nil && spec.ConversationID == "" {
		how.FreshReason = err.Error()
	}
	for _, id := range slices.Backward(others) { // the last used one first
		// Hooks name every conversation of an agent: if any hook ever reported, a conversation that
		// no hook named is not the agent's.
		if id == w.Conversation() || hooked && !slices.Contains(w.ConversationIDs, id) {
			continue
		}
		spec.ConversationID = id
		if conversation, err := c.Conversation(ctx, spec); err == nil && conversation.Resumable {
			how.Resumable, how.Found, how.unverified = true, id, conversation.Transcript == ""
			break
		}
	}
	return how
}

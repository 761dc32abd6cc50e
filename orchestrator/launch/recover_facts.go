package launch

import (
	"cmp"
	"context"
	"errors"
	"os"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

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
		rf.unregistered = rf.worktreeWrong != "" && m.Registry().Unregistered(app.PlanOf(s, a.Record))
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
	for _, e := range entries {
		switch {
		case e.Branch != f.record.Branch:
		case e.Path == f.record.WorktreePath:
			f.onBranch = true
		default:
			f.branchAt = cmp.Or(f.branchAt, e.Path)
		}
	}
}

// factsFor gathers the facts about one agent that planAgent needs.
func factsFor(ctx context.Context, h *app.App, f observe.Facts, a observe.Agent) RecoverFacts {
	s, w := f.Session, a.Record
	rf := RecoverFacts{
		sessionName: s.Name, repoPath: s.RepoPath, record: w, tmux: f.Tmux, running: f.Running(a), pid: a.Lock.PID(),
		launched: a.EverLaunched(s), promptUnsent: observe.Undelivered(h, s, w.Name),
	}
	rf.exited = w.Phase == session.PhaseExited || a.Exited()
	if f.TmuxErr != nil {
		rf.tmuxReason = observe.Silence(f.TmuxErr)
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

// FindContinuation finds the agent's conversation that its CLI still has. The recorded one, which
// paw chose or which the agent's hooks named last, has precedence; others on disk may belong to a
// CLI that the user runs in the same folder.
func FindContinuation(ctx context.Context, h *app.App, s *session.Session, c cli.CLI, spec cli.Spec) Continuation {
	how := Continuation{NewID: c.NewConversation(), FreshReason: "it had no conversation yet"}
	w := s.Agent(spec.Agent)
	hooked := observe.HooksEverSeen(h, s.Name, w)
	if spec.ConversationID != "" {
		conversation, err := c.Conversation(ctx, spec)
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
			return how
		}
		records, problems := h.TurnDir(s.Name, w.Name).Records()
		if len(problems) == 0 && hooked && cleared(w.ConversationIDs, records) {
			how.FreshReason = "its conversation was cleared, and nothing was said since"
			return how
		}
	}
	others, err := c.Learn(ctx, spec)
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

package orchestrator

import (
	"context"
	"errors"
	"os"
	"slices"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/worktree"
)

// planRecover gathers what is left to know of git, files and CLIs, and decides.
func (p *Paw) planRecover(ctx context.Context, f facts, named bool) ([]job, error) {
	s := f.session
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		return nil, err
	}
	m := p.manager(repository)
	names := make([]string, len(s.Worktrees))
	for i, w := range s.Worktrees {
		names[i] = w.Branch
	}
	branches, err := m.Branches(ctx, names)
	if err != nil {
		return nil, err
	}
	entries, err := m.List(ctx)
	if err != nil {
		return nil, err
	}
	jobs := make([]job, len(f.agents))
	for i, a := range f.agents {
		rf := p.factsFor(ctx, f, a)
		rf.named = named
		_, rf.branchExists = branches[a.record.Branch]
		rf.branchAt, rf.onBranch = checkedOutAt(entries, a.record), onBranch(entries, a.record)
		rf.unregistered = rf.worktreeWrong != "" && m.Unregistered(planOf(s, a.record))
		if rf.worktreeWrong != "" {
			if rf.unlinked, err = m.Unlinked(ctx, planOf(s, a.record)); err != nil {
				return nil, err
			}
		}
		rf.lastCommit = p.lastCommitOf(entries, s, a.record)
		jobs[i] = planAgent(rf)
	}
	return jobs, nil
}

// checkedOutAt is the worktree, other than the agent's own, that has its branch.
func checkedOutAt(entries []worktree.Entry, w session.Worktree) string {
	for _, e := range entries {
		if e.Branch == w.Branch && e.Path != w.WorktreePath {
			return e.Path
		}
	}
	return ""
}

// factsFor gathers what planAgent needs of one agent.
func (p *Paw) factsFor(ctx context.Context, f facts, a agentFacts) recoverFacts {
	s, w := f.session, a.record
	e := f.evidence(a)
	rf := recoverFacts{
		sessionName: s.Name, repoPath: s.RepoPath, record: w, tmux: f.tmux, lock: e.Lock, lockPID: e.HolderPID, pane: e.Pane,
		headless: runsHeadless(a.lock), starting: !a.launchedAt.IsZero(), launched: a.everLaunched(s), promptUnsent: p.undelivered(s, w.Agent),
	}
	rf.exited = w.Phase == session.PhaseExited || a.exited()
	if f.tmuxErr != nil {
		rf.tmuxReason = silence(f.tmuxErr)
	}
	if rf.lock == session.LockHeld {
		return rf
	}
	if _, err := os.Lstat(w.WorktreePath); errors.Is(err, os.ErrNotExist) {
		rf.worktreeMissing = true
	} else if err := worktree.Verify(w.WorktreePath, s.GitCommonDir, ""); err != nil {
		rf.worktreeWrong, rf.wayBack = err.Error(), wayBack(s, &w)
	}
	cli, executable, err := p.cliOf(&w)
	if err != nil {
		rf.cliError = err
		return rf
	}
	p.conversationFacts(ctx, s, cli, p.spec(s, &w, executable), &rf)
	return rf
}

// conversationFacts finds out which conversation of the agent its CLI still has. The recorded one, which paw chose or a
// hook of the agent named last, comes first; of the others on disk some may be those of a CLI that the user runs beside.
func (p *Paw) conversationFacts(ctx context.Context, s *session.Session, cli agent.CLI, spec agent.Spec, rf *recoverFacts) {
	rf.newID = cli.NewConversation()
	rf.freshReason = "it had no conversation yet"
	if spec.ConversationID != "" {
		conversation, err := cli.Conversation(ctx, spec)
		rf.keepID, rf.freshReason = !conversation.NewID, conversation.Reason
		if err != nil {
			rf.freshReason = err.Error()
		}
		if rf.resumable = err == nil && conversation.Resumable; rf.resumable {
			rf.unverified = conversation.Transcript == ""
			return
		}
		records, problems := p.turnDir(s.Name, rf.record.Agent).Records()
		if len(problems) == 0 && p.hooksEverSeen(s.Name, &rf.record) && cleared(rf.record.ConversationIDs, records) {
			rf.freshReason = "its conversation was cleared, and nothing was said since"
			return
		}
	}
	others, err := p.otherConversations(ctx, s, cli, spec)
	if err != nil && spec.ConversationID == "" {
		rf.freshReason = err.Error()
	}
	for _, id := range others {
		spec.ConversationID = id
		if conversation, err := cli.Conversation(ctx, spec); err == nil && conversation.Resumable {
			rf.resumable, rf.found, rf.unverified = true, id, conversation.Transcript == ""
			return
		}
	}
}

// otherConversations are those in the CLI's own files that can be the agent's, the one used last first. Hooks name each
// conversation of an agent: where they ever reported, one that they did not name is somebody else's.
func (p *Paw) otherConversations(ctx context.Context, s *session.Session, cli agent.CLI, spec agent.Spec) ([]string, error) {
	ids, err := cli.Learn(ctx, spec)
	if err != nil {
		return nil, err
	}
	slices.Reverse(ids)
	w := s.Worktree(spec.Agent)
	hooked := p.hooksEverSeen(s.Name, w)
	return slices.DeleteFunc(ids, func(id string) bool {
		return id == w.Conversation() || hooked && !slices.Contains(w.ConversationIDs, id)
	}), nil
}

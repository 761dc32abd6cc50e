package orchestrator

import (
	"context"
	"fmt"
	"slices"

	"paw/session"
	"paw/worktree"
)

// notes are the things a user would otherwise find out too late.
func (p *Paw) notes(ctx context.Context, repository worktree.Repository, s *session.Session) []string {
	var notes []string
	if repository.Path != "" {
		if n, err := p.manager(repository).Changed(ctx, repository.Path); err == nil && n > 0 {
			notes = append(notes, fmt.Sprintf("%s in %s not committed, so not in the worktrees", files(n), repository.Path))
		}
	}
	notes = append(notes, p.branchNotes(ctx, p.manager(repository), s)...)
	return append(notes, p.cliNotes(s)...)
}

// branchNotes name the branches that an earlier session has left and that nobody
// asked for by name: the agents go on there, and not at HEAD.
func (p *Paw) branchNotes(ctx context.Context, m worktree.Manager, s *session.Session) []string {
	var notes []string
	for _, w := range s.Worktrees {
		if w.BranchCreated || w.Branch != automaticBranch(s.Name, w.Agent) {
			continue
		}
		own := ""
		if head, err := m.Head(ctx, ""); err == nil {
			if work, err := m.Work(ctx, head, w.BaseCommit, "", 0); err == nil {
				own = fmt.Sprintf(" with %s of its own", counted(work.CommitCount, "commit"))
			}
		}
		notes = append(notes, fmt.Sprintf("branch %s of an earlier session exists%s, and %s goes on there", w.Branch, own, w.Agent))
	}
	return notes
}

// cliNotes are those notes that are about CLIs and configuration.
func (p *Paw) cliNotes(s *session.Session) []string {
	var notes []string
	if note := p.codexNote(s); note != "" {
		notes = append(notes, note)
	}
	for _, c := range p.Config.Untrusted {
		notes = append(notes, fmt.Sprintf("%s of the repository is not trusted and was left out: %s (paw config trust)", c.Key, c.Text))
	}
	return notes
}

// codexNote says that the codex of a session cannot commit, "" where it can or where there is none.
func (p *Paw) codexNote(s *session.Session) string {
	has := slices.ContainsFunc(s.Worktrees, func(w session.Worktree) bool { return w.CLI == "codex" })
	if !has || p.Config.CLIs["codex"].GitWritable {
		return ""
	}
	return "codex cannot commit in a linked worktree unless clis.codex.git_writable = true opens the git directories to its sandbox"
}

func files(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

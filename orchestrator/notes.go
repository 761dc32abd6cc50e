package orchestrator

import (
	"context"
	"fmt"

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
	return append(notes, p.cliNotes(s)...)
}

// cliNotes are those notes that are about CLIs and configuration.
func (p *Paw) cliNotes(s *session.Session) []string {
	var notes []string
	for _, w := range s.Worktrees {
		if w.CLI == "codex" && !p.Config.CLIs["codex"].GitWritable {
			notes = append(notes, "codex cannot commit in a linked worktree unless clis.codex.git_writable = true opens the git directories to its sandbox")
			break
		}
	}
	for _, c := range p.Config.Untrusted {
		notes = append(notes, fmt.Sprintf("%s of the repository is not trusted and was left out: %s (paw config trust)", c.Key, c.Text))
	}
	return notes
}

func files(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return fmt.Sprintf("%d files are", n)
}

package orchestrator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// notes are the things a user would otherwise find out too late. Whoever waits for
// them can do something else meanwhile: git looks at every file for the first one.
func notes(ctx context.Context, h *app.App, m worktree.Manager, s *session.Session, handed *startplan.Handed) (wait func() []string) {
	rest := append(branchNotes(ctx, m, s), cliNotes(h, s)...)
	tags, err := turns.AllTags(ctx, m) // before the first of them is made
	first := err == nil && len(tags) == 0
	var uncommitted, decoration []string
	var asking sync.WaitGroup
	asking.Go(func() {
		from := cmp.Or(m.Repository.Worktree, m.Repository.Path) // whose HEAD new branches start from
		if from == "" || handed != nil {
			return
		}
		if n, err := m.Changed(ctx, from); err == nil && n > 0 {
			uncommitted = []string{uncommittedIn(from, n)}
		}
	})
	asking.Go(func() {
		if first {
			decoration = decorationNote(ctx, m)
		}
	})
	return func() []string {
		asking.Wait()
		return slices.Concat(uncommitted, handed.Told(), rest, decoration)
	}
}

// branchNotes name the branches that an earlier session has left and that nobody
// asked for by name: the agents go on there, and not at HEAD.
func branchNotes(ctx context.Context, m worktree.Manager, s *session.Session) []string {
	var notes []string
	for _, w := range s.Agents {
		if w.BranchCreated || w.Branch != app.AutomaticBranch(s.Name, w.Name) {
			continue
		}
		own := ""
		if head, err := m.Refs().Head(ctx, ""); err == nil {
			if work, err := m.Objects().Work(ctx, head, w.BaseCommit, "", 0); err == nil {
				own = fmt.Sprintf(" with %s of its own", errs.Counted(work.CommitCount, "commit"))
			}
		}
		notes = append(notes, fmt.Sprintf("branch %s of an earlier session exists%s, and %s goes on there", w.Branch, own, w.Name))
	}
	return notes
}

// cliNotes are those notes that are about CLIs and configuration.
func cliNotes(h *app.App, s *session.Session) []string {
	var notes []string
	if note := codexNote(h, s); note != "" {
		notes = append(notes, note)
	}
	if problem := h.Config.TrustProblem; problem != nil {
		notes = append(notes, fmt.Sprintf("nothing of the repository counts as trusted: %v", problem))
	}
	env := app.Variables(h.UserEnv())
	for _, name := range slices.Sorted(maps.Keys(h.Config.Worktree.Env)) {
		if _, exported := env[name]; exported {
			notes = append(notes, fmt.Sprintf("%s of your shell does not reach the agents: worktree.env sets it", name))
		}
	}
	for _, key := range h.Config.Ignored {
		notes = append(notes, ignoredText(key))
	}
	for _, c := range h.Config.Untrusted {
		notes = append(notes, fmt.Sprintf("%s of the repository is not trusted and was left out: %s (paw config trust)", c.Key, c.Text))
	}
	return notes
}

// ignoredText says of a key of the repository that it counts for nothing.
func ignoredText(key string) string {
	return key + " of the repository is left out: a repository has no say in it"
}

// codexNote says that the codex of a session cannot commit, "" where it can or where there is none.
func codexNote(h *app.App, s *session.Session) string {
	has := slices.ContainsFunc(s.Agents, func(w session.Agent) bool { return w.CLI == "codex" })
	if !has || h.Config.CLIs["codex"].GitWritable {
		return ""
	}
	return "codex cannot commit in a linked worktree unless clis.codex.git_writable = true opens the git directories to its sandbox"
}

// uncommittedIn says of n files in a checkout that agents do not get them.
func uncommittedIn(place string, n int) string {
	is := "are"
	if n == 1 {
		is = "is"
	}
	return fmt.Sprintf("%s in %s %s not in the new worktrees", errs.Counted(n, "uncommitted file"), place, is)
}

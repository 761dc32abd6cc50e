package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
)

//go:embed start.sh
var shellStart string

// lives is how often a session is started, crashed, recovered, stopped and purged.
const lives = 5

// step times a command, or counts its calls.
type step func(ctx context.Context, j *job, argv ...string) error

// life is what is measured of a session's life; a job that is nil is done and not measured.
type life struct {
	agents                      int
	start, recover, stop, purge *job
	shell                       *job // a script that starts as many
}

// measureLife times start, and for eight agents also what comes after it.
func (b *bench) measureLife(ctx context.Context, w *world, n int) error {
	l := life{agents: n}
	if n == 8 {
		l.start = b.job(fmt.Sprintf("start, %s", plural(n)), budget{})
		l.shell = b.job("  the same in shell", budget{})
		// For each agent it registers a worktree and checks it out, then it makes tags and branches.
		l.start.budget = budget{multiple: 1, of: l.shell, counts: &counts{git: 2*n + 6, tmux: 7}}
		l.recover = b.job(fmt.Sprintf("recover after a crash, %s", plural(n)), budget{})
		l.stop = b.job(fmt.Sprintf("stop, %s", plural(n)), budget{multiple: 20})
		// It looks at each worktree once, then deletes all branches, and then the turns.
		l.purge = b.job(fmt.Sprintf("purge, %s", plural(n)), budget{multiple: 60, counts: &counts{git: n + 8, tmux: 3}})
	} else {
		l.start = b.job(fmt.Sprintf("start, %s", plural(n)), budget{})
	}
	for range lives {
		if err := w.live(ctx, l, w.time); err != nil {
			return err
		}
	}
	return w.live(ctx, l, w.count)
}

// live is one life of a session, with a crash when recover is measured.
func (w *world) live(ctx context.Context, l life, measured step) error {
	do := func(j *job, argv ...string) error {
		if j == nil {
			return w.run(ctx, nil, argv...)
		}
		return measured(ctx, j, argv...)
	}
	if l.shell != nil {
		if err := w.startInShell(ctx, l.shell, l.agents, measured); err != nil {
			return err
		}
	}
	if err := do(l.start, w.startArgs(l.agents)...); err != nil {
		return err
	}
	if err := w.expectAlive(ctx, l.agents); err != nil {
		return err
	}
	if l.recover != nil {
		if err := w.crash(ctx); err != nil {
			return err
		}
		if err := do(l.recover, w.paw, "recover", sessionName, "--detach"); err != nil {
			return err
		}
		if err := w.expectAlive(ctx, l.agents); err != nil {
			return err
		}
	}
	if err := do(l.stop, w.paw, "stop", sessionName); err != nil {
		return err
	}
	if err := do(l.purge, w.paw, "purge", sessionName, "--yes", "--tags"); err != nil {
		return err
	}
	return w.settle(ctx)
}

// startInShell starts agents as a script does, and ends them again.
func (w *world) startInShell(ctx context.Context, j *job, n int, measured step) error {
	err := measured(ctx, j, "sh", "-c", shellStart, "start.sh", w.repo, w.socket, fmt.Sprint(n))
	if err := errors.Join(err, w.run(context.WithoutCancel(ctx), nil, "tmux", "-S", w.socket+".shell", "kill-server")); err != nil {
		return err
	}
	if err := os.RemoveAll(w.repo + ".shell"); err != nil {
		return err
	}
	if err := w.run(ctx, nil, "git", "worktree", "prune"); err != nil {
		return err
	}
	for i := range n {
		if err := w.run(ctx, nil, "git", "branch", "-q", "-D", fmt.Sprintf("shell/a%d", i+1)); err != nil {
			return err
		}
	}
	return nil
}

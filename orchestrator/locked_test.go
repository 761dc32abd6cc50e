package orchestrator

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/worktree/gitdir"
)

// A holder that hangs must not hang whoever comes next: each lock is waited for
// only so long, and the failure is that of a lock.
func TestLocksAreNotWaitedForForever(t *testing.T) {
	before := app.LockWait
	app.LockWait = 50 * time.Millisecond
	t.Cleanup(func() { app.LockWait = before })
	dir := t.TempDir()
	git := exec.Command("git", "init", "-q", dir)
	git.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	if out, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	repository, err := gitdir.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	h := &app.App{Locks: session.Locks{Dir: t.TempDir()}, Now: time.Now, Step: func(string) {}}
	h.Store = session.Store{Dir: t.TempDir(), LocksDir: h.Locks.Dir}
	s := &session.Session{Name: "shop", GitCommonDir: repository.CommonDir, Agents: []session.Agent{{Name: "one"}}}
	for name, c := range map[string]struct {
		hold func(context.Context) (func(), error)
		take func(context.Context) error
	}{
		"turns": {
			func(ctx context.Context) (func(), error) { return h.Locks.Turn(ctx, "shop", "one") },
			func(ctx context.Context) error {
				return turns.Change(ctx, h.Agent(s, &s.Agents[0]), func(*turns.Recorder) error { return nil })
			},
		},
		"prompt": {
			func(ctx context.Context) (func(), error) { return h.Locks.Prompt(ctx, "shop", "one") },
			func(ctx context.Context) error {
				_, err := typing.Lock(ctx, h.Agent(s, &s.Agents[0]))
				return err
			},
		},
		"repository": {
			func(ctx context.Context) (func(), error) { return h.Locks.Repository(ctx, repository.CommonDir) },
			func(ctx context.Context) error {
				unlock, err := h.Manager(repository).Locks(ctx)
				if err == nil {
					unlock()
				}
				return err
			},
		},
		"record": {
			func(ctx context.Context) (func(), error) { return h.Locks.Session(ctx, "shop") },
			func(ctx context.Context) error { return begin(ctx, h, &startplan.Addition{Draft: *s}, "") },
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			unlock, err := c.hold(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer unlock()
			err = c.take(ctx)
			var e *errs.Error
			if !errors.As(err, &e) || e.Kind != errs.Locked {
				t.Errorf("got %v, want an error of kind %d", err, errs.Locked)
			}
			if ctx.Err() != nil {
				t.Error("it waited until the test ended it")
			}
		})
	}
}

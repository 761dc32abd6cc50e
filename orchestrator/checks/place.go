package checks

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
)

// Name is the name of the check worktree, where agents have their names. Checks run in that
// worktree.
const Name = "_check"

// Agent returns the check worktree of a session as if it were an agent.
func Agent(s *session.Session, path string) *session.Agent {
	return &session.Agent{Name: Name, WorktreePath: path, Ports: s.Checks.Ports, Variables: s.Checks.Variables}
}

func checkPlan(s *session.Session, path string) worktree.Plan {
	return worktree.Plan{Agent: Name, Path: path, Owner: app.OwnerOf(s, Name)}
}

// giveOwn gives the check worktree its own ports and variables, unless it has them.
func (c *Checker) giveOwn(ctx context.Context, path string) error {
	h, own, wanted := c.App, Agent(c.Session, path), 0
	if own.Ports == nil && h.Config.Worktree.Ports > 0 {
		wanted = 1
	}
	if h.Agent(c.Session, own).Fill(); wanted == 0 && len(own.Variables) == len(c.Session.Checks.Variables) {
		return nil
	}
	return h.WithPorts(ctx, wanted, func(blocks []*session.Ports) error {
		saved, err := h.Update(ctx, c.Session.Name, func(rec *session.Session) error {
			if wanted > 0 && rec.Checks.Ports == nil {
				rec.Checks.Ports = blocks[0]
			}
			w := Agent(rec, path)
			for _, problem := range h.Agent(rec, w).Fill() {
				h.Notef("checks: %s", problem)
			}
			rec.Checks.Variables = w.Variables
			return nil
		})
		if err == nil {
			c.Session.Checks = saved.Checks
		}
		return err
	})
}

// Open brings the check worktree to a commit, and creates it with the set-up of an
// agent's worktree if it does not exist. The caller has it alone until it calls unlock.
func (c *Checker) Open(ctx context.Context, commit string) (path string, unlock func(), err error) {
	h, s := c.App, c.Session
	if s.Agent(Name) != nil {
		return "", nil, errs.New(errs.Failed, "an agent is called %s, as the place where checks run", Name)
	}
	release, err := lockChecks(ctx, h, s.Name)
	if err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			release()
		}
	}()
	if path, err = h.Config.WorktreePath(s.RepoPath, s.PlaceName(), Name); err != nil {
		return "", nil, errs.New(errs.Usage, "%w", err)
	}
	if err := c.giveOwn(ctx, path); err != nil {
		return "", nil, err
	}
	p := checkPlan(s, path)
	p.Base = commit
	var kept string
	for again := false; ; again = true {
		if path, err = c.Repo.Checks().Place(ctx, p); err != nil {
			return "", nil, app.Conflict(err)
		}
		kept, err = c.Repo.Checks().Show(ctx, path, commit, turn.RescueRef(s.TurnSessionOf(Name), h.Now()), turn.LeftRef(s.TurnSessionOf(Name)))
		if _, ok := errors.AsType[*git.ConflictError](err); !ok {
			break
		}
		if again {
			return "", nil, errs.New(errs.Failed, "the place where checks run cannot be used: %w", err).Hint("git -C %s status --ignored", errs.Quote(path))
		}
		old, removeErr := c.Repo.RemoveKept(ctx, p) // as where a submodule has another commit: nobody works here
		if removeErr != nil {
			return "", nil, errors.Join(err, removeErr)
		}
		h.Notef("the place where checks run is made anew: %v; the old one is in %s", err, old.Trash)
	}
	if err != nil {
		return "", nil, err
	}
	if kept != "" {
		h.Sayf("what was left in %s is kept in %s", path, kept)
	}
	return path, release, c.setUp(ctx, path, commit)
}

// checkPatience is the time after which the user is told that paw waits for other checks.
const checkPatience = time.Second

// lockChecks waits until no other paw runs checks of the session, and notes which one it waits for.
func lockChecks(ctx context.Context, h *app.App, sessionName string) (func(), error) {
	brief, cancel := context.WithTimeout(ctx, checkPatience)
	defer cancel()
	unlock, err := h.Locks.Check(brief, sessionName)
	if held, ok := errors.AsType[*session.LockedError](err); ok && ctx.Err() == nil {
		h.Notef("waiting for the checks of another paw (pid %d)", held.PID)
		unlock, err = h.Locks.Check(ctx, sessionName)
	}
	if err != nil {
		return nil, h.RecordError(sessionName, err)
	}
	return unlock, nil
}

func (c *Checker) setUp(ctx context.Context, path, commit string) error {
	log, err := createLog(filepath.Join(c.stateDir(), "setup.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	problems, err := c.Repo.Checks().SetUp(ctx, path, commit, c.App.Agent(c.Session, Agent(c.Session, path)).Setup(c.shown(log)))
	for _, problem := range problems {
		c.App.Notef("%s", problem)
	}
	if failed, ok := errors.AsType[*worktree.SetUpError](err); ok {
		code := -1 // of a command that did not start
		if exit, ok := errors.AsType[*exec.ExitError](failed); ok {
			code = exit.ExitCode()
		}
		return &Error{What: "the set-up of the place where checks run", Command: failed.Command, Code: code, Log: log.Name(), Place: path}
	}
	return err
}

// PlaceOf returns the path of a session's check worktree, "" for none.
func PlaceOf(ctx context.Context, m *worktree.Manager, s *session.Session) (string, error) {
	return m.Checks().PlaceOf(ctx, app.OwnerOf(s, Name))
}

// RemovePlace removes the check worktree, by the rules for worktrees of agents. Files that a
// check has left there and that git does not ignore go to the trash.
func RemovePlace(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, noTeardown bool) (worktree.Removal, error) {
	path, err := PlaceOf(ctx, m, s)
	if path == "" {
		return worktree.Removal{}, err
	}
	p := checkPlan(s, path)
	unlock, err := lockChecks(ctx, h, s.Name)
	if err != nil {
		return worktree.Removal{}, err
	}
	defer unlock()
	if err := h.Agent(s, Agent(s, path)).In(m).TearDown(ctx, h.Teardown(noTeardown)); err != nil {
		return worktree.Removal{}, errs.WithHints(err, "cd "+errs.Quote(path), "paw purge "+s.Name+" --no-teardown")
	}
	done, err := m.Remove(ctx, p, worktree.Seen{})
	if _, ok := errors.AsType[*git.ConflictError](err); ok {
		done, err = m.RemoveKept(ctx, p)
	}
	h.Step("purge.checks")
	return done, err
}

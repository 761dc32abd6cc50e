package landing

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/git"
)

func checkPlan(s *session.Session, path string) worktree.Plan {
	return worktree.Plan{Agent: CheckName, Branch: app.AutomaticBranch(s.PlaceName(), CheckName), Path: path, Owner: app.OwnerOf(s, CheckName)}
}

// giveOwn gives the check worktree its own ports and variables, unless it has them.
func (c *checker) giveOwn(ctx context.Context, path string) error {
	h, own, wanted := c.App, CheckAgent(c.Session, path), 0
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
			w := CheckAgent(rec, path)
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

// openCheckPlace brings the check worktree to a commit, and creates it with the set-up of an
// agent's worktree if it does not exist. The caller has it alone until it calls unlock.
func (c *checker) openCheckPlace(ctx context.Context, commit string) (path string, unlock func(), err error) {
	h, s := c.App, c.Session
	if s.Agent(CheckName) != nil {
		return "", nil, errs.New(errs.Failed, "an agent is called %s, as the place where checks run", CheckName)
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
	if path, err = h.Config.WorktreePath(s.RepoPath, s.PlaceName(), CheckName); err != nil {
		return "", nil, errs.New(errs.Usage, "%w", err)
	}
	if err := c.giveOwn(ctx, path); err != nil {
		return "", nil, err
	}
	p := checkPlan(s, path)
	p.Base, p.CreateBranch = commit, true
	var kept string
	for again := false; ; again = true {
		if path, err = c.Repo.Checks().Place(ctx, p); err != nil {
			return "", nil, app.Conflict(err)
		}
		kept, err = c.Repo.Checks().Show(ctx, path, commit, turn.RescueRef(s.TurnSessionOf(CheckName), h.Now()), turn.LeftRef(s.TurnSessionOf(CheckName)))
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

func (c *checker) setUp(ctx context.Context, path, commit string) error {
	log, err := c.createLog(filepath.Join(c.stateDir(), "setup.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	problems, err := c.Repo.Checks().SetUp(ctx, path, commit, c.App.Agent(c.Session, CheckAgent(c.Session, path)).Setup(c.shown(log)))
	for _, problem := range problems {
		c.App.Notef("%s", problem)
	}
	if failed, ok := errors.AsType[*worktree.SetUpError](err); ok {
		code := -1 // of a command that did not start
		if exit, ok := errors.AsType[*exec.ExitError](failed); ok {
			code = exit.ExitCode()
		}
		return &CheckError{What: "the set-up of the place where checks run", Command: failed.Command, Code: code, Log: log.Name(), Place: path}
	}
	return err
}

// CheckPlaceOf returns the path of a session's check worktree, "" for none.
func CheckPlaceOf(ctx context.Context, m *worktree.Manager, s *session.Session) (string, error) {
	return m.Checks().PlaceOf(ctx, app.OwnerOf(s, CheckName))
}

// RemoveCheckPlace removes the check worktree, by the rules for worktrees of agents. Files that a
// check has left there and that git does not ignore go to the trash.
func RemoveCheckPlace(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, noTeardown bool) (worktree.Removal, error) {
	path, err := CheckPlaceOf(ctx, m, s)
	if path == "" {
		return worktree.Removal{}, err
	}
	p := checkPlan(s, path)
	unlock, err := lockChecks(ctx, h, s.Name)
	if err != nil {
		return worktree.Removal{}, err
	}
	defer unlock()
	if err := h.Agent(s, CheckAgent(s, path)).In(m).TearDown(ctx, h.Teardown(noTeardown)); err != nil {
		return worktree.Removal{}, errs.WithHints(err, "cd "+errs.Quote(path), "paw purge "+s.Name+" --no-teardown")
	}
	done, err := m.Remove(ctx, p, worktree.Seen{})
	if _, ok := errors.AsType[*git.ConflictError](err); ok {
		done, err = m.RemoveKept(ctx, p)
	}
	h.Step("purge.checks")
	return done, err
}

// checksFor returns the commands that check a landing: the commands given with --check, no command
// with --no-check, and without either flag those of the configuration. If the checks of the
// repository's configuration are not trusted, or that has a mistake, the landing is refused, so that
// nothing lands unchecked by accident.
func checksFor(h *app.App, typed []string, none bool) ([]string, error) {
	if err := RefuseEmpty(typed); err != nil {
		return nil, err
	}
	switch {
	case none && len(typed) > 0:
		return nil, errs.New(errs.Usage, "--check and --no-check exclude each other")
	case none:
		return nil, nil
	case len(typed) > 0:
		return typed, nil
	}
	for _, c := range h.Config.Untrusted {
		if c.Key == "land.checks" {
			return nil, errs.New(errs.Refused, "the checks of this repository are not trusted: %s", c.Text).Hint("paw config trust")
		}
	}
	if mistake := h.Config.RepositoryMistake; mistake != nil { // an unknown key may be one of [land]
		return nil, errs.New(errs.Refused, "the checks of this repository are not known: %w", mistake).Hint("paw config")
	}
	return h.Config.Land.Checks, nil
}

// RefuseEmpty refuses checks without a command, which a shell would let pass.
func RefuseEmpty(checks []string) error {
	if slices.ContainsFunc(checks, func(check string) bool { return strings.TrimSpace(check) == "" }) {
		return errs.New(errs.Usage, "an empty check")
	}
	return nil
}

// someChecksFor is checksFor for commands of paw that need at least one check. instead is the hint
// if there is none.
func someChecksFor(h *app.App, agentName string, typed []string, instead string) ([]string, error) {
	commands, err := checksFor(h, typed, false)
	if err == nil && len(commands) == 0 {
		err = errs.New(errs.Usage, "%s: no command is given, and the configuration has no checks", agentName).Hint("%s", instead).Hint("paw config")
	}
	return commands, err
}

// CheckName is the name of the check worktree, where agents have their names. Checks run in that
// worktree.
const CheckName = "_check"

// CheckAgent returns the check worktree of a session as if it were an agent.
func CheckAgent(s *session.Session, path string) *session.Agent {
	return &session.Agent{Name: CheckName, WorktreePath: path, Ports: s.Checks.Ports, Variables: s.Checks.Variables}
}

// CheckError is the failure of a check.
type CheckError struct {
	What    string // "the check", or another step that failed
	Command string
	Code    int // exit code, -1 for a signal
	Log     string
	Place   string // directory in which it ran
}

func (e *CheckError) Error() string {
	return fmt.Sprintf("%s failed: %s (%s)", e.What, oneLine(e.Command), e.how())
}

// how returns the exit code in words.
func (e *CheckError) how() string {
	if e.Code < 0 {
		return "killed"
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// failed returns the error for an agent's work that failed the check. The hints show the log and
// the directory.
func (e *CheckError) failed(who string) error {
	return errs.New(errs.CheckFailed, "%s: %w", who, e).Hint("cat %s", errs.Quote(e.Log)).Hint("cd %s", errs.Quote(e.Place))
}

type checker struct {
	work
	commands []string
	fresh    bool
	passed   map[string]bool // trees that have passed in this process
}

// has reports whether a tree has passed all checks.
func (c *checker) has(tree string) bool {
	if c.passed[tree] {
		return true
	}
	if slices.ContainsFunc(c.commands, func(command string) bool { return !c.passedBefore(tree, command) }) {
		return false
	}
	for _, command := range c.commands {
		c.App.Sayf("check: %s: has passed before", oneLine(command))
	}
	return true
}

func (c *checker) passedBefore(tree, command string) bool {
	_, err := os.Lstat(c.file(tree, command, ".passed"))
	return err == nil && !c.fresh
}

// file returns the path of a file about one command on one tree. The name contains the configured
// set-up: after a change of it, checks run again.
func (c *checker) file(tree, command, kind string) string {
	sum := sha256.Sum256([]byte(c.App.Agent(c.Session, CheckAgent(c.Session, "")).Setup(nil).Fingerprint() + "\x00" + command))
	return filepath.Join(c.stateDir(), tree+"-"+hex.EncodeToString(sum[:8])+kind)
}

func (c *checker) stateDir() string { return c.App.StateDir(c.Session.PlaceName(), CheckName) }

func (c *checker) createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// shown returns a writer to a log that also passes output on to the user, if paw shows any.
func (c *checker) shown(log io.Writer) io.Writer {
	return io.MultiWriter(log, cmp.Or[io.Writer](c.App.Progress, io.Discard))
}

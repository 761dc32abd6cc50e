package landing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// checksFor returns the commands that work has to pass: the typed ones, else those of the
// configuration. If the repository's checks are not trusted, the landing is refused, so that
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
	if mistake := h.Config.RepositoryMistake; mistake != nil && (!mistake.Unknown || strings.HasPrefix(mistake.Key, "land.")) {
		return nil, errs.New(errs.Refused, "the checks of this repository are not known: %w", mistake)
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
	if len(c.commands) == 0 || c.passed[tree] {
		return true
	}
	if c.fresh {
		return false
	}
	for _, command := range c.commands {
		if _, err := os.Lstat(c.file(tree, command, ".passed")); err != nil {
			return false
		}
	}
	for _, command := range c.commands {
		c.home.Sayf("check: %s: has passed before", oneLine(command))
	}
	return true
}

// file returns the path of a file about one command on one tree. The name contains the configured
// set-up: after a change of it, checks run again.
func (c *checker) file(tree, command, kind string) string {
	sum := sha256.Sum256([]byte(c.home.Setup(c.session, CheckAgent(c.session, ""), nil).Fingerprint() + "\x00" + command))
	return filepath.Join(c.stateDir(), tree+"-"+hex.EncodeToString(sum[:8])+kind)
}

func (c *checker) stateDir() string { return c.home.StateDir(c.session.PlaceName(), CheckName) }

// createLog creates an empty log.
func (c *checker) createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// run runs the checks on a commit, in order, until one fails.
func (c *checker) run(ctx context.Context, commit string) error {
	tree, err := c.m.Objects().TreeOf(ctx, commit)
	if err != nil {
		return err
	}
	place, unlock, err := c.openCheckPlace(ctx, commit)
	if err != nil {
		return err
	}
	defer unlock()
	c.home.Step("check.place")
	for _, command := range c.commands {
		if err := c.one(ctx, place, tree, command); err != nil {
			return err
		}
	}
	if c.passed == nil {
		c.passed = map[string]bool{}
	}
	c.passed[tree] = true
	return nil
}

// one runs one check, unless the tree has passed it before.
func (c *checker) one(ctx context.Context, place, tree, command string) error {
	passed := c.file(tree, command, ".passed")
	if _, err := os.Lstat(passed); err == nil && !c.fresh {
		c.home.Sayf("check: %s: has passed before", oneLine(command))
		return nil
	}
	_ = os.Remove(passed)
	log, err := c.createLog(c.file(tree, command, ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.home.Sayf("check: %s", oneLine(command))
	began := time.Now()
	code, err := c.m.Checks().Run(ctx, place, command, io.MultiWriter(log, progress{c.home}), c.home.ProjectEnv(c.session, CheckAgent(c.session, place)))
	if err != nil {
		return err
	}
	if code != 0 {
		return &CheckError{What: "the check", Command: command, Code: code, Log: log.Name(), Place: place}
	}
	c.home.Sayf("check: %s: passed in %s", oneLine(command), time.Since(began).Round(time.Second/10))
	return os.WriteFile(passed, []byte(command+"\n"), 0o600)
}

// CheckOptions are the options of paw check.
type CheckOptions struct {
	Turn     string
	Commands []string // in place of the configured checks
	Fresh    bool
	Handed   map[string]Handed // states of the agents of another machine, by name
}

// Checked is the result of paw check.
type Checked struct {
	Session, Agent string
	Commit, Place  string
	Commands       []string
}

// Check runs the project's checks on the exact state of an agent, in the check worktree.
func Check(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	c, src, err := checkerFor(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	if c.commands, err = someChecksFor(h, agentName, o.Commands, fmt.Sprintf("paw check %s --shell", c.name())); err != nil {
		return nil, err
	}
	err = c.run(ctx, src.state)
	var failed *CheckError
	if errors.As(err, &failed) {
		return nil, failed.failed(c.name())
	}
	if err != nil {
		return nil, err
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.state, Commands: c.commands}, nil
}

// Show brings the check worktree to the exact state of an agent, for the user to look at.
func Show(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*Checked, error) {
	c, src, err := checkerFor(ctx, h, s, agentName, o)
	if err != nil {
		return nil, err
	}
	place, unlock, err := c.openCheckPlace(ctx, src.state)
	var failed *CheckError
	switch {
	case errors.As(err, &failed): // the user looks at it all the same
		h.Notef("%v", failed)
		place = failed.Place
	case err != nil:
		return nil, err
	default:
		unlock()
	}
	return &Checked{Session: s.Name, Agent: agentName, Commit: src.state, Place: place}, nil
}

func checkerFor(ctx context.Context, h *app.App, s *session.Session, agentName string, o CheckOptions) (*checker, *source, error) {
	w, err := workOf(ctx, h, s, agentName)
	if err != nil {
		return nil, nil, err
	}
	w.handed = o.Handed
	src, err := w.lookAtSource(ctx, o.Turn, "check")
	return &checker{work: w, fresh: o.Fresh}, src, err
}

func (c *Checked) String() string {
	return fmt.Sprintf("%s/%s: passed %s", c.Session, c.Agent, strings.Join(c.Commands, ", "))
}

// Package checks runs a project's checks on exact states, in a worktree of their own for each session: what passes there is
// remembered by its tree. Package landing asks it before anything lands. Begin with Checker.
package checks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Checker runs checks of a session in its check worktree.
type Checker struct {
	App      *app.App
	Session  *session.Session
	Repo     *worktree.Manager
	Commands []string
	Fresh    bool          // run them also on what has passed them
	Agent    string        // whose work is checked
	Landing  bool          // the work lands if the checks pass
	Limit    time.Duration // a command that takes longer has failed; 0 for none

	passed map[string]bool // trees that have passed in this process
}

// Has reports whether a tree has passed all checks.
func (c *Checker) Has(tree string) bool {
	if c.passed[tree] {
		return true
	}
	if slices.ContainsFunc(c.Commands, func(command string) bool { return !c.passedBefore(tree, command) }) {
		return false
	}
	for _, command := range c.Commands {
		c.App.Sayf("check: %s: has passed before", display.Title(command))
	}
	return true
}

func (c *Checker) passedBefore(tree, command string) bool {
	_, err := os.Lstat(c.file(tree, command, ".passed"))
	return err == nil && !c.Fresh
}

// file returns the path of a file about one command on one tree. The name contains the configured
// set-up: after a change of it, checks run again.
func (c *Checker) file(tree, command, kind string) string {
	sum := sha256.Sum256([]byte(c.App.Agent(c.Session, Agent(c.Session, "")).Setup(nil).Fingerprint() + "\x00" + command))
	return filepath.Join(c.stateDir(), tree+"-"+hex.EncodeToString(sum[:8])+kind)
}

func (c *Checker) stateDir() string { return c.App.StateDir(c.Session.PlaceName(), Name) }

// shown returns a writer to a log that also passes output on to the user, if paw shows any.
func (c *Checker) shown(log io.Writer) io.Writer {
	return io.MultiWriter(log, cmp.Or[io.Writer](c.App.Progress, io.Discard))
}

// Run runs the checks on a commit, in order, until one fails.
func (c *Checker) Run(ctx context.Context, commit string) error {
	tree, err := c.Repo.Objects().TreeOf(ctx, commit)
	if err != nil {
		return err
	}
	place, unlock, err := c.Open(ctx, commit)
	if err != nil {
		return err
	}
	defer unlock()
	c.App.Step("check.place")
	now := Running{Agent: c.Agent, What: "checks", Of: len(c.Commands), Since: c.App.Now()}
	if c.Landing {
		now.What = "landing"
	}
	defer func() { _ = os.Remove(RunningFile(c.App, c.Session)) }()
	for _, command := range c.Commands {
		now.Number, now.Command = now.Number+1, command
		c.tell(now)
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
func (c *Checker) one(ctx context.Context, place, tree, command string) error {
	passed := c.file(tree, command, ".passed")
	if c.passedBefore(tree, command) {
		c.App.Sayf("check: %s: has passed before", display.Title(command))
		return nil
	}
	_ = os.Remove(passed)
	log, err := createLog(c.file(tree, command, ".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	c.App.Sayf("check: %s", display.Title(command))
	began := time.Now()
	limited, end := ctx, func() {}
	if c.Limit > 0 {
		limited, end = context.WithTimeout(ctx, c.Limit)
	}
	defer end()
	code, err := c.Repo.Checks().Run(limited, place, command, c.shown(log), c.App.Agent(c.Session, Agent(c.Session, place)).ProjectEnv())
	late := err != nil && limited.Err() != nil && ctx.Err() == nil
	if err != nil && !late {
		return err
	}
	if code != 0 || late {
		return &Error{What: "the check", Command: command, Code: code, Late: late, Log: log.Name(), Place: place}
	}
	c.App.Sayf("check: %s: passed in %s", display.Title(command), time.Since(began).Round(time.Second/10))
	return os.WriteFile(passed, []byte(command+"\n"), 0o600)
}

// Forget has the checks run again on a tree that has passed them, because they have also failed there.
func (c *Checker) Forget(tree string) {
	delete(c.passed, tree)
	for _, command := range c.Commands {
		_ = os.Remove(c.file(tree, command, ".passed"))
	}
}

// For returns the commands that check a landing: the commands given with --check, no command
// with --no-check, and without either flag those of the configuration. If the checks of the
// repository's configuration are not trusted, or that has a mistake, the landing is refused, so that
// nothing lands unchecked by accident.
func For(h *app.App, typed []string, none bool) ([]string, error) {
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

// Some is For for commands of paw that need at least one check. instead is the hint
// if there is none.
func Some(h *app.App, agentName string, typed []string, instead string) ([]string, error) {
	commands, err := For(h, typed, false)
	if err == nil && len(commands) == 0 {
		err = errs.New(errs.Usage, "%s: no command is given, and the configuration has no checks", agentName).Hint("%s", instead).Hint("paw config")
	}
	return commands, err
}

package landing

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

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

func (c *checker) createLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

// progress passes output on to the user, if paw shows any.
type progress struct{ h *app.App }

func (p progress) Write(text []byte) (int, error) {
	if p.h.Progress == nil {
		return len(text), nil
	}
	return p.h.Progress.Write(text)
}

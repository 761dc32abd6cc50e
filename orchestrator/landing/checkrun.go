package landing

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/session"
)

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

func (c *Checked) String() string {
	return fmt.Sprintf("%s/%s: passed %s", c.Session, c.Agent, strings.Join(c.Commands, ", "))
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

package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/worktree"
)

// Teardown is what runs in a worktree before it goes.
type Teardown struct {
	Command   string
	Untrusted string // a command of the repository that does not run, since the user has not trusted it
}

// Teardown is the configured one; none is for a user who wants none to run.
func (h *App) Teardown(none bool) Teardown {
	t := Teardown{Command: h.Config.Worktree.Teardown}
	for _, c := range h.Config.Untrusted {
		if c.Key == "worktree.teardown" {
			t.Untrusted = c.Text
		}
	}
	if none {
		return Teardown{}
	}
	return t
}

// Line says what is going to happen to the worktree of an agent, "" for nothing.
func (t Teardown) Line(agentName string) string {
	switch {
	case t.Command != "":
		return agentName + ": run its teardown: " + oneLine(t.Command)
	case t.Untrusted != "":
		return fmt.Sprintf("%s: worktree.teardown of the repository is not trusted and does not run: %s (paw config trust)", agentName, oneLine(t.Untrusted))
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// tornPath marks an agent whose teardown has begun, for a paw that goes on with a removal which was cut short.
func (h *App) tornPath(sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "teardown")
}

// TeardownBegan reports whether the teardown of an agent has begun, in a removal that was cut short.
func (h *App) TeardownBegan(sessionName, agentName string) bool {
	_, err := os.Lstat(h.tornPath(sessionName, agentName))
	return err == nil
}

// shownOfTeardown is how many lines of a teardown that failed are shown.
const shownOfTeardown = 10

// TearDown runs the teardown of an agent, which has ended, in its worktree. Where the error is not nil, nothing may be removed.
func (h *App) TearDown(ctx context.Context, m worktree.Manager, s *session.Session, w *session.Agent, t Teardown) error {
	if t.Command == "" {
		if t.Untrusted != "" {
			h.Notef("%s", t.Line(w.Name))
		}
		return nil
	}
	mark := h.tornPath(s.Name, w.Name)
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	h.Step("teardown.begun")
	h.Sayf("%s: %s", w.Name, oneLine(t.Command))
	seconds := h.Config.Worktree.TeardownSeconds
	brief, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	err = m.TearDown(brief, w.WorktreePath, t.Command, out, h.ProjectEnv(s, w))
	if err == nil {
		h.Step("teardown.done")
		return nil
	}
	h.tellEnd(w.Name, mark)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("not done after %d seconds (worktree.teardown_seconds)", seconds)
	}
	_ = os.Remove(mark) // what it has left counts as the agent's from now on
	return errs.New(errs.Failed, "%s: not removed, its teardown failed: %s: %w", w.Name, oneLine(t.Command), err)
}

// tellEnd shows the last lines that a teardown has written.
func (h *App) tellEnd(agentName, file string) {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[max(0, len(lines)-shownOfTeardown):] {
		if line != "" {
			h.Sayf("%s | %s", agentName, line)
		}
	}
}

// ForgetWorktree deletes what is kept of the worktree of an agent that has gone.
func (h *App) ForgetWorktree(sessionName, agentName string) error {
	for _, path := range []string{h.foundPath(sessionName, agentName), h.tornPath(sessionName, agentName)} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// ForgetAgent deletes what is kept of the worktree of an agent whose start is taken back, and the agent's folder where nothing else is in
// that folder.
func (h *App) ForgetAgent(sessionName, agentName string) {
	_ = h.ForgetWorktree(sessionName, agentName)
	_ = os.Remove(h.StateDir(sessionName, agentName))
	_ = os.Remove(filepath.Dir(h.StateDir(sessionName, agentName)))
}

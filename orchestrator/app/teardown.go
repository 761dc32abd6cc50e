package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/config/disk"
	"paw/orchestrator/errs"
)

// Teardown is the command that runs in a worktree before it is removed.
type Teardown struct {
	Command   string
	Untrusted string // command of the repository that does not run because the user has not trusted it
}

// Teardown returns the configured command; nothing if none is set (--no-teardown).
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

// Line describes in a plan what runs in an agent's worktree, "" for nothing.
func (t Teardown) Line(agentName string) string {
	switch {
	case t.Command != "":
		return agentName + ": run its teardown: " + oneLine(t.Command)
	case t.Untrusted != "":
		return fmt.Sprintf("%s: worktree.teardown of the repository is not trusted and does not run: %s (%s)", agentName, oneLine(t.Untrusted), errs.Line("paw config trust"))
	}
	return ""
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// tornPath returns the file that marks an agent whose teardown has begun, for a paw that finishes
// an interrupted removal.
func (h *App) tornPath(sessionName, agentName string) string {
	return filepath.Join(h.StateDir(sessionName, agentName), "teardown")
}

// TeardownBegan reports whether the teardown of an agent has begun, in an interrupted removal.
func (h *App) TeardownBegan(sessionName, agentName string) bool {
	return disk.Exists(h.tornPath(sessionName, agentName))
}

// shownOfTeardown is how many lines of a failed teardown's output are shown.
const shownOfTeardown = 10

// TearDown runs the teardown command in the worktree of an agent that has ended. After an error the
// worktree must stay.
func (a Agent) TearDown(ctx context.Context, t Teardown) error {
	if t.Command == "" {
		if t.Untrusted != "" {
			a.App.Notef("%s", t.Line(a.Record.Name))
		}
		return nil
	}
	mark := a.App.tornPath(a.Session.Name, a.Record.Name)
	if err := os.MkdirAll(filepath.Dir(mark), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(mark, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer out.Close()
	a.App.Step("teardown.begun")
	a.App.Sayf("%s: %s", a.Record.Name, oneLine(t.Command))
	seconds := a.App.Config.Worktree.TeardownSeconds
	brief, cancel := context.WithTimeout(ctx, time.Duration(seconds)*time.Second)
	defer cancel()
	err = a.Repo.Setups().TearDown(brief, a.Record.WorktreePath, t.Command, out, a.ProjectEnv())
	if err == nil {
		a.App.Step("teardown.done")
		return nil
	}
	a.App.tellEnd(a.Record.Name, mark)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		err = fmt.Errorf("not done after %d seconds (worktree.teardown_seconds)", seconds)
	}
	_ = os.Remove(mark) // leftovers of the teardown count as the agent's files from now on
	return errs.New(errs.Failed, "%s: not removed, its teardown failed: %s: %w", a.Record.Name, oneLine(t.Command), err)
}

// tellEnd shows the last lines of a teardown's output.
func (h *App) tellEnd(agentName, file string) {
	text, _ := os.ReadFile(file)
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, line := range lines[max(0, len(lines)-shownOfTeardown):] {
		if line != "" {
			h.Sayf("%s | %s", agentName, line)
		}
	}
}

// ForgetWorktree deletes paw's files about the worktree of a removed agent.
func (h *App) ForgetWorktree(sessionName, agentName string) error {
	for _, path := range []string{h.foundPath(sessionName, agentName), h.tornPath(sessionName, agentName)} {
		if err := disk.RemoveFile(path); err != nil {
			return err
		}
	}
	return nil
}

// ForgetAgent deletes paw's files about the worktree of an agent whose start is taken back, and the
// agent's folder if it is empty.
func (h *App) ForgetAgent(sessionName, agentName string) {
	_ = h.ForgetWorktree(sessionName, agentName)
	_ = os.Remove(h.StateDir(sessionName, agentName))
	_ = os.Remove(filepath.Dir(h.StateDir(sessionName, agentName)))
}

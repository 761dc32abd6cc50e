package observe

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/session"
	"paw/session/turn"
)

// MarkHooks notes that the hooks of a launch report, see hooksSeen.
func MarkHooks(h *app.App, s *session.Session, w *session.Agent, generation int) {
	path := hooksMark(h, s.Name, w.Name, generation)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil && os.WriteFile(path, nil, 0o600) == nil {
		forgetHooks(h, s.Name, w.Name, generation)
	}
}

// forgetHooks deletes the marks of earlier launches, of which nobody asks any more.
func forgetHooks(h *app.App, sessionName, agentName string, generation int) {
	entries, _ := os.ReadDir(h.StateDir(sessionName, agentName))
	for _, e := range entries {
		number, marked := strings.CutPrefix(e.Name(), "hooks-")
		if n, err := strconv.Atoi(number); marked && err == nil && n < generation {
			_ = os.Remove(hooksMark(h, sessionName, agentName, n))
		}
	}
}

// hooksSeen is when the hooks of a launch reported first, zero when they did not.
func hooksSeen(h *app.App, sessionName, agentName string, generation int) time.Time {
	info, err := os.Lstat(hooksMark(h, sessionName, agentName, generation))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func hooksMark(h *app.App, sessionName, agentName string, generation int) string {
	return filepath.Join(h.StateDir(sessionName, agentName), fmt.Sprintf("hooks-%d", generation))
}

// AskRecord asks the CLI's own record about an agent, nothing when it cannot.
func AskRecord(ctx context.Context, h *app.App, s *session.Session, w *session.Agent, last *turn.Record) cli.Observed {
	c, ok := h.CLIs.Get(w.CLI)
	if !ok {
		return cli.Observed{}
	}
	o, err := c.Observe(ctx, h.SpecFor(s, w, ""), last)
	if err != nil {
		return cli.Observed{}
	}
	// CLIs count milliseconds. An end before the start is that of an earlier turn:
	// the CLI never got this one.
	if o.Ended != nil && last != nil {
		at := o.Ended.At
		if at.IsZero() {
			at = o.At
		}
		if !at.IsZero() && at.Before(last.StartedAt.Truncate(time.Millisecond)) {
			o.Ended = nil
		}
	}
	return o
}

// HooksEverSeen reports whether the hooks of any launch of an agent reported. Marks of an earlier agent of its name stay.
func HooksEverSeen(h *app.App, sessionName string, w *session.Agent) bool {
	entries, _ := os.ReadDir(h.StateDir(sessionName, w.Name))
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && strings.HasPrefix(e.Name(), "hooks-") && !info.ModTime().Before(w.CreatedAt)
	})
}

package orchestrator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/orchestrator/agent"
	"paw/session"
	"paw/session/turn"
)

// markHooks notes that the hooks of a launch report, see hooksSeen.
func (p *Paw) markHooks(s *session.Session, w *session.Worktree, generation int) {
	path := p.hooksMark(s.Name, w.Agent, generation)
	if _, err := os.Lstat(path); err == nil {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err == nil && os.WriteFile(path, nil, 0o600) == nil {
		p.forgetHooks(s.Name, w.Agent, generation)
	}
}

// forgetHooks deletes the marks of earlier launches, of which nobody asks any more.
func (p *Paw) forgetHooks(sessionName, agentName string, generation int) {
	entries, _ := os.ReadDir(p.stateDir(sessionName, agentName))
	for _, e := range entries {
		number, marked := strings.CutPrefix(e.Name(), "hooks-")
		if n, err := strconv.Atoi(number); marked && err == nil && n < generation {
			_ = os.Remove(p.hooksMark(sessionName, agentName, n))
		}
	}
}

// hooksSeen is when the hooks of a launch reported first, zero when they did not.
func (p *Paw) hooksSeen(sessionName, agentName string, generation int) time.Time {
	info, err := os.Lstat(p.hooksMark(sessionName, agentName, generation))
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

func (p *Paw) hooksMark(sessionName, agentName string, generation int) string {
	return filepath.Join(p.stateDir(sessionName, agentName), fmt.Sprintf("hooks-%d", generation))
}

// observed asks the CLI's own record about an agent, nothing when it cannot.
func (p *Paw) observed(ctx context.Context, s *session.Session, w *session.Worktree, last *turn.Record) agent.Observed {
	cli, ok := p.CLIs.Get(w.CLI)
	if !ok {
		return agent.Observed{}
	}
	o, err := cli.Observe(ctx, p.specFor(s, w, ""), last)
	if err != nil {
		return agent.Observed{}
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

// hooksEverSeen reports whether the hooks of any launch of an agent reported. Marks of an earlier agent of its name stay.
func (p *Paw) hooksEverSeen(sessionName string, w *session.Worktree) bool {
	entries, _ := os.ReadDir(p.stateDir(sessionName, w.Agent))
	return slices.ContainsFunc(entries, func(e os.DirEntry) bool {
		info, err := e.Info()
		return err == nil && strings.HasPrefix(e.Name(), "hooks-") && !info.ModTime().Before(w.CreatedAt)
	})
}

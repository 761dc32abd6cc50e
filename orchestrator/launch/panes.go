package launch

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"

	"paw/orchestrator/fault"
	"paw/orchestrator/fleet"
	"paw/orchestrator/home"
	"paw/orchestrator/live"
	"paw/session"
	"paw/tmux"
)

// openPanes starts the agents: under the session lock it looks once more at
// panes and locks, opens a pane for each agent that has none, and records it.
// Of any number of paws that do this at once, one opens the panes and the
// others find them.
func openPanes(ctx context.Context, h *home.Home, s *session.Session, jobs []*Job) (*session.Session, error) {
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		f, err := fleet.Observe(ctx, h, rec)
		if err != nil {
			return err
		}
		if f.Tmux == session.TmuxUnknown {
			return home.TmuxError(f.TmuxErr)
		}
		generation := NextGeneration(rec, f)
		var add []tmux.AgentPane
		respawn := map[string]tmux.AgentPane{}
		for _, j := range jobs {
			a := f.Agent(j.Agent)
			if !j.Starts() || a == nil {
				continue
			}
			if reason := fleet.Withdrawn(rec, j.Agent, j.Parent); reason != "" {
				j.refuse(errors.New(reason), "paw recover "+rec.Name)
				continue
			}
			if running := f.Running(*a); running.Held() || running == live.Starting {
				j.Result, j.Reason = ResultAlive, "" // another paw was faster
				continue
			}
			pane, err := prepareLaunch(ctx, h, rec, j, generation)
			if err != nil {
				j.refuse(err)
				continue
			}
			j.generation = generation
			if a.Pane != nil && a.Pane.Dead && a.Pane.SessionID == f.TmuxID {
				respawn[a.Pane.ID] = pane
			} else {
				add = append(add, pane)
			}
		}
		if len(add)+len(respawn) > 0 {
			rec.Generation = generation
		}
		h.Step("panes.prepared")
		if err := placePanes(ctx, h, rec, f, add, respawn); err != nil {
			for _, j := range jobs {
				if j.generation == generation { // nobody may read it any more, and it holds keys
					err = errors.Join(err, WithdrawLaunches(h, rec.Name, j.Agent))
				}
			}
			return err
		}
		if err := h.TmuxFor(rec).KillPanes(ctx, f.Left); err != nil {
			return home.TmuxError(err)
		}
		h.Step("panes.opened")
		return recordPanes(ctx, h, rec, jobs)
	})
	if err != nil {
		return s, err
	}
	return saved, nil
}

// NextGeneration is above every launch that record or tmux know of.
func NextGeneration(s *session.Session, f fleet.Facts) int {
	highest := s.Generation
	for _, a := range f.Agents {
		highest = max(highest, a.Lock.Holder.Generation)
		if a.Pane != nil {
			highest = max(highest, a.Pane.Identity.Generation)
		}
	}
	return highest + 1
}

// placePanes creates the tmux session or adds to it, and revives dead panes in their place.
func placePanes(ctx context.Context, h *home.Home, s *session.Session, f fleet.Facts, add []tmux.AgentPane, respawn map[string]tmux.AgentPane) error {
	client := h.TmuxFor(s)
	for id, pane := range respawn {
		if err := client.Respawn(ctx, id, pane); err != nil && !errors.Is(err, tmux.ErrStillActive) {
			return home.TmuxError(err)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if f.TmuxID != "" {
		_, err := client.AddPanes(ctx, f.TmuxID, h.Config.Tmux.Layout, add)
		return home.TmuxError(err)
	}
	width, height := terminalSize()
	created, err := client.Create(ctx, tmux.NewSession{
		Name: s.Tmux.Session, PawSession: s.Name, PawID: s.ID, Dir: s.RepoPath, Width: width, Height: height,
		Layout: h.Config.Tmux.Layout, Agents: add, Counts: h.Config.Tmux.Counts, Bell: h.Config.Tmux.Bell,
		Mouse: !tmux.Configured(h.Getenv("HOME"), h.Getenv("XDG_CONFIG_HOME")),
	})
	if errors.Is(err, tmux.ErrDuplicate) {
		return fault.New(fault.Failed, "tmux session %s is not of this session", s.Tmux.Session).
			Hint("tmux -S %s rename-session -t =%s %s_before", fault.Quote(s.Tmux.Socket), s.Tmux.Session, s.Tmux.Session)
	}
	if err != nil {
		return home.TmuxError(err)
	}
	if !home.OnItsServer(s, created.Server) {
		for i := range s.Worktrees {
			s.Worktrees[i].PaneID = "" // of another server, and this one counts anew
		}
	}
	s.Tmux.SetServer(created.Server.Socket, created.Server.PID, created.Server.Started)
	return nil
}

// recordPanes reads the panes back from tmux and writes them into the record.
func recordPanes(ctx context.Context, h *home.Home, s *session.Session, jobs []*Job) error {
	f, err := fleet.Observe(ctx, h, s)
	if err != nil {
		return err
	}
	if f.Tmux != session.TmuxAlive {
		return nil
	}
	s.Tmux.SetServer(f.Server.Socket, f.Server.PID, f.Server.Started)
	for _, j := range jobs {
		a, w := f.Agent(j.Agent), s.Worktree(j.Agent)
		if a == nil || a.Pane == nil || j.Result == ResultRefused {
			continue
		}
		w.PaneID, w.Phase = a.Pane.ID, session.PhaseLive
	}
	for _, a := range f.Agents {
		if w := s.Worktree(a.Record.Agent); w.Phase == session.PhaseLive && a.Exited() {
			w.Phase = session.PhaseExited // once the pane is gone, nothing else tells
		}
	}
	return nil
}

// terminalSize is the size of the user's terminal, or zero without one: tmux
// would otherwise lay out a detached session for 80x24.
func terminalSize() (width, height int) {
	width, height, err := term.GetSize(int(os.Stdout.Fd()))
	if err != nil {
		return 0, 0
	}
	return width, height
}

package orchestrator

import (
	"context"
	"errors"

	"paw/session"
	"paw/tmux"
)

// openPanes starts the agents: under the session lock it looks once more at
// panes and locks, opens a pane for each agent that has none, and records it.
// Of any number of paws that do this at once, one opens the panes and the
// others find them.
func (p *Paw) openPanes(ctx context.Context, s *session.Session, jobs []job) (*session.Session, map[string]int, error) {
	launched := map[string]int{}
	saved, err := p.update(ctx, s.Name, func(rec *session.Session) error {
		f, err := p.observe(ctx, rec)
		if err != nil {
			return err
		}
		if f.tmux == session.TmuxUnknown {
			return tmuxError(f.tmuxErr)
		}
		generation := nextGeneration(rec, f)
		var add []tmux.AgentPane
		respawn := map[string]tmux.AgentPane{}
		for i := range jobs {
			j := &jobs[i]
			a := f.agent(j.agent)
			if !j.starts() || a == nil {
				continue
			}
			if reason := withdrawn(rec, j.agent, j.parent); reason != "" {
				j.refuse(errors.New(reason), "paw recover "+rec.Name)
				continue
			}
			if a.lock.State == session.LockHeld || (a.pane != nil && !a.pane.Dead && !a.launchedAt.IsZero()) {
				j.result, j.reason = ResultAlive, "" // another paw was faster
				continue
			}
			pane, err := p.prepareLaunch(ctx, rec, j, generation)
			if err != nil {
				j.refuse(err)
				continue
			}
			launched[j.agent] = generation
			if a.pane != nil && a.pane.Dead && a.pane.SessionID == f.tmuxID {
				respawn[a.pane.ID] = pane
			} else {
				add = append(add, pane)
			}
		}
		if len(launched) > 0 {
			rec.Generation = generation
		}
		p.Step("panes.prepared")
		if err := p.placePanes(ctx, rec, f, add, respawn); err != nil {
			for name := range launched { // nobody may read them any more, and they hold keys
				if left := p.withdrawLaunches(rec.Name, name); left != nil {
					err = errors.Join(err, left)
				}
			}
			return err
		}
		p.Step("panes.opened")
		return p.recordPanes(ctx, rec, jobs)
	})
	if err != nil {
		return s, nil, p.recordError(s.Name, err)
	}
	return saved, launched, nil
}

// withdrawn says why an agent must not be started any more although start or
// recover set out to: a stop or a remove came in between, of itself or of the
// parent that is just spawning it, "" for none. It is "" when the agent may start.
func withdrawn(s *session.Session, agentName, parent string) string {
	if reason := withdrawal(s, agentName); reason != "" {
		return "it " + reason
	}
	if parent != "" {
		if reason := withdrawal(s, parent); reason != "" {
			return parent + " " + reason
		}
	}
	if s.Status == session.StatusStopped {
		return "the session was stopped in the meantime"
	}
	return ""
}

// withdrawal is what keeps one agent from being started, "" for nothing.
func withdrawal(s *session.Session, agentName string) string {
	w := s.Worktree(agentName)
	if w == nil {
		return "was removed in the meantime"
	}
	switch w.Phase {
	case session.PhaseStopping, session.PhaseStopped:
		return "was stopped in the meantime"
	case session.PhaseRemoving, session.PhaseDiscarding, session.PhaseLeaving:
		return "is being removed"
	case session.PhaseCreating, session.PhaseLive, session.PhaseExited:
	}
	return ""
}

// nextGeneration is above every launch that record or tmux know of.
func nextGeneration(s *session.Session, f facts) int {
	highest := s.Generation
	for _, a := range f.agents {
		highest = max(highest, a.lock.Holder.Generation)
		if a.pane != nil {
			highest = max(highest, a.pane.Identity.Generation)
		}
	}
	return highest + 1
}

// agent finds the facts of one agent.
func (f facts) agent(name string) *agentFacts {
	for i := range f.agents {
		if f.agents[i].record.Agent == name {
			return &f.agents[i]
		}
	}
	return nil
}

// placePanes creates the tmux session or adds to it, and revives dead panes in their place.
func (p *Paw) placePanes(ctx context.Context, s *session.Session, f facts, add []tmux.AgentPane, respawn map[string]tmux.AgentPane) error {
	client := p.tmuxFor(s)
	for id, pane := range respawn {
		if err := client.Respawn(ctx, id, pane); err != nil && !errors.Is(err, tmux.ErrStillActive) {
			return tmuxError(err)
		}
	}
	if len(add) == 0 {
		return nil
	}
	if f.tmuxID != "" {
		_, err := client.AddPanes(ctx, f.tmuxID, p.Config.Tmux.Layout, add)
		return tmuxError(err)
	}
	width, height := p.terminalSize()
	created, err := client.Create(ctx, tmux.NewSession{
		Name: s.Tmux.Session, PawSession: s.Name, PawID: s.ID, Dir: s.RepoPath, Width: width, Height: height,
		Layout: p.Config.Tmux.Layout, Agents: add,
	})
	if errors.Is(err, tmux.ErrDuplicate) {
		return failf(KindError, "tmux session %s is not of this session", s.Tmux.Session).
			hint("tmux -S %s rename-session -t =%s OTHER", Quote(s.Tmux.Socket), s.Tmux.Session)
	}
	if err != nil {
		return tmuxError(err)
	}
	s.Tmux.Socket, s.Tmux.ServerPID, s.Tmux.ServerStarted = created.Server.Socket, created.Server.PID, created.Server.Started
	return nil
}

// recordPanes reads the panes back from tmux and writes them into the record.
func (p *Paw) recordPanes(ctx context.Context, s *session.Session, jobs []job) error {
	f, err := p.observe(ctx, s)
	if err != nil {
		return err
	}
	if f.tmux != session.TmuxAlive {
		return nil
	}
	s.Tmux.ServerPID, s.Tmux.ServerStarted = f.server.PID, f.server.Started
	for i := range jobs {
		a, w := f.agent(jobs[i].agent), s.Worktree(jobs[i].agent)
		if a == nil || a.pane == nil || jobs[i].result == ResultRefused {
			continue
		}
		w.PaneID, w.Phase = a.pane.ID, session.PhaseLive
	}
	for _, a := range f.agents {
		if w := s.Worktree(a.record.Agent); w.Phase == session.PhaseLive && a.exited() {
			w.Phase = session.PhaseExited // once the pane is gone, nothing else tells
		}
	}
	return nil
}

package tmux

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"paw/config/poll"
)

func TestCreate(t *testing.T) {
	for _, layout := range []string{LayoutTiled, LayoutWindows} {
		t.Run(layout, func(t *testing.T) {
			c := privateClient(t)
			s := newSession1(t, "s", 3)
			s.Layout = layout
			s.Agents[1].Label = Label{Text: "a2 · running"}
			made := create(t, c, s)

			server, all, err := c.Panes(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if server.PID != made.Server.PID || server.Started != made.Server.Started || server.Socket != c.Socket {
				t.Errorf("server %+v, created in %+v, socket %s", server, made.Server, c.Socket)
			}
			if server.Sessions[made.SessionID] != "s" {
				t.Errorf("sessions %v", server.Sessions)
			}
			if len(all) != 3 {
				t.Fatalf("%d panes, want 3: %+v", len(all), all)
			}
			windows := map[string]bool{}
			for i, p := range all { // in order, the first on top
				agent := fmt.Sprintf("a%d", i+1)
				if p.Identity == nil || *p.Identity != (Identity{"s", agent, 1}) {
					t.Errorf("pane %d is of %+v, want %s", i, p.Identity, agent)
				}
				if p.ID != made.Panes[agent] || p.Dead || p.PID == 0 || p.PawSession != "s" || sessionOf(t, c, p) != "paw-s" {
					t.Errorf("pane of %s: %+v", agent, p)
				}
				windows[windowOf(t, c, p)] = true
			}
			if want := map[string]int{LayoutTiled: 1, LayoutWindows: 3}[layout]; len(windows) != want {
				t.Errorf("%d windows, want %d", len(windows), want)
			}
			if got := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{window_width}x#{window_height} #{pane_id}"); got != "220x60 "+made.Panes["a1"] {
				t.Errorf("current window is %s", got)
			}
			if got := raw(t, c, "show-options", "-p", "-v", "-t", made.Panes["a2"], "@paw_label"); got != "a2 · running" {
				t.Errorf("label %q", got)
			}
		})
	}
}

func TestCreateUsesTheTerminalsSize(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 12)
	s.Width, s.Height = 80, 24
	made := create(t, c, s)
	if got := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{window_width}x#{window_height}"); got != "80x24" {
		t.Errorf("window %s, want 80x24", got)
	}
	if n := len(agentsOf(t, c, "s")); n != 12 {
		t.Errorf("%d agents", n)
	}
	usable(t, c, made.SessionID, 6)
}

func TestCreateFallsBackToWindows(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 6)
	s.Width, s.Height = 10, 5
	made := create(t, c, s)
	windows := map[string]int{}
	for agent, p := range agentsOf(t, c, "s") {
		windows[windowOf(t, c, p)]++
		if p.ID != made.Panes[agent] || p.Dead {
			t.Errorf("%s: %+v, created as %s", agent, p, made.Panes[agent])
		}
	}
	if len(made.Panes) != 6 || len(windows) < 2 || len(panes(t, c)) != 6 {
		t.Errorf("panes %v in windows %v", made.Panes, windows)
	}
}

func TestCreateManyInPieces(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 60))
	found := agentsOf(t, c, "s")
	if len(found) != 60 || len(made.Panes) != 60 {
		t.Fatalf("%d agents found, %d made", len(found), len(made.Panes))
	}
	for i, p := range panes(t, c) {
		if agent := fmt.Sprintf("a%d", i+1); p.Identity.Agent != agent || made.Panes[agent] != p.ID {
			t.Fatalf("pane %d is %s", i, p.Identity.Agent)
		}
	}
}

func TestExitStatusIsKeptHoweverFastAgentsEnd(t *testing.T) {
	for _, layout := range []string{LayoutTiled, LayoutWindows} {
		t.Run(layout, func(t *testing.T) {
			c := privateClient(t)
			s := newSession1(t, "s", 0)
			s.Layout = layout
			scripts := []string{"exit 0", "exit 7", "kill -KILL $$", "kill -SEGV $$"}
			for i, script := range scripts {
				s.Agents = append(s.Agents, agentPane(t, "s", fmt.Sprintf("a%d", i+1), script))
			}
			missing := agentPane(t, "s", "a5", "")
			missing.Argv[0] = "/no such/program"
			s.Agents = append(s.Agents, missing)
			create(t, c, s)
			var found map[string]Pane
			waitFor(t, "five dead panes", func() bool {
				found = agentsOf(t, c, "s")
				dead := 0
				for _, p := range found {
					if p.Dead && (p.ExitCode != nil || p.Signal != nil) {
						dead++
					}
				}
				return dead == 5
			})
			got := ""
			for _, agent := range []string{"a1", "a2", "a3", "a4", "a5"} {
				got += ended1(found[agent]) + " "
			}
			if got != "exit 0 exit 7 signal 9 signal 11 exit 1 " {
				t.Errorf("ended with %s", got)
			}
		})
	}
}

func ended1(p Pane) string {
	switch {
	case p.ExitCode != nil && p.Signal == nil:
		return fmt.Sprintf("exit %d", *p.ExitCode)
	case p.Signal != nil && p.ExitCode == nil:
		return fmt.Sprintf("signal %d", *p.Signal)
	}
	return "unknown"
}

func TestCreateOnceForEachName(t *testing.T) {
	c := privateClient(t)
	const callers = 8
	var wg sync.WaitGroup
	errs := make([]error, callers)
	sessions := make([]NewSession, callers)
	for i := range sessions {
		sessions[i] = newSession1(t, "s", 2)
	}
	start := make(chan struct{})
	for i := range callers {
		wg.Go(func() {
			<-start
			_, errs[i] = c.Create(context.Background(), sessions[i])
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for _, err := range errs {
		switch {
		case err == nil:
			won++
		case !errors.Is(err, ErrDuplicate):
			t.Errorf("loser got %v", err)
		}
	}
	if won != 1 || len(panes(t, c)) != 2 {
		t.Errorf("%d callers won, %d panes", won, len(panes(t, c)))
	}
}

func TestReservedSessionBecomesTheCreatedOne(t *testing.T) {
	for _, layout := range []string{LayoutTiled, LayoutWindows} {
		c := privateClient(t)
		s := newSession1(t, "s", 2)
		s.Layout = layout
		agents := s.Agents
		s.Agents = nil
		r, err := c.Reserve(t.Context(), s)
		if err != nil || !r.Waits() {
			t.Fatalf("waits %v, error %v", r.Waits(), err)
		}
		if _, err := c.Reserve(t.Context(), s); !errors.Is(err, ErrDuplicate) {
			t.Errorf("the second one: %v", err)
		}
		s.Agents, s.Reserved = agents, r
		made := create(t, c, s)
		if made.SessionID != r.session || made.Panes["a1"] != r.pane {
			t.Errorf("%+v of %+v", made, r)
		}
		want := map[string]string{LayoutTiled: agentsWindow, LayoutWindows: "a1"}[layout]
		if got := raw(t, c, "display-message", "-p", "-t", r.pane, "#{window_name}"); got != want {
			t.Errorf("window %q, want %q", got, want)
		}
		if err := c.Withdraw(t.Context(), r); err != nil || len(panes(t, c)) != 2 {
			t.Errorf("withdrawn with its agents: %d panes, error %v", len(panes(t, c)), err)
		}
		raw(t, c, "kill-server")
		gone := func() bool { return !r.Waits() }
		if !poll.Until(t.Context(), poll.Tick, time.Minute, gone) {
			t.Error("waits on a server that is gone")
		}
	}
}

func TestWithdrawnSessionIsGone(t *testing.T) {
	c := privateClient(t)
	create(t, c, newSession1(t, "other", 1))
	s := newSession1(t, "s", 1)
	s.Agents = nil
	r, err := c.Reserve(t.Context(), s)
	if err == nil {
		err = errors.Join(c.Withdraw(t.Context(), r), c.Withdraw(t.Context(), r), c.Withdraw(t.Context(), Reserved{}))
	}
	if err != nil {
		t.Fatal(err)
	}
	if got := raw(t, c, "list-sessions", "-F", "#{session_name}"); got != "paw-other" {
		t.Errorf("sessions: %s", got)
	}
}

func TestFailedCreateLeavesNothing(t *testing.T) {
	c := privateClient(t)
	create(t, c, newSession1(t, "other", 1))
	s := newSession1(t, "s", 2)
	s.Agents[1].Argv = append(s.Agents[1].Argv, strings.Repeat("x", 20<<10)) // "command too long"
	_, err := c.Create(context.Background(), s)
	if err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("error %v", err)
	}
	if got := raw(t, c, "list-sessions", "-F", "#{session_name}"); got != "paw-other" {
		t.Errorf("sessions: %s", got)
	}
}

func TestCreateRefuses(t *testing.T) {
	c := privateClient(t)
	cases := map[string]func(*NewSession){
		"name with a dot":     func(s *NewSession) { s.Name = "paw.s" },
		"name that is a flag": func(s *NewSession) { s.Name = "-s" },
		"format as name":      func(s *NewSession) { s.Name = "#{pid}" },
		"bad paw session":     func(s *NewSession) { s.PawSession = "a b" },
		"one word":            func(s *NewSession) { s.Agents[0].Argv = []string{"rm -rf x"} },
		"no agents":           func(s *NewSession) { s.Agents = nil },
		"unknown layout":      func(s *NewSession) { s.Layout = "spiral" },
		"agent named twice":   func(s *NewSession) { s.Agents = append(s.Agents, s.Agents[0]) },
		"bad agent":           func(s *NewSession) { s.Agents[0].Identity.Agent = "a'b" },
	}
	for name, spoil := range cases {
		s := newSession1(t, "s", 1)
		spoil(&s)
		if _, err := c.Create(context.Background(), s); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if c.Answers() {
		t.Error("a refusal started a server")
	}
}

// Some builds of tmux forget a child now and then; see remind.
func TestNoExitStatusIsForgotten(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 2)
	s.Agents[1] = agentPane(t, "s", "a2", "exit 7")
	made := create(t, c, s)
	for range 30 {
		waitFor(t, "the exit status", func() bool { return ended1(agentsOf(t, c, "s")["a2"]) == "exit 7" })
		if err := c.Respawn(context.Background(), made.Panes["a2"], s.Agents[1]); err != nil {
			t.Fatal(err)
		}
	}
}

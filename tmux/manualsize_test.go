package tmux

import "testing"

// Configurations that say `set -g window-size manual` end tmux 3.3a with the first window that it makes.
func TestWindowSizeManual(t *testing.T) {
	for _, layout := range []string{LayoutTiled, LayoutWindows} {
		t.Run(layout, func(t *testing.T) {
			c := privateClient(t)
			c.ConfigFile = confFile(t, "set -g window-size manual\n")
			made, err := c.Create(t.Context(), NewSession{Name: "paw-s", PawSession: "s", Dir: "/", Layout: layout, Agents: agentPanes(t, "s", 3)})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := c.AddPanes(t.Context(), made.SessionID, "", []AgentPane{agentPane(t, "s", "more", "exec sleep 1000")}); err != nil {
				t.Fatal(err)
			}
			if n := len(agentsOf(t, c, "s")); n != 4 {
				t.Errorf("%d agents, want 4", n)
			}
			if got := raw(t, c, "show-options", "-g", "-w", "-v", "window-size"); got != "manual" {
				t.Errorf("the user's window-size is %s", got)
			}
			if got := raw(t, c, "show-options", "-g", "-q", "-v", "@paw_window_size"); got != "" {
				t.Errorf("left behind: %s", got)
			}
		})
	}
}

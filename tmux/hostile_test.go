package tmux

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
)

// hostileConfs are users' configurations under which everything must come out the same.
var hostileConfs = map[string]string{
	"base-index":         "set -g base-index 1\nset -g pane-base-index 1\nset -g renumber-windows on",
	"destroy-unattached": "set -g destroy-unattached on",
	"default-size":       "set -g default-size 40x10",
	"window-size":        "set -g window-size smallest",
	"renaming hook":      "set-hook -g after-new-session 'rename-session renamed'",
	"chatty hooks": "set-hook -g after-new-session 'display-message -p hello ; nosuch-target -t'\n" +
		"set-hook -g after-new-session 'display-message -p hello ; kill-pane -t nosuch'\n" +
		"set-hook -g after-list-panes 'display-message -p hello ; kill-pane -t nosuch'\n" +
		"set-hook -g after-set-option 'display-message -p hello ; kill-pane -t nosuch'",
	"window opening hook": "set-hook -g after-new-session 'new-window \"exec sleep 1000\"'",
	"splitting hook":      "set-hook -g after-new-session 'split-window \"exec sleep 1000\"'",
	"waiting hook":        "set-hook -g after-new-session 'run-shell \"sleep 0.2\"'",
	"selecting hook":      "set-hook -g after-split-window 'select-pane -t 0 ; select-layout even-vertical'",
	"automatic-rename":    "set -g automatic-rename on\nset -g automatic-rename-format gone\nset -g allow-rename on",
	"default-command":     "set -g default-command 'echo no'\nset -g default-shell /bin/false",
	"remain-on-exit off":  "set -g remain-on-exit off",
	"remain-on-exit on":   "set -g remain-on-exit on",
	"syntax error":        "this is no command\nset -g base-index 1\nset -g nosuch-option 1",
	"layout and borders":  "set -g pane-border-status off\nset -g main-pane-width 3\nset -g status off",
	"command-alias": "set -s command-alias[0] new-session=kill-server\nset -s command-alias[1] 'list-panes=kill-server'\n" +
		"set -s command-alias[2] 'set-option=kill-server'\nset -s command-alias[3] 'respawn-pane=kill-server'\n" +
		"set -s command-alias[4] 'split-window=kill-server'\nset -s command-alias[5] 'display-message=kill-server'\n" +
		"set -s command-alias[6] 'run-shell=kill-server'\nset -s command-alias[7] 'kill-pane=kill-server'",
}

func TestHostileConfigurations(t *testing.T) {
	all := ""
	for name, conf := range hostileConfs {
		if name != "syntax error" && !strings.Contains(name, "hook") {
			all += conf + "\n"
		}
	}
	cases := map[string]string{"all at once": all + "set-hook -g after-new-session " +
		"'rename-session renamed ; new-window \"exec sleep 1000\" ; split-window \"exec sleep 1000\" ; display-message -p hello'\n"}
	for name, conf := range hostileConfs {
		cases[name] = conf
	}
	for name, conf := range cases {
		for _, layout := range []string{LayoutTiled, LayoutWindows} {
			t.Run(name+"/"+layout, func(t *testing.T) { hostile(t, conf, layout) })
		}
	}
}

// hostile goes through what paw does with a session and compares with what happens without a configuration.
func hostile(t *testing.T, conf, layout string) {
	ctx := context.Background()
	c := privateClient(t)
	c.ConfigFile = confFile(t, conf)
	s := newSession1(t, "s", 3)
	s.Layout = layout
	s.Agents[2] = agentPane(t, "s", "a3", "exit 7")
	made := create(t, c, s)

	agents := agentsOf(t, c, "s")
	waitFor(t, "the end of a3", func() bool { agents = agentsOf(t, c, "s"); return agents["a3"].ExitCode != nil })
	windows := map[string]bool{}
	for agent, p := range agents {
		windows[windowOf(t, c, p)] = true
		if p.ID != made.Panes[agent] || p.SessionID != made.SessionID || p.PawSession != "s" {
			t.Errorf("%s: %+v, made as %s in %s", agent, p, made.Panes[agent], made.SessionID)
		}
		if p.Dead != (agent == "a3") {
			t.Errorf("%s: dead is %t", agent, p.Dead)
		}
		size := raw1(t, c, p.ID, "#{window_width}x#{window_height} #{pane_in_mode} #{remain-on-exit} #{pane-border-status}")
		if size != "220x60 0 on top" {
			t.Errorf("%s: %s", agent, size)
		}
	}
	if want := map[string]int{LayoutTiled: 1, LayoutWindows: 3}[layout]; len(agents) != 3 || len(windows) != want {
		t.Errorf("%d agents in %d windows", len(agents), len(windows))
	}
	if *agents["a3"].ExitCode != 7 {
		t.Errorf("a3 ended with %d", *agents["a3"].ExitCode)
	}
	if got := raw1(t, c, made.SessionID+":", "#{destroy-unattached} #{pane_id}"); got != "0 "+made.Panes["a1"] && got != "off "+made.Panes["a1"] { // "off" since 3.4
		t.Errorf("session shows %s, want a1 in %s", got, made.Panes["a1"])
	}
	if err := c.Respawn(ctx, made.Panes["a3"], agentPanes(t, "s", 3)[2]); err != nil {
		t.Errorf("respawn: %v", err)
	}
	added, err := c.AddPanes(ctx, made.SessionID, layout, []AgentPane{agentPane(t, "s", "a4", "exec sleep 1000")})
	if err != nil {
		t.Fatalf("add: %v", err)
	}
	if agents = agentsOf(t, c, "s"); len(agents) != 4 || agents["a4"].ID != added["a4"] || agents["a3"].Dead {
		t.Errorf("after add and respawn: %+v", agents)
	}
	ids := slices.Sorted(maps.Values(made.Panes))
	ids = append(ids, added["a4"])
	if err := c.KillPanes(ctx, ids); err != nil {
		t.Errorf("kill: %v", err)
	}
	if _, left, err := c.Panes(ctx); err == nil {
		for _, p := range left {
			if p.Identity != nil {
				t.Errorf("left after kill: %+v", p)
			}
		}
	}
}

// raw1 expands a format for a target, with a command name that no alias of the hostile configurations replaces.
func raw1(t *testing.T, c *Client, target, format string) string {
	t.Helper()
	return strings.TrimPrefix(strings.TrimPrefix(raw(t, c, "display", "-p", "-t", target, format), "hello\n"), "\n")
}

// The first agent's program is missing and a hook waits, so that a session without a lease would be gone before its
// options are set, and everything that follows would hit the user's session.
func TestNothingOfTheUserIsTouched(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	raw(t, c, "new-session", "-d", "-s", "user", "-x", "90", "-y", "30", "exec sleep 1000")
	raw(t, c, "set-hook", "-g", "after-new-session", "run-shell 'sleep 0.2'")
	raw(t, c, "set-option", "-g", "destroy-unattached", "off")
	userID := raw(t, c, "display-message", "-p", "-t", "=user:", "#{session_id}")
	world := func() string { return serverOf(t, c, "=user:") }
	before := world()
	s := newSession1(t, "s", 3)
	s.Agents[0].Argv[0] = "/no such/program"
	made := create(t, c, s)
	waitFor(t, "the pane without a program is dead", func() bool {
		return raw(t, c, "display-message", "-p", "-t", made.Panes["a1"], "#{pane_dead}") == "1"
	})
	if err := c.Respawn(ctx, made.Panes["a1"], agentPanes(t, "s", 1)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddPanes(ctx, made.SessionID, "", []AgentPane{agentPane(t, "s", "a4", "exec sleep 1000")}); err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, p := range agentsOf(t, c, "s") {
		ids = append(ids, p.ID)
	}
	if len(ids) != 4 {
		t.Errorf("%d agents, want 4", len(ids))
	}
	if err := c.KillPanes(ctx, ids); err != nil {
		t.Fatal(err)
	}
	if after := world(); after != before {
		t.Errorf("the server changed\nbefore:\n%s\nafter:\n%s", before, after)
	}
	if got := raw(t, c, "list-sessions", "-F", "#{session_id}"); got != userID {
		t.Errorf("sessions %s, want %s", got, userID)
	}
}

// The hook's own tmux client ends while the session is neither attached nor protected, and tmux destroys it.
func TestSessionThatAHookDestroysHarmsNobody(t *testing.T) {
	c := privateClient(t)
	raw(t, c, "new-session", "-d", "-s", "user", "-x", "90", "-y", "30", "exec sleep 1000")
	raw(t, c, "set-hook", "-g", "after-new-session", "kill-session -t paw-s")
	before := raw(t, c, "show-options", "-w", "-t", "=user:") + raw(t, c, "show-options", "-t", "=user:")
	if _, err := c.Create(context.Background(), newSession1(t, "s", 3)); err == nil {
		t.Error("create succeeded without a session")
	}
	after := raw(t, c, "show-options", "-w", "-t", "=user:") + raw(t, c, "show-options", "-t", "=user:")
	if n := len(panes(t, c)); n != 1 || before != after {
		t.Errorf("%d panes, options before %q, after %q", n, before, after)
	}
}

// A hook that groups another session with ours shows every pane twice.
func TestSessionThatAHookLinks(t *testing.T) {
	c := privateClient(t)
	raw(t, c, "new-session", "-d", "-s", "user", "exec sleep 1000")
	raw(t, c, "set-hook", "-g", "after-new-session", "new-session -d -t paw-s")
	made := create(t, c, newSession1(t, "s", 3))
	found := agentsOf(t, c, "s")
	for agent, id := range made.Panes {
		if found[agent].ID != id || found[agent].PawSession != "s" {
			t.Errorf("%s: %+v, made as %s", agent, found[agent], id)
		}
	}
	if got := raw(t, c, "show-options", "-v", "-t", made.SessionID, "@paw_session"); got != "s" {
		t.Errorf("@paw_session of %s is %q", made.SessionID, got)
	}
}

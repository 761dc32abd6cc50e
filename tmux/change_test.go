package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestArgumentsArriveByteForByte(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	dir := shortDir(t)
	args := []string{
		"", ";", ";;", "trail;", `trail\;`, `\;`, `\`, `'`, `"`, "two\nlines", "☃ é", "#{pid}", "##", "#(id)", "$HOME", "%%", "%H",
		"--flag", "-", "~", "{", "}", "a b", "tab\t", "*", "`id`", "&&", "|", "=name:",
	}
	agent := func(name, out string) AgentPane {
		return AgentPane{Identity: Identity{"s", name, 1}, Argv: append([]string{self(t), "__pane", "argv", filepath.Join(dir, out)}, args...)}
	}
	check := func(out string) {
		t.Helper()
		var got []byte
		waitFor(t, "the arguments in "+out, func() bool {
			got, _ = os.ReadFile(filepath.Join(dir, out))
			return len(got) > 0
		})
		if want := strings.Join(args, "\x00"); string(got) != want {
			t.Errorf("%s: got %q, want %q", out, got, want)
		}
	}
	s := newSession1(t, "s", 1)
	s.Agents = []AgentPane{agent("a1", "first"), agent("a2", "create")}
	made := create(t, c, s)
	check("first")
	check("create")
	if _, err := c.AddPanes(ctx, made.SessionID, LayoutWindows, []AgentPane{agent("a3", "add")}); err != nil {
		t.Fatal(err)
	}
	check("add")
	waitFor(t, "the end of a2", func() bool { return agentsOf(t, c, "s")["a2"].Dead })
	if err := c.Respawn(ctx, made.Panes["a2"], agent("a2", "respawn")); err != nil {
		t.Fatal(err)
	}
	check("respawn")
}

// In raw mode a line feed keeps the column; a pane that tmux once had empty would not.
func TestPanesAreProperTerminals(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	script := `stty -opost; printf 'ab\ncd'; exec sleep 1000`
	s := newSession1(t, "s", 0)
	s.Agents = []AgentPane{agentPane(t, "s", "a1", script), agentPane(t, "s", "a2", script), agentPane(t, "s", "a3", "exit 0")}
	made := create(t, c, s)
	added, err := c.AddPanes(ctx, made.SessionID, LayoutTiled, []AgentPane{agentPane(t, "s", "a4", script)})
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end of a3", func() bool { return agentsOf(t, c, "s")["a3"].Dead })
	if err := c.Respawn(ctx, made.Panes["a3"], agentPane(t, "s", "a3", script)); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{made.Panes["a1"], made.Panes["a2"], made.Panes["a3"], added["a4"]} {
		waitFor(t, "two lines in "+id, func() bool {
			text, err := c.Capture(ctx, id)
			return err == nil && strings.HasPrefix(text, "ab\n  cd\n")
		})
	}
}

func TestDirectoriesAreTakenLiterally(t *testing.T) {
	for _, name := range []string{"with space", "#{pid}", "#S", "ünï", "#(id)", "semi;", "%H", "#[x]", "##[x]", "##"} {
		c := privateClient(t)
		s := newSession1(t, "s", 1)
		s.Dir = filepath.Join(s.Dir, name)
		if err := os.Mkdir(s.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
		made := create(t, c, s)
		if got := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{session_path}"); got != s.Dir {
			t.Errorf("%s: session in %s", s.Dir, got)
		}
	}
}

func TestRespawn(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	s := newSession1(t, "s", 2)
	s.Agents[1] = agentPane(t, "s", "a2", "exit 3")
	made := create(t, c, s)
	if err := c.Respawn(ctx, made.Panes["a1"], s.Agents[0]); !errors.Is(err, ErrStillActive) {
		t.Errorf("of a live pane: %v", err)
	}
	if err := c.Respawn(ctx, "%999", s.Agents[0]); !errors.Is(err, ErrNotFound) {
		t.Errorf("of no pane: %v", err)
	}
	waitFor(t, "the end of a2", func() bool { return agentsOf(t, c, "s")["a2"].Dead })

	const callers = 8
	errs := make([]error, callers)
	agents := make([]AgentPane, callers)
	for i := range agents {
		agents[i] = agentPane(t, "s", "a2", "exec sleep 1000")
		agents[i].Identity.Generation = i + 10
		agents[i].Argv[4] = fmt.Sprint(i + 10)
		agents[i].Label = Label{Text: fmt.Sprintf("label %d", i+10)}
	}
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			<-start
			errs[i] = c.Respawn(ctx, made.Panes["a2"], agents[i])
		})
	}
	close(start)
	wg.Wait()
	won := 0
	for i, err := range errs {
		if err == nil {
			won = won*100 + agents[i].Identity.Generation
		} else if !errors.Is(err, ErrStillActive) {
			t.Errorf("loser got %v", err)
		}
	}
	p := agentsOf(t, c, "s")["a2"]
	if p.Dead || p.ID != made.Panes["a2"] || p.Identity.Generation != won {
		t.Errorf("winner %d, pane %+v", won, p)
	}
	if got := raw(t, c, "show-options", "-p", "-v", "-t", p.ID, "@paw_label"); got != fmt.Sprintf("label %d", won) {
		t.Errorf("label %q, winner %d", got, won)
	}
}

func TestAddPanes(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 2))
	raw(t, c, "new-window", "-t", made.SessionID+":", "-n", "mine", "exec sleep 1000")
	looking := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{window_id} #{pane_id}")
	more := agentPanes(t, "s", 4)[2:]
	added, err := c.AddPanes(ctx, made.SessionID, LayoutTiled, more)
	if err != nil {
		t.Fatal(err)
	}
	found := agentsOf(t, c, "s")
	for _, agent := range []string{"a3", "a4"} {
		if found[agent].ID != added[agent] || windowOf(t, c, found[agent]) != windowOf(t, c, found["a1"]) || found[agent].PawSession != "s" {
			t.Errorf("%s: %+v, added %v", agent, found[agent], added)
		}
	}
	if now := raw(t, c, "display-message", "-p", "-t", made.SessionID+":", "#{window_id} #{pane_id}"); now != looking {
		t.Errorf("the user looked at %s, now at %s", looking, now)
	}
	order := ""
	for _, p := range panes(t, c) {
		if p.Identity != nil {
			order += p.Identity.Agent + " "
		}
	}
	if order != "a1 a2 a3 a4 " {
		t.Errorf("order %s", order)
	}
	ids := []string{found["a1"].ID, found["a2"].ID, added["a3"], added["a4"]}
	if err := c.KillPanes(ctx, ids); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AddPanes(ctx, made.SessionID, LayoutTiled, agentPanes(t, "s", 3)); err != nil {
		t.Fatal(err)
	}
	found = agentsOf(t, c, "s") // in a window of their own, beside the user's
	window := windowOf(t, c, found["a1"])
	if len(found) != 3 || windowOf(t, c, found["a2"]) != window || windowOf(t, c, found["a3"]) != window || len(panes(t, c)) != 4 {
		t.Errorf("after all were gone: %+v", found)
	}
	if _, err := c.AddPanes(ctx, "$999", LayoutTiled, more); !errors.Is(err, ErrNotFound) {
		t.Errorf("to no session: %v", err)
	}
	if _, err := c.AddPanes(ctx, "=paw-s", LayoutTiled, more); !errors.Is(err, ErrNotFound) {
		t.Errorf("to a name: %v", err)
	}
}

func TestFailedAddLeavesNothing(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 2))
	before := raw(t, c, "list-panes", "-a", "-F", "#{pane_id}")
	more := agentPanes(t, "s", 4)[2:]
	more[1].Argv = append(more[1].Argv, strings.Repeat("x", 20<<10))
	if _, err := c.AddPanes(context.Background(), made.SessionID, LayoutTiled, more); err == nil {
		t.Error("no error")
	}
	if after := raw(t, c, "list-panes", "-a", "-F", "#{pane_id}"); after != before {
		t.Errorf("panes %q, before %q", after, before)
	}
}

func TestKillPanes(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	foo := create(t, c, newSession1(t, "foo", 3))
	bar := create(t, c, newSession1(t, "foobar", 2))
	raw(t, c, "new-window", "-d", "-t", foo.SessionID+":", "exec sleep 1000")
	raw(t, c, "split-window", "-d", "-t", foo.Panes["a1"], "exec sleep 1000")
	ids := []string{"%998", foo.Panes["a1"], "%999", foo.Panes["a2"], foo.Panes["a3"]}
	for range 2 { // the second time all are gone
		if err := c.KillPanes(ctx, ids); err != nil {
			t.Fatal(err)
		}
		if n := len(agentsOf(t, c, "foo")); n != 0 {
			t.Errorf("%d agents of foo left", n)
		}
		users := 0
		for _, p := range panes(t, c) {
			if p.SessionID == foo.SessionID {
				users++
			}
		}
		if users != 2 || len(agentsOf(t, c, "foobar")) != 2 {
			t.Errorf("%d panes of the user, foobar %v", users, agentsOf(t, c, "foobar"))
		}
	}
	if err := c.KillPanes(ctx, []string{"%0", "paw-foobar"}); err == nil || len(agentsOf(t, c, "foobar")) != 2 {
		t.Errorf("a name as pane: %v", err)
	}
	if err := c.KillPanes(ctx, nil); err != nil {
		t.Errorf("nothing to kill: %v", err)
	}
	// The server ends with its last pane.
	var all []string
	for _, p := range panes(t, c) {
		all = append(all, p.ID)
	}
	if err := c.KillPanes(ctx, all); err != nil {
		t.Errorf("kill of everything: %v", err)
	}
	waitFor(t, "the server to end", func() bool { return !c.Answers() })
	if err := c.KillPanes(ctx, []string{bar.Panes["a1"]}); !errors.Is(err, ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
}

func TestUsersPanesGoAsTheyAlwaysDid(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 2))
	if _, err := c.AddPanes(context.Background(), made.SessionID, LayoutTiled, agentPanes(t, "s", 3)[2:]); err != nil {
		t.Fatal(err)
	}
	raw(t, c, "split-window", "-d", "-t", made.Panes["a1"], "exit 3")
	waitFor(t, "the user's pane to go", func() bool { return len(panes(t, c)) == 3 })
	if got := raw(t, c, "show-options", "-w", "-t", made.Panes["a1"]); strings.Contains(got, "remain-on-exit") {
		t.Errorf("window options %s", got)
	}
}

func TestLabelsAreShownAsTheyAre(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	for _, label := range []string{"a1 · idle", "#[reverse]x", "50% #{pid} #(id) ##", "trail;", "-x", "a,b}"} {
		if err := c.SetLabels(ctx, map[string]Label{made.Panes["a1"]: {Text: label}}); err != nil {
			t.Fatal(err)
		}
		border := showOnTerminal(t, c, made.SessionID)
		if !strings.Contains(border, " "+label+" ") {
			t.Errorf("label %q is shown as %q", label, border)
		}
		if all := panes(t, c); len(all) != 1 || all[0].Label.Text != label {
			t.Errorf("label %q is read as %+v", label, all)
		}
	}
	if err := c.SetLabels(ctx, map[string]Label{made.Panes["a1"]: {Text: "two\nlines"}}); err != nil {
		t.Fatal(err)
	}
	if got := raw(t, c, "show-options", "-p", "-v", "-t", made.Panes["a1"], "@paw_label"); got != "two lines" {
		t.Errorf("label %q", got)
	}
	if err := c.SetLabels(ctx, map[string]Label{"%99": {Text: "x"}}); !errors.Is(err, ErrNotFound) {
		t.Errorf("label of no pane: %v", err)
	}
}

func TestDeadPanesSayHowToGoOn(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 0)
	read := filepath.Join(t.TempDir(), "read") // tmux may drop what a program has written in the instant before it ended
	s.Agents = []AgentPane{agentPane(t, "s", "a1", "echo; echo last words; until [ -e "+read+" ]; do sleep .01; done; exit 7"), agentPane(t, "s", "a2", "kill -KILL $$"),
		agentPane(t, "s", "a3", "exec sleep 1000")}
	made := create(t, c, s)
	waitFor(t, "the last words", func() bool {
		text, _ := c.Capture(context.Background(), made.Panes["a1"])
		return strings.Contains(text, "last words")
	})
	if err := os.WriteFile(read, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "two exits", func() bool {
		found := agentsOf(t, c, "s")
		return found["a1"].ExitCode != nil && found["a2"].Signal != nil
	})
	text, err := c.Capture(context.Background(), made.Panes["a1"])
	if err != nil || !strings.Contains(text, "last words") {
		t.Errorf("captured %q, %v", text, err)
	}
	raw(t, c, "split-window", "-d", "-t", made.Panes["a3"], "exec sleep 1000")
	raw(t, c, "select-layout", "-t", made.Panes["a3"], "even-vertical")
	screen := showOnTerminal(t, c, made.SessionID)
	for _, want := range []string{
		" a1: ended with status 7, paw recover s ", " a2: ended by signal 9, paw recover s ",
		" a3 ", " 3 ",
	} {
		if !strings.Contains(screen, want) {
			t.Errorf("%q is not on the screen:\n%s", want, screen)
		}
	}
	if err := syscall.Kill(agentsOf(t, c, "s")["a3"].PID, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the last line of a3", func() bool {
		_ = panes(t, c) // see remind
		text, err := c.Capture(context.Background(), made.Panes["a3"])
		return err == nil && strings.Contains(text, "go on with: paw recover s")
	})
	if _, err := c.Capture(context.Background(), "%99"); !errors.Is(err, ErrNotFound) {
		t.Errorf("capture of no pane: %v", err)
	}
}

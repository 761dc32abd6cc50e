package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPanesWithoutServer(t *testing.T) {
	c := privateClient(t)
	if _, _, err := c.Panes(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("never started: %v", err)
	}
	create(t, c, newSession1(t, "s", 1))
	endServer(t, c)
	_, _, err := c.Panes(context.Background())
	if !errors.Is(err, ErrNoServer) || !strings.HasPrefix(err.Error(), "tmux list-panes: no server running on ") {
		t.Errorf("ended: %v", err)
	}
}

func TestPanesOfAServerWithoutSessions(t *testing.T) {
	c := privateClient(t)
	raw(t, c, "start-server", ";", "set-option", "-s", "exit-empty", "off")
	server, all, err := c.Panes(context.Background())
	if err != nil || len(all) != 0 || server.PID == 0 || server.Started == 0 || server.Socket != c.Socket || server.Sessions == nil {
		t.Errorf("server %+v, panes %v, error %v", server, all, err)
	}
}

// Users can put anything into what tmux prints.
func TestPanesSurviveHostileText(t *testing.T) {
	texts := []string{
		"plain", "é ☃ 日本", `a|b\|c\\|`, "#{pid} #(id) %H", "'quo\"tes' $HOME `x`", "tab\tand\x1fcontrol",
		"line\nbreak|%0|$0|@0|1|||1||||", " __agent s fake 9 ", "",
	}
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	agent := made.Panes["a1"]
	for i, text := range texts {
		raw(t, c, "new-session", "-d", "-s", fmt.Sprintf("u%d %s", i, text), "sh", "-c", "exec sleep 1000", escape(text))
		raw(t, c, "set-option", "-p", "-t", agent, "@paw_agent", text)
		raw(t, c, "select-pane", "-t", agent, "-T", text)
		user := raw(t, c, "list-panes", "-a", "-F", "#{pane_id}")
		user = user[strings.LastIndexByte(user, '\n')+1:]
		raw(t, c, "set-option", "-t", user, "@paw_session", text)
	}
	all := panes(t, c)
	if len(all) != len(texts)+1 {
		t.Fatalf("%d panes, want %d", len(all), len(texts)+1)
	}
	for _, p := range all {
		if (p.Identity != nil) != (p.ID == agent) || p.PID == 0 || p.Dead {
			t.Errorf("pane %+v", p)
		}
	}
	for _, label := range []string{"plain", "é ☃ 日本", `a|b\|c\\|`, "#{pid} #(id) %H", "'quo\"tes' $HOME `x`"} {
		raw(t, c, "set-option", "-p", "-t", agent, "@paw_label", label)
		if got := paneByID(t, c, agent).Label.Text; got != label {
			t.Errorf("label %q, want %q", got, label)
		}
	}
}

func TestLabelsInTheCLocale(t *testing.T) {
	c := privateClient(t)
	t.Setenv("LC_ALL", "C")
	t.Setenv("LANG", "C")
	s := newSession1(t, "s", 1)
	s.Agents[0].Label = Label{Text: "läuft ●"}
	made := create(t, c, s)
	if got := paneByID(t, c, made.Panes["a1"]).Label.Text; got != "läuft ●" {
		t.Errorf("label %q as Panes reads it", got)
	}
	if got := raw(t, c, "show-options", "-p", "-v", "-t", made.Panes["a1"], "@paw_label"); got != "läuft ●" {
		t.Errorf("label %q", got)
	}
}

func TestIdentityFromThePanesFirstInstant(t *testing.T) {
	c := privateClient(t)
	a := agentPane(t, "s", "a1", "exec sleep 1000")
	for i, dir := range []string{"plain", "with space", `qu"ote`, `apo'strophe`, "dollar$HOME", "ünï", `back\slash`, "semi;", "#{pid}"} {
		launcher := filepath.Join(shortDir(t), dir)
		if err := os.Symlink(a.Argv[0], launcher); err != nil {
			t.Fatal(err)
		}
		args := append([]string{"new-session", "-d", "-s", fmt.Sprintf("x%d", i), escape(launcher)}, "__agent", "s", "a_1", "12", "/l f")
		raw(t, c, args...)
		id := raw(t, c, "display-message", "-p", "-t", fmt.Sprintf("=x%d:", i), "#{pane_id}")
		if p := paneByID(t, c, id); p.Identity == nil || *p.Identity != (Identity{"s", "a_1", 12}) {
			t.Errorf("%s: identity %+v", dir, p.Identity)
		}
	}
}

func TestIdentityOf(t *testing.T) {
	ours := &Identity{"s", "a", 3}
	cases := []struct {
		launch, option, command string
		want                    *Identity
	}{
		{"s/a/3", "x/y", "bash", ours},
		{"s/a/0", "", "", &Identity{"s", "a", 0}},
		{"s/a/-1", "", "", nil},
		{"s/a/x", "", "", nil},
		{"s /a/3", "", "", nil},
		{"", "", `/bin/paw __agent s a 3 /launch`, ours},
		{"", "x/y", `"/my bin/paw" __agent s a 3 "/l f"`, ours},
		{"", "", `'/my"bin/paw' __agent s a 3`, ours},
		{"", "", `"/a\"b c\$d/paw" __agent s a 3 x`, ours},
		{"", "", `paw -x __agent s a 3`, ours},
		{"", "s/a", `bash`, &Identity{"s", "a", 0}},
		{"", "s/a", ``, &Identity{"s", "a", 0}},
		{"", "", `bash`, nil},
		{"", "s", `bash`, nil},
		{"", "s/a/b", `bash`, nil},
		{"", "s/", `bash`, nil},
		{"", "s p/a", `bash`, nil},
		{"", "", `"paw __agent s a 3"`, nil},
		{"", "", `sh -c "x __agent s a 3"`, nil},
		{"", "", `__agent s a 3`, nil},
		{"", "", `paw __agent s a`, nil},
		{"", "", `paw __agent s a x`, nil},
		{"", "", `paw __agent s a -1`, nil},
		{"", "", `paw __agent s-x a 3`, nil},
		{"", "", `paw __agents s a 3`, nil},
		{"", "", `paw '' '__agent' s a 3`, ours},
	}
	for _, c := range cases {
		if diff := cmp.Diff(c.want, identityOf(c.launch, c.option, c.command)); diff != "" {
			t.Errorf("%s, options %q and %q:\n%s", c.command, c.launch, c.option, diff)
		}
	}
}

func TestDeadPanesExitOnOldTmux(t *testing.T) {
	line := func(status, signal string) string {
		return "P|%1|$1|1|" + status + "|" + signal + "|77|s|id||label|idle||s/a|paw\\ __agent\\ s\\ a\\ 1|paw-s|2|notes|\n"
	}
	for text, want := range map[string]string{
		line("0", ""): "exit 0", line("255", ""): "exit 255", line("", "9"): "signal 9", line("", "KILL"): "signal 9",
		line("", "SIGSEGV"): "signal 11", line("", ""): "unknown", line("", "nonsense"): "unknown",
	} {
		all, sessions := parsePanes(text, "P|")
		if len(all) != 1 || ended1(all[0]) != want || sessions["$1"] != "s" || all[0].Label != (Label{"label", "idle"}) || all[0].WindowIndex+all[0].WindowName != "2notes" {
			t.Errorf("%q: %+v, sessions %v, want %s", text, all, sessions, want)
		}
	}
}

func TestLinkedPanesAreListedOnce(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 2))
	raw(t, c, "new-session", "-d", "-s", "a_before", "-t", "=paw-s")
	raw(t, c, "new-session", "-d", "-s", "z_after", "-t", "=paw-s")
	for _, p := range panes(t, c) {
		if p.PawSession != "s" || p.SessionID != made.SessionID {
			t.Errorf("pane %+v", p)
		}
	}
	if n := len(panes(t, c)); n != 2 {
		t.Errorf("%d panes, want 2", n)
	}
}

func TestPanesAreFoundWhereverTheUserPutsThem(t *testing.T) {
	c := privateClient(t)
	foo := create(t, c, newSession1(t, "foo", 3))
	create(t, c, newSession1(t, "foobar", 1))
	raw(t, c, "new-session", "-d", "-s", "user", "exec sleep 1000")
	raw(t, c, "rename-session", "-t", foo.SessionID, "mine")
	raw(t, c, "break-pane", "-d", "-s", foo.Panes["a2"])
	raw(t, c, "join-pane", "-d", "-s", foo.Panes["a3"], "-t", "=user:")
	found := agentsOf(t, c, "foo")
	for agent, id := range foo.Panes {
		if found[agent].ID != id {
			t.Errorf("%s: %+v, want %s", agent, found[agent], id)
		}
	}
	if sessionOf(t, c, found["a1"]) != "mine" || found["a1"].PawSession != "foo" || found["a3"].PawSession != "" {
		t.Errorf("found %+v", found)
	}
	if other := agentsOf(t, c, "foobar"); len(other) != 1 || other["a1"].ID == found["a1"].ID {
		t.Errorf("foobar: %+v", other)
	}
}

// What tells of whom a pane is: the option @paw_launch; before that is set the command that runs there; then @paw_agent.
func TestWhosePane(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	pane := made.Panes["a1"]
	expect := func(when string, generation int) {
		t.Helper()
		if p := agentsOf(t, c, "s")["a1"]; p.ID != pane || p.Identity.Generation != generation || p.SessionName != "" {
			t.Errorf("%s: %+v", when, p)
		}
	}
	expect("at first", 1)
	raw(t, c, "set-option", "-p", "-t", pane, "@paw_launch", "s/a1/7")
	expect("with another launch", 7)
	raw(t, c, "set-option", "-p", "-u", "-t", pane, "@paw_launch")
	raw(t, c, "set-option", "-p", "-u", "-t", pane, "@paw_agent")
	if p := paneByID(t, c, pane); p.Identity == nil || *p.Identity != (Identity{"s", "a1", 1}) || p.SessionName != "paw-s" {
		t.Errorf("by its command: %+v", p)
	}
	raw(t, c, "set-option", "-p", "-t", pane, "@paw_agent", "s/a1")
	raw(t, c, "respawn-pane", "-k", "-t", pane, "sleep", "1000")
	if p := paneByID(t, c, pane); p.Identity == nil || *p.Identity != (Identity{"s", "a1", 0}) {
		t.Errorf("after a respawn by the user: %+v", p)
	}
}

func TestSessionNames(t *testing.T) {
	c := privateClient(t)
	if names, err := c.SessionNames(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("without a server: %q, %v", names, err)
	}
	create(t, c, newSession1(t, "s", 1))
	raw(t, c, "new-session", "-d", "-s", "my own", "sleep", "1000")
	if names, err := c.SessionNames(context.Background()); err != nil || !slices.Equal(names, []string{"my own", "paw-s"}) {
		t.Errorf("names %q, error %v", names, err)
	}
}

func TestStoppedServerTimesOut(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	if err := syscall.Kill(made.Server.PID, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(made.Server.PID, syscall.SIGCONT) }()
	slow := *c
	slow.Timeout = 300 * time.Millisecond
	_, _, err := slow.Panes(context.Background())
	if !errors.Is(err, ErrTimeout) || errors.Is(err, ErrNoServer) || errors.Is(err, ErrNotFound) {
		t.Errorf("panes: %v", err)
	}
	if !slow.Answers() {
		t.Error("a stopped server does not count as listening")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := c.Panes(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := syscall.Kill(made.Server.PID, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if n := len(panes(t, c)); n != 1 {
		t.Errorf("%d panes after the server went on", n)
	}
}

func FuzzParsePanes(f *testing.F) {
	f.Add("P|%1|$1|1|0||77|s|id||label|idle||s/a|paw\\ __agent\\ s\\ a\\ 1|paw-s|2|notes|\nP|%2|")
	f.Add("P|%1|\\")
	f.Fuzz(func(t *testing.T, out string) {
		all, sessions := parsePanes(out, "P|")
		for _, p := range all {
			if !strings.HasPrefix(p.ID, "%") {
				t.Errorf("pane %+v", p)
			}
			if _, ok := sessions[p.SessionID]; !ok {
				t.Errorf("session %s is missing", p.SessionID)
			}
		}
	})
}

// The id of the record goes with an agent's pane wherever the user moves it; panes of the user have that of the session
// they stand in.
func TestPawIDGoesWithThePane(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 1)
	s.PawID = "0e6a-1"
	made := create(t, c, s)
	more := agentPane(t, "s", "moved", "exec sleep 1000")
	more.PawID = s.PawID
	added, err := c.AddPanes(context.Background(), made.SessionID, "", []AgentPane{more})
	if err != nil {
		t.Fatal(err)
	}
	raw(t, c, "new-session", "-d", "-s", "mine", "sh", "-c", "exec sleep 1000")
	raw(t, c, "join-pane", "-d", "-s", added["moved"], "-t", "=mine:")
	own := raw(t, c, "split-window", "-d", "-P", "-F", "#{pane_id}", "-t", made.Panes["a1"], "sh", "-c", "exec sleep 1000")
	for id, want := range map[string]string{made.Panes["a1"]: s.PawID, added["moved"]: s.PawID, own: s.PawID} {
		if got := paneByID(t, c, id).PawID; got != want {
			t.Errorf("pane %s: %q", id, got)
		}
	}
	for _, p := range panes(t, c) {
		if p.SessionName == "mine" && p.ID != added["moved"] && p.PawID != "" {
			t.Errorf("a pane of the user's: %+v", p)
		}
	}
	s.Name, s.PawID = "paw-t", "a b"
	if _, err := c.Create(context.Background(), s); err == nil {
		t.Error("an id of two words was taken")
	}
}

// TestLabelsAreReadOnlyWhereTheyAreWanted: without them all else of a pane is the same.
func TestLabelsAreReadOnlyWhereTheyAreWanted(t *testing.T) {
	c := privateClient(t)
	s := newSession1(t, "s", 1)
	s.Agents[0].Label = Label{Text: "a|1"}
	create(t, c, s)
	plain := &Client{Socket: c.Socket, ConfigFile: c.ConfigFile, Timeout: c.Timeout}
	with, without := panes(t, c), panes(t, plain)
	if len(with) != 1 || with[0].Label.Text != "a|1" {
		t.Fatalf("with labels: %+v", with)
	}
	with[0].Label = Label{}
	if diff := cmp.Diff(with, without); diff != "" {
		t.Error(diff)
	}
}

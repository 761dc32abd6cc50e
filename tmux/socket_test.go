package tmux

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// userServer makes the user's own server a private one, in a TMUX_TMPDIR of the test.
func userServer(t *testing.T) *Client {
	t.Helper()
	t.Setenv("TMUX_TMPDIR", shortDir(t))
	c := &Client{ConfigFile: "/dev/null"}
	path, err := c.SocketPath()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endServer(t, &Client{Socket: path}) })
	return c
}

func TestUsersOwnServer(t *testing.T) {
	ctx := context.Background()
	c := userServer(t)
	inside := privateClient(t) // the server of the pane that paw is called in
	create(t, inside, newSession1(t, "inside", 1))

	for _, stale := range []string{"", "garbage", ",", "/nonexistent/socket,1,0", shortDir(t) + ",1,0"} {
		t.Setenv("TMUX", stale)
		t.Setenv("TMUX_PANE", "%0")
		made := create(t, c, newSession1(t, "outside", 1))
		want := filepath.Join(os.Getenv("TMUX_TMPDIR"), "tmux-"+strconv.Itoa(os.Getuid()), "default")
		if made.Server.Socket != want {
			t.Errorf("TMUX=%q: server at %s, want %s", stale, made.Server.Socket, want)
		}
		if path, err := c.SocketPath(); err != nil || path != want {
			t.Errorf("socket path %s, %v, want %s", path, err, want)
		}
		if err := c.KillPanes(ctx, []string{made.Panes["a1"]}); err != nil {
			t.Error(err)
		}
	}
	t.Setenv("TMUX", inside.Socket+",1,0")
	made := create(t, c, newSession1(t, "outside", 1))
	if made.Server.Socket != inside.Socket {
		t.Errorf("inside tmux: server at %s, want %s", made.Server.Socket, inside.Socket)
	}
}

func TestNamedServerInsideTmux(t *testing.T) {
	t.Setenv("TMUX_TMPDIR", shortDir(t))
	inside := privateClient(t)
	create(t, inside, newSession1(t, "inside", 1))
	t.Setenv("TMUX", inside.Socket+",1,0")
	t.Setenv("TMUX_PANE", "%0")
	before := raw(t, inside, "show-options", "-g") + raw(t, inside, "list-panes", "-a")
	c := &Client{Socket: "paw", ConfigFile: "/dev/null"}
	made := create(t, c, newSession1(t, "s", 2))
	defer endServer(t, &Client{Socket: made.Server.Socket})
	if path, _ := c.SocketPath(); made.Server.Socket != path || !filepath.IsAbs(path) || path == inside.Socket {
		t.Errorf("server at %s, socket path %s", made.Server.Socket, path)
	}
	if after := raw(t, inside, "show-options", "-g") + raw(t, inside, "list-panes", "-a"); after != before {
		t.Errorf("the server outside changed: %s, before %s", after, before)
	}
}

func TestRelativeSocketsAndDirectories(t *testing.T) {
	if _, _, err := New("a/b").Panes(context.Background()); err == nil || errors.Is(err, ErrNoServer) {
		t.Errorf("relative path: %v", err)
	}
	dir := shortDir(t)
	t.Chdir(filepath.Dir(dir))
	t.Setenv("TMUX_TMPDIR", filepath.Base(dir))
	c := &Client{Socket: "x", ConfigFile: "/dev/null"}
	made := create(t, c, newSession1(t, "s", 1))
	defer endServer(t, &Client{Socket: made.Server.Socket})
	if path, _ := c.SocketPath(); made.Server.Socket != path || !strings.HasPrefix(path, dir+"/") {
		t.Errorf("server at %s, socket path %s", made.Server.Socket, path)
	}
}

func TestGuard(t *testing.T) {
	t.Setenv("TMUX_TMPDIR", "")
	reaches := func(c *Client) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		_, _, _ = c.Panes(context.Background())
		return false
	}
	own := "/tmp/tmux-" + strconv.Itoa(os.Getuid()) + "/default"
	for _, dir := range []string{"", "/", "/nonexistent", os.TempDir(), os.TempDir() + "/../tmp"} {
		t.Setenv("TMUX_TMPDIR", dir)
		if !reaches(New("")) {
			t.Errorf("TMUX_TMPDIR=%q reaches the default server", dir)
		}
	}
	t.Setenv("TMUX_TMPDIR", "")
	if !reaches(New("default")) || !reaches(New(own)) {
		t.Error("the default server is reached by its name or path")
	}
	t.Setenv("TMUX_TMPDIR", shortDir(t))
	if reaches(New("")) || reaches(New("x")) {
		t.Error("a private server is refused")
	}
}

// What is in the environment of the client that starts a server is in every pane of it, for ever.
func TestServerInheritsNothingThatMisleadsOthers(t *testing.T) {
	c := privateClient(t)
	for _, name := range append([]string{"GIT_CONFIG_KEY_0", "GIT_CONFIG_VALUE_0"}, unwanted...) {
		t.Setenv(name, "leak")
	}
	t.Setenv("PAW_TEST_KEPT", "kept")
	create(t, c, newSession1(t, "s", 1))
	env := raw(t, c, "show-environment", "-g")
	if strings.Contains(env, "leak") {
		t.Errorf("environment of the server:\n%s", env)
	}
	if !strings.Contains(env, "PAW_TEST_KEPT=kept") {
		t.Error("the rest of the environment is missing")
	}
	if dir, err := os.Readlink("/proc/" + raw(t, c, "display-message", "-p", "#{pid}") + "/cwd"); err == nil && dir != "/" {
		t.Errorf("the server keeps %s busy", dir)
	}
}

func TestRevive(t *testing.T) {
	t.Run("socket gone", func(t *testing.T) { revived(t, func(c *Client) string { return c.Socket }) })
	t.Run("folder gone", func(t *testing.T) { revived(t, func(c *Client) string { return filepath.Dir(c.Socket) }) })
}

// revived takes something of a server's socket away and asks for it again.
func revived(t *testing.T, gone func(*Client) string) {
	ctx := context.Background()
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 2))
	if err := os.RemoveAll(gone(c)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Panes(ctx); !errors.Is(err, ErrNoServer) || c.Answers() {
		t.Fatalf("without its socket: %v", err)
	}
	if err := Revive(made.Server.PID, c.Socket); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the socket", c.Answers)
	server, _, err := c.Panes(ctx)
	if err != nil || server.PID != made.Server.PID || len(agentsOf(t, c, "s")) != 2 {
		t.Errorf("after revive: %+v, %v", server, err)
	}
}

func TestReviveSignalsNobodyElse(t *testing.T) {
	c := privateClient(t)
	create(t, c, newSession1(t, "s", 1))
	agent := agentsOf(t, c, "s")["a1"]
	waitFor(t, "the agent's program", func() bool { // until then the process is a copy of the server's
		name, err := inspect(agent.PID)
		return err == nil && !isServer(name)
	})
	for what, pid := range map[string]int{
		"no record": 0, "init": 1, "an agent": agent.PID, "the test": os.Getpid(), "a number that nobody holds": 1 << 22,
	} {
		if err := Revive(pid, c.Socket); !errors.Is(err, ErrNoServer) || IsServer(pid) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if syscall.Kill(agent.PID, 0) != nil || agentsOf(t, c, "s")["a1"].Dead {
		t.Error("the agent got the signal")
	}
}

func TestReviveOfAServerThatEnded(t *testing.T) {
	c := privateClient(t)
	made := create(t, c, newSession1(t, "s", 1))
	endServer(t, c) // it may stay a zombie for a while
	if err := Revive(made.Server.PID, c.Socket); !errors.Is(err, ErrNoServer) {
		t.Errorf("error %v", err)
	}
}

// Answers reports whether somebody listens on the client's socket, also where the server is stopped or busy.
func (c *Client) Answers() bool {
	e, err := c.endpoint()
	return err == nil && listening(e.path)
}

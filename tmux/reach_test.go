package tmux

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// socketIn returns where tmux -L name listens with that TMUX_TMPDIR.
func socketIn(base, name string) string {
	return filepath.Join(base, "tmux-"+strconv.Itoa(os.Getuid()), name)
}

// A reboot empties /tmp: tmux makes its folder for -L alone, so a path that -L leads to is reached by its name, whatever
// TMUX_TMPDIR is now.
func TestFolderOfTheSocketIsMadeAnew(t *testing.T) {
	base, other := shortDir(t), shortDir(t)
	for what, tmpdir := range map[string]string{"as recorded": base, "unset": "", "elsewhere": other} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("TMUX_TMPDIR", tmpdir)
			c := &Client{Socket: socketIn(base, "shop"), ConfigFile: "/dev/null", WithLabels: true}
			t.Cleanup(func() { endServer(t, c) })
			made := create(t, c, newSession1(t, "s", 1))
			if made.Server.Socket != c.Socket {
				t.Errorf("server at %s, want %s", made.Server.Socket, c.Socket)
			}
			endServer(t, c)
			if err := os.RemoveAll(filepath.Dir(c.Socket)); err != nil {
				t.Fatal(err)
			}
			if _, _, err := c.Panes(context.Background()); !errors.Is(err, ErrNoServer) {
				t.Errorf("without its folder: %v", err)
			}
			if made := create(t, c, newSession1(t, "s", 1)); made.Server.Socket != c.Socket {
				t.Errorf("after a reboot the server is at %s, want %s", made.Server.Socket, c.Socket)
			}
		})
	}
}

// A folder that a user has configured for a socket of his own, such as one in /run, may be gone after a reboot, too.
func TestFolderOfAConfiguredSocketIsMadeAnew(t *testing.T) {
	c := &Client{Socket: filepath.Join(shortDir(t), "own", "s"), ConfigFile: "/dev/null", WithLabels: true}
	t.Cleanup(func() { endServer(t, c) })
	if _, _, err := c.Panes(context.Background()); !errors.Is(err, ErrNoServer) {
		t.Errorf("without its folder: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(c.Socket)); err == nil {
		t.Error("a look has made the folder")
	}
	create(t, c, newSession1(t, "s", 1))
	if info, err := os.Stat(filepath.Dir(c.Socket)); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v, %v", info, err)
	}
}

func TestReachable(t *testing.T) {
	base := shortDir(t)
	t.Setenv("TMUX_TMPDIR", base)
	for socket, want := range map[string]bool{
		socketIn(base, "default"):                        true, // tmux makes the folder
		socketIn("/nonexistent", "default"):              false,
		filepath.Join(base, "s"):                         true,
		filepath.Join(base, "gone", "s"):                 false,
		filepath.Join(base, "tmux-0123456", "default"):   false,
		filepath.Join(open(t, shortDir(t), 0o777), "s"):  false,
		socketIn(filepath.Dir(opened(t)), "default"):     false,
		filepath.Join(open(t, shortDir(t), 0o1777), "s"): true,
	} {
		if got := Reachable(socket); got != want {
			t.Errorf("%s: %t, want %t", socket, got, want)
		}
	}
}

// open gives a folder a mode, whatever the umask.
func open(t *testing.T, dir string, mode uint32) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	perm := os.FileMode(mode & 0o777)
	if mode&0o1000 != 0 {
		perm |= os.ModeSticky
	}
	if err := os.Chmod(dir, perm); err != nil {
		t.Fatal(err)
	}
	return dir
}

// opened is a folder of tmux that others can write to.
func opened(t *testing.T) string {
	t.Helper()
	return open(t, filepath.Dir(socketIn(shortDir(t), "")+"/x"), 0o777)
}

// What another user could have put there gets no connection: a server that is not tmux's would read what a client sends.
func TestSocketsOfOthersGetNoConnection(t *testing.T) {
	const nobody = 65534
	t.Setenv("TMUX_TMPDIR", shortDir(t))
	belongs := func(path string) {
		if os.Getuid() != 0 {
			t.Skip("only root gives files away")
		}
		if err := os.Lchown(path, nobody, nobody); err != nil {
			t.Fatal(err)
		}
	}
	named := func(t *testing.T) string { return socketIn(os.Getenv("TMUX_TMPDIR"), "default") }
	for what, one := range map[string]struct {
		socket func(t *testing.T) string
		spoil  func(t *testing.T, socket string)
		why    string
	}{
		"named, folder open to others": {named, func(t *testing.T, s string) { open(t, filepath.Dir(s), 0o777) }, "is open to other users"},
		"named, folder readable":       {named, func(t *testing.T, s string) { open(t, filepath.Dir(s), 0o705) }, "is open to other users"},
		"named, folder of another":     {named, func(t *testing.T, s string) { belongs(filepath.Dir(s)) }, "belongs to user 65534"},
		"named, folder is a link": {named, func(t *testing.T, s string) {
			if err := errors.Join(os.Rename(filepath.Dir(s), filepath.Dir(s)+"-real"), os.Symlink(filepath.Dir(s)+"-real", filepath.Dir(s))); err != nil {
				t.Fatal(err)
			}
		}, "is not a folder"},
		"by path, folder open to others": {func(t *testing.T) string { return filepath.Join(shortDir(t), "s") },
			func(t *testing.T, s string) { open(t, filepath.Dir(s), 0o777) }, "is open to other users"},
		"by path, folder of another": {func(t *testing.T) string { return filepath.Join(shortDir(t), "s") },
			func(t *testing.T, s string) { belongs(filepath.Dir(s)) }, "belongs to user 65534"},
		"by path, socket of another": {func(t *testing.T) string { return filepath.Join(open(t, shortDir(t), 0o1777), "s") },
			func(t *testing.T, s string) { belongs(s) }, "belongs to user 65534"},
		"by path, socket open to others": {func(t *testing.T) string { return filepath.Join(open(t, shortDir(t), 0o755), "s") },
			func(t *testing.T, s string) {
				if err := os.Chmod(s, 0o777); err != nil {
					t.Fatal(err)
				}
			}, "is open to other users"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("TMUX_TMPDIR", shortDir(t))
			socket := one.socket(t)
			if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
				t.Fatal(err)
			}
			server, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			connected := make(chan bool, 100)
			go func() {
				for {
					conn, err := server.Accept()
					if err != nil {
						close(connected)
						return
					}
					connected <- true
					conn.Close()
				}
			}()
			one.spoil(t, socket)
			c := &Client{Socket: socket, ConfigFile: "/dev/null"}
			_, _, err = c.Panes(context.Background())
			var unsafe *UnsafeError
			if !errors.As(err, &unsafe) || !strings.Contains(err.Error(), one.why) {
				t.Errorf("panes: %v, want one that %s", err, one.why)
			}
			if _, err := c.Create(context.Background(), newSession1(t, "s", 1)); !errors.As(err, &unsafe) {
				t.Errorf("create: %v", err)
			}
			server.Close()
			if n := len(connected); n > 0 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// A tmux client sends its environment with whatever it is asked.
func TestTheUsersEnvironmentIsForSessionsAlone(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	log := shim(t, `if [ -n "$SECRET_TOKEN" ]; then echo "$*" >>"$log"; fi`)
	t.Setenv("SECRET_TOKEN", "sk-of-the-user")
	made := create(t, c, newSession1(t, "s", 2))
	if env := raw(t, c, "show-environment", "-g"); !strings.Contains(env, "SECRET_TOKEN=sk-of-the-user") {
		t.Error("the server that new-session starts has not the user's environment")
	}
	panes(t, c)
	if _, err := c.AddPanes(ctx, made.SessionID, LayoutTiled, []AgentPane{agentPane(t, "s", "a3", "exec sleep 1000")}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Screenshot(ctx, made.Panes["a1"]); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Version(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.KillPanes(ctx, []string{made.Panes["a2"]}); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(log)
	for line := range strings.Lines(string(text)) {
		if !strings.Contains(line, unaliased("new-session")) && !strings.Contains(line, "show-environment") {
			t.Errorf("the environment went to the server with: %.200s", line)
		}
	}
	if !strings.Contains(string(text), unaliased("new-session")) {
		t.Errorf("calls with the environment: %q", text)
	}
}

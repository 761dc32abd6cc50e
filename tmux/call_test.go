package tmux

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shim puts a program called tmux before the real one, which it ends in. $tmux is the real one, $log a file.
func shim(t *testing.T, script string) (log string) {
	t.Helper()
	path, err := exec.LookPath("tmux")
	if err != nil {
		t.Fatal(err)
	}
	dir := shortDir(t)
	log = filepath.Join(dir, "log")
	text := fmt.Sprintf("#!/bin/sh\ntmux='%s' log='%s'\n%s\nexec \"$tmux\" \"$@\"\n", path, log, script)
	if err := os.WriteFile(filepath.Join(dir, "tmux"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return log
}

func TestNumberOfTmuxProcesses(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	log := shim(t, `echo run >>"$log"`)
	runs := func() int {
		text, _ := os.ReadFile(log)
		_ = os.Remove(log)
		return strings.Count(string(text), "run")
	}
	made := create(t, c, newSession1(t, "s", 8))
	if n := runs(); n != 3 {
		t.Errorf("create: %d processes, want 3", n)
	}
	panes(t, c)
	if n := runs(); n != 1 {
		t.Errorf("panes: %d processes, want 1", n)
	}
	if err := c.KillPanes(ctx, slices.Collect(maps.Values(made.Panes))); err != nil {
		t.Fatal(err)
	}
	if n := runs(); n != 1 {
		t.Errorf("kill: %d processes, want 1", n)
	}
}

// TestInterruptedWhilePanesAreMade: a call that makes something is not cut off before it has said what that is.
func TestInterruptedWhilePanesAreMade(t *testing.T) {
	// The first call of tmux with that command has done its work, and is interrupted before it ends.
	interrupted := func(t *testing.T, making string, do func(context.Context) error) {
		t.Helper()
		log := shim(t, `case "$*" in *`+unaliased(making)+`*) if [ ! -e "$log" ]; then out=$("$tmux" "$@"); : >"$log"; until [ -e "$log.go" ]; do sleep 0.01; done; echo "$out"; exit; fi ;; esac`)
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for _, err := os.Stat(log); err != nil; _, err = os.Stat(log) {
				time.Sleep(5 * time.Millisecond)
			}
			cancel()
			_ = os.WriteFile(log+".go", nil, 0o600)
		}()
		if err := do(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("interrupted: %v", err)
		}
	}
	t.Run("session", func(t *testing.T) {
		c := privateClient(t)
		create(t, c, newSession1(t, "other", 1)) // so that the server stays
		interrupted(t, "new-session", func(ctx context.Context) error {
			_, err := c.Create(ctx, newSession1(t, "s", 2))
			return err
		})
		if n := len(panes(t, c)); n != 1 {
			t.Errorf("%d panes, want 1", n)
		}
	})
	for layout, making := range map[string]string{LayoutTiled: "split-window", LayoutWindows: "new-window"} {
		t.Run("panes "+layout, func(t *testing.T) {
			c := privateClient(t)
			made := create(t, c, newSession1(t, "s", 1))
			interrupted(t, making, func(ctx context.Context) error {
				_, err := c.AddPanes(ctx, made.SessionID, layout, newSession1(t, "s", 3).Agents[1:])
				return err
			})
			if n := len(panes(t, c)); n != 1 {
				t.Errorf("%d panes, want 1", n)
			}
		})
	}
}

func TestServerOnItsWayOut(t *testing.T) {
	t.Run("seen once", func(t *testing.T) {
		c := privateClient(t)
		shim(t, `[ -e "$log" ] || { : >"$log"; echo "server exited unexpectedly" >&2; exit 1; }`)
		create(t, c, newSession1(t, "s", 1))
	})
	t.Run("while listing", func(t *testing.T) {
		c := privateClient(t)
		create(t, c, newSession1(t, "s", 1))
		shim(t, `[ -e "$log" ] || { : >"$log"; echo "server exited unexpectedly" >&2; exit 1; }`)
		if n := len(panes(t, c)); n != 1 {
			t.Errorf("%d panes", n)
		}
	})
	for name, left := range map[string]string{"without a word": "", "without a word, and slowly": "sleep 5 & "} { // a server that ends closes the client's output last
		t.Run(name, func(t *testing.T) {
			c := privateClient(t)
			create(t, c, newSession1(t, "s", 1))
			shim(t, `[ -e "$log" ] || { : >"$log"; `+left+`exit 0; }`)
			if n := len(panes(t, c)); n != 1 {
				t.Errorf("%d panes", n)
			}
		})
	}
	t.Run("for ever", func(t *testing.T) {
		c := privateClient(t)
		log := shim(t, `echo run >>"$log"; echo "server exited unexpectedly" >&2; exit 1`)
		_, err := c.Create(context.Background(), newSession1(t, "s", 1))
		if err == nil || errors.Is(err, ErrNoServer) || err.Error() != "tmux new-session: server exited unexpectedly" {
			t.Errorf("error %v", err)
		}
		if text, _ := os.ReadFile(log); strings.Count(string(text), "run") != 4 {
			t.Errorf("%d calls, want 4", strings.Count(string(text), "run"))
		}
	})
	t.Run("really", func(t *testing.T) {
		c := privateClient(t)
		for i := range 15 {
			create(t, c, newSession1(t, fmt.Sprintf("s%d", i), 1))
			raw(t, c, "kill-server")
		}
	})
}

// A list that ends in the middle must not pass for the whole.
func TestTornListIsAnError(t *testing.T) {
	c := privateClient(t)
	create(t, c, newSession1(t, "s", 3))
	shim(t, `"$tmux" "$@" | head -n 3; exit 0`)
	if _, all, err := c.Panes(context.Background()); err == nil || len(all) != 0 {
		t.Errorf("panes %v, error %v", all, err)
	}
}

func TestNotInstalled(t *testing.T) {
	c := privateClient(t)
	t.Setenv("PATH", shortDir(t))
	if _, _, err := c.Panes(context.Background()); !errors.Is(err, ErrNotInstalled) || err.Error() != "tmux list-panes: tmux is not installed" {
		t.Errorf("panes: %v", err)
	}
	if _, err := c.Version(context.Background()); !errors.Is(err, ErrNotInstalled) {
		t.Errorf("version: %v", err)
	}
}

func TestClassify(t *testing.T) {
	for text, want := range map[string]error{
		"error connecting to /tmp/tmux-0/x (No such file or directory)":   ErrNoServer,
		"error connecting to /tmp/a b/s (Connection refused)":             ErrNoServer,
		"no server running on /tmp/tmux-0/x":                              ErrNoServer,
		"error connecting to /tmp/tmux-0/x (Permission denied)":           ErrNotPermitted,
		"error connecting to /tmp/a b/s (Operation not permitted)":        fs.ErrPermission,
		"error connecting to /tmp/tmux-0/x (File name too long)":          nil,
		"error creating /nonexistent/s (No such file or directory)":       nil,
		"/tmp/tmux-0 has unsafe permissions":                              nil,
		"server exited unexpectedly":                                      errServerExited,
		"server exited":                                                   errServerExited,
		"lost server":                                                     errServerExited,
		"server version is too old for client":                            ErrTooOldServer,
		"protocol version mismatch (client 8, server 7)":                  ErrTooOldServer,
		"duplicate session: paw-x":                                        ErrDuplicate,
		"can't find session: $9":                                          ErrNotFound,
		"can't find window: @9":                                           ErrNotFound,
		"can't find pane: %9":                                             ErrNotFound,
		"no such session: =x":                                             ErrNotFound,
		"no such pane: %1":                                                ErrNotFound,
		"respawn pane failed: pane user:0.1 still active":                 ErrStillActive,
		"no space for new pane":                                           errNoSpace,
		"create pane failed: pane too small":                              errNoSpace,
		"no current target":                                               errNoTarget,
		"command too long":                                                nil,
		"open terminal failed: not a terminal":                            ErrTooOldServer,
		"unknown command: x":                                              nil,
		"":                                                                nil,
		"a hook said: no server running on x":                             nil,
		"can't find pane: %1\nserver version is too old for client":       ErrTooOldServer,
		"duplicate session: renamed (by a hook)\nno space for new pane\n": errNoSpace,
	} {
		if got := classify(text); !errors.Is(got, want) {
			t.Errorf("%q means %v, want %v", text, got, want)
		}
	}
}

func TestErrorText(t *testing.T) {
	for want, err := range map[string]*Error{
		"tmux list-panes: no server running on /s":            {Args: []string{"list-panes", "-a"}, Stderr: "hook\nno server running on /s\n"},
		"tmux new-session: no answer in time":                 {Args: []string{"new-session"}, Err: ErrTimeout},
		"tmux set-option: ended with status 1 and no message": {Args: []string{"set-option"}, ExitCode: 1},
		"tmux: tmux is not installed":                         {Err: ErrNotInstalled},
	} {
		if err.Error() != want {
			t.Errorf("%q, want %q", err.Error(), want)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]Version{
		"tmux 3.3a\n":      {3, 3, "3.3a"},
		"tmux 3.2":         {3, 2, "3.2"},
		"tmux 3.6-rc2":     {3, 6, "3.6-rc2"},
		"tmux next-3.6":    {3, 6, "next-3.6"},
		"tmux master":      {newest, 0, "master"},
		"tmux openbsd-7.5": {newest, 0, "openbsd-7.5"},
		"tmux 10.12b":      {10, 12, "10.12b"},
	} {
		got, err := parseVersion(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "tmux", "tmux x.y", "tmux 99999999999999999999.1"} {
		if v, err := parseVersion(text); err == nil {
			t.Errorf("%q is %+v", text, v)
		}
	}
	old, now := Version{Major: 3, Minor: 1}, Version{Major: 3, Minor: 3}
	if old.AtLeast(3, 2) || !now.AtLeast(3, 2) || !now.AtLeast(3, 3) || now.AtLeast(3, 4) || now.AtLeast(4, 0) || !now.AtLeast(2, 9) {
		t.Error("versions do not compare as numbers")
	}
	v, err := (&Client{}).Version(context.Background()) // reaches no server, so no guard either
	if err != nil || !v.AtLeast(3, 0) || v.Raw == "" {
		t.Errorf("this tmux is %+v, %v", v, err)
	}
}

func TestChain(t *testing.T) {
	got := argv([]command{{"set-option", "-p", "a;", `b\;`, ";", "c;d"}, {"kill-pane", "-t", "%1"}})
	want := []string{"set-optio", "-p", `a\;`, `b\\;`, `\;`, "c;d", ";", "kill-pan", "-t", "%1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestPieces(t *testing.T) {
	var commands []command
	for i := range 500 {
		commands = append(commands, command{"set-option", "-p", "-t", fmt.Sprintf("%%%d", i), strings.Repeat("ü;", i%200)})
	}
	commands = append(commands, command{"x", strings.Repeat("y", 50<<10)})
	cut := pieces(commands)
	if diff := cmp.Diff(commands, slices.Concat(cut...)); diff != "" {
		t.Error(diff)
	}
	for _, piece := range cut[:len(cut)-1] {
		if n := len(strings.Join(argv(piece), "\x00")); n > pieceLimit || len(piece) == 0 {
			t.Errorf("piece of %d bytes, %d commands", n, len(piece))
		}
	}
	if pieces(nil) != nil {
		t.Error("nothing makes a piece")
	}
}

package tmux

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestClosed is the table of why nothing can be typed to a program.
func TestClosed(t *testing.T) {
	p := Program{Pane: "%5", PID: 42}
	for _, c := range []struct {
		look string
		want ClosedError
	}{
		{"42|0|0|0|0|%5|", ClosedError{}},
		{"||||||", ClosedError{Cause: PaneGone}},
		{"42|0|0|0|0|%6|", ClosedError{Cause: PaneGone}},
		{"43|1|1|1|1|%5|copy-mode", ClosedError{Cause: OtherProgram, PID: 43}},
		{"42|1|1|1|1|%5|copy-mode", ClosedError{Cause: ProgramEnded}},
		{"42|0|1|1|1|%5|copy-mode", ClosedError{Cause: InMode, Mode: "copy-mode"}},
		{"42|0|2|0|0|%5|view-mode", ClosedError{Cause: InMode, Mode: "view-mode"}},
		{"42|0|0|1|1|%5|", ClosedError{Cause: Synchronized}},
		{"42|0|0|0|1|%5|", ClosedError{Cause: InputOff}},
	} {
		var got ClosedError
		if err := p.closed(c.look); err != nil {
			var closed *ClosedError
			if !errors.As(err, &closed) {
				t.Fatalf("%s: %v", c.look, err)
			}
			got = *closed
			c.want.Program = p
		}
		if got != c.want {
			t.Errorf("%s: %+v, want %+v", c.look, got, c.want)
		}
		passing := slices.Contains([]Cause{InMode, Synchronized, InputOff}, c.want.Cause)
		if got.Passing() != passing || errors.Is(&got, ErrNotFound) != (c.want.Cause == PaneGone) {
			t.Errorf("%s: passing %t, not found %t", c.look, got.Passing(), errors.Is(&got, ErrNotFound))
		}
	}
	if err := p.closed("hello"); err == nil || errors.As(err, new(*ClosedError)) {
		t.Errorf("of something else: %v", err)
	}
}

// typed is an agent that asked for bracketed pastes and writes what it reads into a file.
func typed(t *testing.T, c *Client, session string) (p Program, file string) {
	t.Helper()
	file = filepath.Join(shortDir(t), "typed")
	s := newSession1(t, session, 0)
	s.Agents = []AgentPane{agentPane(t, session, "a1", `stty raw -echo; printf '\033[?2004hready'; exec cat >`+file)}
	made := create(t, c, s)
	waitFor(t, "a program that reads", func() bool {
		text, err := c.Capture(t.Context(), made.Panes["a1"])
		return err == nil && strings.HasPrefix(text, "ready")
	})
	return Program{Pane: made.Panes["a1"], PID: agentsOf(t, c, session)["a1"].PID}, file
}

const (
	lines     = "one line\nthe next;\n'quoted' #{pane_pid} $HOME %5 \\;"
	bracketed = "\033[200~one line\rthe next;\r'quoted' #{pane_pid} $HOME %5 \\;\033[201~"
)

func TestNothingIsTypedUnlessTheProgramAloneGetsIt(t *testing.T) {
	ctx := context.Background()
	for _, one := range []struct {
		name  string
		shut  [][]string // commands for the pane
		open  [][]string
		cause Cause
	}{
		{"copy mode", [][]string{{"copy-mode"}}, [][]string{{"send-keys", "-X", "cancel"}}, InMode},
		{"a clock", [][]string{{"clock-mode"}}, [][]string{{"copy-mode", "-q"}}, InMode},
		{"a tree", [][]string{{"choose-tree"}}, [][]string{{"copy-mode", "-q"}}, InMode},
		{"a tree over copy mode", [][]string{{"copy-mode"}, {"choose-tree"}}, [][]string{{"copy-mode", "-q"}}, InMode},
		{"output of a command", [][]string{{"run-shell", "echo shown"}}, [][]string{{"copy-mode", "-q"}}, InMode},
		{"synchronized", [][]string{{"set-option", "-p", "synchronize-panes", "on"}}, [][]string{{"set-option", "-p", "synchronize-panes", "off"}}, Synchronized},
		{"input off", [][]string{{"select-pane", "-d"}}, [][]string{{"select-pane", "-e"}}, InputOff},
	} {
		t.Run(one.name, func(t *testing.T) {
			c := privateClient(t)
			p, file := typed(t, c, "s")
			do := func(commands [][]string) {
				for _, command := range commands {
					raw(t, c, append([]string{command[0], "-t", p.Pane}, command[1:]...)...)
				}
			}
			do(one.shut)
			for _, text := range []string{lines, ""} {
				var closed *ClosedError
				if err := c.Type(ctx, p, text, "x", "Enter"); !errors.As(err, &closed) || closed.Cause != one.cause || closed.Program != p {
					t.Fatalf("typed %q: %v", text, err)
				}
			}
			shot, err := c.Look(ctx, p)
			if !errors.As(err, new(*ClosedError)) || !strings.HasPrefix(shot.Text, "ready") {
				t.Errorf("look: %v, %q", err, shot.Text)
			}
			if left := raw(t, c, "list-buffers"); left != "" {
				t.Errorf("a buffer is left: %s", left)
			}
			do(one.open)
			if err := c.Type(ctx, p, lines, "C-u", "'", ";", "Enter"); err != nil {
				t.Fatal(err)
			}
			if shot, err := c.Look(ctx, p); err != nil || !strings.HasPrefix(shot.Text, "ready") {
				t.Errorf("look: %v, %q", err, shot.Text)
			}
			want := bracketed + "\x15';\r"
			waitFor(t, "what was typed", func() bool { got, _ := os.ReadFile(file); return len(got) >= len(want) })
			if got, _ := os.ReadFile(file); string(got) != want {
				t.Errorf("typed %q, want %q", got, want)
			}
		})
	}
}

// TestTypingIsForOneProcess: a pane in which somebody has started something else is not typed to.
func TestTypingIsForOneProcess(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	p, _ := typed(t, c, "s")
	cause := func() Cause {
		t.Helper()
		var closed *ClosedError
		if err := c.Type(ctx, p, lines, "Enter"); !errors.As(err, &closed) {
			t.Fatalf("typed: %v", err)
		}
		if left := raw(t, c, "list-buffers"); left != "" {
			t.Errorf("a buffer is left: %s", left)
		}
		return closed.Cause
	}
	shell := filepath.Join(shortDir(t), "shell")
	raw(t, c, "respawn-pane", "-k", "-t", p.Pane, "sh", "-c", "exec cat >"+shell)
	waitFor(t, "the user's program", func() bool { _, err := os.Stat(shell); return err == nil })
	if got := cause(); got != OtherProgram {
		t.Errorf("respawned: %d", got)
	}
	p.PID = paneByID(t, c, p.Pane).PID
	raw(t, c, "send-keys", "-t", p.Pane, "C-c")
	waitFor(t, "its end", func() bool { return paneByID(t, c, p.Pane).Dead })
	if got := cause(); got != ProgramEnded {
		t.Errorf("dead: %d", got)
	}
	if text, _ := os.ReadFile(shell); len(text) > 0 {
		t.Errorf("the user's program got %q", text)
	}
	raw(t, c, "split-window", "-d", "-t", p.Pane, "sleep", "1000")
	raw(t, c, "kill-pane", "-t", p.Pane)
	if got := cause(); got != PaneGone {
		t.Errorf("gone: %d", got)
	}
	var closed *ClosedError
	if _, err := c.Look(ctx, p); !errors.As(err, &closed) || closed.Cause != PaneGone || !errors.Is(err, ErrNotFound) {
		t.Errorf("gone, looked at: %v", err)
	}
	endServer(t, c)
	if err := c.Type(ctx, p, lines); !errors.Is(err, ErrNoServer) {
		t.Errorf("without a server: %v", err)
	}
	for _, name := range []string{"", "paw-s", "%", "=s:"} {
		if err := c.Type(ctx, Program{Pane: name, PID: p.PID}, lines); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestNothingIsTypedLater: a server that hangs does not type when nobody counts on it any more.
func TestNothingIsTypedLater(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	p, file := typed(t, c, "s")
	server, _, err := c.Panes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	short := *c
	short.Timeout = 300 * time.Millisecond
	for _, text := range []string{"", lines} {
		if err := syscall.Kill(server.PID, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		err := short.Type(ctx, p, text, "y", "Enter")
		if err := syscall.Kill(server.PID, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if !errors.Is(err, ErrTimeout) {
			t.Errorf("typed %q: %v", text, err)
		}
	}
	if err := c.Type(ctx, p, "", "x"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a key", func() bool { got, _ := os.ReadFile(file); return strings.Contains(string(got), "x") })
	if got, _ := os.ReadFile(file); string(got) != "x" {
		t.Errorf("typed %q, want x", got)
	}
	if left := raw(t, c, "list-buffers"); left != "" {
		t.Errorf("a buffer is left: %s", left)
	}
}

// TestAgentsAreNotSynchronized: a configuration that synchronizes all windows, as a key of the user does, holds for his
// own panes alone.
func TestAgentsAreNotSynchronized(t *testing.T) {
	ctx := context.Background()
	c := privateClient(t)
	c.ConfigFile = confFile(t, "set-option -w -g synchronize-panes on\n")
	p, file := typed(t, c, "s")
	beside := filepath.Join(shortDir(t), "beside")
	added, err := c.AddPanes(ctx, paneByID(t, c, p.Pane).SessionID, LayoutTiled, []AgentPane{agentPane(t, "s", "a2", "exec cat >"+beside)})
	if err != nil {
		t.Fatal(err)
	}
	user := filepath.Join(shortDir(t), "user")
	raw(t, c, "split-window", "-d", "-t", p.Pane, "sh", "-c", "exec cat >"+user)
	for _, name := range []string{beside, user} {
		waitFor(t, name, func() bool { _, err := os.Stat(name); return err == nil })
	}
	raw(t, c, "set-option", "-w", "-t", added["a2"], "synchronize-panes", "on")
	if err := c.Type(ctx, p, "", "y", "Enter"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the keys", func() bool { got, _ := os.ReadFile(file); return string(got) == "y\r" })
	for _, name := range []string{beside, user} {
		if got, _ := os.ReadFile(name); len(got) > 0 {
			t.Errorf("%s got %q", filepath.Base(name), got)
		}
	}
}

// TestOnlyTheGateTypes: no other file of the product names a command of tmux that types.
func TestOnlyTheGateTypes(t *testing.T) {
	typing := []string{"send-keys", "send-prefix", "paste-buffer", "load-buffer", "set-buffer"}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || path == filepath.Join("..", "tmux", "gate.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		inTmux := filepath.Dir(path) == filepath.Join("..", "tmux") // elsewhere `send` is a word of paw
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				text, _ := strconv.Unquote(literal.Value)
				for _, name := range typing {
					alias := inTmux && len(text) >= 4 && strings.HasPrefix(name, text)
					if alias || strings.Contains(text, unaliased(name)) {
						t.Errorf("%s: %s types past Client.Type", path, fmt.Sprintf("%.60q", text))
					}
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package program

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// screen is the demo CLI in a pane of a tmux server of its own.
type screen struct {
	*place
	socket, pane, pid, server string
}

// show starts the demo CLI in a pane. The pane stays when it has ended, for its exit code.
func (p *place) show(env []string, args ...string) *screen {
	p.t.Helper()
	binary, err := os.Executable()
	if err != nil {
		p.t.Fatal(err)
	}
	s := &screen{place: p, socket: filepath.Join(p.root, "tmux")}
	p.t.Cleanup(func() {
		// Without a server there is nothing to kill.
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = exec.CommandContext(ctx, "tmux", "-S", s.socket, "kill-server").Run()
	})
	program := slices.Concat([]string{"env", "DEMO_AGENT=1"}, env, []string{binary}, args)
	ids := s.tmux(slices.Concat([]string{"start-server", ";", "set-option", "-wg", "remain-on-exit", "on", ";",
		"new-session", "-d", "-P", "-F", "#{pane_id} #{pane_pid} #{pid}", "-x", "100", "-y", "40", "-c", p.repo},
		program)...)
	fields := strings.Fields(ids)
	s.pane, s.pid, s.server = fields[0], fields[1], fields[2]
	return s
}

func (s *screen) tmux(args ...string) string {
	s.t.Helper()
	return s.exec("tmux", append([]string{"-u", "-f", "/dev/null", "-S", s.socket}, args...)...)
}

func (s *screen) keys(keys ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", s.pane}, keys...)...)
}

// enter types a prompt of one line.
func (s *screen) enter(prompt string) {
	s.t.Helper()
	s.keys("-l", prompt)
	s.keys("Enter")
}

func (s *screen) paste(text string) {
	s.t.Helper()
	file := filepath.Join(s.root, "paste")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.tmux("load-buffer", "-b", "b", file, ";", "paste-buffer", "-p", "-d", "-b", "b", "-t", s.pane)
}

// lines is what the pane shows, with its history.
func (s *screen) lines() []string {
	s.t.Helper()
	return strings.Split(strings.TrimRight(s.tmux("capture-pane", "-p", "-S", "-", "-t", s.pane), "\n"), "\n")
}

// sees waits until the pane shows the lines one after the other, anywhere.
func (s *screen) sees(lines ...string) {
	s.t.Helper()
	waitFor(s.t, "the screen to show "+strings.Join(lines, " | "), func() bool {
		return strings.Contains("\n"+strings.Join(s.lines(), "\n")+"\n", "\n"+strings.Join(lines, "\n")+"\n")
	})
}

// ready waits for the prompt on the last line, after the given ones.
func (s *screen) ready(before ...string) {
	s.t.Helper()
	want := append(before, ">")
	waitFor(s.t, "the prompt after "+strings.Join(before, " | "), func() bool {
		got := s.lines()
		return len(got) >= len(want) && slices.Equal(got[len(got)-len(want):], want)
	})
}

// has waits until the conversation `a` has exactly these events.
func (s *screen) has(events string) {
	s.t.Helper()
	waitFor(s.t, "the events "+events, func() bool { return s.events("a") == events })
}

// ended waits for the end of the program and checks its exit code.
func (s *screen) ended(code string) {
	s.t.Helper()
	// A pane is dead once its terminal is closed; tmux learns the exit code later, and where it is built with libutempter
	// sometimes not before another child of the server ends (tmux/tmux#311).
	var got string
	waitFor(s.t, "the end of the program", func() bool {
		got = s.tmux("run-shell", "-b", "true", ";", "display-message", "-p", "-t", s.pane, "#{pane_dead_status}#{pane_dead_signal}")
		return got != ""
	})
	expect(s.t, "exit code", got, code)
}

func TestMultiLinePaste(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a")
	s.ready("demo agent in "+p.repo, "conversation a", "Type anything; /help shows what else I can do.")
	text := "first line\n\tsecond: ü $(no) \"quotes\"\n\nlast"
	s.paste(text + "\n")
	s.sees("last")
	expect(t, "events before Enter", p.events("a"), "start")
	s.keys("Enter")
	s.has("start turn_start turn_end")
	s.ready()
	expect(t, "NOTES.md", p.read("NOTES.md"), text+"\n")

	long := strings.Repeat("0123456789 abcdefghijklmnopqrstuvwxyz\n", 3000) + "end"
	s.paste(long)
	s.sees("end")
	s.keys("Enter")
	s.has("start turn_start turn_end turn_start turn_end")
	expect(t, "a long NOTES.md", p.read("NOTES.md"), text+"\n"+long+"\n")
	s.ready()
	s.keys("C-d")
	s.ended("0")
}

func TestLineEditing(t *testing.T) {
	s := newPlace(t).show(nil, "--session-id", "a")
	s.ready()
	s.keys("-l", "nothing of this")
	s.keys("C-u")
	s.keys("-l", "do: sayx")
	s.keys("BSpace", "Left")
	s.keys("-l", " höß")
	s.keys("BSpace")
	s.keys("-l", " there")
	s.keys("C-j")
	s.enter("do: say you")
	s.ready("demo: hö there", "demo: you")
	s.keys("Enter", "Enter")
	s.ready(">", ">")
	s.has("start turn_start turn_end")
}

func TestAskYes(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a")
	s.ready()
	s.paste("do: ask write a file?\ndo: write a 1")
	s.keys("Enter")
	s.sees("write a file? [y/n]")
	s.has("start turn_start waiting")
	s.paste("no")
	s.keys("x", "Enter", "y")
	s.sees("write a file? [y/n] y")
	s.has("start turn_start waiting answered turn_end")
	expect(t, "a", p.read("a"), "1\n")
	s.ready()
}

func TestAskNo(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a", "do: ask write a file?\ndo: write a 1")
	s.has("start turn_start waiting")
	s.keys("n")
	s.ready("write a file? [y/n] n", "demo: refused: write a file?")
	expect(t, "events", p.events("a"), "start turn_start waiting answered turn_end")
	expect(t, "files", p.git("status", "--porcelain"), "")
}

func TestInterrupt(t *testing.T) {
	for _, test := range []struct{ key, prompt, events string }{
		{"Escape", "do: sleep 100", "start turn_start"},
		{"C-c", "do: sleep 100", "start turn_start"},
		{"Escape", "do: hang", "start turn_start"},
		{"C-c", "do: run sleep 100", "start turn_start"},
		{"Escape", "do: ask ok?", "start turn_start waiting"},
		{"C-c", "do: ask ok?", "start turn_start waiting"},
	} {
		t.Run(test.key+" "+test.prompt, func(t *testing.T) {
			p := newPlace(t)
			s := p.show(nil, "--session-id", "a", test.prompt+"\ndo: write late 1")
			s.has(test.events)
			s.keys(test.key)
			s.ready("demo: interrupted")
			expect(t, "events", p.events("a"), test.events+" interrupted")
			s.enter("do: say next")
			s.ready("> do: say next", "demo: next")
			expect(t, "files", p.git("status", "--porcelain"), "")
		})
	}
}

func TestQueuedPrompts(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a", "do: hang")
	s.has("start turn_start")
	s.enter("do: say second")
	s.enter("do: say third")
	s.sees("queued: do: say second", "queued: do: say third")
	s.keys("-l", "do: say fourth")
	s.keys("Escape")
	s.sees("> do: say second", "demo: second", "> do: say third", "demo: third", "> do: say fourth")
	s.has("start turn_start interrupted turn_start turn_end turn_start turn_end")
	s.keys("Enter")
	s.ready("demo: fourth")
}

// What /help names works when it is typed, and asking is no turn.
func TestHelp(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a")
	s.ready()
	s.enter("/help")
	s.ready("      All: paw demo-agent --help. /exit or Ctrl-D leaves.")
	expect(t, "events", p.events("a"), "start")
	steps := 0
	for _, line := range strings.Split(help, "\n") {
		if step, ok := strings.CutPrefix(line, "do: "); ok {
			steps++
			line, _, _ := strings.Cut(step, "  ")
			if _, err := grammar.Parse("do: " + line); err != nil {
				t.Errorf("%s: %v", line, err)
			}
		}
		if len(line) > 60 {
			t.Errorf("a line of %d characters: %s", len(line), line)
		}
	}
	if steps == 0 {
		t.Error("no step is named")
	}
}

func TestResumeShowsOldMessages(t *testing.T) {
	p := newPlace(t)
	s := p.show(nil, "--session-id", "a", "do: say hello\ndo: say again")
	s.ready("demo: hello", "demo: again")
	s.enter("do: hang")
	s.has("start turn_start turn_end turn_start")
	s.keys("C-c")
	s.ready("demo: interrupted")
	s.enter("/exit")
	s.ended("0")

	s = p.show(nil, "--resume", "a")
	s.ready("Type anything; /help shows what else I can do.", "you: do: say hello", "     do: say again", "demo: hello", "      again",
		"you: do: hang", "demo: interrupted")
	s.enter("do: say more")
	s.ready("demo: more")
	entries := p.entries("a")
	expect(t, "turn", entries[len(entries)-1].Turn, 3)
}

func TestWaysToLeave(t *testing.T) {
	for name, test := range map[string]struct {
		keys []string
		code string
	}{
		"Ctrl-D":                 {[]string{"C-d"}, "0"},
		"Ctrl-C twice":           {[]string{"C-c", "C-c"}, "0"},
		"exit":                   {[]string{"/exit", "Enter"}, "0"},
		"the step exit":          {[]string{"do: exit 3", "Enter"}, "3"},
		"Ctrl-D after the text":  {[]string{"text", "C-d", "C-u", "C-d"}, "0"},
		"Ctrl-C, other, Ctrl-C":  {[]string{"C-c", "x", "C-c", "C-c", "do: exit 4", "Enter"}, "4"},
		"exit queued behind":     {[]string{"do: sleep 0.2", "Enter", "/exit", "Enter"}, "0"},
		"Ctrl-D does not end it": {[]string{"do: hang", "Enter", "C-d", "C-c", "do: exit 5", "Enter"}, "5"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newPlace(t).show(nil, "--session-id", "a")
			s.ready()
			for _, key := range test.keys {
				s.keys(key)
			}
			s.ended(test.code)
			if events := s.events("a"); !strings.HasSuffix(events, " exit") {
				t.Errorf("events: %s", events)
			}
		})
	}
}

func TestSignalsEndIt(t *testing.T) {
	for _, test := range []struct {
		signal syscall.Signal
		prompt string
		code   string
	}{
		{syscall.SIGTERM, "do: say hi", "143"},
		{syscall.SIGHUP, "do: say hi", "129"},
		{syscall.SIGTERM, "do: run sleep 100", "143"},
		{syscall.SIGHUP, "do: ask ok?", "129"},
	} {
		p := newPlace(t)
		s := p.show(nil, "--session-id", "a", test.prompt)
		waitFor(t, "the turn", func() bool { return strings.HasPrefix(p.events("a"), "start turn_start") })
		s.signal(test.signal)
		s.ended(test.code)
		if strings.Contains(p.events("a"), "interrupted") {
			t.Errorf("%s counts as the user's interruption", test.signal)
		}
	}
}

// signal sends a signal to the program in the pane and to nothing else.
func (s *screen) signal(signal syscall.Signal) {
	s.t.Helper()
	pid, err := strconv.Atoi(s.pid)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		s.t.Fatal(err)
	}
}

func TestInterruptSignal(t *testing.T) {
	s := newPlace(t).show(nil, "--session-id", "a", "do: hang")
	s.has("start turn_start")
	s.signal(syscall.SIGINT)
	s.ready("demo: interrupted")
}

func TestDiesWithItsTerminal(t *testing.T) {
	s := newPlace(t).show(nil, "--session-id", "a", "do: hang")
	s.has("start turn_start")
	s.tmux("kill-server")
	s.has("start turn_start exit")
	expect(t, "recorded exit code", *s.entries("a")[3].Code, 129)
	waitFor(t, "the end of the program", func() bool { return !running(s.pid) })
}

func TestOutlivesItsTerminal(t *testing.T) {
	p := newPlace(t)
	s := p.show([]string{"DEMO_IGNORE_HUP=1"}, "--session-id", "a",
		"do: run until test -e go; do sleep 0.02; done\ndo: write done 1\ndo: commit after the end")
	s.has("start turn_start")
	t.Cleanup(func() {
		if t.Failed() && running(s.pid) {
			s.signal(syscall.SIGKILL) // nothing else ends what ignores the death of its terminal
		}
	})
	s.tmux("kill-server")
	waitFor(t, "the end of the server", func() bool { return !running(s.server) })
	if err := os.WriteFile(filepath.Join(p.repo, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.has("start turn_start turn_end")
	expect(t, "message", p.git("log", "-1", "--format=%s"), "after the end")
	if !running(s.pid) {
		t.Error("it is gone once the turn has ended")
	}
	s.signal(syscall.SIGHUP)
	s.signal(syscall.SIGTERM)
	s.has("start turn_start turn_end exit")
	waitFor(t, "the end of the program", func() bool { return !running(s.pid) })
	entries := p.entries("a")
	expect(t, "recorded exit code", *entries[len(entries)-1].Code, 143)
}

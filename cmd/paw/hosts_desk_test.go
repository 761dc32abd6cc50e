package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// onScreen is a terminal on this machine in which a program runs.
type onScreen struct {
	m      *machines
	socket string
}

// screen runs paw on a terminal of this machine.
func (m *machines) screen(args ...string) *onScreen {
	m.t.Helper()
	s := &onScreen{m, filepath.Join(m.root, "run", "d")}
	m.t.Cleanup(func() { killServer(s.socket) })
	words := append([]string{"-S", s.socket, "-f", "/dev/null", "new-session", "-d", "-x", "140", "-y", "40", "-c", m.repo, "--", filepath.Join(m.root, "bin", "paw")}, args...)
	cmd := exec.Command("tmux", words...)
	cmd.Env = append(append(os.Environ(), m.env...), "TMUX=", "TMUX_PANE=", "TERM=screen-256color")
	if out, err := cmd.CombinedOutput(); err != nil {
		m.t.Fatalf("tmux: %v: %s", err, out)
	}
	return s
}

func (s *onScreen) shows() string {
	out, _ := exec.Command("tmux", "-S", s.socket, "capture-pane", "-p").Output()
	return string(out)
}

func (s *onScreen) types(keys ...string) {
	s.m.t.Helper()
	if out, err := exec.Command("tmux", append([]string{"-S", s.socket, "send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.m.t.Fatalf("send-keys: %v: %s", err, out)
	}
}

func (s *onScreen) awaits(what string, fits func(shown string) bool) {
	s.m.t.Helper()
	defer func() {
		if s.m.t.Failed() {
			s.m.t.Logf("the screen is\n%s", s.shows())
		}
	}()
	waitFor(s.m.t, what, func() bool { return fits(s.shows()) })
}

// TestDeskOverHosts finds agents of hosts in the list of the desk among the local ones. Keys act on the agent's machine; a host that cannot be
// reached is dimmed, with its last states.
func TestDeskOverHosts(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "far=demo")
	m.patient(20, "gpu")
	m.ok("start", "--name", "near", "--cli", "local=demo", "--detach")
	m.turnThere("far", "do: write far.txt there")
	if out := m.ok("next", "--dry-run"); !strings.Contains(out, "gpu:shop/far: 1 turn to review") {
		t.Errorf("next: %s", out)
	}
	s := m.screen("ui")
	row := func(parts ...string) func(string) bool {
		return func(shown string) bool {
			for line := range strings.Lines(shown) {
				all := true
				for _, part := range parts {
					all = all && strings.Contains(line, part)
				}
				if all {
					return true
				}
			}
			return false
		}
	}
	s.awaits("both machines are there", func(shown string) bool { return row("gpu:shop/far")(shown) && row("near/local")(shown) })
	s.awaits("its turn is to be reviewed", row("TO REVIEW 1"))
	s.types("d")
	s.awaits("its diff", row("far.txt"))
	s.types("Escape")
	s.awaits("the list", row("TO REVIEW 1"))
	s.types("L")
	s.awaits("what would land", row("land this work of far?"))
	s.types("y")
	s.awaits("it has landed", func(string) bool { _, err := os.Stat(filepath.Join(m.repo, "far.txt")); return err == nil })
	s.types("Escape")
	m.ok("send", "gpu:far", "do: ask May I?")
	s.awaits("it asks", row("? 2  gpu:shop/far", "waits for you"))
	m.cut()
	s.awaits("the host is away", row("unreachable: "))
	m.connect()
	s.awaits("the host is back", func(shown string) bool { return row("gpu:shop/far")(shown) && !row("unreachable")(shown) })
	s.types("q")
	s.awaits("it has ended", func(shown string) bool { return !strings.Contains(shown, "gpu:shop") })
}

// TestWatchOverHosts has paw status --watch show an agent of a host as it is at the moment, and the host as away while it is. Its end ends
// what serves it on the host.
func TestWatchOverHosts(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "far=demo")
	s := m.screen("status", "--watch")
	shows := func(away bool, text string) func(string) bool {
		return func(shown string) bool {
			return strings.Contains(shown, "gpu:shop") && strings.Contains(shown, text) && strings.Contains(shown, "unreachable") == away
		}
	}
	s.awaits("the agent of the host", shows(false, "idle"))
	m.ok("send", "gpu:far", "do: ask May I?")
	s.awaits("it asks", shows(false, "May I?"))
	m.cut()
	s.awaits("the host is away", shows(true, "May I?"))
	m.connect()
	s.awaits("the host is back", shows(false, "May I?"))
	s.types("C-c")
	s.awaits("it has ended", func(shown string) bool { return !strings.Contains(shown, "gpu") })
	waitFor(t, "nothing serves it on the host", func() bool { return m.asking() == 0 })
}

// On a terminal, too, what stands behind -- reaches the agent of a host as it was typed.
func TestPromptTypedOnATerminalIsTheWholePrompt(t *testing.T) {
	t.Parallel()
	m := landMachines(t, "far=demo")
	m.screen("send", "gpu:far", "--", "do: say hello")
	prompts := func() string { return m.ok("turns", "gpu:far", "--json") }
	waitFor(t, "the prompt arrives", func() bool { return strings.Contains(prompts(), "do: say hello") })
	if got := prompts(); !strings.Contains(got, `"prompt":"do: say hello"`) {
		t.Error(got)
	}
}

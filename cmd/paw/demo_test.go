package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// The lines that paw demo prints at the end work when they are pasted one after the other.
func TestDemoEndsWithLinesThatWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	printed := w.ok(w.run(w.root, []string{"TMPDIR=" + w.root}, pawForTests(), "demo")).stdout
	_, lines, found := strings.Cut(printed, "\nYour turn.")
	alias := regexp.MustCompile(`alias paw=(\S+)/paw`).FindStringSubmatch(lines)
	if !found || alias == nil {
		t.Fatalf("no lines to paste:\n%s", printed)
	}
	here := alias[1]
	t.Cleanup(func() { killServer(here + "/tmux.sock") })
	attached := false
	for _, line := range strings.Split(lines, "\n") {
		command, about, found := strings.Cut(strings.TrimSpace(line), "   ")
		if !found {
			continue
		}
		if command == "paw attach" {
			terminal := w.terminal("" + here + "/paw attach")
			terminal.awaits("left: ", "right: ")
			killServer(terminal.socket)
			attached = true
			continue
		}
		// A shell expands an alias only from the next line on.
		out := w.ok(w.run(w.root, nil, "sh", "-c", fmt.Sprintf("alias paw=%s/paw\n%s\n", here, command)))
		switch {
		case strings.Contains(command, "diff") && !strings.Contains(out.stdout, "+buy bread"),
			strings.Contains(command, "status") && !strings.Contains(out.stdout, "May I?"):
			t.Errorf("%s (%s) shows:\n%s", command, about, out.stdout)
		}
		if strings.Contains(command, "buy bread") {
			w.ok(w.run(w.root, nil, here+"/paw", "wait", "right"))
		}
		if strings.Contains(command, "May I?") {
			waitFor(t, "the question is there", func() bool {
				return strings.Contains(w.run(w.root, nil, here+"/paw", "status").stdout, "May I?")
			})
		}
	}
	if _, err := os.Stat(here); !os.IsNotExist(err) || !attached {
		t.Errorf("attached %v; %s is still there: %v", attached, here, err)
	}
	if out, err := exec.Command("tmux", "-S", here+"/tmux.sock", "list-sessions").CombinedOutput(); err == nil {
		t.Errorf("its tmux server still runs: %s", out)
	}
}

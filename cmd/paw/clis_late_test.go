//go:build clis

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestCLIsTakeALatePromptOnce types a prompt into a CLI that hangs, and that reads the prompt after
// paw has given up. paw tells the next prompt from the late one, whether it types the next before
// or after the CLI goes on. The next prompt is done once, the late one at most once.
func TestCLIsTakeALatePromptOnce(t *testing.T) {
	startEach(t, []string{"qwen"}, func(t *testing.T, w *cliWorld) {
		w.work("do: say Ready.")
		w.closeChannel()
		for _, when := range []string{"after", "before"} {
			first := w.last().Number
			late, next := "do: write late"+when+".txt 1\ndo: say Late.", "do: write next"+when+".txt 1\ndo: say Next."
			goOn := w.hangUp()
			out := w.pawInput(late, "send", w.cli)
			if t.Logf("the late one: exit code %d\n%s%s", out.code, out.stdout, out.stderr); out.code != 6 {
				t.Errorf("%s hangs: exit code %d", w.cli, out.code)
			}
			if when == "after" {
				goOn()
				out = w.pawInput(next, "send", w.cli)
			} else {
				done := make(chan output)
				go func() { done <- w.pawInput(next, "send", w.cli) }()
				w.await("the next one is typed", func() bool { return strings.Contains(w.kept("unconfirmed.json"), "next"+when) })
				goOn()
				out = <-done
			}
			if t.Logf("the next one: exit code %d\n%s%s", out.code, out.stdout, out.stderr); out.code != 0 {
				t.Errorf("the next prompt, sent %s: exit code %d", when, out.code)
			}
			w.await("the next one is done", func() bool { return w.has("next" + when + ".txt") })
			w.finished(first)
			for _, one := range w.turnsOf(w.cli)[first:] {
				if prompt := strings.TrimSpace(one.Prompt); prompt != late && prompt != next {
					t.Errorf("turn %d is %q", one.Number, one.Prompt)
				}
			}
			for _, prompt := range []string{late, next} {
				if n := w.answersTo(prompt); n > 1 {
					t.Errorf("the model was asked %d times for %q", n, prompt)
				}
			}
		}
	})
}

// answersTo counts how often the model was asked a prompt, without the requests that carry results
// of tools.
func (w *cliWorld) answersTo(prompt string) int {
	n := 0
	for _, e := range w.model.Last(1000) {
		if len(e.Tools) > 0 && e.Results == 0 && strings.TrimSpace(e.Prompt) == prompt {
			n++
		}
	}
	return n
}

// hangUp stops the CLI's child processes, and goOn continues them. The pane's own process is not
// stopped, since tmux would continue it.
func (w *cliWorld) hangUp() (goOn func()) {
	w.t.Helper()
	var below []int
	for of := []int{*w.agent(w.cli).PID}; len(of) > 0; {
		out, _ := exec.Command("pgrep", "-P", strconv.Itoa(of[0])).Output()
		of = of[1:]
		for _, field := range strings.Fields(string(out)) {
			pid, _ := strconv.Atoi(field)
			of, below = append(of, pid), append(below, pid)
		}
	}
	if len(below) == 0 {
		w.t.Fatalf("%s is one process", w.cli)
	}
	all := func(s syscall.Signal) func() {
		return func() {
			for _, pid := range below {
				_ = syscall.Kill(pid, s)
			}
		}
	}
	all(syscall.SIGSTOP)()
	w.t.Cleanup(all(syscall.SIGCONT))
	return all(syscall.SIGCONT)
}

// kept returns the content of a file in the agent's state folder.
func (w *cliWorld) kept(name string) string {
	content, _ := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/agents/shop", w.cli, name))
	return string(content)
}

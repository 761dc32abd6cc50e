package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// settingUpWorld is a world in which the set-up of each worktree takes until release: it counts its runs in "begun", and has its pid in
// "pid".
func settingUpWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.script(w.root, "setup", fmt.Sprintf("#!/bin/sh\necho $$ >%[1]s/pid.new; mv %[1]s/pid.new %[1]s/pid; echo >>%[1]s/begun; until test -e %[1]s/go_setup; do sleep 0.05; done\n", w.root))
	w.configure("[worktree]\nsetup = \"exec " + w.root + "/setup\"\n")
	return w
}

// notes returns a prompt that notes that it runs.
func (w *world) notes(word string) string { return "do: run echo " + word + " >>" + w.root + "/ran" }

// ran returns the words that prompts have noted.
func (w *world) ran() string {
	w.t.Helper()
	text, _ := os.ReadFile(filepath.Join(w.root, "ran"))
	return strings.Join(strings.Fields(string(text)), " ")
}

// killedProcess kills the process whose pid a file holds.
func (w *world) killedProcess(file string) {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.root, file))
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		w.t.Fatalf("%s: %s, %v", file, text, err)
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
}

// killsOfSetUp are the processes that the test kills while a worktree is being set up.
var killsOfSetUp = []struct {
	name string
	kill func(w *world)
}{
	{"the launcher", func(w *world) { _ = syscall.Kill(*w.agent("one").PID, syscall.SIGKILL) }},
	{"the set-up", func(w *world) { w.killedProcess("pid") }},
	{"both", func(w *world) {
		launcher := *w.agent("one").PID
		w.killedProcess("pid")
		_ = syscall.Kill(launcher, syscall.SIGKILL)
	}},
	{"the server", func(w *world) { killServer(w.socket) }},
	{"the CLI, as it begins", func(w *world) {
		pid := *w.agent("one").PID
		w.release("setup")
		waitFor(w.t, "the set-up is over", func() bool { return w.agent("one").State != "running" || w.ran() != "" })
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}},
	{"all, as in a reboot", func(w *world) { w.reboot() }},
}

// afterKills are the commands that a user may type then.
var afterKills = [][]string{
	{"status"}, {"recover", "shop", "--detach"}, {"stop", "shop"}, {"start", "--detach"}, {"remove", "one", "--force"}, {"purge", "shop", "--yes", "--force"},
}

// TestSetUpUnderKills kills paw after each step of a start whose worktree is set up, and launcher, set-up, CLI, server and machine
// meanwhile, each followed by each command: whatever comes then, each prompt runs once or is kept, and none runs twice.
// PAW_SETUP_KILLS has it try all pairs.
func TestSetUpUnderKills(t *testing.T) {
	t.Parallel()
	whole := settingUpWorld(t)
	whole.release("setup")
	start := func(w *world) []string {
		return []string{"start", "--cli", "one=demo", "--detach", "--prompt", w.notes("FIRST")}
	}
	steps := whole.stepsOf(crashCase{command: start(whole)})
	all := os.Getenv("PAW_SETUP_KILLS") != ""
	for i := range len(steps) + len(killsOfSetUp) {
		for j, command := range afterKills {
			if !all && i%len(afterKills) != j {
				continue
			}
			var name string
			if i < len(steps) {
				name = "paw at " + steps[i]
			} else {
				name = killsOfSetUp[i-len(steps)].name
			}
			t.Run(name+", "+command[0], func(t *testing.T) {
				t.Parallel()
				w := settingUpWorld(t)
				if i < len(steps) {
					w.kill(steps[i], start(w)...)
				} else {
					w.ok(w.paw(start(w)...))
					w.awaitFile(filepath.Join(w.root, "pid"))
					w.ok(w.paw("send", "one", w.notes("SECOND")))
					killsOfSetUp[i-len(steps)].kill(w)
				}
				w.afterKill(t, command, i >= len(steps))
			})
		}
	}
}

// afterKill types a command after a kill, and then what brings the agent back. kept says that paw has taken both prompts.
func (w *world) afterKill(t *testing.T, command []string, kept bool) {
	t.Helper()
	said, first := w.begunPrompts(), kept || len(w.pending()) > 0
	typed := func(words ...string) output {
		out := w.paw(words...)
		t.Logf("paw %s: %d\n%s%s", strings.Join(words, " "), out.code, out.stdout, out.stderr)
		said += out.stdout + out.stderr
		return out
	}
	out := typed(command...)
	w.release("setup")
	if gone := command[0] == "remove" || command[0] == "purge"; !gone || out.code != 0 {
		for range 2 { // what is not there the first time is planned by the second
			typed("recover", "shop", "--detach")
		}
	}
	v := w.view()
	if len(v.Sessions) > 0 && len(v.Sessions[0].Agents) > 0 {
		waitFor(t, "it has come to rest", func() bool {
			now := w.agent("one")
			return now.State == "idle" && len(w.pending()) == 0
		})
		if strings.Contains(said, "still queued") {
			typed("send", "one", "--queued")
			w.ok(w.paw("wait", "one"))
		}
		said += w.begunPrompts()
	}
	_ = filepath.WalkDir(filepath.Join(w.root, "home/.local/state/paw/kept"), func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			said += string(text)
		}
		return nil
	})
	for word, taken := range map[string]bool{"FIRST": first, "SECOND": kept} {
		if taken && !strings.Contains(said, "echo "+word) {
			waitFor(t, word+" ran, which is not named", func() bool { return strings.Contains(w.ran(), word) }) // it may be being typed
		}
	}
	ran := strings.Fields(w.ran())
	if !slices.IsSorted(ran) || len(slices.Compact(slices.Clone(ran))) != len(ran) {
		t.Errorf("it ran %q", ran)
	}
}

// begunPrompts returns the prompts of the agent's turns.
func (w *world) begunPrompts() (text string) {
	w.t.Helper()
	for _, s := range w.view().Sessions {
		for range s.Agents {
			text += w.paw("turns", "one", "--json").stdout
		}
	}
	return text
}

// pending returns the prompts that paw has yet to give to the agent.
func (w *world) pending() (files []string) {
	for _, pattern := range []string{"launch/shop/one.prompt", "agents/shop/one/next-*"} {
		found, _ := filepath.Glob(filepath.Join(w.root, "home/.local/state/paw", pattern))
		files = append(files, found...)
	}
	return files
}

// TestEightStartsAtOnceWithASetUp: each set-up runs once, and each first prompt.
func TestEightStartsAtOnceWithASetUp(t *testing.T) {
	t.Parallel()
	w := settingUpWorld(t)
	w.configure("[worktree]\nsetup = \"sleep 2; echo $PWD >>" + w.root + "/begun\"\n")
	w.okAll(w.atOnce(8, func(i int) []string {
		return []string{"start", "--cli", "one=demo", "--detach", "--name", fmt.Sprintf("s%d", i), "--prompt", w.notes(fmt.Sprintf("FIRST%d", i))}
	}))
	waitFor(t, "all have run", func() bool { return len(strings.Fields(w.ran())) >= 8 })
	w.okAll(w.atOnce(8, func(i int) []string { return []string{"recover", fmt.Sprintf("s%d", i), "--detach"} }))
	for file, each := range map[string]int{"ran": 1, "begun": 1} {
		data, err := os.ReadFile(filepath.Join(w.root, file))
		lines := strings.Fields(string(data))
		slices.Sort(lines)
		if len(lines) != 8*each || len(slices.Compact(lines)) != 8 || err != nil {
			t.Errorf("%s: %q, %v", file, lines, err)
		}
	}
}

// TestASenderOutlivesTheCLI: a prompt that was kept during the set-up stands in the box of a CLI that is killed before Enter is
// pressed. It is not lost with that CLI: the one that recover starts gets it.
func TestASenderOutlivesTheCLI(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
	waitFor(t, "it is idle", func() bool { return w.agent("one").State == "idle" })
	w.write(w.root, "home/.local/state/paw/agents/shop/one/next-20260101T000000.000000000-1.txt", w.notes("SENT"))
	held := "touch " + w.root + "/typed; until test -e " + w.root + "/go_on; do sleep 0.05; done"
	var sender, recovered output
	var both sync.WaitGroup
	both.Go(func() {
		sender = w.pawWith([]string{"PAW_TEST_AT=typed", "PAW_TEST_DO=" + held}, "__kept", "shop", "one")
	})
	w.awaitFile(filepath.Join(w.root, "typed"))
	first := *w.agent("one").PID
	_ = syscall.Kill(first, syscall.SIGKILL)
	waitFor(t, "the CLI has ended", func() bool { return w.agent("one").State != "idle" })
	both.Go(func() { recovered = w.paw("recover", "shop", "--detach") })
	waitFor(t, "another one runs", func() bool { one := w.agent("one"); return one.State == "idle" && *one.PID != first })
	w.release("on")
	both.Wait()
	w.ok(recovered)
	waitFor(t, "the prompt runs", func() bool { return w.ran() == "SENT" })
	if sender.code == 0 {
		t.Errorf("the sender says that the CLI that was killed has got it: %+v", sender)
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A launcherProgram is what stands between paw and a CLI on users' machines, as one
// of the programs that the test binary can be: __launcher KIND COMMAND...
var launcherPrograms = map[string]func(argv []string){
	// node's process.execve: every inherited descriptor is marked, then the program is replaced.
	"exec-drop": func(argv []string) {
		markAll()
		if path, err := exec.LookPath(argv[0]); err == nil {
			_ = unix.Exec(path, argv, os.Environ())
		}
	},
	// volta: starts a child that gets nothing but the terminal, waits for it and ends as it ended.
	"spawn-drop": func(argv []string) {
		markAll()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = cmd.Run()
		os.Exit(cmd.ProcessState.ExitCode())
	},
}

// markAll marks every file but the standard ones to be closed by the next program.
func markAll() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		os.Exit(99)
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(filepath.Base(entry.Name())); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}

// launchers are the ways in which CLIs are started on users' machines, as the
// command of the demo CLI.
func launchers(t *testing.T) map[string][]string {
	t.Helper()
	kinds := map[string][]string{
		"exec that drops the lock":    {self, "__launcher", "exec-drop", self},
		"shell that waits":            {"sh", "-c", `"$0" "$@"; exit $?`, self},
		"shim that execs":             {"sh", "-c", `exec "$0" "$@"`, self},
		"shim that spawns and waits":  {self, "__launcher", "spawn-drop", self},
		"shell below a dropping exec": {self, "__launcher", "exec-drop", "sh", "-c", `"$0" "$@"; exit $?`, self},
	}
	const becomes = `process.execve(process.argv[1], process.argv.slice(1), process.env)`
	for _, node := range []string{"node", ownNode()} {
		if out, err := exec.Command(node, "-p", "typeof process.execve").Output(); err == nil && strings.TrimSpace(string(out)) == "function" {
			kinds["node that becomes it"] = []string{node, "-e", becomes, self}
		}
	}
	return kinds
}

// ownNode is the Node that test-clis installs where the machine's is old.
func ownNode() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "paw-clis/node22/node_modules/node/bin/node")
}

// launchedBy makes a world in which the demo CLI is started by a command.
func launchedBy(t *testing.T, command []string) *world {
	t.Helper()
	w := newWorld(t)
	w.launchBy(command)
	t.Cleanup(func() {
		for _, pid := range w.launched() {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return w
}

// launchBy has the demo CLI started by a command from now on.
func (w *world) launchBy(command []string) {
	w.t.Helper()
	words, err := json.Marshal(command) // a list of strings is the same in TOML
	if err != nil {
		w.t.Fatal(err)
	}
	w.configure("[clis.demo]\ncommand = " + string(words) + "\n")
}

// launched are the living processes that carry the mark of a launch in this world.
func (w *world) launched() []int {
	w.t.Helper()
	var pids []int
	for _, p := range processes("PAW_TMUX_SOCKET=" + w.socket) {
		marked := slices.ContainsFunc(p.environment, func(kv string) bool { return strings.HasPrefix(kv, "PAW_LAUNCH=shop/demo/") })
		if marked && !ended(p.pid) {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// paste runs a hint in a shell, where paw is this test.
func (w *world) paste(hint string) output {
	w.t.Helper()
	return w.run(w.repo, []string{"PAW_TEST_MAIN=1"}, "sh", "-c", `paw() { "`+self+`" "$@"; }; `+hint)
}

var hintLine = regexp.MustCompile(`(?m)^paw: hint: (.*)$`)

// TestEveryLauncher starts, uses, loses and ends an agent whose CLI is not what the
// pane started.
func TestEveryLauncher(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a launcher has started")
	}
	for kind, command := range launchers(t) {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := launchedBy(t, command)
			w.start("demo")
			pid := *w.agent("demo").PID
			if out := w.ok(w.paw("send", "demo", "first note")); out.stdout != "demo: turn 1 started\n" {
				t.Errorf("send: %s", out.stdout)
			}
			w.ok(w.paw("wait", "demo"))
			w.usedWhileItRuns(pid)
			killServer(w.socket)
			w.awaitDead("demo")
			out := w.ok(w.pawWith([]string{"DEMO_IGNORE_HUP=1"}, "recover", "--detach"))
			if !regexp.MustCompile(`(?m)^  demo +demo +resumed`).MatchString(out.stdout) {
				t.Errorf("recover: %s", out.stdout)
			}
			w.ready("demo")
			killServer(w.socket)
			w.orphaned()
			w.ok(w.paw("stop"))
			if left := w.launched(); len(left) > 0 {
				t.Errorf("left after stop: %v", left)
			}
		})
	}
}

// usedWhileItRuns does what must not take a running agent for a dead or a foreign one.
func (w *world) usedWhileItRuns(pid int) {
	w.t.Helper()
	if out := w.ok(w.paw("recover", "--detach")); !regexp.MustCompile(`(?m)^  demo +demo +alive$`).MatchString(out.stdout) {
		w.t.Errorf("recover: %s", out.stdout)
	}
	w.ok(w.paw("rewind", "demo", "0"))
	if out := w.paw("run", "demo", "--prompt", "x"); out.code != 11 || !strings.Contains(out.stderr, "its CLI runs (pid "+strconv.Itoa(pid)+")") {
		w.t.Errorf("run: exit code %d: %s", out.code, out.stderr)
	}
	if out := w.ok(w.paw("doctor")); !strings.Contains(out.stdout, "session shop is active") {
		w.t.Errorf("doctor: %s", out.stdout)
	}
	if a := w.agent("demo"); a.PID == nil || *a.PID != pid || a.State != "idle" || a.TurnsCompleted != 1 {
		w.t.Errorf("status: %+v, want process %d", a, pid)
	}
}

// orphaned checks what is said of an agent that runs on without its pane, and that
// the hint of doctor brings it back.
func (w *world) orphaned() {
	w.t.Helper()
	waitFor(w.t, "the orphan is shown", func() bool {
		a := w.agent("demo")
		return a.PID != nil && a.Reason != nil && *a.Reason == fmt.Sprintf("process %d runs on without its pane", *a.PID)
	})
	before := *w.agent("demo").PID
	if out := w.paw("run", "demo", "--prompt", "x"); out.code != 11 || !strings.Contains(out.stderr, "paw: hint: paw stop shop demo\n") {
		w.t.Errorf("run: exit code %d: %s", out.code, out.stderr)
	}
	said := w.paw("doctor")
	hint := regexp.MustCompile(`paw stop shop demo --only && paw recover shop`).FindString(said.stdout + said.stderr)
	if hint == "" {
		w.t.Fatalf("doctor: %s%s", said.stdout, said.stderr)
	}
	w.ok(w.paste(hint + " --detach"))
	w.ready("demo")
	if a := w.agent("demo"); *a.PID == before || !ended(before) {
		w.t.Errorf("not brought back: %+v, and it was process %d", a, before)
	}
}

// TestAProgramWhoseLauncherWasKilled: what the launcher has started reads from the
// terminal that it has lost, and may write files. It is the agent.
func TestAProgramWhoseLauncherWasKilled(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a launcher has started")
	}
	all := launchers(t)
	for _, kind := range []string{"shell that waits", "shim that spawns and waits", "shell below a dropping exec"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := launchedBy(t, all[kind])
			w.startWith([]string{"DEMO_IGNORE_HUP=1"}, "demo")
			launcher := *w.agent("demo").PID
			if err := syscall.Kill(launcher, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the launcher is dead", func() bool { return ended(launcher) })
			waitFor(t, "the program is shown as an orphan", func() bool {
				a := w.agent("demo")
				return a.PID != nil && *a.PID != launcher && a.Reason != nil && strings.Contains(*a.Reason, "runs on without its pane")
			})
			program := *w.agent("demo").PID
			out := w.paw("recover", "--detach")
			if out.code != 1 || !strings.Contains(out.stderr, fmt.Sprintf("pid %d still runs outside of tmux", program)) {
				t.Errorf("recover: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			hint := hintLine.FindStringSubmatch(out.stderr)
			if hint == nil {
				t.Fatalf("recover: no hint\n%s", out.stderr)
			}
			w.ok(w.paste(hint[1] + " --detach"))
			w.ready("demo")
			if !ended(program) {
				t.Errorf("process %d still runs", program)
			}
			w.ok(w.paw("purge", "--force", "--yes"))
			if left := w.launched(); len(left) > 0 {
				t.Errorf("left after purge: %v", left)
			}
		})
	}
}

// TestALauncherThatGoesIntoTheBackground: its pane is dead, so the agent is over.
// What it left in its terminal session ends with the session of paw; a daemon,
// which has begun a session of its own, is the user's.
func TestALauncherThatGoesIntoTheBackground(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a launcher has started")
	}
	w := launchedBy(t, []string{self, "__launcher", "exec-drop", "sh", "-c", `cd ../../..; trap '' HUP; sleep 1000 </dev/null & echo $! >left
setsid sleep 1000 </dev/null & echo $! >daemon; test -s left -a -s daemon`})
	w.paw("start", "--cli", "demo", "--detach")
	pids := w.pids("left", "daemon")
	waitFor(t, "it is over", func() bool { a := w.agent("demo"); return a.State == "completed" && a.PID == nil })
	killServer(w.socket)
	w.ok(w.paw("stop")) // also without the pane
	if !ended(pids[0]) || ended(pids[1]) {
		t.Errorf("ended: what it left %v, want true; the daemon %v, want false", ended(pids[0]), ended(pids[1]))
	}
}

// TestStopEndsWhatIgnoresSIGTERM: all of it, not only the process of the pane.
func TestStopEndsWhatIgnoresSIGTERM(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[clis.demo]\ncommand = [\"sh\", \"-c\", \"trap '' HUP TERM; echo $$ >" + w.root + "/cli; sh -c 'echo $$ >" + w.root + "/child; read x <>" + w.root + "/never'; true\"]\n")
	if err := syscall.Mkfifo(filepath.Join(w.root, "never"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	pids := w.pids("cli", "child")
	t.Cleanup(func() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	w.ok(w.paw("stop"))
	for _, pid := range pids {
		if !ended(pid) {
			t.Errorf("process %d still runs", pid)
		}
	}
}

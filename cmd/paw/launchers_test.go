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
	"time"

	"golang.org/x/sys/unix"
)

// launcherPrograms do what programs between paw and a CLI do on users' machines. The test binary
// runs such a program as __launcher KIND COMMAND...
var launcherPrograms = map[string]func(argv []string){
	"acp": runACPAgent,
	// node's process.execve: marks every inherited descriptor close-on-exec, then execs.
	"exec-drop": func(argv []string) {
		markAll()
		if path, err := exec.LookPath(argv[0]); err == nil {
			_ = unix.Exec(path, argv, os.Environ())
		}
	},
	// volta: starts a child that inherits only the terminal, waits, and exits as the child does.
	"spawn-drop": func(argv []string) {
		markAll()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		_ = cmd.Run()
		os.Exit(cmd.ProcessState.ExitCode())
	},
}

// markAll marks every file but the standard streams close-on-exec.
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

// launchers returns commands that start the demo CLI in the ways in which CLIs are started on
// users' machines.
func launchers(t *testing.T) map[string][]string {
	t.Helper()
	kinds := map[string][]string{
		"exec that drops the lock":    {testBinary(), "__launcher", "exec-drop", pawForTests()},
		"shell that waits":            {"sh", "-c", `"$0" "$@"; exit $?`, pawForTests()},
		"shim that execs":             {"sh", "-c", `exec "$0" "$@"`, pawForTests()},
		"shim that spawns and waits":  {testBinary(), "__launcher", "spawn-drop", pawForTests()},
		"shell below a dropping exec": {testBinary(), "__launcher", "exec-drop", "sh", "-c", `"$0" "$@"; exit $?`, pawForTests()},
	}
	const becomes = `process.execve(process.argv[1], process.argv.slice(1), process.env)`
	for _, node := range []string{"node", ownNode()} {
		if out, err := exec.Command(node, "-p", "typeof process.execve").Output(); err == nil && strings.TrimSpace(string(out)) == "function" {
			kinds["node that becomes it"] = []string{node, "-e", becomes, pawForTests()}
		}
	}
	return kinds
}

// ownNode returns the Node that make test-clis installs where the system's is too old.
func ownNode() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "paw-clis/node22/node_modules/node/bin/node")
}

// launchedBy returns a world in which a command starts the demo CLI.
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

// launchBy configures the command that starts the demo CLI.
func (w *world) launchBy(command []string) {
	w.t.Helper()
	words, err := json.Marshal(command) // TOML writes a list of strings as JSON does
	if err != nil {
		w.t.Fatal(err)
	}
	w.configure("[clis.demo]\ncommand = " + string(words) + "\n")
}

// launched returns the pids of running processes of agent demo.
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

// paste runs a hint in a shell in which paw is the test binary.
func (w *world) paste(hint string) output {
	w.t.Helper()
	return w.run(w.repo, nil, "sh", "-c", `paw() { "`+pawForTests()+`" "$@"; }; `+hint)
}

var hintLine = regexp.MustCompile(`(?m)^paw: hint: (.*)$`)

// TestEveryLauncher starts, uses, loses and ends an agent whose CLI is not the program that the
// pane has started.
func TestEveryLauncher(t *testing.T) {
	t.Parallel()
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

// usedWhileItRuns runs commands that must not take a running agent for a dead one, or for a program
// of somebody else.
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

// orphaned checks what paw says about an agent that runs without its pane, and that doctor's hint
// brings the agent back.
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

// TestAProgramWhoseLauncherWasKilled: the program that a killed launcher has started still reads
// from the lost terminal, and may write files, so it counts as the agent.
func TestAProgramWhoseLauncherWasKilled(t *testing.T) {
	t.Parallel()
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
			if out.processor > time.Second {
				t.Errorf("recover has computed for %s while it waited for the end of the program", out.processor)
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

// TestALauncherThatGoesIntoTheBackground: the launcher's pane is dead, so the agent has ended.
// Processes left in the pane's terminal session end with paw's session; a daemon with its own
// terminal session stays.
func TestALauncherThatGoesIntoTheBackground(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what a launcher has started")
	}
	w := launchedBy(t, []string{testBinary(), "__launcher", "exec-drop", "sh", "-c", `cd ../../..; trap '' HUP; sleep 1000 </dev/null & echo $! >left
setsid sleep 1000 </dev/null & echo $! >daemon; test -s left -a -s daemon`})
	w.paw("start", "--cli", "demo", "--detach")
	pids := w.pids("left", "daemon")
	waitFor(t, "it is over", func() bool { a := w.agent("demo"); return a.State == "completed" && a.PID == nil })
	killServer(w.socket)
	w.ok(w.paw("stop")) // stop works without the pane
	if !ended(pids[0]) || ended(pids[1]) {
		t.Errorf("ended: what it left %v, want true; the daemon %v, want false", ended(pids[0]), ended(pids[1]))
	}
}

// TestStopEndsWhatIgnoresSIGTERM: stop kills all processes of the agent, not only the one in the
// pane.
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

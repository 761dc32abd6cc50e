package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// patience is how long a test waits for a condition before it fails.
const patience = time.Minute

// TestScripts runs the scenarios in testdata/script, each with a HOME, a
// repository and a private tmux server of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	pawForTests()
	testscript.Run(t, testscript.Params{
		Files:               scripts(t),
		RequireExplicitExec: true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"until":      cmdUntil,
			"quiet":      cmdQuiet,
			"tmux":       cmdTmux,
			"killserver": cmdKillServer,
			"reboot":     cmdReboot,
			"exitcode":   cmdExitCode,
			"repo":       cmdRepo,
		},
	})
}

// scripts returns the files of all scripts. Those that wait for half a minute are the last: the
// testing package resumes parallel tests in reverse, so that these begin first.
func scripts(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(all) == 0 {
		t.Fatalf("no script: %v", err)
	}
	for _, name := range []string{"answer", "input_box_own", "lost_hook", "queue_held", "channel", "acp_hostile", "acp_loading"} {
		file := filepath.Join("testdata/script", name+".txtar")
		all = append(slices.DeleteFunc(all, func(other string) bool { return other == file }), file)
	}
	return all
}

func setUpScript(env *testscript.Env) error {
	dir, err := scratchFolder() // the script's own folder may be too deep for a socket
	if err != nil {
		return err
	}
	socket, err := tmuxSocket(dir)
	if err != nil {
		return err
	}
	home := filepath.Join(env.WorkDir, "home")
	if err := makeHome(home); err != nil {
		return err
	}
	for _, kv := range scriptEnvironment(home, socket) {
		name, value, _ := strings.Cut(kv, "=")
		env.Setenv(name, value)
	}
	env.Setenv("TEST_BINARY", testBinary())
	env.Defer(func() {
		showHookLog(env, home)
		killServer(socket)
		os.RemoveAll(dir)
	})
	return nil
}

// showHookLog shows what failed in the background of a script that has failed.
func showHookLog(env *testscript.Env, home string) {
	test, ok := env.T().(interface{ Failed() bool })
	if failures, err := os.ReadFile(filepath.Join(home, ".local/state/paw/hooks.log")); ok && test.Failed() && err == nil {
		env.T().Log("hooks.log:\n" + string(failures))
	}
}

// makeHome makes the home of a world, and settings of git beside it: git starts no maintenance after
// a commit, which would be one more process each.
func makeHome(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(gitSettings(dir), []byte("[maintenance]\n\tauto = false\n"), 0o600)
}

// gitSettings returns the path of git's settings for the user with a home.
func gitSettings(home string) string { return filepath.Join(filepath.Dir(home), "gitconfig-of-tests") }

// scriptEnvironment returns variables that keep the user's own configuration away.
func scriptEnvironment(home, socket string) []string {
	return []string{
		"HOME=" + home, "PAW_TMUX_SOCKET=" + socket, "TMUX=", "TMUX_PANE=", "TERM=xterm-256color", "LC_ALL=C.UTF-8",
		"XDG_DATA_HOME=" + home + "/.local/share", "XDG_STATE_HOME=" + home + "/.local/state", "XDG_CONFIG_HOME=" + home + "/.config",
		"XDG_CACHE_HOME=" + home + "/.cache", "GIT_CONFIG_GLOBAL=" + gitSettings(home), "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@localhost", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@localhost",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z", "PAW_SESSION=", "PAW_AGENT=", "SHELL=/bin/sh",
	}
}

// killServer kills the tmux server of a socket with SIGKILL and waits for its end.
func killServer(socket string) {
	pid := listensAt(socket)
	if pid <= 1 {
		return
	}
	_ = syscall.Kill(pid, syscall.SIGKILL)
	for end := time.Now().Add(patience); time.Now().Before(end) && !ended(pid); {
		time.Sleep(5 * time.Millisecond)
	}
}

// listensAt returns the process that listens at a socket, 0 for none.
func listensAt(socket string) (pid int) {
	connection, err := net.Dial("unix", socket)
	if err != nil {
		return 0
	}
	defer connection.Close()
	raw, err := connection.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0
	}
	_ = raw.Control(func(fd uintptr) {
		if pid, err = peer(int(fd)); err != nil {
			pid = 0
		}
	})
	return pid
}

// ended reports whether a process has ended, or is a zombie.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) != nil
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	return len(fields) > 0 && fields[0] == "Z"
}

// until REGEXP COMMAND...: runs the command until its output matches.
func cmdUntil(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: until REGEXP COMMAND...")
	}
	want := regexp.MustCompile(`(?m)` + args[0])
	if args[1] == "tmux" {
		args = append([]string{args[0], "tmux", "-S", ts.Getenv("PAW_TMUX_SOCKET")}, args[2:]...)
	}
	var out string
	for began := time.Now(); time.Since(began) < patience; pause(began) {
		_ = ts.Exec(args[1], args[2:]...)
		if out = ts.ReadFile("stdout") + ts.ReadFile("stderr"); want.MatchString(out) {
			return
		}
	}
	ts.Fatalf("%s never printed %s; last:\n%s", strings.Join(args[1:], " "), args[0], out)
}

// quiet: waits until no hook of an agent is under way, and nothing that one has started: an agent is
// idle while its hook still writes.
func cmdQuiet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: quiet")
	}
	for began := time.Now(); time.Since(began) < patience; pause(began) {
		if inBackground(ts.Getenv("PAW_TMUX_SOCKET")) == 0 {
			return
		}
	}
	ts.Fatalf("paw never came to rest in the background")
}

// pause waits before a condition is checked again, longer from time to time, so that checks do not
// take the time of what they wait for: most start several programs.
func pause(began time.Time) {
	time.Sleep(min(max(100*time.Millisecond, time.Since(began)/4), 500*time.Millisecond))
}

// tmux ARGS...: runs tmux with the script's own server, which may answer for a moment after its last
// session has ended: ! tmux list-sessions also holds if it names none, and a call that it has ended in is made again.
func cmdTmux(ts *testscript.TestScript, neg bool, args []string) {
	var err error
	for began := time.Now(); time.Since(began) < patience; pause(began) {
		err = ts.Exec("tmux", append([]string{"-S", ts.Getenv("PAW_TMUX_SOCKET")}, args...)...)
		if err == nil || !strings.HasPrefix(ts.ReadFile("stderr"), "server exited") {
			break
		}
	}
	none := err == nil && args[0] == "list-sessions" && ts.ReadFile("stdout") == ""
	if (err != nil || none) != neg {
		ts.Fatalf("tmux %s: %v", strings.Join(args, " "), err)
	}
}

// killserver [-nowait]: kills the tmux server, and so all programs in its panes. The kernel sends
// them SIGHUP a moment after the server has ended, so the command waits for their end, except with
// -nowait.
func cmdKillServer(ts *testscript.TestScript, neg bool, args []string) {
	nowait := len(args) == 1 && args[0] == "-nowait"
	if neg || len(args) > 0 && !nowait {
		ts.Fatalf("usage: killserver [-nowait]")
	}
	socket := ts.Getenv("PAW_TMUX_SOCKET")
	panes, err := exec.Command("tmux", "-S", socket, "list-panes", "-a", "-F", "#{pane_pid}").Output()
	if err != nil {
		return // no server runs
	}
	killServer(socket)
	for end := time.Now().Add(patience); !nowait; time.Sleep(5 * time.Millisecond) {
		left := inTerminals(strings.Fields(string(panes)))
		if len(left) == 0 {
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("still there after the death of the server: %v", left)
		}
	}
}

// inTerminals lists, as "pid name", the processes in the terminal sessions (setsid(2)) that leaders
// lead.
func inTerminals(leaders []string) []string {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var found []string
	for _, name := range stats {
		stat, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended meanwhile
		}
		// proc(5): pid (name) state ppid pgrp session
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if len(fields) > 3 && fields[0] != "Z" && slices.Contains(leaders, fields[3]) {
			found = append(found, string(stat[:bytes.LastIndexByte(stat, ')')+1]))
		}
	}
	return found
}

// exitcode N COMMAND...: expects the command to end with exactly this code.
func cmdExitCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exitcode N COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	got := 0
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%s: %v", strings.Join(args[1:], " "), err)
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// repo DIR: makes a repository with one commit, of the files that are there.
func cmdRepo(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: repo DIR")
	}
	dir := ts.MkAbs(args[0])
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		ts.Check(os.CopyFS(dir, os.DirFS(emptyCommit())))
		return
	}
	for _, argv := range [][]string{{"init", "-q", "-b", "main", dir}, {"-C", dir, "add", "-A"}, {"-C", dir, "commit", "-q", "--allow-empty", "-m", "first"}} {
		ts.Check(ts.Exec("git", argv...))
	}
}

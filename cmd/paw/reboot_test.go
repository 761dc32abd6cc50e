package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// tmuxSocket returns the socket of a test's tmux server: the path of tmux -L s with
// TMUX_TMPDIR=root/tmp, which stands for /tmp. The folder exists, as on a machine that has been up
// for a while; the tests' own clients use -S.
func tmuxSocket(root string) (string, error) {
	folder := filepath.Join(root, "tmp", "tmux-"+strconv.Itoa(os.Getuid()))
	return filepath.Join(folder, "s"), os.MkdirAll(folder, 0o700)
}

// reboot removes from a test's machine what a reboot removes: the user's processes, everything in
// /tmp, and XDG_RUNTIME_DIR. Locks and records then name an earlier boot, and pids that now belong
// to other processes.
func reboot(home, socket string) error {
	if err := killAll(home); err != nil {
		return err
	}
	tmp := filepath.Dir(filepath.Dir(socket))
	entries, err := os.ReadDir(tmp)
	for _, entry := range entries {
		err = errors.Join(err, os.RemoveAll(filepath.Join(tmp, entry.Name())))
	}
	err = errors.Join(err, os.RemoveAll(filepath.Join(filepath.Dir(tmp), "run")))
	for _, files := range []string{".local/state/paw/locks/agent-*.lock", ".local/share/paw/sessions/*.json"} {
		found, globErr := filepath.Glob(filepath.Join(home, files))
		err = errors.Join(err, globErr)
		for _, file := range found {
			err = errors.Join(err, ofAnotherBoot(file))
		}
	}
	return err
}

var (
	bootField = regexp.MustCompile(`"(server_)?boot_id": ?"[0-9a-f-]{36}"`)
	pidField  = regexp.MustCompile(`"(server_)?pid": ?\d+`)
)

// ofAnotherBoot changes the boot and pids in a lock file or record. The file itself, which is the
// lock, stays.
func ofAnotherBoot(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if !bootField.Match(text) {
		return fmt.Errorf("%s names no boot: %s", file, text)
	}
	text = bootField.ReplaceAll(text, []byte(`"${1}boot_id":"11111111-1111-1111-1111-111111111111"`))
	text = pidField.ReplaceAll(text, fmt.Appendf(nil, `"${1}pid":%d`, os.Getpid()))
	return os.WriteFile(file, text, 0o600)
}

// killAll kills all processes with this HOME, and all in their terminals, since some CLIs overwrite
// their environment. As in a power cut, no process sees another one end: all are stopped first, and
// no process gets a hang-up before it is killed.
func killAll(home string) error {
	killed := map[int]bool{}
	for end, stopped := time.Now().Add(patience), 0; time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		all := processesOf(home)
		for _, p := range all {
			_ = syscall.Kill(p.pid, syscall.SIGSTOP)
		}
		if len(all) != stopped { // another process has started meanwhile
			stopped = len(all)
			continue
		}
		for _, p := range all {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
			killed[p.pid] = true
		}
		maps.DeleteFunc(killed, func(pid int, _ bool) bool { return letGo(pid) })
		if stopped = 0; len(all)+len(killed) == 0 {
			return nil
		}
	}
	return errors.New("processes are left after a reboot")
}

// letGo reports whether a killed process has closed its files, which it has when its last thread
// has ended; the first thread may end earlier.
func letGo(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	return len(threads) <= 1 && ended(pid)
}

// aProcess is a process that has not ended.
type aProcess struct {
	pid      int
	session  string // its terminal session (setsid), "" for that of the test
	terminal bool   // it has a terminal
}

// hangsUp orders processes by what their end hangs up: nothing, their terminal, or the terminals
// that they serve.
func (p aProcess) hangsUp() int {
	switch {
	case p.session != strconv.Itoa(p.pid):
		return 0
	case p.terminal:
		return 1
	}
	return 2
}

// processesOf returns the processes with this HOME, and those in their terminals, in an order in
// which killing one hangs up none that comes later.
func processesOf(home string) (some []aProcess) {
	var all []aProcess
	terminals := map[string]bool{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	of := map[int]bool{}
	for _, file := range stats {
		p, ok := processOf(file)
		if !ok || p.pid <= 1 || p.pid == os.Getpid() {
			continue
		}
		environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		of[p.pid] = bytes.Contains(append([]byte{0}, environ...), []byte("\x00HOME="+home+"\x00"))
		if of[p.pid] && p.terminal && p.session != "" {
			terminals[p.session] = true
		}
		all = append(all, p)
	}
	for _, p := range all {
		if of[p.pid] || p.terminal && terminals[p.session] {
			some = append(some, p)
		}
	}
	slices.SortStableFunc(some, func(a, b aProcess) int { return a.hangsUp() - b.hangsUp() })
	return some
}

// processOf reads a process of /proc.
func processOf(stat string) (aProcess, bool) {
	text, err := os.ReadFile(stat)
	if err != nil {
		return aProcess{}, false
	}
	// proc(5): pid (name) state ppid pgrp session tty
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 5 || fields[0] == "Z" || fields[0] == "X" {
		return aProcess{}, false
	}
	p := aProcess{terminal: fields[4] != "0"}
	p.pid, _ = strconv.Atoi(filepath.Base(filepath.Dir(stat)))
	if own, _ := unix.Getsid(0); fields[3] != strconv.Itoa(own) {
		p.session = fields[3]
	}
	return p, true
}

// reboot: the machine of the script.
func cmdReboot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: reboot")
	}
	ts.Check(reboot(ts.Getenv("HOME"), ts.Getenv("PAW_TMUX_SOCKET")))
}

// reboot reboots the machine of a world.
func (w *world) reboot() {
	w.t.Helper()
	if err := reboot(filepath.Join(w.root, "home"), w.socket); err != nil {
		w.t.Fatal(err)
	}
}

// eight are names for as many agents as a repository has on a busy day.
var eight = []string{"a", "b", "c", "d", "e", "f", "g", "h"}

var cutTurn = regexp.MustCompile(`(?m)^2 +crash `)

// After a reboot that empties /tmp, recover brings back eight agents with their conversations, and
// names each turn that was cut.
func TestRebootWithEightAgents(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what boot a process is of")
	}
	t.Parallel()
	w := started(t, eight...)
	for _, name := range eight {
		w.ok(w.paw("send", name, "do: say the word of "+name+" is kiwi"))
	}
	for _, name := range eight {
		waitFor(t, name+" has finished a turn", func() bool { return strings.Contains(w.paw("turns", name).stdout, "success") })
	}
	cut := eight[:3]
	for _, name := range cut {
		w.ok(w.paw("send", name, "do: write half.txt "+name+"\ndo: hang"))
	}
	for _, name := range cut {
		w.awaitFile(filepath.Join(w.repo+".paw/shop", name, "half.txt"))
	}

	w.reboot()
	status := w.ok(w.paw("status"))
	for _, name := range eight {
		if !regexp.MustCompile(`(?m)^  ` + name + ` +demo +suspended .*reboot`).MatchString(status.stdout) {
			t.Errorf("%s is not suspended by a reboot:\n%s", name, status.stdout)
		}
	}
	w.ranHints(t, status.stdout+status.stderr)

	for again, how := range [][]string{{"recover", "--detach"}, {"start", "--detach"}} {
		if again > 0 {
			w.reboot()
		}
		out := w.ok(w.paw(how...))
		for _, name := range eight {
			if !regexp.MustCompile(`(?m)^  ` + name + ` +demo +resumed`).MatchString(out.stdout) {
				t.Errorf("%s has not come back with %s:\n%s%s", name, how, out.stdout, out.stderr)
			}
			waitFor(t, name+" shows its conversation", func() bool {
				return strings.Contains(w.tmux("capture-pane", "-p", "-S", "-", "-t", *w.agent(name).PaneID).stdout, "the word of "+name+" is kiwi")
			})
		}
		for _, name := range cut {
			if turns := w.ok(w.paw("turns", name)).stdout; !cutTurn.MatchString(turns) {
				t.Errorf("after %s the second turn of %s is no crash:\n%s", how, name, turns)
			}
		}
		w.ready(eight...)
	}
	w.ok(w.paw("send", "a", "do: say still here"))
}

// ranHints runs each paw command in the hints of a text; none may fail.
func (w *world) ranHints(t *testing.T, text string) {
	t.Helper()
	for _, hint := range regexp.MustCompile(`(?m)^paw: hint: paw (.*)$`).FindAllStringSubmatch(text, -1) {
		w.ok(w.paw(strings.Fields(hint[1])...))
	}
}

// A user who logs out loses /run/user/UID, where TMUX_TMPDIR may have pointed: the session goes on
// at the default place, and the record says so.
func TestLogoutThatTakesTheFolderOfTheSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what boot a process is of")
	}
	t.Parallel()
	w := newWorld(t)
	in := func(dir string) []string {
		return []string{"PAW_TMUX_SOCKET=", "TMUX_TMPDIR=" + filepath.Join(w.root, dir)}
	}
	if err := os.Mkdir(filepath.Join(w.root, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	w.ok(w.pawWith(in("run"), "start", "--cli", "demo", "--detach", "--prompt", "do: say kiwi"))
	waitFor(t, "a finished turn", func() bool { return strings.Contains(w.paw("turns").stdout, "success") })
	w.reboot()
	if out := w.ok(w.pawWith(in("tmp"), "recover", "--detach")); !strings.Contains(out.stdout, "demo  demo  resumed") {
		t.Errorf("after the logout:\n%s%s", out.stdout, out.stderr)
	}
	socket := filepath.Join(filepath.Dir(w.socket), "default")
	t.Cleanup(func() { killServer(socket) })
	if out := w.ok(w.paw("status", "--json")).stdout; !strings.Contains(out, `"socket":"`+socket+`"`) || !strings.Contains(out, `"status":"active"`) {
		t.Errorf("the session is not at %s:\n%s", socket, out)
	}
	if out := w.ok(w.paw("recover", "--detach")); !strings.Contains(out.stdout, "demo  demo  alive") {
		t.Errorf("recovered again:\n%s%s", out.stdout, out.stderr)
	}
}

// After the machine's clock was set, the tmux server still counts as the same one: its process
// identifies the server, not the time of day. That holds for a record of this paw and for one of an
// older paw.
func TestServerAfterTheClockWasSet(t *testing.T) {
	t.Parallel()
	for what, older := range map[string]bool{"record of this paw": false, "record of an older paw": true} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := started(t, "demo")
			w.ok(w.paw("send", "demo", "do: hang"))
			waitFor(t, "a turn", func() bool { return w.agent("demo").State == "running" })
			w.editRecord(func(text string) string {
				if older {
					text = regexp.MustCompile(`,\s*"server_(start_time|boot_id)": [^,}\n]*`).ReplaceAllString(text, "")
				}
				return regexp.MustCompile(`"server_started": \d+`).ReplaceAllString(text, `"server_started": 1700000000`)
			})
			w.tmux("send-keys", "-t", *w.agent("demo").PaneID, "Escape")
			waitFor(t, "the end of the turn", func() bool { return !strings.Contains(w.paw("turns").stdout, "running") })
			if turns := w.paw("turns").stdout; !strings.Contains(turns, "interrupted") {
				t.Errorf("the turns:\n%s", turns)
			}
			if err := os.Remove(w.socket); err != nil {
				t.Fatal(err)
			}
			if out := w.ok(w.paw("recover", "--detach")); !strings.Contains(out.stdout, "demo  demo  alive") {
				t.Errorf("without its socket:\n%s%s", out.stdout, out.stderr)
			}
		})
	}
}

// editRecord changes the record of the world's session.
func (w *world) editRecord(edit func(string) string) {
	w.t.Helper()
	file := filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json")
	text, err := os.ReadFile(file)
	if err != nil {
		w.t.Fatal(err)
	}
	changed := edit(string(text))
	if changed == string(text) {
		w.t.Fatalf("nothing to change in %s", text)
	}
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

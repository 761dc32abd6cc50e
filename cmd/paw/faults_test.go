package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// view returns the output of paw status --all --json.
func (w *world) view() statusJSON {
	w.t.Helper()
	var v statusJSON
	out := w.ok(w.paw("status", "--all", "--json"))
	if err := json.Unmarshal([]byte(out.stdout), &v); err != nil {
		w.t.Fatalf("%v: %s", err, out.stdout)
	}
	return v
}

// agent returns an agent of session shop, from paw status.
func (w *world) agent(name string) agentJSON {
	w.t.Helper()
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			if s.Name == "shop" && a.Name == name {
				return a
			}
		}
	}
	w.t.Fatalf("no agent %s", name)
	return agentJSON{}
}

// ready waits until agents are idle, and so take prompts.
func (w *world) ready(names ...string) {
	w.t.Helper()
	waitFor(w.t, strings.Join(names, " and ")+" are ready", func() bool {
		states := map[string]string{}
		for _, s := range w.view().Sessions {
			for _, a := range s.Agents {
				if s.Name == "shop" {
					states[a.Name] = a.State
				}
			}
		}
		return !slices.ContainsFunc(names, func(name string) bool { return states[name] != "idle" })
	})
}

// started returns a world with agents of the built-in CLI that take prompts.
func started(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.start(names...)
	return w
}

// start starts agents of the built-in CLI, and waits until they take prompts.
func (w *world) start(names ...string) {
	w.t.Helper()
	w.startWith(nil, names...)
}

// startWith is start with more variables.
func (w *world) startWith(extra []string, names ...string) {
	w.t.Helper()
	w.ok(w.pawWith(extra, "start", "--cli", strings.Join(names, "=demo,")+"=demo", "--detach"))
	w.ready(names...)
}

// serverPID returns the pid of the world's tmux server.
func (w *world) serverPID() int {
	w.t.Helper()
	pid, err := strconv.Atoi(strings.TrimSpace(w.ok(w.tmux("display-message", "-p", "#{pid}")).stdout))
	if err != nil {
		w.t.Fatal(err)
	}
	return pid
}

// atOnce runs n commands of paw at the same time.
func (w *world) atOnce(n int, args func(i int) []string) []output {
	w.t.Helper()
	return w.atOnceWith(nil, n, args)
}

// atOnceWith is atOnce with more variables.
func (w *world) atOnceWith(extra []string, n int, args func(i int) []string) []output {
	w.t.Helper()
	outs := make([]output, n)
	barrier := make(chan struct{})
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			<-barrier
			outs[i] = w.pawWith(extra, args(i)...)
		})
	}
	close(barrier)
	group.Wait()
	return outs
}

func TestEightRecoversAtOnceStartEachAgentOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	starts := filepath.Join(w.root, "starts")
	w.configure(fmt.Sprintf("[clis.counting]\ncommand = [\"sh\", \"-c\", \"echo started >> %s; exec sleep 1000\"]\n", starts))
	started := func(n int) bool {
		data, _ := os.ReadFile(starts)
		return strings.Count(string(data), "started") >= n
	}
	w.ok(w.paw("start", "--cli", "one=counting,two=counting", "--detach"))
	waitFor(t, "both CLIs wrote that they started", func() bool { return started(2) })
	killServer(w.socket)
	w.awaitDead("one", "two")
	w.okAll(w.atOnce(8, func(int) []string { return []string{"recover", "--detach"} }))
	panes := strings.Fields(w.ok(w.tmux("list-panes", "-a", "-F", "#{pane_dead}#{@paw_agent}")).stdout)
	if len(panes) != 2 || panes[0] == panes[1] || panes[0][0] != '0' || panes[1][0] != '0' {
		t.Errorf("panes %v, want one alive for each agent", panes)
	}
	waitFor(t, "both CLIs wrote that they started again", func() bool { return started(4) })
	if data, _ := os.ReadFile(starts); strings.Count(string(data), "started") != 4 {
		t.Errorf("started %d times in all, want 4 (2 by start, 2 by recover)", strings.Count(string(data), "started"))
	}
}

func TestEightStartsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	// With a remote branch as the start, git would write the upstream branch into the shared
	// configuration.
	w.git(w.root, "clone", "-q", "--bare", w.repo, filepath.Join(w.root, "origin.git"))
	w.git(w.repo, "remote", "add", "origin", filepath.Join(w.root, "origin.git"))
	w.git(w.repo, "fetch", "-q", "origin")
	w.git(w.repo, "config", "branch.autoSetupMerge", "always")
	before, err := os.ReadFile(filepath.Join(w.repo, ".git/config"))
	if err != nil {
		t.Fatal(err)
	}
	outs := w.atOnce(8, func(i int) []string {
		return []string{"start", "--cli", "demo,demo", "--base", "origin/main", "--name", fmt.Sprintf("s%d", i), "--detach"}
	})
	if after, err := os.ReadFile(filepath.Join(w.repo, ".git/config")); err != nil || string(after) != string(before) {
		t.Errorf("the repository's configuration became\n%s, %v", after, err)
	}
	for i, out := range outs {
		if out.code != 0 {
			t.Errorf("start %d: exit code %d\n%s%s", i, out.code, out.stdout, out.stderr)
		}
	}
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			if a.PaneAlive == nil || !*a.PaneAlive || a.PID == nil {
				t.Errorf("%s/%s does not run", s.Name, a.Name)
			}
		}
	}
	if n := strings.Count(w.git(w.repo, "worktree", "list"), "\n"); n != 17 {
		t.Errorf("%d worktrees, want 17", n)
	}
}

func TestEightStartsOfOneNameOrBranch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args func(i int) []string
	}{
		{"name", func(int) []string { return []string{"start", "--cli", "demo", "--name", "same", "--detach"} }},
		{"branch", func(i int) []string {
			return []string{"start", "--cli", "demo", "--branches", "feat", "--name", fmt.Sprintf("s%d", i), "--detach"}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.git(w.repo, "branch", "feat")
			won := 0
			for _, out := range w.atOnce(8, c.args) {
				if out.code == 0 {
					won++
				} else if !strings.HasPrefix(out.stderr, "paw: error: ") {
					t.Errorf("exit code %d, said %q", out.code, out.stderr)
				}
			}
			if sessions := w.view().Sessions; won != 1 || len(sessions) != 1 {
				t.Errorf("%d starts won and %d sessions are recorded, want 1 and 1", won, len(sessions))
			}
			if n := strings.Count(w.git(w.repo, "worktree", "list"), "\n"); n != 2 {
				t.Errorf("%d worktrees, want 2:\n%s", n, w.git(w.repo, "worktree", "list"))
			}
		})
	}
}

func TestAgentThatIgnoresSIGHUPIsReportedAndNotStartedAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startWith([]string{"DEMO_IGNORE_HUP=1"}, "demo")
	pid := *w.agent("demo").PID
	killServer(w.socket)
	a := w.agent("demo")
	if a.PID == nil || *a.PID != pid || a.State != "unknown" || !strings.Contains(*a.Reason, strconv.Itoa(pid)) {
		t.Errorf("the orphan %d is shown as %+v", pid, a)
	}
	out := w.paw("recover", "--detach")
	if out.code != 1 || !strings.Contains(out.stderr, "paw: hint: paw stop shop demo --only && paw recover shop") {
		t.Errorf("recover: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if w.tmux("list-sessions").code == 0 {
		t.Error("recover opened a tmux session beside the orphan")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	w.awaitDead("demo")
	w.ok(w.paw("recover", "--detach"))
	if a := w.agent("demo"); a.PID == nil || *a.PID == pid {
		t.Errorf("not recovered: %+v", a)
	}
}

func TestStopEndsAnOrphan(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.startWith([]string{"DEMO_IGNORE_HUP=1"}, "demo")
	pid := *w.agent("demo").PID
	killServer(w.socket)
	w.ok(w.paw("stop"))
	if !ended(pid) {
		t.Errorf("process %d still runs", pid)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func TestLostSocketIsRestoredAndNothingStartedTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo,two=demo", "--detach"))
	server, one := w.serverPID(), *w.agent("one").PID
	if err := os.Remove(w.socket); err != nil {
		t.Fatal(err)
	}
	v := w.view().Sessions[0]
	if v.Status != "active" || v.Tmux.Alive != nil || v.Reason == nil || !strings.Contains(*v.Reason, "socket") {
		t.Errorf("with a lost socket the session is shown as %+v", v)
	}
	out := w.ok(w.paw("recover", "--detach"))
	if !regexp.MustCompile(`(?m)^  one  demo  alive$`).MatchString(out.stdout) {
		t.Errorf("recover:\n%s%s", out.stdout, out.stderr)
	}
	if w.serverPID() != server || *w.agent("one").PID != one {
		t.Error("another server or agent took the place")
	}
}

func TestStoppedServerIsUnknownNotDead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	server := w.serverPID()
	if err := syscall.Kill(server, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(server, syscall.SIGCONT) }()
	v := w.view().Sessions[0]
	if v.Status != "active" || v.Tmux.Alive != nil || v.Agents[0].State != "unknown" || v.Agents[0].PaneAlive != nil {
		t.Errorf("a server that does not answer is shown as %+v", v)
	}
	if out := w.paw("recover", "--detach"); out.code == 0 || strings.Contains(out.stdout, "fresh") || strings.Contains(out.stdout, "resumed") {
		t.Errorf("recover: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
}

func TestUsersOwnPanesAreLeftAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ok(w.tmux("new-window", "-d", "-t", "=paw-shop:", "-n", "mine", "sleep 1000"))
	w.ok(w.tmux("rename-session", "-t", "=paw-shop", "renamed"))
	if a := w.agent("demo"); a.PaneAlive == nil || !*a.PaneAlive {
		t.Errorf("a renamed session is not found again: %+v", a)
	}
	out := w.ok(w.paw("stop"))
	if !strings.Contains(out.stdout, "window 1 (mine) of tmux session renamed is yours and stays") {
		t.Errorf("stop says nothing of the user's window:\n%s", out.stdout)
	}
	if windows := w.ok(w.tmux("list-windows", "-a", "-F", "#{window_name}")).stdout; strings.TrimSpace(windows) != "mine" {
		t.Errorf("windows after stop: %q", windows)
	}
	w.ok(w.paw("recover", "--detach"))
	for _, args := range [][]string{{"stop", "demo"}, {"purge", "--yes"}} { // no agent runs after these, either
		if out := w.ok(w.paw(args...)); !strings.Contains(out.stdout, "is yours and stays") {
			t.Errorf("%s says nothing of the user's window:\n%s", args[0], out.stdout)
		}
	}
}

func TestForeignProcessInPawsPaneIsNotTheAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	w.ok(w.tmux("respawn-pane", "-k", "-t", *w.agent("demo").PaneID, "sleep", "1000"))
	waitFor(t, "the foreign process is seen", func() bool {
		a := w.agent("demo")
		return a.PID == nil && a.State == "unknown" && a.Reason != nil && strings.Contains(*a.Reason, "foreign")
	})
	w.ok(w.paw("recover", "--detach"))
	if a := w.agent("demo"); a.PID == nil {
		t.Errorf("not recovered: %+v", a)
	}
	if n := len(strings.Fields(w.ok(w.tmux("list-panes", "-a", "-F", "#{pane_id}")).stdout)); n != 2 {
		t.Errorf("%d panes, want the user's and the agent's", n)
	}
}

func TestPaneNumberOfAnotherServerIsNotTouched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "demo", "--detach"))
	killServer(w.socket)
	w.awaitDead("demo")
	w.ok(w.tmux("-f", "/dev/null", "new-session", "-d", "-s", "mine", "sleep", "1000"))
	w.ok(w.paw("stop"))
	if out := w.tmux("list-panes", "-a", "-F", "#{pane_id} #{pane_dead}"); strings.TrimSpace(out.stdout) != "%0 0" {
		t.Errorf("the user's pane %%0 after stop: %q", out.stdout)
	}
}

func TestUnwritableStateIsRefusedBeforeAnything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.root, "blocked", "a file where a folder has to be\n")
	out := w.pawWith([]string{"XDG_STATE_HOME=" + filepath.Join(w.root, "blocked")}, "start", "--cli", "demo", "--detach")
	if out.code != 1 || !strings.HasPrefix(out.stderr, "paw: error: ") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	if branches := w.git(w.repo, "branch", "--list", "paw/*"); branches != "" {
		t.Errorf("left behind: %s", branches)
	}
	if _, err := os.Stat(filepath.Join(w.root, "shop.paw")); err == nil {
		t.Error("left a worktree folder behind")
	}
}

// text is a field that may be null.
func text(field *string) string {
	if field == nil {
		return "null"
	}
	return *field
}

package main

import (
	"bytes"
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

	"github.com/google/go-cmp/cmp"
)

// running is a paw in the background.
type running struct {
	w              *world
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	ended          chan struct{}
}

// begin starts paw in the background.
func (w *world) begin(args ...string) *running {
	w.t.Helper()
	return w.beginWith(nil, args...)
}

// beginWith is begin with more variables.
func (w *world) beginWith(extra []string, args ...string) *running {
	w.t.Helper()
	return w.beginBy(nil, extra, args...)
}

// beginBy starts paw in the background through another program, such as nohup.
func (w *world) beginBy(before, extra []string, args ...string) *running {
	w.t.Helper()
	argv := slices.Concat(before, []string{pawForTests()}, args)
	r := &running{w: w, cmd: exec.CommandContext(w.t.Context(), argv[0], argv[1:]...), ended: make(chan struct{})}
	r.cmd.Dir, r.cmd.Env = w.repo, slices.Concat(w.env, extra)
	r.cmd.Stdout, r.cmd.Stderr, r.cmd.WaitDelay = &r.stdout, &r.stderr, 5*time.Second
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() {
		_ = r.cmd.Wait()
		close(r.ended)
	}()
	w.t.Cleanup(func() {
		if <-r.ended; w.t.Failed() { // the test's context has ended
			w.t.Logf("paw %s said:\n%s%s", strings.Join(args, " "), r.stdout.String(), r.stderr.String())
		}
	})
	return r
}

func (r *running) signal(sig syscall.Signal) {
	r.w.t.Helper()
	if err := r.cmd.Process.Signal(sig); err != nil {
		r.w.t.Fatal(err)
	}
}

// end waits for the end of paw.
func (r *running) end() output {
	r.w.t.Helper()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.w.t.Fatalf("paw %s never ended", strings.Join(r.cmd.Args[1:], " "))
	}
	return output{stdout: r.stdout.String(), stderr: r.stderr.String(), code: r.cmd.ProcessState.ExitCode()}
}

// pids waits until files of the world's folder have a pid each.
func (w *world) pids(names ...string) []int {
	w.t.Helper()
	var pids []int
	for _, name := range names {
		waitFor(w.t, name+" has a pid", func() bool {
			data, _ := os.ReadFile(filepath.Join(w.root, name))
			pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
			if err == nil {
				pids = append(pids, pid)
			}
			return err == nil
		})
	}
	return pids
}

// stoppedOne returns a world with a stopped agent, one.
func stoppedOne(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
	w.ok(w.paw("stop"))
	return w
}

// busy returns a prompt that leaves uncommitted work, starts processes that write their pids, and
// does not end.
func (w *world) busy() string {
	return "do: write draft.txt half done\n" +
		"do: run echo $PPID > " + w.root + "/cli; (echo $$ > " + w.root + "/child; exec sleep 1000)"
}

func TestInterruptedRunLeavesNoProcess(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			w := stoppedOne(t)
			run := w.begin("run", "one", "--prompt", w.busy())
			pids := w.pids("cli", "child")
			run.signal(sig)
			out := run.end()
			if out.code != 130 || !strings.Contains(out.stderr, "paw: error: one: turn 1 interrupted\n") {
				t.Errorf("exit code %d, said %s", out.code, out.stderr)
			}
			for _, pid := range pids {
				if !ended(pid) {
					t.Errorf("process %d runs on", pid)
				}
			}
			turns := w.turnsOf("one")
			if len(turns) != 1 || turns[0].State != "aborted" || *turns[0].Reason != "interrupted" || turns[0].Tag != nil {
				t.Errorf("turns %+v", turns)
			}
			if got := w.git(w.repo, "show", "refs/paw/shop_one/turn/1:draft.txt"); got != "half done\n" {
				t.Errorf("the snapshot has %q", got)
			}
			again := w.ok(w.paw("run", "one", "--prompt", "do: say here again"))
			if !strings.Contains(again.stdout, "one: turn 2  success") {
				t.Errorf("said %s", again.stdout)
			}
		})
	}
}

func TestRunHoldsTheAgent(t *testing.T) {
	t.Parallel()
	w := stoppedOne(t)
	run := w.begin("run", "one", "--prompt", w.busy())
	w.pids("cli", "child")
	a := w.agent("one")
	if a.State != "running" || a.PID == nil || *a.PID != run.cmd.Process.Pid || a.CurrentTurn == nil || *a.CurrentTurn != 1 {
		t.Errorf("status %+v", a)
	}
	pid := strconv.Itoa(run.cmd.Process.Pid)
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"run", "one", "--prompt", "x"}, 11},
		{[]string{"recover", "shop", "--detach"}, 1},
		{[]string{"rewind", "one", "0"}, 3},
	} {
		out := w.paw(c.args...)
		if out.code != c.code {
			t.Errorf("paw %s: exit code %d, want %d\n%s%s", strings.Join(c.args, " "), out.code, c.code, out.stdout, out.stderr)
		}
		if c.code != 3 && !strings.Contains(out.stderr, "a headless turn runs (pid "+pid+")") {
			t.Errorf("paw %s said %s", strings.Join(c.args, " "), out.stderr)
		}
	}
	w.ok(w.paw("stop", "one"))
	if out := run.end(); out.code != 130 {
		t.Errorf("stopped with exit code %d\n%s", out.code, out.stderr)
	}
	if turns := w.turnsOf("one"); len(turns) != 1 || turns[0].State != "aborted" {
		t.Errorf("turns %+v", turns)
	}
}

// A second Ctrl-C ends paw run at once, and leaves no process.
func TestTwiceInterruptedRunEndsAtOnce(t *testing.T) {
	t.Parallel()
	w := stoppedOne(t)
	w.configure("[clis.demo]\ncommand = [\"sh\", \"-c\", \"trap : INT; echo $$ > " + w.root + "/cli; while :; do sleep 1000 & echo $! > " + w.root + "/child; wait; done\"]\n")
	run := w.begin("run", "one", "--prompt", "x")
	pids := w.pids("cli", "child")
	run.signal(syscall.SIGINT)
	waitFor(t, "the CLI ignored the first", func() bool {
		now, err := os.ReadFile(filepath.Join(w.root, "child"))
		return err == nil && strings.TrimSpace(string(now)) != "" && strings.TrimSpace(string(now)) != strconv.Itoa(pids[1])
	})
	pids = append(pids, w.pids("child")...)
	run.signal(syscall.SIGINT)
	if out := run.end(); out.code != 130 {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	for _, pid := range pids {
		waitFor(t, "the process is gone", func() bool { return ended(pid) })
	}
	turns := w.turnsOf("one")
	if len(turns) != 1 || turns[0].State != "aborted" || *turns[0].Reason != "interrupted" {
		t.Errorf("turns %+v", turns)
	}
}

// timeout(1) signals paw and then the process group, which has paw in it; other programs may go on
// signalling. The turn is closed nevertheless.
func TestRunSignalledManyTimesClosesItsTurn(t *testing.T) {
	t.Parallel()
	for name, storm := range map[string]func(t *testing.T, run *running){
		"timeout": func(t *testing.T, run *running) { run.signal(syscall.SIGTERM) },
		"storm": func(t *testing.T, run *running) {
			for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
				tick := time.NewTicker(7 * time.Millisecond)
				t.Cleanup(tick.Stop)
				go func() {
					for range tick.C {
						if run.cmd.Process.Signal(sig) != nil {
							return
						}
					}
				}()
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := stoppedOne(t)
			var before []string
			if name == "timeout" {
				path, err := exec.LookPath("timeout")
				if err != nil {
					t.Skip(err)
				}
				before = []string{path, "1000"}
			}
			run := w.beginBy(before, nil, "run", "one", "--prompt", w.busy())
			pids := w.pids("cli", "child")
			storm(t, run)
			if out := run.end(); out.code != 130 {
				t.Errorf("exit code %d\n%s", out.code, out.stderr)
			}
			waitFor(t, "the turn is closed", func() bool { return w.agent("one").PID == nil })
			turns := w.turnsOf("one")
			if len(turns) != 1 || turns[0].State != "aborted" || *turns[0].Reason != "interrupted" || turns[0].Snapshot == nil {
				t.Errorf("turns %+v", turns)
			}
			for _, pid := range pids {
				waitFor(t, "the process is gone", func() bool { return ended(pid) })
			}
		})
	}
}

// nohup starts paw with SIGHUP ignored, and SIGHUP stays ignored.
func TestRunStartedByNohupOutlivesItsTerminal(t *testing.T) {
	t.Parallel()
	w := stoppedOne(t)
	run := w.beginBy([]string{"sh", "-c", `trap '' HUP; exec "$@"`, "sh"}, nil, "run", "one", "--prompt", "do: run echo $PPID > "+w.root+"/cli; while ! test -e "+w.root+"/go; do sleep 0.05; done\ndo: say done")
	w.pids("cli")
	run.signal(syscall.SIGHUP)
	w.write(w.root, "go", "")
	if out := run.end(); out.code != 0 {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	if turns := w.turnsOf("one"); len(turns) != 1 || turns[0].State != "finished" {
		t.Errorf("turns %+v", turns)
	}
}

// After paw run is killed, its CLI goes on and keeps the agent's lock: no second CLI is started.
func TestKilledRunLeavesTheAgentHeldByItsCLI(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"with the lock", "without it"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := stoppedOne(t)
			if kind == "without it" {
				w.launchBy(launchers(t)["exec that drops the lock"])
			}
			w.killedRun()
		})
	}
}

func (w *world) killedRun() {
	t := w.t
	t.Helper()
	run := w.begin("run", "one", "--prompt", w.busy())
	pids := w.pids("cli", "child")
	run.signal(syscall.SIGKILL)
	run.end()
	out := w.paw("run", "one", "--prompt", "x")
	if out.code != 11 || !strings.Contains(out.stderr, "its CLI runs (pid "+strconv.Itoa(pids[0])+")") {
		t.Errorf("exit code %d, said %s", out.code, out.stderr)
	}
	if a := w.agent("one"); a.State != "unknown" || a.PID == nil || *a.PID != pids[0] {
		t.Errorf("status %+v", a)
	}
	w.ok(w.paw("stop", "one"))
	if !ended(pids[0]) {
		t.Error("stop left the CLI")
	}
	if turns := w.turnsOf("one"); len(turns) != 1 || turns[0].State != "aborted" {
		t.Errorf("turns %+v", turns)
	}
}

// A turn whose paw was killed is either aborted or, once its END is written, complete and tagged;
// its number is never used again.
func TestKilledRunIsRecovered(t *testing.T) {
	t.Parallel()
	command := []string{"run", "one", "--prompt", "a note"}
	for step, state := range map[string]string{
		"run.locked": "", "turn.claimed": "", "turn.started": "aborted", "turn.before": "aborted", "run.executed": "aborted",
		"run.ended": "finished", "turn.snapshot": "finished", "turn.ended": "finished", "turn.remembered": "finished", "turn.tagged": "finished",
	} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			w := stoppedOne(t)
			w.ok(w.paw("run", "one", "--prompt", "the first"))
			if out := w.pawWith([]string{"PAW_TEST_KILL=" + step}, command...); out.code != 137 {
				t.Fatalf("not killed: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			w.ok(w.paw("recover", "shop", "--detach"))
			var got string
			for _, one := range w.turnsOf("one") {
				if one.Number == 2 {
					got = one.State
					if (one.State == "finished") != (one.Tag != nil) {
						t.Errorf("turn %+v", one)
					}
				}
			}
			if got != state {
				t.Errorf("turn 2 is %q, want %q", got, state)
			}
			w.ok(w.paw("stop"))
			next := w.ok(w.paw("run", "one", "--prompt", "the next"))
			number := "3"
			if step == "run.locked" {
				number = "2"
			}
			if !strings.Contains(next.stdout, "one: turn "+number+"  success") {
				t.Errorf("said %s", next.stdout)
			}
		})
	}
}

// If paw run is killed while it adds an agent, the agent is completed without a pane.
func TestKilledRunOfANewAgentIsRecovered(t *testing.T) {
	t.Parallel()
	command := []string{"run", "--cli", "two=demo", "--prompt", "a note"}
	ofTheTurn := regexp.MustCompile(`refs/|NOTES\.md|high_water|turns_finished|last_finished|HEAD`) // what the killed run has not done
	list := func(w *world) []string {
		var kept []string
		for _, line := range w.state() {
			if !ofTheTurn.MatchString(line) {
				kept = append(kept, line)
			}
		}
		return kept
	}
	started := func(t *testing.T) *world {
		w := newWorld(t)
		w.ok(w.paw("start", "--cli", "one=demo", "--detach"))
		return w
	}
	for _, step := range []string{"add.recorded", "worktree.branches", "worktree.added", "worktree.filled", "run.agent-made"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			whole := started(t)
			whole.ok(whole.paw(command...))
			w := started(t)
			if out := w.pawWith([]string{"PAW_TEST_KILL=" + step}, command...); out.code != 137 {
				t.Fatalf("not killed: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			w.ok(w.paw("recover", "--detach"))
			if diff := cmp.Diff(list(whole), list(w)); diff != "" {
				t.Errorf("the world differs (-uninterrupted +killed)\n%s", diff)
			}
			w.ok(w.paw("run", "two", "--prompt", "a note"))
		})
	}
}

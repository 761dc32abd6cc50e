//go:build clis

package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"paw/orchestrator/cli/fakemodel"
)

// cliPatience is how long a real CLI may take for anything: the first answer of opencode alone can
// take 95 s while six others run on two cores.
const cliPatience = 6 * time.Minute

// cliWorld is a world in which real CLIs talk to a scripted model server on loopback.
type cliWorld struct {
	*world
	cli    string // name of the agent that the methods act on, which is its CLI's
	model  *fakemodel.Server
	bodies *keptBodies
}

// newCLIWorld prepares a repository and a HOME that all CLIs share.
func newCLIWorld(t *testing.T, clis ...string) *cliWorld {
	t.Helper()
	for _, cli := range clis {
		if only := os.Getenv("PAW_CLI"); only != "" && !slices.Contains(strings.Fields(only), cli) {
			t.Skipf("not with %s, but with %s", cli, only)
		}
		if _, err := exec.LookPath(cli); err != nil {
			t.Skipf("%s is not installed: %v", cli, err)
		}
	}
	// Not the system's folder for temporary files, since codex's sandbox lets commands write there.
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.MkdirTemp(cache, "paw")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := tmuxSocket(root)
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(root, "home")
	w := &cliWorld{
		world:  &world{t: t, root: root, repo: filepath.Join(root, "shop"), socket: socket},
		cli:    clis[0],
		model:  &fakemodel.Server{},
		bodies: &keptBodies{},
	}
	server := httptest.NewServer(w.bodies.keeping(w.model))
	w.endWithTests()
	t.Cleanup(func() {
		w.end()
		server.CloseClientConnections()
		server.Close()
		_ = os.RemoveAll(root) // a CLI that still runs may write there
	})
	for _, kv := range append(scriptEnvironment(home, w.socket), "PATH="+os.Getenv("PATH")) {
		if !strings.HasPrefix(kv, "GIT_") { // with a fixed date, equal commits would be the same commit
			w.env = append(w.env, kv)
		}
	}
	w.write(w.repo, "README.md", "hello\n")
	for _, cli := range clis {
		env, err := fakemodel.Prepare(cli, home, w.repo, server.URL)
		if err != nil {
			t.Fatal(err)
		}
		w.env = append(w.env, env...)
	}
	w.write(filepath.Join(home, ".config/paw"), "config.toml", `[turns]
snapshot_seconds = 60 # what a snapshot has is looked at, and not how long it takes on a busy machine

[clis.codex]
git_writable = true

[clis.copilot]
args = ["--allow-all-paths", "--allow-tool=write", "--allow-tool=shell(git:*)", "--allow-tool=shell(printf:*)",
	"--allow-tool=shell(test:*)", "--allow-tool=shell(sleep:*)", "--allow-tool=shell(rm:*)"]
`)
	w.git(root, "init", "-q", "-b", "main", w.repo)
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "first")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(w.describe())
		}
	})
	return w
}

// startEach starts each CLI in its own world, and calls play there.
func startEach(t *testing.T, clis []string, play func(*testing.T, *cliWorld)) {
	for _, cli := range clis {
		t.Run(cli, func(t *testing.T) {
			w := newCLIWorld(t, cli)
			w.ok(w.paw("start", "--cli", cli, "--detach"))
			play(t, w)
		})
	}
}

// as returns the same world with methods that act on another agent.
func (w *cliWorld) as(cli string) *cliWorld {
	one := *w
	one.cli = cli
	return &one
}

// during runs a subtest in the same world.
func (w *cliWorld) during(t *testing.T, name string, do func(*testing.T)) bool {
	return t.Run(name, func(t *testing.T) {
		before := w.t
		w.t = t
		defer func() { w.t = before }()
		t.Cleanup(func() {
			if t.Failed() {
				t.Log(w.describe())
			}
		})
		do(t)
	})
}

// describe returns everything that helps to understand a failure.
func (w *cliWorld) describe() string {
	hooks, _ := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/hooks.log"))
	var requests strings.Builder
	for _, e := range w.model.Last(20) {
		fmt.Fprintf(&requests, "%s %s %q result %d: %q, %s %d\n", e.Time.Format(time.TimeOnly), e.Path, e.Prompt, e.Results, e.Text, e.Tool, e.Status)
	}
	return fmt.Sprintf("status:\n%s\nturns:\n%s\nscreen of %s:\n%s\nhooks.log:\n%s\nrequests:\n%s\n%s",
		w.paw("status").stdout, w.paw("turns").stdout, w.cli, w.screen(w.cli), hooks, requests.String(), w.records())
}

// records returns the ends of the files in which qwen, opencode and paw write down what happens in a turn.
func (w *cliWorld) records() string {
	var all strings.Builder
	for _, pattern := range []string{".qwen/projects/*/chats/*.jsonl", ".local/state/paw/agents/shop/*/qwen-*l*", ".local/share/opencode/log/*", ".local/state/paw/agents/shop/*/opencode-*", ".local/state/paw/turns/shop/*/*.log"} {
		files, _ := filepath.Glob(filepath.Join(w.root, "home", pattern))
		for _, file := range files {
			content, _ := os.ReadFile(file)
			lines := strings.SplitAfter(string(content), "\n")
			fmt.Fprintf(&all, "end of %s:\n", file)
			for _, line := range lines[max(0, len(lines)-12):] {
				fmt.Fprintf(&all, "%.600s\n", strings.TrimSpace(line))
			}
		}
	}
	return all.String()
}

// endWithTests ends the tmux server and the CLIs when the test process gets a signal, since
// programs in panes would outlive the test. The program that reads the output may have got the same
// signal: without the channel for SIGPIPE, the next line of output would end the process first.
func (w *cliWorld) endWithTests() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	w.t.Cleanup(func() { signal.Stop(ended) })
	go func() {
		<-ended
		w.end()
		_ = os.RemoveAll(w.root)
		os.Exit(1)
	}()
}

// end kills the tmux server and the processes in its panes, and waits for their end.
func (w *cliWorld) end() {
	out, err := exec.Command("tmux", "-S", w.socket, "list-panes", "-a", "-F", "#{pane_pid}").Output()
	if err != nil {
		return // no server runs
	}
	killServer(w.socket)
	for _, field := range strings.Fields(string(out)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid <= 1 {
			continue
		}
		for end := time.Now().Add(patience); !ended(pid) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		}
		_ = syscall.Kill(-pid, syscall.SIGKILL) // a pane's process leads its own process group
	}
}

// await polls a condition that depends on a real CLI.
func (w *cliWorld) await(what string, holds func() bool) {
	w.t.Helper()
	for end := time.Now().Add(cliPatience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if holds() {
			return
		}
	}
	w.t.Fatalf("never happened: %s", what)
}

// pawInput runs paw with a text on standard input.
func (w *cliWorld) pawInput(input string, args ...string) output {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*cliPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, pawForTests(), args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = w.repo, w.env, 5*time.Second
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	_ = cmd.Run() // the exit code says whether paw failed
	return output{stdout: stdout.String(), stderr: stderr.String(), code: cmd.ProcessState.ExitCode()}
}

// send sends a prompt, which must arrive. If a CLI does not get ready within the minute that paw
// waits, paw types nothing, and send tries again, as on a busy machine. codex takes a prompt while
// it still starts, and may begin the turn later than paw waits.
func (w *cliWorld) send(prompt string) {
	w.t.Helper()
	out := w.pawInput(prompt, "send", w.cli)
	unready := func() bool {
		return strings.Contains(out.stderr, "did not get ready for input") || strings.Contains(out.stderr, "does not show its input box")
	}
	for end := time.Now().Add(cliPatience); unready() && time.Now().Before(end); {
		out = w.pawInput(prompt, "send", w.cli)
	}
	late := out.code == 6 && w.cli == "codex" && w.last().Number == 0
	if out.code != 0 && !late {
		w.t.Fatalf("paw send %s: exit code %d\n%s%s", w.cli, out.code, out.stdout, out.stderr)
	}
}

// press presses keys, by their tmux names, in the agent's pane.
func (w *cliWorld) press(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		w.ok(w.tmux("send-keys", "-t", *w.agent(w.cli).PaneID, key))
	}
}

// screen returns what an agent's pane shows, with the lines that have scrolled away.
func (w *cliWorld) screen(agent string) string {
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			if a.Name == agent && a.PaneID != nil {
				return w.tmux("capture-pane", "-p", "-S", "-500", "-t", *a.PaneID).stdout
			}
		}
	}
	return ""
}

// visible returns what the agent's pane shows now.
func (w *cliWorld) visible() string {
	w.t.Helper()
	return w.ok(w.tmux("capture-pane", "-p", "-t", *w.agent(w.cli).PaneID)).stdout
}

// awaitState waits until the agent has a state in paw status.
func (w *cliWorld) awaitState(state string) agentJSON {
	w.t.Helper()
	var a agentJSON
	w.await(w.cli+" is "+state, func() bool {
		a = w.agent(w.cli)
		return a.State == state
	})
	return a
}

// last returns the agent's last turn, the zero turn for none.
func (w *cliWorld) last() turnJSON {
	w.t.Helper()
	if turns := w.turnsOf(w.cli); len(turns) > 0 {
		return turns[len(turns)-1]
	}
	return turnJSON{}
}

// turn returns the agent's turn with a number.
func (w *cliWorld) turn(n int) turnJSON {
	w.t.Helper()
	for _, one := range w.turnsOf(w.cli) {
		if one.Number == n {
			return one
		}
	}
	w.t.Fatalf("%s has no turn %d", w.cli, n)
	return turnJSON{}
}

// finished waits until the agent is idle after a tagged turn with a number above after, and checks the
// turn's tag. The turn of a queued prompt may follow at once.
func (w *cliWorld) finished(after int) turnJSON {
	w.t.Helper()
	var last turnJSON
	var a agentJSON
	var tag string
	w.await(fmt.Sprintf("it is idle after a turn above %d, which is tagged", after), func() bool {
		a, last = w.agent(w.cli), w.last()
		tag = fmt.Sprintf("afk-shop_%s-%d", w.cli, last.Number)
		return a.State == "idle" && last.Number > after && last.Tag != nil && text(a.LastTag) == tag
	})
	if a.CurrentTurn != nil {
		w.t.Errorf("after turn %d status says turn %d is running", last.Number, *a.CurrentTurn)
	}
	if at := w.oid(tag); last.CommitHash == nil || at != *last.CommitHash {
		w.t.Errorf("tag %s is on %s, its turn ended on %v", tag, at, last.CommitHash)
	}
	return last
}

// work sends the agent a prompt and waits for the end of the turn.
func (w *cliWorld) work(prompt string) turnJSON {
	w.t.Helper()
	before := w.last().Number
	w.send(prompt)
	return w.finished(before)
}

// oid returns the commit of a revision in the main checkout.
func (w *cliWorld) oid(revision string) string {
	w.t.Helper()
	return strings.TrimSpace(w.git(w.repo, "rev-parse", revision+"^{commit}"))
}

// busy keeps every processor at work with two processes, until done is called or the test process has ended.
func busy(t *testing.T) (done func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	for range 2 * runtime.NumCPU() {
		if err := exec.CommandContext(ctx, "sh", "-c", `while kill -0 "$PPID"; do :; done`).Start(); err != nil {
			t.Fatal(err)
		}
	}
	return cancel
}

// has reports whether the agent's worktree has a file.
func (w *cliWorld) has(name string) bool {
	_, err := os.Stat(filepath.Join(w.worktree(w.cli), name))
	return err == nil
}

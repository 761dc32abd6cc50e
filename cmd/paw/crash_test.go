package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// crashCase is one command that is killed after each of its steps.
type crashCase struct {
	name    string
	prepare func(w *world)
	command []string
	as      string         // agent that runs the command, "" for the user
	settled func(w *world) // waits for the work that goes on after the command
	ignore  *regexp.Regexp // lines of the state that are not compared
}

// TestKilledAfterEveryStep kills paw with SIGKILL after every step of start,
// add, spawn, recover, stop and remove. paw recover must then lead to the same world
// as the command that was not killed: the same refs, files, panes, locks and record.
func TestKilledAfterEveryStep(t *testing.T) {
	t.Parallel()
	two := []string{"start", "--cli", "one=demo,two=demo", "--detach"}
	started := func(w *world) { w.ok(w.paw(two...)) }
	cases := []crashCase{
		{name: "start", command: two},
		{name: "add", prepare: started, command: []string{"add", "--cli", "three=demo"}},
		{name: "add from", prepare: func(w *world) {
			started(w)
			w.ok(w.paw("stop"))
			w.ok(w.paw("run", "one", "--prompt", "do: write draft.txt not committed\ndo: remove sub/a.txt"))
			w.ok(w.paw("recover", "shop", "--detach"))
		}, command: []string{"add", "--cli", "three=demo", "--from", "one"}},
		{name: "spawn", prepare: func(w *world) {
			started(w)
			w.write(w.worktree("one"), "draft.txt", "not committed\n")
			w.write(w.worktree("one"), "README.md", "changed\n")
		}, command: []string{"spawn", "--cli", "three=demo", "--prompt", "do: say hello"},
			// The child's turn is there or, with a note, its prompt is kept.
			as: "one", settled: childSettled, ignore: regexp.MustCompile(`shop_three/(claim|before|turn|state)/|afk-shop_three-1|"turn_high_water"|"turns_finished"|"last_finished"`)},
		{name: "recover", prepare: func(w *world) {
			started(w)
			w.write(w.worktree("one"), "draft.txt", "not committed\n")
			killServer(w.socket)
			w.awaitDead("one", "two")
		}, command: []string{"recover", "--detach"}},
		{name: "recover lost worktree", prepare: func(w *world) {
			started(w)
			killServer(w.socket)
			w.awaitDead("one", "two")
			if err := os.RemoveAll(w.worktree("one")); err != nil {
				w.t.Fatal(err)
			}
		}, command: []string{"recover", "--detach"}},
		{name: "recover moved", prepare: func(w *world) {
			started(w)
			killServer(w.socket)
			w.awaitDead("one", "two")
			there := filepath.Join(w.root, "there")
			if err := os.Mkdir(there, 0o755); err != nil {
				w.t.Fatal(err)
			}
			for _, dir := range []string{"shop", "shop.paw"} {
				if err := os.Rename(filepath.Join(w.root, dir), filepath.Join(there, dir)); err != nil {
					w.t.Fatal(err)
				}
			}
			w.repo = filepath.Join(there, "shop")
		}, command: []string{"recover", "--detach"}},
		{name: "stop", prepare: started, command: []string{"stop"}},
		{name: "stop one", prepare: started, command: []string{"stop", "one"}},
		{name: "stop parent", prepare: func(w *world) {
			started(w)
			w.spawn("one", "--cli", "three=demo", "--prompt", "do: say hello")
			childSettled(w)
		}, command: []string{"stop", "one"}},
		{name: "remove", prepare: started, command: []string{"remove", "one"}},
		{name: "remove force", prepare: func(w *world) {
			started(w)
			w.write(w.worktree("one"), "draft.txt", "not committed\n")
		}, command: []string{"remove", "one", "--force"}},
		{name: "remove landed", prepare: func(w *world) {
			started(w)
			w.write(w.worktree("one"), "draft.txt", "not committed\n")
			w.ready("one")
			w.ok(w.paw("land", "one"))
		}, command: []string{"remove", "one"}}, // a landed branch is deleted
		{name: "remove keep", prepare: started, command: []string{"remove", "one", "--keep-worktree"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			whole := newWorld(t)
			whole.given(c)
			steps := whole.stepsOf(c)
			want := c.state(whole)
			if len(steps) == 0 {
				t.Fatal("the command has no steps")
			}
			for _, at := range steps {
				t.Run(at, func(t *testing.T) {
					got := killedAndRecovered(t, c, at)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("killed after %s, then recovered: the world differs (-uninterrupted +killed)\n%s", at, diff)
					}
				})
			}
		})
	}
}

// environment returns the variables of the command, with one more for the test.
func (c crashCase) environment(kv string) []string {
	if c.as == "" {
		return []string{kv}
	}
	return asAgent(c.as, kv)
}

// state returns the state of the world after all work has ended, without the lines to ignore.
func (c crashCase) state(w *world) []string {
	w.t.Helper()
	if c.settled != nil {
		c.settled(w)
	}
	return slices.DeleteFunc(w.state(), func(line string) bool { return c.ignore != nil && c.ignore.MatchString(line) })
}

// childSettled waits until the child three has done its task, or is idle with a prompt that was
// never delivered.
func childSettled(w *world) {
	waitFor(w.t, "three is at rest", func() bool {
		if a := w.agent("three"); a.State != "idle" {
			return false
		}
		_, err := os.Stat(filepath.Join(w.root, "home/.local/state/paw/launch/shop/three.prompt"))
		return err == nil || w.git(w.repo, "tag", "--list", "afk-shop_three-1") != ""
	})
}

// killedAndRecovered kills the command after a step, runs recover twice, and returns the state of
// the world.
func killedAndRecovered(t *testing.T, c crashCase, at string) []string {
	t.Helper()
	w := newWorld(t)
	w.given(c)
	if out := w.pawWith(c.environment("PAW_TEST_KILL="+at), c.command...); out.code != 137 {
		t.Fatalf("not killed at %s: exit code %d\n%s%s", at, out.code, out.stdout, out.stderr)
	}
	w.ok(w.paw("recover", "--detach"))
	first := c.state(w)
	again := w.ok(w.paw("recover", "--detach"))
	if diff := cmp.Diff(first, c.state(w)); diff != "" {
		t.Errorf("the second recover changed something (-first +second)\n%s%s", diff, again.stdout)
	}
	return first
}

func (w *world) worktree(agent string) string {
	return filepath.Join(w.root, "shop.paw", "shop", agent)
}

// awaitDead waits until the CLIs of agents have died of SIGHUP, which takes a moment.
func (w *world) awaitDead(agents ...string) {
	w.t.Helper()
	for _, agent := range agents {
		waitFor(w.t, agent+" is dead", func() bool {
			out := w.ok(w.paw("status", "--json")).stdout
			return regexp.MustCompile(`"name":"` + agent + `","cli".*?"pid":null`).MatchString(out)
		})
	}
}

// volatile matches texts that differ between two runs: times and ids.
var volatile = regexp.MustCompile(`[0-9]{8}T[0-9]{6}(\.[0-9]+)?Z?|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// state describes everything paw is responsible for, in comparable lines: refs,
// registrations, files with their content, panes, locks, and the record.
func (w *world) state() []string {
	w.t.Helper()
	var agents string
	waitFor(w.t, "all agents that run are idle", func() (atRest bool) {
		agents, atRest = w.agents()
		return atRest
	})
	var lines []string
	add := func(kind, text string) {
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			if line != "" {
				line = strings.ReplaceAll(line, w.root, "ROOT")
				lines = append(lines, kind+" "+volatile.ReplaceAllString(line, "VOLATILE"))
			}
		}
	}
	add("ref", w.git(w.repo, "for-each-ref", "--format=%(refname) %(tree)%(objecttype)"))
	add("worktree", w.git(w.repo, "worktree", "list", "--porcelain"))
	add("main status", w.git(w.repo, "status", "--porcelain", "--ignored"))
	for _, dir := range []string{"shop", "shop.paw"} {
		add("file", w.files(filepath.Join(filepath.Dir(w.repo), dir)))
	}
	add("pane", w.tmux("list-panes", "-a", "-F", "#{session_name} #{@paw_session} #{@paw_agent} #{pane_dead}").stdout)
	add("agent", agents)
	add("record", w.record())
	sort.Strings(lines)
	// After paw was killed between two rescues, the same work may be rescued twice.
	return slices.CompactFunc(lines, func(a, b string) bool { return a == b && strings.Contains(a, "/rescue/") })
}

// files lists the files below dir with a hash of their content, without .git folders.
func (w *world) files(dir string) string {
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			w.t.Error(err)
			return fs.SkipDir
		}
		if d.Name() == ".git" && d.IsDir() {
			return fs.SkipDir
		}
		data, _ := os.ReadFile(path)
		fmt.Fprintf(&b, "%s %s %x\n", path, d.Type(), sha256.Sum256([]byte(strings.ReplaceAll(string(data), w.root, "ROOT"))))
		return nil
	})
	return b.String()
}

// agents lists the agents and their states in paw status, and reports whether all that run are
// idle.
func (w *world) agents() (list string, atRest bool) {
	var b strings.Builder
	atRest = true
	for _, s := range w.view().Sessions {
		for _, a := range s.Agents {
			pane := a.PaneAlive != nil && *a.PaneAlive // a CLI runs there, or its launcher is about to start one
			fmt.Fprintf(&b, "%s %s/%s %s pane=%v running=%v\n", s.Status, s.Name, a.Name, a.State, pane, a.PID != nil)
			atRest = atRest && a.PaneAlive != nil && (a.State == "idle" || a.PID == nil && !pane)
		}
	}
	return b.String(), atRest
}

// record returns the record of the session without fields that differ between runs.
func (w *world) record() string {
	data, err := os.ReadFile(filepath.Join(w.root, "home/.local/share/paw/sessions/shop.json"))
	if err != nil {
		return ""
	}
	var record map[string]any
	if err := json.Unmarshal(data, &record); err != nil {
		w.t.Fatal(err)
	}
	for _, key := range []string{"created_at", "generation", "tmux", "base_commit"} {
		delete(record, key)
	}
	for _, one := range record["worktrees"].([]any) {
		agent := one.(map[string]any)
		for _, key := range []string{"pane_id", "base_commit", "command", "conversation_ids", "transcript_path", "created_at"} {
			delete(agent, key)
		}
	}
	if landings, ok := record["landings"].([]any); ok {
		for _, one := range landings {
			delete(one.(map[string]any), "at")
		}
	}
	out, err := json.MarshalIndent(record, "", " ")
	if err != nil {
		w.t.Fatal(err)
	}
	return string(out)
}

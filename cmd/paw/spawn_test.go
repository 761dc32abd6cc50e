package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// asAgent returns the variables of a command that an agent of session shop runs.
func asAgent(name string, more ...string) []string {
	return append([]string{"PAW_SESSION=shop", "PAW_AGENT=" + name}, more...)
}

// spawn runs paw spawn as an agent.
func (w *world) spawn(parent string, args ...string) spawnJSON {
	w.t.Helper()
	var v spawnJSON
	out := w.ok(w.pawWith(asAgent(parent), append([]string{"spawn", "--json"}, args...)...))
	if err := json.Unmarshal([]byte(out.stdout), &v); err != nil {
		w.t.Fatalf("%v: %s", err, out.stdout)
	}
	return v
}

// tree lists the files of a worktree that are not ignored, with mode and hash, or with the target
// of a link.
func (w *world) tree(dir string) []string {
	w.t.Helper()
	var lines []string
	for _, name := range strings.Split(w.git(dir, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"), "\x00") {
		path := filepath.Join(dir, name)
		info, err := os.Lstat(path)
		if name == "" || err != nil {
			continue // a deleted file that is still in the index
		}
		content, _ := os.ReadFile(path)
		if info.Mode()&os.ModeSymlink != 0 {
			target, _ := os.Readlink(path)
			content = []byte(target)
		}
		lines = append(lines, fmt.Sprintf("%q %s %x", name, info.Mode(), sha256.Sum256(content)))
	}
	slices.Sort(lines)
	return lines
}

// A child begins with all files as its parent has them, committed or not, and the parent's worktree
// stays as it is byte for byte.
func TestSpawnTakesTheWorkAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write(w.repo, ".gitignore", "*.log\n")
	w.write(w.repo, "gone.txt", "gone\n")
	w.write(w.repo, "tool.sh", "#!/bin/sh\n")
	w.write(w.repo, "quiet.txt", "quiet\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "more")
	w.start("one")

	dir := w.worktree("one")
	w.write(dir, "committed.txt", "by one\n")
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", "by one")
	w.write(dir, "README.md", "changed\n")
	w.write(dir, "staged.txt", "staged\n")
	w.git(dir, "add", "staged.txt")
	w.write(dir, "staged.txt", "staged, then changed\n")
	w.git(dir, "mv", "sub/a.txt", "sub/b.txt")
	w.write(dir, "new dir/draft\nwith ü.txt", "not committed\n")
	w.write(dir, "binary", "\x00\xff\r\n\x00")
	w.write(dir, "x.log", "ignored\n")
	w.git(dir, "update-index", "--assume-unchanged", "quiet.txt")
	w.write(dir, "quiet.txt", "changed quietly\n")
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "gone.txt")), os.Chmod(filepath.Join(dir, "tool.sh"), 0o755), os.Symlink("nowhere", filepath.Join(dir, "link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	admin := strings.TrimSpace(w.git(dir, "rev-parse", "--absolute-git-dir"))
	facts := func() []string {
		index, err := os.ReadFile(filepath.Join(admin, "index"))
		if err != nil {
			t.Fatal(err)
		}
		return append(w.tree(dir), fmt.Sprintf("index %x", sha256.Sum256(index)), w.git(dir, "rev-parse", "HEAD"), w.git(dir, "rev-parse", "--symbolic-full-name", "HEAD"), w.files(dir))
	}
	status := w.git(dir, "-c", "core.fsmonitor=false", "--no-optional-locks", "status", "--porcelain")
	before := facts()

	two := w.spawn("one", "--cli", "two=demo", "--prompt", "do: say hello")
	if two.Parent != "one" || two.Branch != "paw/shop/two" || two.Result != "fresh" || two.Snapshot == nil || two.BaseCommit != strings.TrimSpace(w.git(dir, "rev-parse", "HEAD")) {
		t.Errorf("spawned %+v", two)
	}
	if diff := cmp.Diff(before, facts()); diff != "" {
		t.Errorf("the parent's worktree changed:\n%s", diff)
	}
	if got := w.git(dir, "status", "--porcelain"); got != status {
		t.Errorf("git status of the parent: %s, was %s", got, status)
	}
	if diff := cmp.Diff(w.tree(dir), w.tree(two.WorktreePath)); diff != "" {
		t.Errorf("the child has other files (-parent +child):\n%s", diff)
	}
	if got := w.git(two.WorktreePath, "diff", "--cached", "--name-only"); got != "" {
		t.Errorf("the child's index is not as HEAD: %s", got)
	}
	if _, err := os.Lstat(filepath.Join(two.WorktreePath, "x.log")); err == nil {
		t.Error("an ignored file came along")
	}
	// A ref of the child keeps the work when the parent goes on.
	if got := strings.TrimSpace(w.git(w.repo, "for-each-ref", "--format=%(objectname)", "refs/paw/shop_two/start/")); got != *two.Snapshot {
		t.Errorf("refs/paw/shop_two/start has %q, want %s", got, *two.Snapshot)
	}
	if got := strings.TrimSpace(w.git(w.repo, "rev-parse", "afk-shop_two-0")); got != two.BaseCommit {
		t.Errorf("tag 0 of the child is on %s", got)
	}

	// A clean parent needs no snapshot; without --cli a child has its parent's CLI.
	w.git(dir, "update-index", "--no-assume-unchanged", "quiet.txt")
	w.git(dir, "add", "-A")
	w.git(dir, "commit", "-q", "-m", "all of it")
	three := w.spawn("one", "--prompt", "do: say hello")
	if three.Name != "demo" || three.CLI != "demo" || three.Snapshot != nil {
		t.Errorf("spawned %+v", three)
	}
	if refs := w.git(w.repo, "for-each-ref", "refs/paw/shop_demo/start/"); refs != "" {
		t.Errorf("a ref for nothing: %s", refs)
	}
}

// However many children are spawned at once, no more than the limit start, and their names differ.
func TestSpawnsAtOnceKeepTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure("[agents]\nmax_children = 3\n")
	w.start("one")
	made, refused := 0, 0
	for _, out := range w.atOnceWith(asAgent("one"), 6, func(i int) []string { return []string{"spawn", "--prompt", fmt.Sprintf("do: say I am %d", i)} }) {
		switch out.code {
		case 0:
			made++
		case 3:
			refused++
			if !strings.Contains(out.stderr, "agents.max_children is 3: ") || !strings.Contains(out.stderr, "paw: hint: paw stop demo") {
				t.Errorf("refused with %s", out.stderr)
			}
		default:
			t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
		}
	}
	if made != 3 || refused != 3 {
		t.Errorf("%d made and %d refused", made, refused)
	}
	prompts := map[string]bool{}
	for _, a := range w.view().Sessions[0].Agents[1:] {
		w.ready(a.Name)
		turns := w.turnsOf(a.Name)
		if a.Parent == nil || *a.Parent != "one" || len(turns) != 1 || prompts[turns[0].Prompt] {
			t.Errorf("child %+v with turns %+v", a, turns)
			continue
		}
		prompts[turns[0].Prompt] = true
	}
	if len(prompts) != 3 {
		t.Errorf("children with the prompts %v", prompts)
	}
	if left := w.git(w.repo, "branch", "--list", "paw/*"); strings.Count(left, "\n") != 4 {
		t.Errorf("branches:\n%s", left)
	}
	// A child that was stopped makes room for another one.
	w.ok(w.paw("stop", "demo_2"))
	w.spawn("one", "--prompt", "do: say at last")
}

// A spawn that is interrupted, for example by a CLI's time limit for commands, leaves nothing but a
// line in the log of the parent's turn.
func TestInterruptedSpawnLeavesNothing(t *testing.T) {
	t.Parallel()
	w := started(t, "one")
	w.ok(w.paw("send", "one", "do: write draft.txt not committed\ndo: hang"))
	w.awaitFile(filepath.Join(w.worktree("one"), "draft.txt"))
	facts := func() string {
		agents, _ := w.agents()
		refs := regexp.MustCompile(`.*\srefs/paw/shop_one/now\n`).ReplaceAllString(w.git(w.repo, "for-each-ref"), "") // the state that it was in
		return refs + w.git(w.repo, "worktree", "list", "--porcelain") + agents + w.record() +
			w.tmux("list-panes", "-a").stdout + w.files(filepath.Join(w.root, "shop.paw"))
	}
	before := facts()
	out := w.interruptedIn(asAgent("one"), syscall.SIGTERM, "spawn", "--cli", "two=demo", "--prompt", "do: say hello")
	if out.code != 130 || !strings.HasPrefix(out.stderr, "paw: error: interrupted\n") {
		t.Errorf("exit code %d, said %s", out.code, out.stderr)
	}
	if diff := cmp.Diff(before, facts()); diff != "" {
		t.Errorf("left behind:\n%s", diff)
	}
	log, err := os.ReadFile(filepath.Join(w.root, "home/.local/state/paw/turns/shop/one/turn-001-prompt.log"))
	if err != nil || !strings.Contains(string(log), `"children":["two"]`) || !strings.Contains(string(log), "two was not started: ") {
		t.Errorf("the log of the parent's turn: %s %v", log, err)
	}
	if err := os.Remove(filepath.Join(w.repo, ".git/hooks/post-checkout")); err != nil {
		t.Fatal(err)
	}
	if two := w.spawn("one", "--cli", "two=demo", "--prompt", "do: say hello"); two.Snapshot == nil || two.Result != "fresh" {
		t.Errorf("the next try: %+v", two)
	}
}

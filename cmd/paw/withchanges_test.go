package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// dirtied returns a world whose checkout has every kind of uncommitted change.
func dirtied(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(w.repo, ".gitignore", "*.log\n")
	w.write(w.repo, "gone.txt", "gone\n")
	w.write(w.repo, "staged-gone.txt", "gone\n")
	w.write(w.repo, "tool.sh", "#!/bin/sh\n")
	w.write(w.repo, "swap", "a file\n")
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "more")
	w.write(w.repo, "kept.txt", "in a stash\n")
	w.git(w.repo, "stash", "-q", "-u")
	w.write(w.repo, "README.md", "changed\n")
	w.write(w.repo, "staged.txt", "staged\n")
	w.git(w.repo, "add", "staged.txt")
	w.git(w.repo, "mv", "sub/a.txt", "sub/b.txt")
	w.git(w.repo, "rm", "-q", "staged-gone.txt")
	w.write(w.repo, "new dir/draft with ü.txt", "not committed\n")
	w.write(w.repo, "binary", "\x00\xff\r\n\x00")
	w.write(w.repo, "x.log", "ignored\n")
	for _, err := range []error{
		os.Remove(filepath.Join(w.repo, "gone.txt")), os.Chmod(filepath.Join(w.repo, "tool.sh"), 0o755), os.Symlink("nowhere", filepath.Join(w.repo, "link")),
		os.Remove(filepath.Join(w.repo, "swap")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	w.write(w.repo, "swap/inner.txt", "a folder now\n")
	return w
}

// checkout lists everything about the user's checkout that paw must not change.
func (w *world) checkout() []string {
	w.t.Helper()
	index, err := os.ReadFile(filepath.Join(w.repo, ".git/index"))
	if err != nil {
		w.t.Fatal(err)
	}
	return append(w.tree(w.repo), fmt.Sprintf("index %x", sha256.Sum256(index)), w.git(w.repo, "rev-parse", "HEAD"),
		w.git(w.repo, "stash", "list"), w.git(w.repo, "--no-optional-locks", "status", "--porcelain"), w.files(w.repo))
}

func TestWithChangesTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	w := dirtied(t)
	before, head := w.checkout(), w.head(w.repo)
	out := w.ok(w.paw("start", "--cli", "one=demo", "--with-changes", "--dry-run"))
	if !strings.Contains(out.stdout, "hand over what is not committed in "+w.repo+": 12 files") {
		t.Errorf("the plan:\n%s", out.stdout)
	}
	out = w.ok(w.paw("start", "--cli", "one=demo", "--with-changes", "--detach"))
	if !strings.Contains(out.stderr, "12 uncommitted files of "+w.repo+" came along") {
		t.Errorf("start says\n%s%s", out.stdout, out.stderr)
	}
	w.ok(w.paw("add", "--cli", "two=demo", "--with-changes"))
	if diff := cmp.Diff(before, w.checkout()); diff != "" {
		t.Errorf("the checkout changed:\n%s", diff)
	}
	for _, agent := range []string{"one", "two"} {
		w.ready(agent)
		dir := w.worktree(agent)
		if diff := cmp.Diff(w.tree(w.repo), w.tree(dir)); diff != "" {
			t.Errorf("%s has other files (-checkout +agent):\n%s", agent, diff)
		}
		if got := w.git(dir, "diff", "--cached", "--name-only"); got != "" || w.head(dir) != head {
			t.Errorf("%s: HEAD %s, staged %s", agent, w.head(dir), got)
		}
		if _, err := os.Lstat(filepath.Join(dir, "x.log")); err == nil {
			t.Error("an ignored file came along")
		}
		if got := w.ok(w.paw("diff", agent)).stdout; got != "" {
			t.Errorf("%s has done\n%s", agent, got)
		}
	}
}

// TestWithChangesOfWhatWasStaged begins with files that were changed after they were staged: the
// agent gets the files, paw says so, and what is staged is never written over.
func TestWithChangesOfWhatWasStaged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	said := "paw: note: what is staged in " + w.repo + " and was changed since is in the new worktrees as it is now; what is staged stays there alone: git -C " + w.repo + " diff\n"
	was := w.readFile("README.md")
	w.write(w.repo, "README.md", "staged\n")
	w.git(w.repo, "add", "README.md")
	w.write(w.repo, "README.md", was)
	if out := w.ok(w.paw("start", "--cli", "one=demo", "--with-changes", "--dry-run")); !strings.Contains(out.stderr, said) || !strings.Contains(out.stderr, "no file of "+w.repo+" differs from HEAD") {
		t.Errorf("start says\n%s%s", out.stdout, out.stderr)
	}
	w.write(w.repo, "README.md", "changed\n")
	before := w.checkout()
	if out := w.ok(w.paw("start", "--cli", "one=demo", "--with-changes", "--detach")); !strings.Contains(out.stderr, said) {
		t.Errorf("start says\n%s%s", out.stdout, out.stderr)
	}
	w.ready("one")
	dir := w.worktree("one")
	if diff := w.git(dir, "diff"); !strings.HasSuffix(diff, "\n+changed\n") || w.git(dir, "status", "--porcelain") != " M README.md\n" {
		t.Errorf("the agent has\n%s", diff)
	}
	if out := w.paw("land", "one"); out.code != 3 || !strings.Contains(out.stderr, "would write over README.md (changed)") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	if diff := cmp.Diff(before, w.checkout()); diff != "" {
		t.Errorf("the checkout changed:\n%s", diff)
	}
	w.git(w.repo, "add", "README.md")
	w.ok(w.paw("land", "one"))
	if got := w.git(w.repo, "status", "--porcelain") + w.git(w.repo, "show", "HEAD:README.md"); got != "changed\n" {
		t.Errorf("after the landing: %s", got)
	}
}

func sortedLines(text string) []string {
	return slices.Sorted(strings.Lines(text))
}

func TestWithChangesRefusesWhatItCannotTakeWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		args    []string
		code    int
		says    string
	}{
		{name: "merge", code: 3, says: "a merge is not finished there", prepare: func(w *world) {
			w.git(w.repo, "checkout", "-q", "-b", "side")
			w.git(w.repo, "commit", "-q", "--allow-empty", "-m", "side")
			w.git(w.repo, "checkout", "-q", "main")
			w.git(w.repo, "merge", "-q", "--no-ff", "--no-commit", "side")
		}},
		{name: "unmerged", code: 3, says: "a conflict is not resolved there", prepare: func(w *world) {
			w.write(w.repo, "README.md", "mine\n")
			w.git(w.repo, "stash", "-q")
			w.write(w.repo, "README.md", "theirs\n")
			w.git(w.repo, "commit", "-qam", "theirs")
			w.run(w.repo, nil, "git", "stash", "pop")
		}},
		{name: "submodule", code: 3, says: "the submodule module has changes", prepare: func(w *world) {
			w.git(w.root, "clone", "-q", w.repo, "module")
			w.git(w.repo, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", filepath.Join(w.root, "module"), "module")
			w.git(w.repo, "commit", "-qm", "module")
			w.write(w.repo, "module/README.md", "changed inside\n")
		}},
		{name: "branch", code: 2, says: "exists already, and --with-changes makes a new one", args: []string{"--branches", "there"}, prepare: func(w *world) {
			w.git(w.repo, "branch", "there")
			w.write(w.repo, "new.txt", "x\n")
		}},
		{name: "base", code: 2, says: "--with-changes begins at HEAD of the checkout, not at main", args: []string{"--base", "main"}, prepare: func(*world) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			c.prepare(w)
			before := w.checkout()
			out := w.paw(append([]string{"start", "--cli", "demo", "--with-changes", "--detach"}, c.args...)...)
			if out.code != c.code || !strings.Contains(out.stderr, c.says) {
				t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
			}
			if diff := cmp.Diff(before, w.checkout()); diff != "" {
				t.Errorf("the checkout changed:\n%s", diff)
			}
			if got := w.git(w.repo, "for-each-ref", "refs/paw", "refs/tags"); got != "" {
				t.Errorf("it left %s", got)
			}
		})
	}
}

// TestWithChangesLandsWhatIsAsItWas lands on a checkout that still has the files handed over to the
// agent, and takes the landing back.
func TestWithChangesLandsWhatIsAsItWas(t *testing.T) {
	t.Parallel()
	w := dirtied(t)
	w.ok(w.paw("start", "--cli", "one=demo", "--with-changes", "--detach"))
	w.ready("one")
	w.ok(w.paw("send", "one", "do: append README.md more\ndo: write own.txt mine"))
	w.ok(w.paw("wait", "one"))
	if got := w.ok(w.paw("diff", "one", "--stat")).stdout; !strings.Contains(got, "2 files changed, 2 insertions(+)\n") {
		t.Errorf("its own work is\n%s", got)
	}
	before, status := w.files(w.repo), w.git(w.repo, "status", "--porcelain")
	out := w.ok(w.paw("land", "one", "--dry-run"))
	if want := "along comes what you had not committed when one began: 12 files"; !strings.Contains(out.stdout, want) {
		t.Errorf("the plan has no %q:\n%s", want, out.stdout)
	}
	w.write(w.repo, "link2", "of the user\n")
	w.ok(w.paw("land", "one"))
	if got := w.git(w.repo, "status", "--porcelain"); got != "?? link2\n" {
		t.Errorf("after the landing: %s", got)
	}
	if got := w.git(w.repo, "show", "HEAD:README.md") + w.git(w.repo, "show", "HEAD:staged.txt") + w.git(w.repo, "show", "HEAD:swap/inner.txt"); got != "changed\nmore\nstaged\na folder now\n" {
		t.Errorf("landed %q", got)
	}
	if err := os.Remove(filepath.Join(w.repo, "link2")); err != nil {
		t.Fatal(err)
	}
	w.ok(w.paw("land", "--undo"))
	if diff := cmp.Diff(before, w.files(w.repo)); diff != "" {
		t.Errorf("files after the undo (-before +after)\n%s", diff)
	}
	want := strings.NewReplacer("A  ", "?? ", "D  ", " D ", "R  sub/a.txt -> sub/b.txt", " D sub/a.txt\n?? sub/b.txt").Replace(status) // no change is staged any more
	if diff := cmp.Diff(sortedLines(want), sortedLines(w.git(w.repo, "status", "--porcelain"))); diff != "" {
		t.Errorf("status after the undo (-before +after)\n%s", diff)
	}

	// A file that was changed since the start is in the way.
	w.write(w.repo, "staged.txt", "staged, then changed\n")
	if out := w.paw("land", "one"); out.code != 3 || !strings.Contains(out.stderr, "would write over staged.txt (changed)") && !strings.Contains(out.stderr, "would write over staged.txt (untracked)") {
		t.Errorf("exit code %d\n%s", out.code, out.stderr)
	}
	w.write(w.repo, "staged.txt", "staged\n")
	w.git(w.repo, "add", "staged.txt")
	w.ok(w.paw("land", "one"))
	if got := w.git(w.repo, "status", "--porcelain"); got != "" {
		t.Errorf("after the second landing: %s", got)
	}
}

// TestWithChangesOfSeveralLandTogether has two agents work on the same new file, and the user
// commit the file by hand before the third agent lands.
func TestWithChangesOfSeveralLandTogether(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	text := func(first, last string) string {
		return first + "\n" + strings.Repeat("the same\n", 9) + last + "\n"
	}
	w.write(w.repo, "new.txt", text("first", "last"))
	w.ok(w.paw("start", "--cli", "one=demo,two=demo,three=demo", "--with-changes", "--detach"))
	for agent, now := range map[string]string{"one": text("of one", "last"), "two": text("first", "of two")} {
		w.ready(agent)
		w.write(w.worktree(agent), "new.txt", now)
	}
	w.ready("three")
	w.write(w.worktree("three"), "new.txt", strings.Replace(text("first", "last"), "the same\nlast", "of three\nlast", 1))
	if out := w.paw("forecast", "one", "two"); strings.Contains(out.stdout, "conflict") || out.code != 0 {
		t.Errorf("forecast: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	w.ok(w.paw("land", "one", "--remove"))
	w.ok(w.paw("land", "two"))
	if got := w.git(w.repo, "show", "HEAD:new.txt"); got != text("of one", "of two") {
		t.Errorf("landed %q", got)
	}
	w.ok(w.paw("land", "--undo"))
	w.git(w.repo, "reset", "-q", "--hard", "HEAD~1")
	w.write(w.repo, "new.txt", text("first", "last"))
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-qm", "by hand")
	if out := w.ok(w.paw("land", "three", "--dry-run")); strings.Contains(out.stdout, "along") {
		t.Errorf("the plan:\n%s", out.stdout)
	}
	w.ok(w.paw("land", "three"))
	if got := w.git(w.repo, "show", "HEAD:new.txt"); !strings.HasSuffix(got, "the same\nof three\nlast\n") {
		t.Errorf("landed %q", got)
	}
}

// TestWithChangesKilledAfterEveryStep kills paw while it hands changes over, lands them and takes
// the landing back. The user's uncommitted changes are then either in the checkout or in the
// branch, and complete.
func TestWithChangesKilledAfterEveryStep(t *testing.T) {
	t.Parallel()
	dirty := func(w *world) {
		w.write(w.repo, "README.md", "changed\n")
		w.write(w.repo, "new.txt", "new\n")
		w.git(w.repo, "add", "new.txt")
		if err := os.Remove(filepath.Join(w.repo, "sub/a.txt")); err != nil {
			w.t.Fatal(err)
		}
	}
	start := []string{"start", "--cli", "one=demo", "--with-changes", "--detach"}
	worked := func(w *world) {
		dirty(w)
		w.ok(w.paw(start...))
		w.ready("one")
		w.write(w.worktree("one"), "new.txt", "new\nof one\n")
		w.write(w.worktree("one"), "own.txt", "own\n")
	}
	landed := func(w *world) { worked(w); w.ok(w.paw("land", "one")) }
	handed := "README.md changed\n|new.txt new\n|sub/a.txt |"
	done := "README.md changed\n|new.txt new\nof one\n|sub/a.txt |"
	for _, c := range []crashCase{
		{name: "start", prepare: dirty, command: start},
		{name: "land", prepare: worked, command: []string{"land", "one"}},
		{name: "undo", prepare: landed, command: []string{"land", "--undo"}},
	} {
		whole := newWorld(t)
		whole.given(c)
		for _, at := range whole.stepsOf(c) {
			t.Run(c.name+" "+at, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.given(c)
				w.kill(at, c.command...)
				w.ok(w.paw("recover", "--detach"))
				has := ""
				for _, name := range []string{"README.md", "new.txt", "sub/a.txt"} {
					content, _ := os.ReadFile(filepath.Join(w.repo, name))
					has += name + " " + string(content) + "|"
				}
				status := w.git(w.repo, "status", "--porcelain")
				switch {
				case has == done && status == "" && c.name != "start":
				case has == handed && strings.Count(status, "\n") == 3 && !strings.Contains(status, "own.txt"):
				default:
					t.Errorf("killed after %s: the checkout has %q, status\n%s", at, has, status)
				}
				if c.name == "start" {
					w.ready("one")
					if diff := cmp.Diff(w.tree(w.repo), w.tree(w.worktree("one"))); diff != "" {
						t.Errorf("(-checkout +agent)\n%s", diff)
					}
				} else if status != "" {
					w.ok(w.paw("land", "one"))
					if got := w.git(w.repo, "status", "--porcelain"); got != "" {
						t.Errorf("killed after %s, recovered and landed: %s", at, got)
					}
				}
			})
		}
	}
}

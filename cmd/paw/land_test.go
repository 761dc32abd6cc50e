package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// landWorld returns a world with two idle agents; one of them, one, has uncommitted changes of
// every kind.
func landWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(w.repo, "old/name.txt", strings.Repeat("a file that is moved\n", 20))
	w.write(w.repo, "gone.txt", "gone\n")
	w.write(w.repo, "run.sh", "#!/bin/sh\n")
	for _, name := range []string{"name.txt", "gone.txt", "run.sh"} {
		w.write(w.repo, "two/"+name, name+"\n")
	}
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", "second")
	w.start("one", "two")
	w.mixed("one")
	return w
}

// mixed makes every kind of change in an agent's worktree.
func (w *world) mixed(agent string) {
	w.t.Helper()
	dir := w.worktree(agent)
	w.git(dir, "mv", "old/name.txt", "moved.txt")
	w.git(dir, "commit", "-q", "-m", "move it")
	w.write(dir, "new/deep/file.txt", "untracked\n")
	w.write(dir, "sub/a.txt", "changed\n")
	w.git(dir, "rm", "-q", "gone.txt")
	if err := os.Chmod(filepath.Join(dir, "run.sh"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink("README.md", filepath.Join(dir, "link")); err != nil {
		w.t.Fatal(err)
	}
}

// mixedToo makes the same kinds of changes in other files.
func (w *world) mixedToo(agent string) {
	w.t.Helper()
	dir := w.worktree(agent)
	w.write(dir, "README.md", "by two\n")
	w.git(dir, "mv", "two/name.txt", "two/moved.txt")
	w.git(dir, "rm", "-q", "two/gone.txt")
	w.write(dir, "two/untracked.txt", "untracked\n")
	if err := os.Chmod(filepath.Join(dir, "two/run.sh"), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Symlink("../README.md", filepath.Join(dir, "two/link")); err != nil {
		w.t.Fatal(err)
	}
}

// landVolatile matches the fields of the record that differ between two runs of the same landings.
var landVolatile = regexp.MustCompile(`"(at|before|after|state|twin)": "[^"]*"`)

// landed returns the state of the world, without fields that differ between runs, and the index and
// status of the checkout.
func (w *world) landed() []string {
	w.t.Helper()
	var lines []string
	for _, line := range w.state() {
		if strings.HasPrefix(line, "record ") && strings.Contains(line, `"seen_landed": `) { // a landing that was cut short is shown to the user once more
			continue
		}
		if strings.Contains(line, " refs/paw/shop_one/now ") { // the state that a landing looks at stays
			continue
		}
		lines = append(lines, landVolatile.ReplaceAllString(line, `"$1": VOLATILE`))
	}
	return append(lines, "index "+w.git(w.repo, "ls-files", "--stage"), "status "+w.git(w.repo, "status", "--porcelain"))
}

// TestKilledLanding kills land, and land --undo, after each of their steps. After the next recover,
// the landing has either taken place or not, the world is the one of that case, and no change of
// the user is lost.
func TestKilledLanding(t *testing.T) {
	t.Parallel()
	mine := func(w *world) {
		w.write(w.repo, "README.md", "the user's\n")
		w.write(w.repo, "mine.txt", "untracked\n")
		w.write(w.repo, "staged.txt", "staged\n")
		w.git(w.repo, "add", "staged.txt")
	}
	for _, c := range []struct {
		name    string
		prepare func(w *world)
		command []string
	}{
		{"land", mine, []string{"land", "one"}},
		{"commits", mine, []string{"land", "one", "--as", "commits"}},
		{"undo", func(w *world) { mine(w); w.ok(w.paw("land", "one")) }, []string{"land", "--undo"}},
		{"without", func(w *world) {
			mine(w)
			w.ok(w.paw("send", "one", "do: write turn.txt x"))
			w.ok(w.paw("wait", "one"))
			w.ok(w.paw("land", "one"))
		}, []string{"land", "--without", "one@1"}},
		{"nowhere", func(w *world) { w.git(w.repo, "switch", "-q", "--detach") }, []string{"land", "one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := landWorld(t)
			c.prepare(w)
			before, files := w.landed(), w.keep()
			steps := w.stepsOf(crashCase{command: c.command})
			after := w.landed()
			if len(steps) < 3 || cmp.Equal(before, after) {
				t.Fatalf("it did nothing: %q", steps)
			}
			if c.name == "nowhere" { // one world is enough where there is no checkout
				steps = steps[:2]
			}
			for _, at := range steps {
				t.Run(at, func(t *testing.T) {
					w.t = t
					w.putBack(files)
					agent := w.files(w.worktree("one"))
					w.kill(at, c.command...)
					if c.command[1] != "--undo" { // the next land finishes the landing that was cut short
						w.kill(at, c.command...)
					} else { // another --undo would undo another landing
						w.kill("land.finished:1", "recover", "--detach")
					}
					w.kill("land.finished:1", "recover", "--detach")
					w.ok(w.paw("recover", "--detach"))
					got := w.landed()
					if cmp.Equal(got, before) { // the landing has not taken place, so land again
						w.ok(w.paw(c.command...))
						got = w.landed()
					}
					if diff := cmp.Diff(after, got); diff != "" {
						t.Errorf("killed after %s, then recovered: neither landed nor not (-uninterrupted +killed)\n%s", at, diff)
					}
					if diff := cmp.Diff(agent, w.files(w.worktree("one"))); diff != "" {
						t.Errorf("the worktree of the agent has changed:\n%s", diff)
					}
				})
			}
		})
	}
}

// TestEightLandingsAtOnce: of eight agents that land at the same moment, each lands once, on top of
// the others, and the checkout equals the branch.
func TestEightLandingsAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var clis []string
	for i := range 8 {
		clis = append(clis, fmt.Sprintf("a%d=demo", i))
	}
	w.ok(w.paw("start", "--cli", strings.Join(clis, ","), "--detach"))
	for i := range 8 {
		w.ready(fmt.Sprintf("a%d", i))
		w.write(w.worktree(fmt.Sprintf("a%d", i)), fmt.Sprintf("file%d.txt", i), "by an agent\n")
	}
	w.okAll(w.atOnce(8, func(i int) []string { return []string{"land", fmt.Sprintf("a%d", i)} }))
	if n := strings.Count(w.git(w.repo, "log", "--format=%s", "main"), "\n"); n != 9 {
		t.Errorf("main has %d commits, want 9", n)
	}
	w.hasStatus(w.repo, "")
	if n := strings.Count(w.git(w.repo, "ls-files", "file*"), "\n"); n != 8 {
		t.Errorf("%d files landed, want 8", n)
	}
}

// TestTargetThatMovesMeanwhile: another commit reaches the branch after a landing has looked at the
// branch and before the landing moves it.
func TestTargetThatMovesMeanwhile(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	commit := "git -C " + w.repo + " update-ref refs/heads/main $(git -C " + w.repo + " commit-tree main^{tree} -p main -m theirs) && " +
		"git -C " + w.repo + " reset -q"
	w.ok(w.pawWith([]string{"PAW_TEST_AT=land.recorded", "PAW_TEST_DO=" + commit}, "land", "one"))
	if got := w.git(w.repo, "log", "--format=%s", "main"); !strings.HasSuffix(got, "theirs\nsecond\nfirst\n") || strings.Count(got, "\n") != 4 {
		t.Errorf("main is\n%s", got)
	}
	w.hasStatus(w.repo, "")
	if left := strings.Count(w.git(w.repo, "for-each-ref", "refs/paw/shop_one/landed"), "\n"); left != 4 {
		t.Errorf("%d refs of landings, want those of one", left)
	}
}

// TestLandsAsAThreeWayMerge: in every form of landing, the landed tree equals git's own three-way
// merge, the agents' worktrees stay as they are byte for byte, and the user's hooks and line-end
// settings do not matter.
func TestLandsAsAThreeWayMerge(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"squash", "commits", "merge", "squash, all"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			w := landWorld(t)
			form, way, _ := strings.Cut(how, ", ")
			w.mixedToo("two")
			w.write(w.repo, "main.txt", "main goes on\n")
			w.git(w.repo, "add", "-A")
			w.git(w.repo, "commit", "-q", "-m", "third")
			w.git(w.repo, "config", "core.autocrlf", "true")
			for _, hook := range []string{"pre-commit", "commit-msg", "post-commit", "post-checkout", "post-merge", "pre-merge-commit"} {
				w.script(w.repo, ".git/hooks/"+hook, "#!/bin/sh\necho ran >> "+w.root+"/hooks\nexit 1\n")
			}
			want := w.mergedTree("one", "two")
			before := w.files(w.worktree("one")) + w.files(w.worktree("two")) + w.gitDirs()
			if way == "all" {
				w.ok(w.paw("land", "--all"))
			} else {
				for _, agent := range []string{"one", "two"} {
					w.ok(w.paw("land", agent, "--as", form))
				}
			}
			if got := strings.TrimSpace(w.git(w.repo, "rev-parse", "main^{tree}")); got != want {
				t.Errorf("main has the tree %s, want %s", got, want)
			}
			w.hasStatus(w.repo, "")
			if diff := cmp.Diff(before, w.files(w.worktree("one"))+w.files(w.worktree("two"))+w.gitDirs()); diff != "" {
				t.Errorf("the worktrees of the agents have changed:\n%s", diff)
			}
			if _, err := os.Stat(w.root + "/hooks"); err == nil {
				t.Error("a hook has run")
			}
			if way == "all" { // in the order of the forecast
				return
			}
			subjects := map[string]string{
				"squash":  "README.md, two/gone.txt, 5 other files\nmove it\nthird\n",
				"commits": "README.md, two/gone.txt, 5 other files\ngone.txt, link, 3 other files\nmove it\nthird\n",
				"merge":   "README.md, two/gone.txt, 5 other files\nmove it\nthird\n",
			}
			if got := w.git(w.repo, "log", "--first-parent", "--format=%s", "main"); !strings.HasPrefix(got, subjects[form]) {
				t.Errorf("main is\n%s", got)
			}
			w.git(w.repo, "fsck", "--no-progress")
			// A later landing has the earlier one as its base.
			w.write(w.worktree("one"), "sub/a.txt", "changed again\n")
			w.ok(w.paw("land", "one", "--as", form))
			if got := w.git(w.repo, "show", "main:sub/a.txt"); got != "changed again\n" {
				t.Errorf("it landed %q", got)
			}
		})
	}
}

// mergedTree returns the tree of main after git has merged all files of each agent.
func (w *world) mergedTree(agents ...string) string {
	w.t.Helper()
	clone := filepath.Join(w.root, "clone")
	w.git(w.root, "clone", "-q", "--branch", "main", w.repo, clone)
	for _, agent := range agents {
		w.git(clone, "fetch", "-q", w.repo, "paw/shop/"+agent)
		w.git(clone, "switch", "-q", "-c", agent, "FETCH_HEAD")
		w.git(clone, "rm", "-rq", "--ignore-unmatch", ".")
		if out := w.run(w.root, nil, "cp", "-a", w.worktree(agent)+"/.", clone+"/x"); out.code != 0 {
			w.t.Fatal(out.stderr)
		}
		os.Remove(clone + "/x/.git")
		if out := w.run(clone, nil, "sh", "-c", "cp -a x/. . && rm -r x"); out.code != 0 {
			w.t.Fatal(out.stderr)
		}
		w.git(clone, "add", "-A")
		w.git(clone, "commit", "-q", "-m", agent)
		w.git(clone, "switch", "-q", "main")
		w.git(clone, "merge", "-q", "--no-edit", agent)
	}
	return strings.TrimSpace(w.git(clone, "rev-parse", "HEAD^{tree}"))
}

// gitDirs lists the files in the git directories of the worktrees.
func (w *world) gitDirs() string {
	return w.files(filepath.Join(w.repo, ".git/worktrees"))
}

// TestLandingIsSigned: with commit.gpgSign each commit on the user's branch is signed, and if
// signing fails, no branch moves.
func TestLandingIsSigned(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	signer := filepath.Join(w.root, "signer")
	w.script(w.root, "signer", "#!/bin/sh\nexit 1\n")
	w.git(w.repo, "config", "commit.gpgSign", "true")
	w.git(w.repo, "config", "gpg.program", signer)
	head := w.git(w.repo, "rev-parse", "main")
	if out := w.paw("land", "one"); out.code != 1 || !strings.Contains(out.stderr, "sign") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if got := w.git(w.repo, "rev-parse", "main"); got != head {
		t.Error("main has moved")
	}
	w.script(w.root, "signer", "#!/bin/sh\ncat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----'\n")
	w.ok(w.paw("land", "one"))
	if got := w.git(w.repo, "cat-file", "commit", "main"); !strings.Contains(got, "gpgsig") {
		t.Errorf("not signed:\n%s", got)
	}
}

// TestOddSettings: the user's git settings do not change what lands, no hooks run except those for
// refs, and the files of the checkout are written as git would write them there.
func TestOddSettings(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	w.script(w.root, "signer", "#!/bin/sh\ncat >/dev/null; echo '[GNUPG:] SIG_CREATED ' >&2; echo '-----BEGIN PGP SIGNATURE-----\n\nx\n-----END PGP SIGNATURE-----'\n")
	for _, hook := range []string{"pre-commit", "commit-msg", "prepare-commit-msg", "post-commit", "post-checkout", "post-merge", "pre-merge-commit", "post-rewrite", "post-index-change"} {
		w.script(w.root, "hooks/"+hook, "#!/bin/sh\necho "+hook+" >> "+w.root+"/ran\nexit 1\n")
	}
	w.write(w.root, "settings", `
[core]
	autocrlf = true
	safecrlf = true
	hooksPath = `+w.root+`/hooks
	quotePath = false
	untrackedCache = true
	editor = false
[commit]
	gpgSign = true
	template = /nonexistent
	cleanup = scissors
[gpg]
	program = `+w.root+`/signer
[color]
	ui = always
[diff]
	external = false
	noprefix = true
	renames = false
	mnemonicPrefix = true
	orderFile = /nonexistent
[log]
	showSignature = true
[merge]
	conflictStyle = diff3
	ff = only
	log = true
	verifySignatures = true
[status]
	showUntrackedFiles = no
	relativePaths = true
[index]
	version = 4
[feature]
	manyFiles = true
[i18n]
	commitEncoding = latin1
[rerere]
	enabled = true
[user]
	useConfigOnly = true
[tag]
	gpgSign = true
[push]
	default = nothing
`)
	odd := []string{"GIT_CONFIG_GLOBAL=" + filepath.Join(w.root, "settings")}
	want := w.mergedTree("one")
	plainly := w.files(w.worktree("one"))
	w.ok(w.pawWith(odd, "land", "one", "--message", "Größe"))
	if got := strings.TrimSpace(w.git(w.repo, "rev-parse", "main^{tree}")); got != want {
		t.Errorf("main has the tree %s, want %s", got, want)
	}
	for name, content := range map[string]string{"sub/a.txt": "changed\r\n", "new/deep/file.txt": "untracked\r\n"} {
		if got := w.readFile(name); got != content {
			t.Errorf("%s is %q in the checkout", name, got)
		}
	}
	out := w.run(w.repo, odd, "git", "-c", "core.hooksPath=/dev/null", "-c", "status.showUntrackedFiles=all", "-c", "color.ui=false", "status", "--porcelain")
	if out.code != 0 || out.stdout != "" {
		t.Errorf("git status says %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	if got := w.git(w.repo, "cat-file", "commit", "main"); !strings.Contains(got, "gpgsig") || !strings.Contains(got, "Größe") {
		t.Errorf("the commit is\n%s", got)
	}
	w.ok(w.pawWith(odd, "forecast"))
	w.ok(w.pawWith(odd, "update", "two"))
	if got := w.git(w.worktree("two"), "rev-parse", "HEAD"); got != w.git(w.repo, "rev-parse", "main") {
		t.Errorf("two is at %s", got)
	}
	w.ok(w.pawWith(odd, "land", "--undo"))
	if got := w.git(w.repo, "log", "--format=%s", "main"); got != "second\nfirst\n" {
		t.Errorf("main is\n%s", got)
	}
	if diff := cmp.Diff(plainly, w.files(w.worktree("one"))); diff != "" {
		t.Errorf("the worktree of the agent has changed:\n%s", diff)
	}
	if ran, err := os.ReadFile(w.root + "/ran"); err == nil {
		t.Errorf("hooks have run:\n%s", ran)
	}
}

// TestLandingWaitsForNothingOpen: a landing is refused while a rebase or merge is unfinished, the
// agent's worktree is on another branch or has an embedded repository, or another git holds the
// index.
func TestLandingWaitsForNothingOpen(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	refused := func(what, says string) {
		t.Helper()
		head := w.git(w.repo, "rev-parse", "main")
		if out := w.paw("land", "one"); out.code != 3 || !strings.Contains(out.stderr, says) {
			t.Errorf("%s: exit code %d\n%s%s", what, out.code, out.stdout, out.stderr)
		}
		if got := w.git(w.repo, "rev-parse", "main"); got != head {
			t.Errorf("%s: main has moved", what)
		}
	}
	w.git(w.repo, "branch", "other")
	w.write(w.repo, "README.md", "main\n")
	w.git(w.repo, "commit", "-qam", "main")
	for _, step := range []struct{ command, what string }{{"rebase", "a rebase is not finished there"}, {"merge", "a merge is not finished there"}} {
		w.run(w.repo, nil, "sh", "-c", "git switch -q other && echo other > README.md && git commit -qam other; git switch -q main; git "+step.command+" other")
		refused(step.command, step.what)
		w.run(w.repo, nil, "git", step.command, "--abort")
	}
	w.git(w.worktree("one"), "switch", "-q", "-c", "elsewhere")
	refused("another branch", "its worktree is on elsewhere, and not on its branch paw/shop/one")
	w.git(w.worktree("one"), "switch", "-q", "paw/shop/one")
	w.git(w.worktree("one"), "init", "-q", "embedded")
	refused("embedded", "cannot be taken as it is: embedded, a repository of its own, has changes or commits that nothing else has")
	os.RemoveAll(w.worktree("one") + "/embedded")
	w.write(w.repo, ".git/index.lock", "")
	if out := w.paw("land", "one"); out.code != 11 || !strings.Contains(out.stderr, "the index is locked by another git") || !strings.Contains(out.stderr, "hint: paw land one") {
		t.Errorf("index.lock: exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
	os.Remove(w.repo + "/.git/index.lock")
	w.ok(w.paw("land", "one"))
}

// TestHostileNames lands file and branch names, prompts and messages that have a meaning to git, a
// shell or a terminal.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	w := landWorld(t)
	names := []string{"-rf", "a b", "quo'te", "dollar $HOME", "back\\slash", "ü", "*", ":(top)x", "new\nline", "tab\t", "\x1b[31mred", "x;y", "\xff"}
	for _, name := range names {
		w.write(w.worktree("one"), name, "hostile\n")
	}
	w.git(w.repo, "switch", "-q", "-c", "feat/ü;$(id)")
	out := w.ok(w.paw("land", "one", "--into", "feat/ü;$(id)", "--message", "-m \x1b[31m $(id)\n\nSigned-off-by: nobody", "--json"))
	var view landJSON
	if err := json.Unmarshal([]byte(out.stdout), &view); err != nil || len(view.Landings) != 1 {
		t.Fatalf("%v: %s", err, out.stdout)
	}
	for _, name := range names {
		if data, err := os.ReadFile(filepath.Join(w.repo, name)); err != nil || string(data) != "hostile\n" {
			t.Errorf("%q: %q, %v", name, data, err)
		}
	}
	w.hasStatus(w.repo, "")
	w.write(w.repo, "new\nline", "the user's\n")
	w.git(w.repo, "commit", "-qam", "\x1b[31mtitle")
	w.write(w.worktree("one"), "new\nline", "the agent's\n")
	if out := w.paw("land", "one", "--into", "feat/ü;$(id)"); out.code != 8 || strings.Contains(out.stdout+out.stderr, "\x1b") {
		t.Errorf("exit code %d\n%s%s", out.code, out.stdout, out.stderr)
	}
}

func (w *world) readFile(name string) string {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

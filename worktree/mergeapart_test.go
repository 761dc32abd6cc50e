package worktree

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/objects"

	"github.com/google/go-cmp/cmp"
)

// withoutMergeTree makes git refuse what it learnt in 2.38 and 2.39.
func withoutMergeTree(t *testing.T) {
	t.Helper()
	shimmed(t, `case "$*" in *merge-tree*--stdin*) echo 'usage: git merge-tree <base-tree> <branch1> <branch2>' >&2; exit 129;; esac`)
}

// merges are pairs of sides that both begin at the first commit: what each of them does there.
var merges = map[string][2]string{
	"clean":             {"echo x > x", "echo y > y; echo more >> dir/b.txt"},
	"one side":          {"true", "git rm -q a.txt; echo y > y"},
	"same lines":        {"echo ours > a.txt", "echo theirs > a.txt"},
	"same change":       {"echo both > a.txt", "echo both > a.txt"},
	"changed, deleted":  {"git rm -q a.txt", "echo theirs > a.txt"},
	"renamed, changed":  {"git mv long.txt moved.txt", "echo more >> long.txt"},
	"renamed twice":     {"git mv long.txt one.txt", "git mv long.txt two.txt"},
	"folder renamed":    {"git mv many lots", "echo new > many/new.txt"},
	"file and folder":   {"echo ours > x", "mkdir x; echo theirs > x/y"},
	"modes":             {"chmod +x a.txt", "echo theirs > a.txt"},
	"mode conflict":     {"echo x > x; chmod +x x", "echo x > x; ln -s a.txt link"},
	"symlinks":          {"ln -s a.txt link", "ln -s dir link"},
	"binary":            {"printf 'a\\0ours' > x", "printf 'a\\0theirs' > x"},
	"odd names":         {"echo ours > 'new\nline'; echo ours > '-x'", "echo theirs > 'new\nline'; echo y > ü"},
	"attributes":        {"echo ours > many/a.log", "echo theirs > many/a.log"},
	"driver":            {"echo ours > a.cfg", "echo theirs > a.cfg"},
	"line ends":         {"printf 'one\\r\\nx\\r\\n' > a.txt", "echo two >> dir/b.txt"},
	"case alone":        {"echo ours > README", "echo theirs > readme"},
	"submodule":         {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib", "echo theirs > y"},
	"submodule twice":   {"git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),lib", "git update-index --add --cacheinfo 160000,$(git rev-parse HEAD^),lib"},
	"all of it already": {"git merge -q --no-edit theirs", "echo y > y"},
}

// mergeWorld has the two sides of each merge as commits.
func mergeWorld(t *testing.T) (w *world, sides map[string][2]string) {
	t.Helper()
	w = newWorld(t)
	w.write("long.txt", strings.Repeat("a line that stays\n", 30))
	w.write("a.cfg", "base\n")
	w.write(".gitattributes", "*.cfg merge=ours\n")
	w.write("many/.gitattributes", "*.log merge=union\n")
	for _, name := range []string{"1", "2", "3", "4"} {
		w.write("many/"+name, strings.Repeat(name+"\n", 20))
	}
	w.commit("base")
	w.git("config", "merge.ours.driver", "true")
	sides = map[string][2]string{}
	for name, scripts := range merges {
		var commits [2]string
		for _, k := range []int{1, 0} { // theirs first: ours may have it
			w.git("checkout", "-q", "--detach", "main")
			shellIn(t, w.Dir, scripts[k])
			w.git("add", "-A", "--", ":!lib")
			if w.git("status", "--porcelain", "--ignore-submodules=none") != "" {
				w.git("commit", "-q", "-m", name)
			}
			commits[k] = w.git("rev-parse", "HEAD")
			if k == 1 {
				w.git("branch", "-q", "-f", "theirs")
			}
			w.git("checkout", "-q", "-f", "main")
		}
		sides[name] = commits
	}
	w.git("branch", "-q", "-D", "theirs")
	return w, sides
}

// TestMergesWithAnOlderGit: git merge in a folder of its own comes to the same trees and conflicts as git merge-tree, and leaves
// nothing but objects.
func TestMergesWithAnOlderGit(t *testing.T) {
	w, sides := mergeWorld(t)
	var pairs [][2]string
	var names []string
	for name, pair := range sides {
		names, pairs = append(names, name), append(pairs, pair)
	}
	want, err := w.m.Objects().MergePairs(t.Context(), w.Dir, pairs)
	if err != nil {
		t.Fatal(err)
	}
	settings := filepath.Join(realTemp(t), "config")
	writeFile(t, settings, "[rerere]\nenabled = true\nautoUpdate = true\n[merge]\nff = only\nverifySignatures = true\nautoStash = true\nlog = true\n"+
		"[commit]\ngpgSign = true\n[core]\nautocrlf = true\nsparseCheckout = true\nhooksPath = /nonexistent\n[user]\nuseConfigOnly = true\n")
	before := w.git("for-each-ref") + w.git("worktree", "list") + w.git("status", "--porcelain", "--ignored") + w.git("ls-files", "--stage")
	t.Setenv("GIT_CONFIG_GLOBAL", settings)
	temp := realTemp(t)
	t.Setenv("TMPDIR", temp)
	withoutMergeTree(t)
	reader, drop, err := w.m.WithScratch()
	if err != nil {
		t.Fatal(err)
	}
	merged, err := reader.Objects().MergePairs(t.Context(), w.Dir, pairs)
	if err != nil || len(merged) != len(pairs) {
		t.Fatalf("%d merges, %v", len(merged), err)
	}
	counts, err := reader.Objects().Changes(t.Context(), [][2]string{{pairs[0][0], merged[0].Tree}})
	if err != nil || len(counts) != 1 {
		t.Errorf("%v, %v", counts, err)
	}
	for i, got := range merged {
		if len(want[i].Conflicts) > 0 { // its markers, and names that git makes up, name the sides in other words
			got.Tree, got.Moved, got.Renamed = want[i].Tree, want[i].Moved, want[i].Renamed
			for k := range got.Conflicts {
				got.Conflicts[k] = strings.ReplaceAll(got.Conflicts[k], "~HEAD", "~"+pairs[i][0])
			}
		}
		if diff := cmp.Diff(want[i], got); diff != "" {
			t.Errorf("%s: (-merge-tree +merge)\n%s", names[i], diff)
		}
	}
	drop()
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left %v", left)
	}
	t.Setenv("GIT_CONFIG_GLOBAL", "/dev/null")
	after := w.git("for-each-ref") + w.git("worktree", "list") + w.git("status", "--porcelain", "--ignored") + w.git("ls-files", "--stage")
	if after != before {
		t.Errorf("the repository has changed:\n%s", cmp.Diff(before, after))
	}
	for _, name := range []string{"MERGE_HEAD", "rr-cache", "AUTO_MERGE", "MERGE_MSG"} {
		if disk.Exists(filepath.Join(w.Dir, ".git", name)) {
			t.Errorf("it has left %s", name)
		}
	}
}

// TestMergeWithAnOlderGitSaysWhatFailed: what git refuses is an error, and no conflict.
func TestMergeWithAnOlderGitSaysWhatFailed(t *testing.T) {
	w := newWorld(t)
	unrelated := w.git("commit-tree", "main^{tree}", "-m", "another root")
	for _, older := range []bool{false, true} {
		if older {
			withoutMergeTree(t)
		}
		if got, err := w.m.Objects().MergeTree(t.Context(), w.Dir, w.base, unrelated); !errors.Is(err, objects.ErrUnrelated) {
			t.Errorf("older %t: %+v, %v", older, got, err)
		}
	}
}

func shellIn(t *testing.T, dir, script string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-ec", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
}

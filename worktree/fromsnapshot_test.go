package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"

	"github.com/google/go-cmp/cmp"
)

const fromRescue = "refs/paw/s_heir/rescue/1"

// heir makes a worktree from what a turn left: edited, deleted, new, moved and
// renamed files, and the snapshot of that. It returns both plans.
func (w *world) heir() (source, heir Plan, snapshot string) {
	w.t.Helper()
	w.write("gone.txt", "gone\n")
	w.write("run.sh", "#!/bin/sh\n")
	w.write("swap", "a file\n")
	w.write("fold/inner.txt", "inner\n")
	w.write(".gitignore", "*.log\n")
	w.commit("more")
	source = w.made("source")
	for name, content := range map[string]string{
		"a.txt": "edited\n", "new/deep/untracked.txt": "untracked\n", "ignored.log": "not saved\n", "with space and ü.txt": "x\n", "-dash": "d\n",
	} {
		writeFile(w.t, filepath.Join(source.Path, name), content)
	}
	w.check(
		os.Remove(filepath.Join(source.Path, "gone.txt")),
		os.Chmod(filepath.Join(source.Path, "run.sh"), 0o755),
		os.Remove(filepath.Join(source.Path, "swap")),
		os.RemoveAll(filepath.Join(source.Path, "fold")),
		os.Symlink("a.txt", filepath.Join(source.Path, "fold")),
	)
	writeFile(w.t, filepath.Join(source.Path, "swap", "now-a-folder.txt"), "y\n")
	gitIn(w.t, source.Path, "add", "a.txt", "new") // what was staged is uncommitted, too
	shot, err := w.m.Snapshots().Take(w.t.Context(), source.Path, shotRef, "turn 1")
	if err != nil {
		w.t.Fatal(err)
	}
	return source, w.made("heir"), shot.Commit
}

func (w *world) check(errs ...error) {
	w.t.Helper()
	for _, err := range errs {
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// plainTree is tree without times and without git's own file.
func plainTree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := tree(t, dir)
	delete(found, ".git")
	for name, is := range found {
		if fields := strings.SplitN(is, " ", 3); len(fields) == 3 {
			found[name] = fields[0] + " " + fields[2]
		}
	}
	return found
}

func TestFromSnapshotPutsTheFilesBack(t *testing.T) {
	w := newWorld(t)
	source, heir, snapshot := w.heir()
	head, index := gitIn(t, heir.Path, "rev-parse", "HEAD"), gitIn(t, heir.Path, "ls-files", "--stage")
	rescued, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue)
	if err != nil || rescued {
		t.Fatalf("rescued %v, %v", rescued, err)
	}
	want := plainTree(t, source.Path)
	delete(want, "ignored.log")
	if diff := cmp.Diff(want, plainTree(t, heir.Path)); diff != "" {
		t.Errorf("the files differ (-source +heir)\n%s", diff)
	}
	if got := gitIn(t, heir.Path, "rev-parse", "HEAD"); got != head {
		t.Errorf("HEAD moved to %s", got)
	}
	if diff := cmp.Diff(index, gitIn(t, heir.Path, "ls-files", "--stage")); diff != "" {
		t.Errorf("the index changed\n%s", diff)
	}
	status := gitIn(t, heir.Path, "-c", "core.quotePath=false", "status", "--porcelain")
	for _, line := range []string{" M a.txt", "?? new/", " D gone.txt", " M run.sh", "?? -dash", `?? "with space and ü.txt"`} {
		if !strings.Contains(status+"\n", line+"\n") {
			t.Errorf("status has no %q:\n%s", line, status)
		}
	}
	if refs := w.git("for-each-ref", "refs/paw/s_heir"); refs != "" {
		t.Errorf("rescued what was not in danger: %s", refs)
	}
}

func TestFromSnapshotRunsOnce(t *testing.T) {
	w := newWorld(t)
	_, heir, snapshot := w.heir()
	if _, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(heir.Path, "a.txt"), "by the heir\n")
	before := tree(t, heir.Path)
	if _, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, tree(t, heir.Path)); diff != "" {
		t.Errorf("a second call changed files\n%s", diff)
	}
}

// A call that was killed has put some files back and marked nothing.
func TestFromSnapshotGoesOnAfterAKill(t *testing.T) {
	w := newWorld(t)
	source, heir, snapshot := w.heir()
	writeFile(t, filepath.Join(heir.Path, "a.txt"), "edi") // torn
	w.check(os.Remove(filepath.Join(heir.Path, "gone.txt")))
	writeFile(t, filepath.Join(heir.Path, "by-a-human.txt"), "mine\n")
	rescued, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue)
	if err != nil || !rescued {
		t.Fatalf("rescued %v, %v", rescued, err)
	}
	if kept := w.files(fromRescue); kept["a.txt"] != "edi" || kept["by-a-human.txt"] != "mine\n" {
		t.Errorf("rescued %q", kept)
	}
	want := plainTree(t, source.Path)
	delete(want, "ignored.log")
	got := plainTree(t, heir.Path)
	if got["by-a-human.txt"] == "" {
		t.Error("a file of nobody's snapshot is gone")
	}
	delete(got, "by-a-human.txt")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the files differ (-source +heir)\n%s", diff)
	}
}

// Killed after the last file: nothing is in danger, so nothing is rescued.
func TestFromSnapshotKnowsItsOwnFiles(t *testing.T) {
	w := newWorld(t)
	_, heir, snapshot := w.heir()
	if _, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue); err != nil {
		t.Fatal(err)
	}
	w.check(os.Remove(restoredMark(gitIn(t, heir.Path, "rev-parse", "--absolute-git-dir"))))
	rescued, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue)
	if err != nil || rescued {
		t.Errorf("rescued %v, %v", rescued, err)
	}
	if refs := w.git("for-each-ref", "refs/paw/s_heir"); refs != "" {
		t.Errorf("left %s", refs)
	}
}

func TestFromSnapshotRunsNoHook(t *testing.T) {
	w := newWorld(t)
	_, heir, snapshot := w.heir()
	w.hook("post-checkout", "touch "+filepath.Join(w.Side, "hook-ran"))
	if _, err := w.m.Moves().FromSnapshot(t.Context(), heir.Path, snapshot, fromRescue); err != nil {
		t.Fatal(err)
	}
	if disk.Exists(filepath.Join(w.Side, "hook-ran")) {
		t.Error("the post-checkout hook ran")
	}
}

func TestFromSnapshotRefusesAnotherDirectory(t *testing.T) {
	w := newWorld(t)
	_, _, snapshot := w.heir()
	before := tree(t, w.Dir)
	if _, err := w.m.Moves().FromSnapshot(t.Context(), w.Dir, snapshot, fromRescue); err == nil {
		t.Error("restored into the main checkout")
	}
	if diff := cmp.Diff(before, tree(t, w.Dir)); diff != "" {
		t.Errorf("changed the main checkout\n%s", diff)
	}
}

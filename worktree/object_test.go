package worktree

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/gitdir"
)

// TestBlobsHaveTheIDThatIsForetold keeps texts and compares their ids, in both formats.
func TestBlobsHaveTheIDThatIsForetold(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := realTemp(t)
		gitIn(t, dir, "init", "-q", "--object-format="+format)
		m := Manager{Repository: gitdir.Repository{CommonDir: filepath.Join(dir, ".git"), Path: dir}}
		for _, text := range []string{"", "one", strings.Repeat("many lines\n", 10_000), "\x00\xff"} {
			foretold, err := m.Objects().BlobID(text)
			if err != nil {
				t.Fatal(err)
			}
			if oid, err := m.Objects().KeepBlob(t.Context(), text); err != nil || oid != foretold {
				t.Errorf("%s: the id is %s, foretold was %s; %v", format, oid, foretold, err)
			}
		}
	}
}

func TestObjectsInPacksAreFound(t *testing.T) {
	w := newWorld(t)
	for n := range 40 {
		w.write(fmt.Sprintf("f%d", n), fmt.Sprint(n))
		w.commit(fmt.Sprint(n))
	}
	all := strings.Fields(w.git("rev-list", "--objects", "--no-object-names", "--all"))
	w.git("repack", "-q", "-a", "-d")
	w.git("prune-packed")
	for _, oid := range all {
		if disk.Exists(looseObject(w.m.Repository.CommonDir, oid)) {
			t.Fatalf("%s is not packed", oid)
		}
		if !hasObject(w.m.Repository.CommonDir, oid) {
			t.Errorf("%s is not found", oid)
		}
		for _, other := range []string{oid[1:] + "0", "f" + oid[:39], oid[:39]} {
			if !strings.Contains(strings.Join(all, " "), other) && hasObject(w.m.Repository.CommonDir, other) {
				t.Errorf("%s is found", other)
			}
		}
	}
}

// TestCommitIsTheOneThatGitMakes compares a commit of paw with git's own of the same tree, parents, time and message.
func TestCommitIsTheOneThatGitMakes(t *testing.T) {
	w := newTurns(t, "")
	second := w.commit("second")
	l, err := w.m.Snapshots().lookAt(t.Context(), w.p.Path, filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent"), realTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.drop()
	tree := w.git("rev-parse", second+"^{tree}")
	for _, at := range []string{"", "2024-01-02T03:04:05+05:30"} {
		w.wantGitsCommit(l, tree, second, at)
	}
}

// wantGitsCommit makes a commit at the time that the user asks for, and has git make it again.
func (w *turns) wantGitsCommit(l *look, tree, parent, at string) {
	t := w.t
	t.Helper()
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_DATE", at)
	}
	count := counting(t)
	commit, err := l.commit(t.Context(), tree, "what\n\nand more\n", parent)
	if err != nil {
		t.Fatal(err)
	}
	wantCount(t, "commit", count(), 1)
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_DATE", w.git("log", "-1", "--format=%ad", "--date=raw", commit))
		t.Setenv("GIT_"+name+"_NAME", "paw")
		t.Setenv("GIT_"+name+"_EMAIL", snapshotEmail)
	}
	if want := w.git("commit-tree", tree, "-p", l.head, "-p", parent, "-m", "what\n\nand more"); commit != want {
		t.Errorf("the commit is\n%s\nwant\n%s", w.git("cat-file", "-p", commit), w.git("cat-file", "-p", want))
	}
}

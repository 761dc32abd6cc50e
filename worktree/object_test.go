package worktree

import (
	"path/filepath"
	"testing"

	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// TestCommitIsTheOneThatGitMakes compares a commit of paw with git's own of the same tree, parents, time and message.
func TestCommitIsTheOneThatGitMakes(t *testing.T) {
	w := newTurns(t, "")
	second := w.commit("second")
	l, err := w.m.Snapshots().LookAt(t.Context(), w.p.Path, filepath.Join(w.m.Repository.CommonDir, "worktrees", "agent"), realTemp(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Drop()
	tree := w.git("rev-parse", second+"^{tree}")
	for _, at := range []string{"", "2024-01-02T03:04:05+05:30"} {
		w.wantGitsCommit(l, tree, second, at)
	}
}

// wantGitsCommit makes a commit at the time that the user asks for, and has git make it again.
func (w *turns) wantGitsCommit(l *snapshot.Look, tree, parent, at string) {
	t := w.t
	t.Helper()
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_DATE", at)
	}
	count := counting(t)
	commit, err := l.Commit(t.Context(), tree, "what\n\nand more\n", parent)
	if err != nil {
		t.Fatal(err)
	}
	wantCount(t, "commit", count(), 1)
	for _, name := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+name+"_DATE", w.git("log", "-1", "--format=%ad", "--date=raw", commit))
		t.Setenv("GIT_"+name+"_NAME", "paw")
		t.Setenv("GIT_"+name+"_EMAIL", objects.Email)
	}
	if want := w.git("commit-tree", tree, "-p", l.Head, "-p", parent, "-m", "what\n\nand more"); commit != want {
		t.Errorf("the commit is\n%s\nwant\n%s", w.git("cat-file", "-p", commit), w.git("cat-file", "-p", want))
	}
}

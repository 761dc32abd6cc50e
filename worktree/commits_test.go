package worktree

import (
	"context"
	"testing"

	"paw/worktree/objects"

	"github.com/google/go-cmp/cmp"
)

func TestWork(t *testing.T) {
	w := newWorld(t)
	base := w.git("rev-parse", "HEAD")
	w.git("config", "log.showSignature", "true")
	w.git("config", "log.decorate", "full")
	w.git("config", "color.ui", "always")
	w.git("config", "log.date", "relative")
	for _, title := range []string{"one", "two", "three: ä"} {
		w.write("file", title)
		w.commit(title)
	}
	commit := w.git("rev-parse", "HEAD")
	w.write("file", "changed")
	w.write("new\n\tfile", "new")
	w.git("add", "-A")
	snapshot := w.git("commit-tree", "-p", commit, "-m", "snapshot", w.git("write-tree"))

	got, err := w.m.Objects().Work(context.Background(), base, commit, snapshot, 2)
	short := func(ref string) string { return w.git("rev-parse", "--short", ref) }
	want := objects.Work{
		Commits:     []string{short(commit) + " three: ä", short(commit+"~") + " two"},
		CommitCount: 3,
		Uncommitted: []string{"M file", "A new\n\tfile"},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; -want +got\n%s", err, diff)
	}
	for name, snapshot := range map[string]string{"none": "", "the commit itself": base} {
		got, err := w.m.Objects().Work(context.Background(), base, base, snapshot, 2)
		if diff := cmp.Diff(objects.Work{}, got); diff != "" || err != nil {
			t.Errorf("snapshot %s: %v; -want +got\n%s", name, err, diff)
		}
	}
	if _, err := w.m.Objects().Work(context.Background(), base, "--all", "", 2); err == nil {
		t.Error("a commit that is an option was taken")
	}
}

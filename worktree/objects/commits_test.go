package objects

import (
	"strings"
	"testing"

	"paw/worktree/git"
	"paw/worktree/gittest"
)

// TestOneGitMakesTheCommitsThatCommitTreeMakes: also where a date is fixed, and where git hash-object cannot make them.
func TestOneGitMakesTheCommitsThatCommitTreeMakes(t *testing.T) {
	w := gittest.New(t)
	w.Write("file", "one\n")
	w.Commit("one")
	head, tree := w.Git("rev-parse", "HEAD"), w.Git("rev-parse", "HEAD^{tree}")
	goes := &git.Answering{}
	defer goes.Close()
	each := New(w.Repository).Remembering()
	one := each.Through(goes)
	if got, err := one.TreeOf(t.Context(), head); got != tree || err != nil {
		t.Fatal(got, err)
	}
	for name, c := range map[string]NewCommit{
		"a root":         {Tree: tree, Message: "paw: root\n", Own: true},
		"a tree's name":  {Tree: head + "^{tree}", Parents: []string{head}, Message: "paw: named\n", Own: true},
		"two parents":    {Tree: tree, Parents: []string{head, w.Git("commit-tree", tree, "-m", "other")}, Message: "paw: two\n\ntext ü\n", Own: true},
		"unknown parent": {Tree: tree, Parents: []string{strings.Repeat("1", len(head))}, Message: "paw: none\n", Own: true},
		"unknown tree":   {Tree: strings.Repeat("1", len(head)), Message: "paw: none\n", Own: true},
		"the user's":     {Tree: tree, Parents: []string{head}, Message: "by the user\n"},
	} {
		for _, date := range []string{"2026-01-02T03:04:05+02:00", "@1700000000 -0130", "2 days ago"} {
			t.Setenv("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
			t.Setenv("GIT_COMMITTER_DATE", date)
			want, wrong := each.Commit(t.Context(), c)
			got, err := one.Commit(t.Context(), c)
			if date != "2 days ago" && got != want || (err == nil) != (wrong == nil) {
				t.Errorf("%s, %s: %q, %v\nwant %q, %v", name, date, got, err, want, wrong)
			}
		}
	}
}

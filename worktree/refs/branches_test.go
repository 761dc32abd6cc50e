package refs

import (
	"strings"
	"testing"

	"paw/worktree/git"
)

func TestBranchNamesAreJudgedAsByGit(t *testing.T) {
	for _, name := range []string{
		"a", "a/b", "feat-1", "ü", "a@b", "@a", "a.b", "x{y}", "a;b", "$(x)", "a'b", "#{x}", "#1", "-a/b", "a/-b",
		"", "-x", "a..b", "a.", "a/.b", ".a", "a.lock", "a.lock/b", "a//b", "/a", "a/", "a b", "a~", "a^", "a:b", "a?", "a*", "a[", "a\\b",
		"a@{b", "a\x01", "a\x7f", "a\nb", "a\tb", "HEAD", "a]b",
	} {
		want := git.Repo{Dir: t.TempDir()}.Run(t.Context(), "check-ref-format", "--branch", name) == nil
		if got := CheckBranchName(name) == nil; got != want {
			t.Errorf("%q: allowed %v, by git %v", name, got, want)
		}
	}
}

func TestBranchNamesThatGitAllowsAndNobodyMeans(t *testing.T) {
	for _, name := range []string{"@", "refs/heads/x", strings.Repeat("n", 260)} {
		if CheckBranchName(name) == nil {
			t.Errorf("%q is allowed", name)
		}
	}
	if err := CheckBranchName(strings.Repeat("n", 250)); err != nil {
		t.Error(err)
	}
}

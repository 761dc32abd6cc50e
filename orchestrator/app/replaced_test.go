package app

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"paw/session"
)

// TestReplacedWhereGitMustTellOfRefs has another repository whose refs are in no files, and a git that tells of them.
func TestReplacedWhereGitMustTellOfRefs(t *testing.T) {
	dir := t.TempDir()
	repo, tree, bin := filepath.Join(dir, "repo"), filepath.Join(dir, "tree"), filepath.Join(dir, "bin")
	if out, err := exec.Command("git", "init", "-q", repo).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	write := func(path, content string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(repo, ".git", "config"), "[core]\n\trepositoryformatversion = 1\n[extensions]\n\trefStorage = reftable\n")
	write(filepath.Join(tree, ".git"), "gitdir: "+filepath.Join(repo, ".git", "worktrees", "a")+"\n")
	s := &session.Session{Name: "s", RepoPath: repo, GitCommonDir: filepath.Join(repo, ".git"), Agents: []session.Agent{
		{Name: "a", WorktreePath: tree, TurnSession: "s_a", Branch: "paw/s/a", BranchCreated: true},
	}}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for refs, want := range map[string]bool{
		"": true, "0123456789012345678901234567890123456789 refs/paw/s_a/now": false,
	} {
		write(filepath.Join(bin, "git"), "#!/bin/sh\ncase \"$*\" in *for-each-ref*) echo '"+refs+"';; *) exit 1;; esac\n")
		if got := Replaced(s); got != want {
			t.Errorf("with the refs %q it is %v", refs, got)
		}
	}
	write(filepath.Join(bin, "git"), "#!/bin/sh\nexit 1\n")
	if Replaced(s) {
		t.Error("it is another one though git does not tell")
	}
}

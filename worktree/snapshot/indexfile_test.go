package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gittest"
)

// TestReadIndexIsWhatGitLists compares what is read from the file of an index with what git lists of it, for every kind of entry.
func TestReadIndexIsWhatGitLists(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := filepath.Join(gittest.RealTemp(t), format)
		gittest.In(t, filepath.Dir(dir), "init", "-q", "--object-format="+format, dir)
		run := func(args ...string) { t.Helper(); gittest.In(t, dir, args...) }
		write := func(name, content string) {
			t.Helper()
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		index := filepath.Join(dir, ".git", "index")
		compare := func(what string, told bool) {
			t.Helper()
			read, ok := readIndex(index)
			if ok != told {
				t.Fatalf("%s, %s: told %v, want %v", format, what, ok, told)
			}
			if !ok {
				return
			}
			listed, err := ListIndex(t.Context(), git.Repo{Dir: dir}, index+".none")
			if err != nil || len(listed) > 0 {
				t.Fatalf("of no file: %v, %v", listed, err)
			}
			if want := listedByGit(t, dir); !slices.Equal(read, want) {
				t.Errorf("%s, %s: read\n%v\nwant\n%v", format, what, read, want)
			}
		}
		for length := range 20 { // each padding
			write("d/"+strings.Repeat("n", length+1), "text\n")
		}
		write("new\nline", "")
		write(strings.Repeat("long/", 60)+"ü", "x")
		if err := os.Symlink("d", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		write("run", "#!/bin/sh\n")
		if err := os.Chmod(filepath.Join(dir, "run"), 0o755); err != nil {
			t.Fatal(err)
		}
		run("add", "-A")
		compare("added", true)
		run("commit", "-qm", "one")
		run("update-index", "--add", "--cacheinfo", "160000,"+strings.TrimSpace(gittest.In(t, dir, "rev-parse", "HEAD"))+",module")
		run("update-index", "--assume-unchanged", "run", "d/n")
		compare("assumed, module", true)
		write("intended", "x")
		run("add", "--intent-to-add", "intended")
		compare("intended", true)
		run("update-index", "--skip-worktree", "d/nn")
		compare("skipped", false)
		run("update-index", "--no-skip-worktree", "d/nn")
		compare("not skipped any more", true)
		blob := strings.TrimSpace(gittest.In(t, dir, "rev-parse", "HEAD:run"))
		three := "0 " + strings.Repeat("0", len(blob)) + "\td/nnn\n"
		for _, stage := range []string{"1", "2", "3"} {
			three += "100644 " + blob + " " + stage + "\td/nnn\n"
		}
		if _, err := (git.Repo{Dir: dir}).Input(t.Context(), []byte(three), "update-index", "--index-info"); err != nil {
			t.Fatal(err)
		}
		compare("a conflict", true)
		run("update-index", "--index-version", "4")
		compare("version 4", false)
		run("update-index", "--index-version", "2")
		run("update-index", "--split-index")
		compare("split", false)
		run("update-index", "--no-split-index")
		compare("whole again", true)
		whole, err := os.ReadFile(index)
		if err != nil {
			t.Fatal(err)
		}
		for _, broken := range [][]byte{nil, whole[:len(whole)/2], append(slices.Clone(whole[:200]), whole[201:]...), append([]byte("XXXX"), whole[4:]...)} {
			if err := os.WriteFile(index, broken, 0o644); err != nil {
				t.Fatal(err)
			}
			compare("broken", false)
		}
	}
}

// listedByGit lists the index of a repository with git alone: one whose file cannot be read as one lies elsewhere.
func listedByGit(t *testing.T, dir string) []IndexEntry {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "index")
	if err := disk.CopyFile(filepath.Join(dir, ".git", "index"), copied); err != nil {
		t.Fatal(err)
	}
	gittest.In(t, dir, "-c", "core.sparseCheckout=false", "update-index", "--index-version", "4") // which readIndex leaves to git
	listed, err := ListIndex(t.Context(), git.Repo{Dir: dir}, filepath.Join(dir, ".git", "index"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(copied, filepath.Join(dir, ".git", "index")); err != nil {
		t.Fatal(err)
	}
	return listed
}

package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/worktree/gitdir"
	"paw/worktree/objects"
	"paw/worktree/refs"

	"github.com/google/go-cmp/cmp"
)

func discovered(t *testing.T, dir string) gitdir.Repository {
	t.Helper()
	r, err := gitdir.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func wantRepository(t *testing.T, got, want gitdir.Repository) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestDiscoverMainWorktreeFromNestedFolder(t *testing.T) {
	w := newWorld(t)
	git := filepath.Join(w.Dir, ".git")
	wantRepository(t, discovered(t, filepath.Join(w.Dir, "dir")), gitdir.Repository{Path: w.Dir, CommonDir: git, Worktree: w.Dir, GitDir: git})
}

func TestDiscoverLinkedWorktree(t *testing.T) {
	w := newWorld(t)
	linked := filepath.Join(filepath.Dir(w.Dir), "linked")
	w.git("worktree", "add", "-q", linked)
	git := filepath.Join(w.Dir, ".git")
	wantRepository(t, discovered(t, filepath.Join(linked, "dir")),
		gitdir.Repository{Path: w.Dir, CommonDir: git, Worktree: linked, GitDir: filepath.Join(git, "worktrees", "linked")})
}

func TestDiscoverThroughSymbolicLink(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(realTemp(t), "link")
	if err := os.Symlink(w.Dir, link); err != nil {
		t.Fatal(err)
	}
	wantRepository(t, discovered(t, filepath.Join(link, "dir")), w.m.Repository)
}

func TestDiscoverRelativeGitFile(t *testing.T) {
	w := newWorld(t)
	linked := filepath.Join(filepath.Dir(w.Dir), "linked")
	w.git("worktree", "add", "-q", linked)
	writeFile(t, filepath.Join(linked, ".git"), "gitdir: ../repo/.git/worktrees/linked\n")
	writeFile(t, filepath.Join(w.Dir, ".git/worktrees/linked/gitdir"), "../../../../linked/.git\n")
	if got := discovered(t, linked); got.Path != w.Dir || got.Worktree != linked {
		t.Errorf("got %+v", got)
	}
	if err := gitdir.Verify(linked, w.m.Repository.CommonDir, "linked"); err != nil {
		t.Error(err)
	}
}

func TestDiscoverSubmoduleIsItsOwnRepository(t *testing.T) {
	w, sub := newWorld(t), newWorld(t)
	w.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", sub.Dir, "sub")
	got := discovered(t, filepath.Join(w.Dir, "sub", "dir"))
	git := filepath.Join(w.Dir, ".git", "modules", "sub")
	wantRepository(t, got, gitdir.Repository{Path: filepath.Join(w.Dir, "sub"), CommonDir: git, Worktree: filepath.Join(w.Dir, "sub"), GitDir: git})
}

func TestDiscoverSeparateGitDirectory(t *testing.T) {
	dir := realTemp(t)
	gitIn(t, dir, "init", "-q", "--separate-git-dir", filepath.Join(dir, "store"), "tree")
	wantRepository(t, discovered(t, filepath.Join(dir, "tree")), gitdir.Repository{
		Path: filepath.Join(dir, "tree"), CommonDir: filepath.Join(dir, "store"),
		Worktree: filepath.Join(dir, "tree"), GitDir: filepath.Join(dir, "store")})
}

func TestDiscoverBareRepository(t *testing.T) {
	w := newWorld(t)
	bare := filepath.Join(realTemp(t), "b.git")
	w.git("clone", "-q", "--bare", w.Dir, bare)
	r := discovered(t, filepath.Join(bare, "refs"))
	wantRepository(t, r, gitdir.Repository{CommonDir: bare, GitDir: bare, Bare: true})
	if oid, err := (&Manager{Repository: r}).Refs().Head(t.Context(), ""); err != nil || oid != w.base {
		t.Errorf("head is %q, %v", oid, err)
	}
}

func TestDiscoverBareRepositoryBehindGitFile(t *testing.T) {
	w := newWorld(t)
	dir := realTemp(t)
	w.git("clone", "-q", "--bare", w.Dir, filepath.Join(dir, ".bare"))
	writeFile(t, filepath.Join(dir, ".git"), "gitdir: ./.bare\n")
	r := discovered(t, dir)
	wantRepository(t, r, gitdir.Repository{CommonDir: filepath.Join(dir, ".bare"), GitDir: filepath.Join(dir, ".bare"), Bare: true})
	if oid, err := (&Manager{Repository: r}).Refs().Head(t.Context(), "main"); err != nil || oid != w.base {
		t.Errorf("head is %q, %v", oid, err)
	}
}

func TestDiscoverOutsideOfRepositories(t *testing.T) {
	dir := realTemp(t)
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil { // an empty .git is none
		t.Fatal(err)
	}
	if _, err := gitdir.Discover(dir); !errors.Is(err, gitdir.ErrNotRepository) {
		t.Errorf("got %v", err)
	}
	if _, err := gitdir.Discover(filepath.Join(dir, "missing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

func TestDiscoverIgnoresGitVariables(t *testing.T) {
	w, other := newWorld(t), newWorld(t)
	t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
	t.Setenv("GIT_WORK_TREE", other.Dir)
	wantRepository(t, discovered(t, w.Dir), w.m.Repository)
}

func TestHeadOfUnbornRepository(t *testing.T) {
	dir := realTemp(t)
	gitIn(t, dir, "init", "-q")
	m := &Manager{Repository: discovered(t, dir)}
	for _, ref := range []string{"", "HEAD", "main"} {
		if _, err := m.Refs().Head(t.Context(), ref); !errors.Is(err, refs.ErrNoCommits) {
			t.Errorf("%q: got %v", ref, err)
		}
	}
}

func TestHeadNamesUnknownRef(t *testing.T) {
	w := newWorld(t)
	for _, ref := range []string{"nope", "-x", "--all", "HEAD:a.txt"} {
		var unknown *objects.RefError
		if _, err := w.m.Refs().Head(t.Context(), ref); !errors.As(err, &unknown) || unknown.Ref != ref {
			t.Errorf("%q: got %v", ref, err)
		}
	}
}

func TestHeadIsThatOfTheWorktreeOneStandsIn(t *testing.T) {
	w := newWorld(t)
	linked := filepath.Join(filepath.Dir(w.Dir), "linked")
	w.git("worktree", "add", "-q", linked)
	gitIn(t, linked, "commit", "-q", "--allow-empty", "-m", "more")
	got, err := (&Manager{Repository: discovered(t, linked)}).Refs().Head(t.Context(), "HEAD")
	if want := gitIn(t, linked, "rev-parse", "HEAD"); err != nil || got != want || got == w.base {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestHeadThatIsBrokenIsNotOneWithoutCommits(t *testing.T) {
	for name, content := range map[string]string{"garbage": "no id\n", "a missing commit": strings.Repeat("1", 40) + "\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.write(".git/refs/heads/main", content)
			if _, err := w.m.Refs().Head(t.Context(), ""); err == nil || errors.Is(err, refs.ErrNoCommits) || !strings.Contains(err.Error(), "git rev-parse") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestHeadOfARepositoryOfSomebodyElse(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	w := newWorld(t)
	for _, dir := range []string{w.Dir, filepath.Join(w.Dir, ".git")} {
		if err := os.Chown(dir, 12345, 12345); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.m.Refs().Head(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "dubious ownership") {
		t.Errorf("got %v", err)
	}
}

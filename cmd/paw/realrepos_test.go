package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// realRepository is a repository as teams have them, in which a day with an agent goes through.
type realRepository struct {
	needs []string // programs that it is made with; it is skipped where one is not on PATH
	make  func(w *world)
	file  string // that the agent writes, "work.txt" unless set

	between func(w *world)                  // what the user does in the checkout before paw update
	agent   func(w *world, worktree string) // looks at the worktree of the agent when it has worked
	landed  func(w *world)                  // looks at the checkout when the work has landed
}

// inTree commits all in the checkout.
func (w *world) inTree(message string) {
	w.t.Helper()
	w.git(w.repo, "add", "-A")
	w.git(w.repo, "commit", "-q", "-m", message)
}

// manyFiles is the number of files of a monorepo.
func manyFiles() int {
	if os.Getenv("PAW_REAL") != "" {
		return 20000
	}
	return 2000
}

// counted returns the number of files of a checkout, without the git directory.
func counted(t *testing.T, dir string) (n int) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" && d.IsDir() {
			return filepath.SkipDir
		}
		if err == nil && !d.IsDir() && d.Name() != ".git" {
			n++
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// submodules puts two submodules into the repository, of which the upstream of one has a newer commit.
func (w *world) submodules() {
	w.t.Helper()
	w.git(w.root, "config", "--global", "protocol.file.allow", "always")
	for _, name := range []string{"lib", "tools"} {
		from := filepath.Join(w.root, name)
		w.git(w.root, "init", "-q", "-b", "main", from)
		w.write(from, name+".txt", "1\n")
		w.git(from, "add", "-A")
		w.git(from, "commit", "-q", "-m", "first")
		w.git(w.repo, "submodule", "--quiet", "add", from, "vendor/"+name)
	}
	w.inTree("submodules")
	w.write(filepath.Join(w.root, "lib"), "lib.txt", "2\n")
	w.git(filepath.Join(w.root, "lib"), "commit", "-qam", "second")
}

var realRepositories = map[string]realRepository{
	"bare layout with linked worktrees": {make: func(w *world) {
		project := filepath.Join(w.root, "project")
		w.git(w.root, "clone", "-q", "--bare", w.repo, filepath.Join(project, ".bare"))
		w.write(project, ".git", "gitdir: ./.bare\n")
		w.git(project, "remote", "remove", "origin")
		w.git(project, "worktree", "add", "-q", "main")
		w.git(project, "worktree", "add", "-q", "-b", "feature", "feature")
		w.repo = filepath.Join(project, "main")
	}, agent: func(w *world, worktree string) {
		if want := filepath.Join(w.root, "project", "bare.paw", "real", "a"); worktree != want {
			w.t.Errorf("the agent is in %s, not in %s", worktree, want)
		}
	}},
	"monorepo, sparse": {file: "pkg7/work.txt", make: func(w *world) {
		for i := range manyFiles() {
			w.write(w.repo, fmt.Sprintf("pkg%d/d%d/file%d.txt", i%100, i%10, i), fmt.Sprintf("%d\n", i))
		}
		w.inTree("many files")
		w.git(w.repo, "sparse-checkout", "set", "pkg7")
	}, agent: func(w *world, worktree string) {
		if n := counted(w.t, worktree); n > manyFiles()/100+10 {
			w.t.Errorf("the worktree of the agent has %d files", n)
		}
	}, landed: func(w *world) {
		if n := counted(w.t, w.repo); n > manyFiles()/100+10 {
			w.t.Errorf("the checkout has %d files", n)
		}
	}},
	"submodules, one moves": {make: (*world).submodules, between: func(w *world) {
		w.git(filepath.Join(w.repo, "vendor/lib"), "pull", "-q", "origin", "main")
		w.git(w.repo, "commit", "-qam", "lib, newer")
	}},
	"a submodule itself": {make: func(w *world) {
		outer := filepath.Join(w.root, "outer")
		w.git(w.root, "config", "--global", "protocol.file.allow", "always")
		w.git(w.root, "init", "-q", "-b", "main", outer)
		w.git(outer, "submodule", "--quiet", "add", w.repo, "module")
		w.git(outer, "commit", "-qm", "module")
		w.repo = filepath.Join(outer, "module")
		w.git(w.repo, "remote", "remove", "origin")
		w.write(outer, ".git/info/exclude", "/module.paw/\n")
	}, landed: func(w *world) {
		if got := w.git(filepath.Dir(w.repo), "status", "--porcelain"); got != " M module\n" {
			w.t.Errorf("git status around it says\n%s", got)
		}
	}},
	"safe.bareRepository": {make: func(w *world) {
		w.git(w.root, "config", "--global", "safe.bareRepository", "explicit")
	}},
	"git-lfs": {needs: []string{"git-lfs"}, file: "data.bin", make: func(w *world) {
		w.git(w.repo, "lfs", "install", "--local")
		w.git(w.repo, "lfs", "track", "*.bin")
		w.write(w.repo, "old.bin", "large, once\n")
		w.inTree("in LFS")
	}, agent: func(w *world, worktree string) {
		w.wantText(filepath.Join(worktree, "old.bin"), "large, once\n")
	}, landed: func(w *world) {
		if got := w.git(w.repo, "cat-file", "blob", "HEAD:data.bin"); !strings.HasPrefix(got, "version https://git-lfs.github.com/spec/v1\n") {
			w.t.Errorf("data.bin has landed as %q", got)
		}
	}},
	"git-crypt": {needs: []string{"git-crypt"}, file: "secret", make: func(w *world) {
		w.git(w.repo, "crypt", "init")
		w.write(w.repo, ".gitattributes", "secret filter=git-crypt diff=git-crypt\n")
		w.write(w.repo, "secret", "password\n")
		w.inTree("secret")
	}, landed: func(w *world) {
		if got := w.git(w.repo, "cat-file", "blob", "HEAD:secret"); !strings.HasPrefix(got, "\x00GITCRYPT\x00") {
			w.t.Errorf("the secret has landed as %q", got)
		}
	}},
	"husky": {needs: []string{"husky"}, make: func(w *world) {
		w.write(w.repo, "package.json", "{}\n")
		w.ok(w.run(w.repo, nil, "husky"))
		w.script(w.repo, ".husky/pre-commit", "pwd >>\""+w.root+"/hooked\"\n")
		w.write(filepath.Join(w.root, "home"), ".config/paw/config.toml", "[worktree]\ncopy = [\".husky/_\"]\n")
		w.inTree("hooks")
	}, agent: (*world).commitsWithHook},
	"lefthook": {needs: []string{"lefthook"}, make: func(w *world) {
		w.write(w.repo, "lefthook.yml", "pre-commit:\n  commands:\n    noted:\n      run: pwd >>"+w.root+"/hooked\n")
		w.inTree("hooks")
		w.ok(w.run(w.repo, nil, "lefthook", "install"))
	}, agent: (*world).commitsWithHook},
	"pre-commit": {needs: []string{"pre-commit"}, make: func(w *world) {
		w.write(w.repo, ".pre-commit-config.yaml", "repos:\n- repo: local\n  hooks:\n  - {id: noted, name: noted, language: system, always_run: true, pass_filenames: false, entry: sh -c 'pwd >>"+w.root+"/hooked'}\n")
		w.inTree("hooks")
		w.ok(w.run(w.repo, nil, "pre-commit", "install"))
	}, agent: (*world).commitsWithHook},
}

// commitsWithHook commits in the worktree of the agent, as it would, and expects the hook of the team to run there.
func (w *world) commitsWithHook(worktree string) {
	w.t.Helper()
	w.git(worktree, "add", "-A")
	w.git(worktree, "commit", "-q", "-m", "of the agent")
	hooked, err := os.ReadFile(filepath.Join(w.root, "hooked"))
	if err != nil || !strings.Contains(string(hooked), worktree) {
		w.t.Errorf("the hook ran in %q: %v", hooked, err)
	}
}

func (w *world) wantText(path, want string) {
	w.t.Helper()
	if got, err := os.ReadFile(path); string(got) != want {
		w.t.Errorf("%s is %q, not %q: %v", path, got, want, err)
	}
}

// TestRealRepositories goes through a day with an agent in repositories as teams have them.
func TestRealRepositories(t *testing.T) {
	for name, r := range realRepositories {
		t.Run(name, func(t *testing.T) {
			for _, program := range r.needs {
				if _, err := exec.LookPath(program); err != nil {
					t.Skipf("%s is not installed (see .ci/test-real)", program)
				}
			}
			t.Parallel()
			w := newWorld(t)
			r.make(w)
			w.dayIn(r)
		})
	}
}

func (w *world) dayIn(r realRepository) {
	w.t.Helper()
	file := r.file
	if file == "" {
		file = "work.txt"
	}
	clean := w.git(w.repo, "status", "--porcelain")
	server := filepath.Join(w.root, "server.git")
	w.git(w.root, "init", "-q", "--bare", "-b", "main", server)
	w.git(w.repo, "remote", "add", "origin", server)
	w.git(w.repo, "push", "-q", "origin", "main")

	w.ok(w.paw("start", "--cli", "a=demo", "--name", "real", "--detach", "--wait-setup"))
	w.ok(w.paw("stop", "real"))
	w.ok(w.paw("run", "a", "--prompt", "do: write "+file+" 1"))
	worktree := strings.TrimSpace(w.ok(w.paw("path", "a")).stdout)
	w.wantText(filepath.Join(worktree, file), "1\n")
	if out := w.ok(w.paw("diff", "a", "--stat")).stdout; !strings.Contains(out, "1 file changed") {
		w.t.Errorf("paw diff says\n%s", out)
	}
	if r.agent != nil {
		r.agent(w, worktree)
	}
	w.ok(w.paw("check", "a", "test -s "+file))
	w.ok(w.paw("land", "a"))
	w.wantText(filepath.Join(w.repo, file), "1\n")
	w.hasStatus(w.repo, clean)
	if r.landed != nil {
		r.landed(w)
	}
	w.ok(w.paw("land", "--undo"))
	w.hasStatus(w.repo, clean)
	w.ok(w.paw("land", "a"))

	if r.between != nil {
		r.between(w)
	}
	w.write(w.repo, filepath.Join(filepath.Dir(file), "user.txt"), "user\n")
	w.inTree("of the user")
	if out := w.paw("update", "a"); out.code != 0 { // its hint leads on
		_, hint, _ := strings.Cut(out.stderr, "hint: ")
		w.ok(w.run(w.repo, nil, "sh", "-c", hint))
	}
	w.wantText(filepath.Join(worktree, filepath.Dir(file), "user.txt"), "user\n")
	w.ok(w.paw("run", "a", "--prompt", "do: write two.txt 2"))
	w.ok(w.paw("run", "a", "--prompt", "do: write three.txt 3"))
	w.ok(w.paw("rewind", "a", "2"))
	if _, err := os.Lstat(filepath.Join(worktree, "three.txt")); err == nil {
		w.t.Error("three.txt is there after the rewind")
	}
	w.ok(w.paw("rewind", "a", "--undo"))
	w.wantText(filepath.Join(worktree, "three.txt"), "3\n")

	w.ok(w.paw("pr", "a"))
	if got := w.git(w.root, "--git-dir", server, "ls-tree", "--name-only", "paw/real/a"); !strings.Contains(got, "two.txt") {
		w.t.Errorf("pushed is\n%s", got)
	}
	w.ok(w.paw("recover", "real", "--detach"))
	w.ok(w.paw("stop", "real"))
	w.ok(w.paw("land", "a"))
	w.wantText(filepath.Join(w.repo, "two.txt"), "2\n")
	w.hasStatus(w.repo, clean)
	w.ok(w.paw("remove", "a"))
	if got := w.git(w.repo, "worktree", "list"); strings.Contains(got, "/real/a ") {
		w.t.Errorf("git knows of\n%s", got)
	}
	w.git(w.repo, "fsck", "--no-progress")
}

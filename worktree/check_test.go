package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/worktree/git"
)

// refused fails the test unless Check and Create refuse with this in the text
// and nothing was made.
func (w *world) refused(text string, plans ...Plan) {
	w.t.Helper()
	before := strings.Join(w.branches(), " ")
	for name, try := range map[string]func() error{
		"check":  func() error { return w.m.Check(w.t.Context(), plans) },
		"create": func() error { _, err := w.m.Create(w.t.Context(), plans, nil); return err },
	} {
		err := try()
		var refusal *git.ConflictError
		if !errors.As(err, &refusal) || !strings.Contains(err.Error(), text) {
			w.t.Errorf("%s: got %v, want %q", name, err, text)
		}
	}
	if after := strings.Join(w.branches(), " "); after != before {
		w.t.Errorf("branches were %q and are %q", before, after)
	}
}

func TestCheckAllowsWhatIsFree(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "free")
	existing := w.plan("free")
	existing.CreateBranch, existing.Base = false, ""
	if err := w.m.Check(t.Context(), []Plan{w.plan("new"), existing}); err != nil {
		t.Error(err)
	}
}

func TestCheckRefusesBadNames(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"-x", "@", "x.lock", strings.Repeat("n", 260), "a b"} {
		p := w.plan("agent")
		p.Branch = name
		w.refused("branch name", p)
	}
}

func TestCheckRefusesFolderConflictsWithLooseAndPackedBranches(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "feat")
	w.git("branch", "deep/er/x")
	for _, packed := range []bool{false, true} {
		if packed {
			w.git("pack-refs", "--all")
		}
		for branch, text := range map[string]string{"feat/a": "beside the branch feat", "deep": "deep/er/x", "deep/er": "deep/er/x", "feat/a/b": "feat"} {
			p := w.plan("agent")
			p.Branch = branch
			w.refused(text, p)
		}
	}
}

func TestCheckRefusesConflictsAmongPlans(t *testing.T) {
	w := newWorld(t)
	a, b := w.plan("a"), w.plan("b")
	b.Branch = "a/b"
	w.refused("excludes", a, b)
	w.refused("excludes", b, a)
	b = w.plan("b")
	b.Branch = a.Branch
	w.refused("also asked for", a, b)
	b = w.plan("b")
	b.Path = a.Path
	w.refused("overlaps", a, b)
	b.Path = filepath.Join(a.Path, "b")
	w.refused("overlaps", a, b)
}

func TestCheckRefusesBranchInUse(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	p.Branch, p.CreateBranch = "main", false
	w.refused("checked out at "+w.Dir, p)
}

func TestCheckRefusesBranchOfAnUnfinishedRebase(t *testing.T) {
	w := newWorld(t)
	w.git("switch", "-q", "-c", "topic")
	w.write("a.txt", "topic\n")
	w.commit("topic")
	w.git("switch", "-q", "main")
	w.write("a.txt", "main\n")
	w.commit("main")
	w.git("switch", "-q", "topic")
	if git.In(w.Dir).Run(t.Context(), "rebase", "-q", "main") == nil {
		t.Fatal("the rebase did not stop")
	}
	p := w.plan("agent")
	p.Branch, p.CreateBranch = "topic", false
	w.refused("checked out", p)
}

func TestCheckRefusesMissingAndExistingBranches(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	p.CreateBranch = false
	w.refused("does not exist", p)
	w.git("branch", "agent")
	w.commit("second")
	w.refused("exists already", w.plan("agent"))
}

func TestCheckRefusesPathsInTheWay(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	writeFile(t, filepath.Join(p.Path, "mine"), "x")
	w.refused("not empty", p)

	p.Path = filepath.Join(w.Side, "file")
	writeFile(t, p.Path, "x")
	w.refused("not a directory", p)
	p.Path = filepath.Join(w.Side, "file", "below")
	w.refused("not a directory", p)

	for path, text := range map[string]string{
		filepath.Join(w.Dir, "sub"):          "inside the worktree",
		filepath.Join(w.Dir, ".git", "sub"):  "inside the git directory",
		filepath.Join(w.Side, "line\nbreak"): "line break",
		"relative":                           "not absolute",
		w.Dir:                                "already a worktree",
	} {
		p.Path = path
		w.refused(text, p)
	}
}

func TestCheckRefusesPathBehindLinkIntoTheMainTree(t *testing.T) {
	w := newWorld(t)
	link := filepath.Join(filepath.Dir(w.Dir), "link")
	if err := os.Symlink(w.Dir, link); err != nil {
		t.Fatal(err)
	}
	p := w.plan("agent")
	p.Path = filepath.Join(link, "sub")
	w.refused("inside the worktree", p)
}

func TestCheckRefusesPathOfMissingForeignWorktree(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	w.git("worktree", "add", "-q", "-b", "foreign", p.Path)
	lose(t, p)
	w.refused("already a worktree of branch foreign", p)
}

func TestCheckAcceptsEmptyFolder(t *testing.T) {
	w := newWorld(t)
	p := w.plan("agent")
	if err := os.MkdirAll(p.Path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err != nil {
		t.Fatal(err)
	}
	w.whole(p)
}

func TestCheckFoldsCaseWhereTheRepositoryDoes(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "Feat")
	p := w.plan("agent")
	p.Branch = "feat"
	if err := w.m.Check(t.Context(), []Plan{p}); err != nil {
		t.Error(err)
	}
	w.git("config", "core.ignorecase", "true")
	w.refused("only in case", p)
}

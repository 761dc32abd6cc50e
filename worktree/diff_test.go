package worktree

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

func (w *turns) diff(from, to string, format objects.DiffFormat) string {
	w.t.Helper()
	var out bytes.Buffer
	if err := w.m.Objects().Diff(w.t.Context(), w.p.Path, from, to, format, &out); err != nil {
		w.t.Fatal(err)
	}
	return out.String()
}

// wantApplied applies a patch to the files of from and wants those of to.
func (w *turns) wantApplied(what, from, to, patch string) {
	w.t.Helper()
	dir := filepath.Join(realTemp(w.t), "apply")
	w.git("worktree", "add", "-q", "--detach", dir, from)
	defer w.git("worktree", "remove", "--force", dir)
	if patch != "" {
		if _, err := (git.Repo{Dir: dir}).Input(w.t.Context(), []byte(patch), "apply", "--index", "--whitespace=nowarn"); err != nil {
			w.t.Fatalf("%s: %v\n%.2000s", what, err, patch)
		}
	}
	if got, want := gitIn(w.t, dir, "write-tree"), w.git("rev-parse", to+"^{tree}"); got != want {
		w.t.Errorf("%s: another tree:\n%s", what, w.git("diff-tree", "-r", want, got))
	}
	if got := gitIn(w.t, dir, "status", "--porcelain", "--untracked-files=all"); strings.Contains("\n"+got, "\n??") {
		w.t.Errorf("%s: status says %q", what, got)
	}
}

// hostile are settings that change what `git diff` prints for the user.
var hostile = []string{
	"diff.external=false", "diff.noprefix=true", "diff.mnemonicPrefix=true", "color.ui=always", "color.diff=always",
	"diff.renames=false", "diff.context=0", "diff.interHunkContext=9", "diff.algorithm=patience", "diff.orderFile=.gitignore",
	"diff.suppressBlankEmpty=true", "diff.submodule=log", "diff.relative=true", "diff.wordRegex=.", "diff.colorMoved=zebra",
	"diff.ignoreSubmodules=all", "diff.statGraphWidth=3", "core.quotePath=false", "core.pager=false", "diff.srcPrefix=x/",
	"diff.x.command=false", "diff.x.textconv=false", "diff.x.xfuncname=.*", "diff.renameLimit=1",
}

func TestDiffGivesTheOtherTree(t *testing.T) {
	for _, settings := range [][]string{nil, hostile} {
		w := newTurns(t, "*.log\n")
		for _, setting := range settings {
			key, value, _ := strings.Cut(setting, "=")
			w.git("config", key, value)
		}
		w.mixed()
		head := w.in("rev-parse", "HEAD")
		one := w.take().Commit
		w.put(".gitattributes", "*.txt diff=x\n*.md -diff\n", 0o644)
		w.put("bin", strings.Repeat("\x00\x01\xfe", 3000), 0o644)
		w.put("n.md", "not a diff\n", 0o644)
		w.put("crlf", "a\r\nB\r\nno end\n", 0o644)
		w.put("crlf2", "x\r\n \r\n\r\n y", 0o644)
		w.put("with \"quote\"\tand tab", "x\n", 0o644)
		w.put("empty", "", 0o755)
		os.Remove(w.path("moved.txt"))
		w.put("t/9.txt", strings.Repeat("line\n\n", 50)+"end", 0o755)
		two := w.take().Commit
		for _, c := range []struct{ what, from, to string }{
			{"base to one", w.base, one}, {"head to one", head, one}, {"one to two", one, two}, {"two to one", two, one},
			{"one to base", one, w.base}, {"none", two, two},
		} {
			what := fmt.Sprintf("%s, %d settings", c.what, len(settings))
			patch := w.diff(c.from, c.to, objects.DiffFormat{})
			if c.what == "head to one" && (!strings.Contains(patch, "rename from t/1.txt") || !strings.Contains(patch, "a/t/")) {
				t.Errorf("%s: no rename or prefix in\n%s", what, patch)
			}
			if strings.Contains(patch, "\x1b[") || (patch == "") != (c.what == "none") {
				t.Errorf("%s: got %q", what, patch)
			}
			w.wantApplied(what, c.from, c.to, patch)
		}
	}
}

func TestDiffStatAndColor(t *testing.T) {
	w := newTurns(t, "")
	w.put("new file", "x\n", 0o644)
	one := w.take().Commit
	if got := w.diff(w.base, one, objects.DiffFormat{Form: "stat"}); !strings.Contains(got, " new file | 1 +\n 1 file changed") {
		t.Errorf("got %q", got)
	}
	if got := w.diff(w.base, one, objects.DiffFormat{Color: true}); !strings.Contains(got, "\x1b[") {
		t.Errorf("no color in %q", got)
	}
	if err := w.m.Objects().Diff(t.Context(), w.p.Path, "--output="+w.path("evil"), one, objects.DiffFormat{}, &bytes.Buffer{}); err == nil || disk.Exists(w.path("evil")) {
		t.Errorf("an option was taken for a commit: %v", err)
	}
	if err := w.m.Objects().Diff(t.Context(), w.p.Path, w.base, one, objects.DiffFormat{}, brokenPipe{}); err == nil {
		t.Error("nobody reads, and it is no error")
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestAnOrderFileThatIsMissingStopsNothing(t *testing.T) {
	w := newTurns(t, "")
	w.put("a.txt", "1\n", 0o644)
	first := w.take()
	w.put("a.txt", "2\n", 0o644)
	w.git("config", "diff.orderFile", "nowhere")
	_, err := w.m.Snapshots().Take(t.Context(), w.p.Path, "", "m")
	_, within := w.m.Snapshots().TakeWithin(t.Context(), w.p.Path, "", "m", w.scratch, snapshot.Budget{})
	_, rewound := w.m.Moves().Rewind(t.Context(), w.p.Path, first.Commit, RewindOptions{Rescue: "refs/paw/s_agent/rescue/1"})
	_, looked := w.m.inspect(t.Context(), w.p)
	_, counted := w.m.Objects().Changes(t.Context(), [][2]string{{w.base, first.Commit}})
	_, changed := w.m.Changed(t.Context(), w.p.Path)
	var diff bytes.Buffer
	drawn := w.m.Objects().Diff(t.Context(), w.p.Path, w.base, first.Commit, objects.DiffFormat{Form: "stat"}, &diff)
	if err := errors.Join(err, within, rewound, looked, counted, changed, drawn); err != nil || diff.Len() == 0 {
		t.Errorf("%v\n%s", err, &diff)
	}
	if got := readFile(t, w.path("a.txt")); got != "1\n" {
		t.Errorf("got %q", got)
	}
}

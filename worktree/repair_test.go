package worktree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"paw/config/disk"
	"paw/worktree/git"
)

func pawOwns(reason string) bool { return strings.HasPrefix(reason, "paw ") }

// halfMadeEntry stages a registration as a killed git leaves it.
func (w *world) halfMadeEntry(name, reason string, files map[string]string) {
	w.t.Helper()
	admin := filepath.Join(w.m.Repository.CommonDir, "worktrees", name)
	writeFile(w.t, filepath.Join(admin, "locked"), reason)
	writeFile(w.t, filepath.Join(admin, "gitdir"), filepath.Join(w.Side, name, ".git")+"\n")
	for file, content := range files {
		writeFile(w.t, filepath.Join(admin, file), content)
	}
}

func (w *world) repaired() string {
	w.t.Helper()
	report, err := w.m.Repair(w.t.Context(), pawOwns)
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Join(report, "\n")
}

func TestRepairEmptyCommonDir(t *testing.T) {
	w := newWorld(t)
	w.halfMadeEntry("x", "paw s/x", map[string]string{"commondir": "", "HEAD": strings.Repeat("0", 40) + "\n"})
	if (git.Repo{Dir: w.Dir}).Run(t.Context(), "worktree", "list") == nil {
		t.Fatal("the staged entry does no harm")
	}
	if got := w.repaired(); !strings.Contains(got, "registration x: half made, moved to") {
		t.Errorf("got %q", got)
	}
	w.healthy(1)
	if kept, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*", "x", "locked")); len(kept) != 1 {
		t.Error("the registration is not in the trash")
	}
	if got := w.repaired(); got != "" {
		t.Errorf("the second time it found %q", got)
	}
}

func TestRepairNullHead(t *testing.T) {
	w := newWorld(t)
	w.halfMadeEntry("x", "paw s/x", map[string]string{"commondir": "../..\n", "HEAD": strings.Repeat("0", 40) + "\n"})
	w.repaired()
	w.healthy(1)
}

func TestRepairLeavesForeignEntriesAlone(t *testing.T) {
	w := newWorld(t)
	w.halfMadeEntry("x", "initializing", map[string]string{"commondir": "", "HEAD": strings.Repeat("0", 40) + "\n"})
	admins := filepath.Join(w.m.Repository.CommonDir, "worktrees")
	before := tree(t, admins)
	if got := w.repaired(); got != "registration x: half made by another program, left alone" {
		t.Errorf("got %q", got)
	}
	if diff := cmp.Diff(before, tree(t, admins)); diff != "" {
		t.Error(diff)
	}
	if entries, err := w.m.Registry().List(t.Context()); err != nil || len(entries) != 2 {
		t.Errorf("list: %v, %v", entries, err)
	}
}

func TestRepairLeavesAnotherFolderAtThePathAlone(t *testing.T) {
	for name, put := range map[string]func(w *world, p Plan){
		"photos":         func(w *world, p Plan) { writeFile(w.t, filepath.Join(p.Path, "photo"), "x\n") },
		"the same names": func(w *world, p Plan) { writeFile(w.t, filepath.Join(p.Path, "a.txt"), "a diary\n") },
		"a copy made later": func(w *world, p Plan) {
			content := readFile(w.t, filepath.Join(w.Dir, "a.txt"))
			writeFile(w.t, filepath.Join(p.Path, "a.txt"), content)
		},
		"nothing": func(w *world, p Plan) { os.MkdirAll(p.Path, 0o755) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.made("agent")
			lose(t, p)
			put(w, p)
			if unlinked, err := w.m.Registry().Unlinked(t.Context(), p); unlinked || err != nil {
				t.Errorf("got %v, %v", unlinked, err)
			}
			if got := w.repaired(); got != "" || disk.Exists(filepath.Join(p.Path, ".git")) {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestRepairAfterTheRepositoryMoved(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	writeFile(t, filepath.Join(p.Path, "new"), "work\n")
	moved := filepath.Join(realTemp(t), "moved")
	if err := os.Rename(w.Dir, moved); err != nil {
		t.Fatal(err)
	}
	w.Dir = moved
	w.open()
	if got := w.repaired(); !strings.Contains(got, "linked to the repository again") {
		t.Errorf("got %q", got)
	}
	if got := gitIn(t, p.Path, "status", "--porcelain"); got != "?? new" {
		t.Errorf("status says %q", got)
	}
	w.healthy(2)
}

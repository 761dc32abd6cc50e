package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"paw/config/disk"
)

func TestRemoveLeavesTheUsersLinksAndFolders(t *testing.T) {
	w := newWorld(t)
	big, mine := filepath.Join(realTemp(t), "big"), filepath.Join(realTemp(t), "mine")
	for _, dir := range []string{big, filepath.Join(mine, "wts")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(realTemp(t), "wt")
	if err := os.Symlink(big, link); err != nil {
		t.Fatal(err)
	}
	one, two, alone := w.plan("one"), w.plan("two"), w.plan("alone")
	one.Path, two.Path, alone.Path = filepath.Join(link, "one"), filepath.Join(link, "two"), filepath.Join(mine, "wts", "r.paw", "s", "alone")
	if _, err := w.m.Create(t.Context(), []Plan{one, two, alone}, nil); err != nil {
		t.Fatal(err)
	}
	for _, p := range []Plan{one, alone} {
		if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
			t.Fatal(err)
		}
	}
	w.whole(two)
	if !disk.Exists(filepath.Join(mine, "wts")) || disk.Exists(filepath.Join(mine, "wts", "r.paw")) {
		t.Error("the user's folder is gone, or paw's own is left")
	}
}

// TestRemoveLeavesALinkInPlaceOfPawsFolder has the user move a folder of paw's to another disk, with a link in its place.
func TestRemoveLeavesALinkInPlaceOfPawsFolder(t *testing.T) {
	w := newWorld(t)
	folder, big := filepath.Join(realTemp(t), "r.paw", "wt"), filepath.Join(realTemp(t), "big")
	one, two := w.plan("one"), w.plan("two")
	one.Path, two.Path = filepath.Join(folder, "one"), filepath.Join(folder, "two")
	if _, err := w.m.Create(t.Context(), []Plan{one, two}, nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(folder, big), os.Symlink(big, folder)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.m.Remove(t.Context(), one, Seen{}); err != nil {
		t.Fatal(err)
	}
	w.whole(two)
}

func TestRollbackLeavesTheUsersLinks(t *testing.T) {
	w := newWorld(t)
	big, link := filepath.Join(realTemp(t), "big"), filepath.Join(realTemp(t), "wt")
	if err := errors.Join(os.Mkdir(big, 0o755), os.Symlink(big, link)); err != nil {
		t.Fatal(err)
	}
	p := w.plan("one")
	p.Path = filepath.Join(link, "one")
	made, err := w.m.Create(t.Context(), []Plan{p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.m.Rollback(t.Context(), []Plan{p}, made); err != nil {
		t.Fatal(err)
	}
	if !disk.Exists(link) || disk.Exists(p.Path) {
		t.Errorf("the link is gone, or the worktree is left: %v", tree(t, big))
	}
}

func TestCreateThatFailsLeavesNoFolder(t *testing.T) {
	w := newWorld(t)
	shimmed(t, `case "$*" in *"worktree add"*) exit 1;; esac`)
	p := w.plan("one")
	p.Path = filepath.Join(realTemp(t), "made.paw", "by", "paw")
	if _, err := w.m.Create(t.Context(), []Plan{p}, nil); err == nil {
		t.Fatal("it did not fail")
	}
	if top := filepath.Dir(filepath.Dir(p.Path)); disk.Exists(top) {
		t.Errorf("left behind: %v", tree(t, filepath.Dir(top)))
	}
}

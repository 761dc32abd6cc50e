package worktree

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"paw/config/disk"
)

// mounted mounts a folder of its own, with one file in it, at the path.
func mounted(t *testing.T, at string) (file string) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	elsewhere := realTemp(t)
	file = filepath.Join(elsewhere, "precious")
	writeFile(t, file, "x")
	if err := os.MkdirAll(at, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "--bind", elsewhere, at).CombinedOutput(); err != nil {
		t.Skipf("mount --bind is not possible here: %s", out)
	}
	t.Cleanup(func() { _ = exec.Command("umount", at).Run() })
	return file
}

func TestRemoveRefusesWhatHasAFileSystemMountedInIt(t *testing.T) {
	for _, at := range []string{"data", "data/deep/er", "a b\t\\c\n"} {
		t.Run(at, func(t *testing.T) {
			w, p := prepared(t, "data/\na*\n")
			file := mounted(t, filepath.Join(p.Path, at))
			for _, keep := range []bool{false, true} {
				w.notRemoved(p, "a file system is mounted at "+filepath.Join(p.Path, at), keep)
			}
			if readFile(t, file) != "x" {
				t.Error("the file is gone")
			}
		})
	}
}

func TestSweepLeavesMountedFileSystems(t *testing.T) {
	w := newWorld(t)
	p := w.made("agent")
	old := filepath.Join(w.m.Trash().dir(), "old"+doomed)
	file := mounted(t, filepath.Join(old, "inner"))
	gone := filepath.Join(w.m.Trash().dir(), "gone"+doomed)
	writeFile(t, filepath.Join(gone, "x"), "x")
	if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the sweep", func() bool { return !disk.Exists(gone) })
	if readFile(t, file) != "x" {
		t.Error("the file is gone")
	}
}

func TestSweepLeavesTheModesOfFilesOutside(t *testing.T) {
	w, p := prepared(t, "")
	store := filepath.Join(realTemp(t), "store")
	writeFile(t, store, "shared")
	if err := os.Chmod(store, 0o444); err != nil {
		t.Fatal(err)
	}
	doomedDir := filepath.Join(w.m.Trash().dir(), "old"+doomed)
	writeFile(t, filepath.Join(doomedDir, "mod", "x"), "x")
	if err := os.Link(store, filepath.Join(doomedDir, "mod", "linked")); err != nil {
		t.Skip(err)
	}
	if err := os.Chmod(filepath.Join(doomedDir, "mod"), 0o555); err != nil {
		t.Fatal(err)
	}
	if _, err := w.m.Remove(t.Context(), p, Seen{}); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the sweep", func() bool { return !disk.Exists(doomedDir) })
	info, err := os.Stat(store)
	if err != nil || info.Mode().Perm() != 0o444 {
		t.Errorf("got %v, %v", info.Mode(), err)
	}
}

package worktree

import (
	"context"
	"path/filepath"
	"testing"

	"paw/config/disk"
)

// drivenMerge returns a repository with two commits whose merge needs a driver that is called own.
func drivenMerge(t *testing.T) (w *world, ours, theirs string) {
	t.Helper()
	w = newWorld(t)
	w.write(".gitattributes", "a.txt merge=own\n")
	w.commit("attributes")
	w.git("switch", "-q", "-c", "other")
	w.write("a.txt", "theirs\n")
	theirs = w.commit("theirs")
	w.git("switch", "-q", "main")
	w.write("a.txt", "ours\n")
	return w, w.commit("ours"), theirs
}

// TestMergeThatIsCutLeavesNoFiles cuts a merge while a driver has git's copies of the three versions, which lie in the
// checkout. A file of that kind which was there before stays.
func TestMergeThatIsCutLeavesNoFiles(t *testing.T) {
	w, ours, theirs := drivenMerge(t)
	earlier, here := filepath.Join(w.Dir, ".merge_file_Earlie"), filepath.Join(realTemp(t), "here")
	writeFile(t, earlier, "of another git\n")
	w.git("config", "merge.own.driver", ": >"+here+"; sleep 60; false %O %A %B")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := w.m.Objects().MergeTree(ctx, w.Dir, ours, theirs)
		done <- err
	}()
	waitFor(t, "the driver", func() bool { return disk.Exists(here) })
	cancel()
	if err := <-done; err == nil {
		t.Error("it was not cut")
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir, ".merge_file_*")); len(left) != 1 || left[0] != earlier {
		t.Errorf("left are %q", left)
	}
}

// TestMergeThatFailsLeavesOthersFiles: git removes its own files, so what comes meanwhile is another git's.
func TestMergeThatFailsLeavesOthersFiles(t *testing.T) {
	w, ours, theirs := drivenMerge(t)
	w.git("config", "merge.own.driver", "mv .git/objects .git/gone; echo >.merge_file_Others; : %O %A %B")
	if _, err := w.m.Objects().MergeTree(t.Context(), w.Dir, ours, theirs); err == nil {
		t.Error("it did not fail")
	}
	if left, _ := filepath.Glob(filepath.Join(w.Dir, ".merge_file_*")); len(left) != 1 {
		t.Errorf("left are %q", left)
	}
}

package objects

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

// TestIDsAreForetold compares ids of blobs with git's, in both formats.
func TestIDsAreForetold(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		dir := gittest.RealTemp(t)
		gittest.In(t, dir, "init", "-q", "--object-format="+format)
		for _, text := range []string{"", "one", strings.Repeat("many lines\n", 10_000), "\x00\xff"} {
			gittest.WriteFile(t, filepath.Join(dir, "text"), text)
			oid := gittest.In(t, dir, "hash-object", "text")
			foretold, err := idOfObject(filepath.Join(dir, ".git"), fmt.Appendf(nil, "blob %d\x00%s", len(text), text))
			if err != nil || foretold != oid {
				t.Errorf("%s: the id is %s, foretold was %s; %v", format, oid, foretold, err)
			}
		}
	}
}

func TestObjectsInPacksAreFound(t *testing.T) {
	w := gittest.New(t)
	for n := range 40 {
		w.Write(fmt.Sprintf("f%d", n), fmt.Sprint(n))
		w.Commit(fmt.Sprint(n))
	}
	all := strings.Fields(w.Git("rev-list", "--objects", "--no-object-names", "--all"))
	w.Git("repack", "-q", "-a", "-d")
	w.Git("prune-packed")
	for _, oid := range all {
		if disk.Exists(looseObject(w.Repository.CommonDir, oid)) {
			t.Fatalf("%s is not packed", oid)
		}
		if !Stored(w.Repository.CommonDir, oid) {
			t.Errorf("%s is not found", oid)
		}
		for _, other := range []string{oid[1:] + "0", "f" + oid[:39], oid[:39]} {
			if !strings.Contains(strings.Join(all, " "), other) && Stored(w.Repository.CommonDir, other) {
				t.Errorf("%s is found", other)
			}
		}
	}
}

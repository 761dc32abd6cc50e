package objects

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"paw/config/disk"
	"paw/worktree/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.RunIsolated(m)) }

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

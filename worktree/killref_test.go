package worktree

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/worktree/refs"
)

// TestRewindEndsAfterUpdateRefDiedAtAnySystemCall kills the git that moves HEAD and the refs that go along, and paw with it.
// Where it leaves locks of refs, whoever removes them, as paw names them, can end the move.
func TestRewindEndsAfterUpdateRefDiedAtAnySystemCall(t *testing.T) {
	strace := needStrace(t)
	for _, call := range []string{"rename", "unlink"} {
		for n := 1; ; n++ {
			w := newTurns(t, "")
			first := w.take()
			w.in("commit", "-q", "--allow-empty", "-m", "on")
			writeFile(t, w.path("a.txt"), "second\n")
			w.take()
			const now, op = "refs/paw/s_agent/now", "refs/paw/s_agent/op/1"
			w.git("update-ref", now, w.base)
			order, err := json.Marshal(childOrder{Dir: w.Dir, Lock: filepath.Join(filepath.Dir(w.Dir), "repository.lock"), Moves: &childMove{
				Path: w.p.Path, Target: first.Commit, Rescue: "refs/paw/s_agent/rescue/9",
				Along: []refs.Change{{Ref: op, To: first.Commit, From: refs.None}, {Ref: now, To: first.Commit, From: w.base}},
			}})
			if err != nil {
				t.Fatal(err)
			}
			env := shim(t, fmt.Sprintf(`case "$*" in *"update-ref -m"*)
				%s -f -qqq -o /dev/null -e trace=%[2]s -e 'inject=%[2]s:signal=KILL:when=%[3]d' "$real" "$@" && exit 0
				kill -9 $PPID;; esac`, strace, call, n))
			code := w.process(append([]string{"PAW_TEST_CHILD=" + string(order)}, env...)).end()
			_, err = w.m.Moves().EndMoveIn(t.Context(), w.p.Path)
			if errors.As(err, new(*refs.LockedError)) {
				removeRefLocks(t, w.m.Repository.CommonDir)
				_, err = w.m.Moves().EndMoveIn(t.Context(), w.p.Path)
			}
			if got := w.git("rev-parse", now, op); err != nil || got != first.Commit+"\n"+first.Commit || w.in("rev-parse", "HEAD") != w.base {
				t.Errorf("killed before %s %d: %v\n%s", call, n, err, got)
			}
			if code == 0 {
				break
			}
		}
	}
}

func removeRefLocks(t *testing.T, commonDir string) {
	t.Helper()
	if err := filepath.WalkDir(commonDir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".lock") && filepath.Base(path) != "index.lock" && filepath.Base(path) != "paw-journal.lock" {
			return os.Remove(path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

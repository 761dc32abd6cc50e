package worktree

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"paw/config/disk"
	"paw/worktree/refs"

	"github.com/google/go-cmp/cmp"
)

func TestCreateRefHasOneWinner(t *testing.T) {
	w := newWorld(t)
	for round := range 5 {
		ref := fmt.Sprintf("refs/paw/s_a/turn/%d", round)
		var wins sync.Map
		var all sync.WaitGroup
		for k := range 8 {
			all.Go(func() {
				won, err := w.m.Refs().Create(t.Context(), ref, w.base)
				if err != nil {
					t.Error(err)
				}
				if won {
					wins.Store(k, true)
				}
			})
		}
		all.Wait()
		count := 0
		wins.Range(func(any, any) bool { count++; return true })
		if count != 1 {
			t.Errorf("%s: %d winners", ref, count)
		}
	}
}

func TestCreateRefLeavesTheOneThatIsThere(t *testing.T) {
	w := newWorld(t)
	w.git("tag", "afk-s_a-1")
	second := w.commit("second")
	for _, packed := range []bool{false, true} {
		if packed {
			w.git("pack-refs", "--all", "--prune")
		}
		won, err := w.m.Refs().Create(t.Context(), "refs/tags/afk-s_a-1", second)
		if won || err != nil {
			t.Errorf("packed %v: got %v, %v", packed, won, err)
		}
	}
	if w.git("rev-parse", "refs/tags/afk-s_a-1") == second {
		t.Error("the tag has moved")
	}
}

func TestCreateRefRefusesWhatIsNoCommit(t *testing.T) {
	w := newWorld(t)
	for _, oid := range []string{"", "HEAD", strings.Repeat("0", 40), strings.Repeat("1", 40)} {
		if won, err := w.m.Refs().Create(t.Context(), "refs/paw/s_a/turn/1", oid); won || err == nil {
			t.Errorf("%q: got %v, %v", oid, won, err)
		}
	}
	if got := w.git("for-each-ref", "refs/paw"); got != "" {
		t.Errorf("there is %q", got)
	}
}

func TestStaleLockIsNamedAndKept(t *testing.T) {
	w := newWorld(t)
	lock := filepath.Join(w.Dir, ".git/refs/tags/afk-s_a-1.lock")
	writeFile(t, lock, "")
	then := time.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, then, then); err != nil {
		t.Fatal(err)
	}
	_, err := w.m.Refs().Create(t.Context(), "refs/tags/afk-s_a-1", w.base)
	var locked *refs.LockedError
	if !errors.As(err, &locked) || locked.File != lock || locked.Age < time.Hour || !strings.Contains(err.Error(), lock) {
		t.Errorf("got %v", err)
	}
	if !disk.Exists(lock) {
		t.Error("the lock was deleted")
	}
	numbers, err := w.m.Refs().List(t.Context(), "refs/tags/afk-")
	if err != nil || len(numbers) != 0 {
		t.Errorf("a lock counts as a tag: %v, %v", numbers, err)
	}
}

func TestLockThatGoesAwayIsWaitedFor(t *testing.T) {
	w := newWorld(t)
	lock := filepath.Join(w.Dir, ".git/refs/tags/afk-s_a-1.lock")
	writeFile(t, lock, "")
	time.AfterFunc(300*time.Millisecond, func() { os.Remove(lock) })
	if won, err := w.m.Refs().Create(t.Context(), "refs/tags/afk-s_a-1", w.base); !won || err != nil {
		t.Errorf("got %v, %v", won, err)
	}
}

func TestRefsBeginWithPrefix(t *testing.T) {
	w := newWorld(t)
	for _, ref := range []string{"refs/paw/s_a/turn/1", "refs/paw/s_a/turn/10", "refs/paw/s_a/claim/1", "refs/paw/s_ab/turn/1", "refs/tags/afk-s_a-1"} {
		w.git("update-ref", ref, w.base)
	}
	for prefix, want := range map[string][]string{
		"refs/paw/s_a/":      {"refs/paw/s_a/claim/1", "refs/paw/s_a/turn/1", "refs/paw/s_a/turn/10"},
		"refs/paw/s_a/turn/": {"refs/paw/s_a/turn/1", "refs/paw/s_a/turn/10"},
		"refs/paw/s_a":       {"refs/paw/s_a/claim/1", "refs/paw/s_a/turn/1", "refs/paw/s_a/turn/10", "refs/paw/s_ab/turn/1"},
		"refs/tags/afk-":     {"refs/tags/afk-s_a-1"},
		"refs/none/":         {},
		"":                   {"refs/heads/main", "refs/paw/s_a/claim/1", "refs/paw/s_a/turn/1", "refs/paw/s_a/turn/10", "refs/paw/s_ab/turn/1", "refs/tags/afk-s_a-1"},
	} {
		found, err := w.m.Refs().List(t.Context(), prefix)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for ref, oid := range found {
			if oid != w.base {
				t.Errorf("%s is %s", ref, oid)
			}
			got = append(got, ref)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q:\n%s", prefix, diff)
		}
	}
}

func TestDeleteRefsIsAllOrNothing(t *testing.T) {
	w := newWorld(t)
	first, ctx := w.base, t.Context()
	w.git("update-ref", "refs/paw/s_a/turn/1", first)
	w.git("pack-refs", "--all", "--prune")
	w.git("update-ref", "refs/paw/s_a/turn/2", first)
	second := w.commit("second")
	err := w.m.Refs().Delete(ctx, map[string]string{"refs/paw/s_a/turn/1": first, "refs/paw/s_a/turn/2": second})
	if err == nil || strings.Count(w.git("for-each-ref", "refs/paw"), "\n") != 1 {
		t.Errorf("got %v, left:\n%s", err, w.git("for-each-ref", "refs/paw"))
	}
	err = w.m.Refs().Delete(ctx, map[string]string{"refs/paw/s_a/turn/1": first, "refs/paw/s_a/turn/2": first})
	if got := w.git("for-each-ref", "refs/paw"); err != nil || got != "" {
		t.Errorf("got %v, left %q", err, got)
	}
	if err := w.m.Refs().Delete(ctx, map[string]string{"refs/paw/s_a/turn/3": strings.Repeat("0", 40)}); err == nil {
		t.Error("a ref without its value was accepted")
	}
	if err := w.m.Refs().Delete(ctx, nil); err != nil {
		t.Error(err)
	}
}

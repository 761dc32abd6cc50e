package worktree

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"paw/worktree/gitdir"
)

func TestEightProcessesCreateEightBranches(t *testing.T) {
	w := newWorld(t)
	var all []*paw
	var plans []Plan
	want := []string{"main"}
	for i := range 8 {
		p := w.plan(fmt.Sprintf("a%d", i))
		plans, want = append(plans, p), append(want, p.Branch)
		all = append(all, w.paw("", nil, p))
	}
	if codes := race(t, all); !slices.Equal(codes, make([]int, 8)) {
		t.Fatalf("exit codes are %v", codes)
	}
	for _, p := range plans {
		w.whole(p)
	}
	slices.Sort(want)
	if got := w.branches(); !slices.Equal(got, want) {
		t.Errorf("branches are %q", got)
	}
	w.healthy(9)
}

func TestEightProcessesCreateOnTheSameBranch(t *testing.T) {
	w := newWorld(t)
	w.git("branch", "shared")
	var all []*paw
	for i := range 8 {
		p := w.plan(fmt.Sprintf("a%d", i))
		p.Branch, p.CreateBranch = "shared", false
		p.Path = filepath.Join(w.Side, p.Agent)
		all = append(all, w.paw("", nil, p))
	}
	codes := race(t, all)
	slices.Sort(codes)
	if want := []int{0, 3, 3, 3, 3, 3, 3, 3}; !slices.Equal(codes, want) {
		t.Errorf("exit codes are %v", codes)
	}
	w.healthy(2)
}

func TestEightProcessesCreateTheSamePlans(t *testing.T) {
	w := newWorld(t)
	plans := []Plan{w.plan("a"), w.plan("b")}
	var all []*paw
	for range 8 {
		all = append(all, w.paw("", nil, plans...))
	}
	if codes := race(t, all); !slices.Equal(codes, make([]int, 8)) {
		t.Errorf("exit codes are %v", codes)
	}
	for _, p := range plans {
		w.whole(p)
	}
	w.healthy(3)
	if found, _ := filepath.Glob(filepath.Join(w.m.Trash().dir(), "*")); len(found) != 0 {
		t.Errorf("the trash holds %q", found)
	}
}

func TestAProcessThatAHookLeftBehindIsNamed(t *testing.T) {
	w := newWorld(t)
	before := gitdir.RegistryWait
	gitdir.RegistryWait = 50 * time.Millisecond
	t.Cleanup(func() { gitdir.RegistryWait = before })
	path := filepath.Join(w.m.Repository.CommonDir, "paw", "registry.lock")
	held, err := gitdir.Waiting{}.Await(t.Context(), path, gitdir.LockWait)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	named := errors.New("pid 7 holds it")
	w.m.Busy = func(at string) error {
		if at != path {
			t.Errorf("asked for %s", at)
		}
		return named
	}
	if _, err := w.m.Create(t.Context(), []Plan{w.plan("agent")}, nil); !errors.Is(err, named) {
		t.Errorf("got %v", err)
	}
}

// TestLandingsStandInLine: who waits for others to land waits longer than any of them takes.
func TestLandingsStandInLine(t *testing.T) {
	w := newWorld(t)
	before := gitdir.RegistryWait
	gitdir.RegistryWait = 50 * time.Millisecond
	t.Cleanup(func() { gitdir.RegistryWait = before })
	first, err := w.m.Moves().Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.m.Waits = func(string) bool { first.Release(); return true }
	second, err := w.m.Moves().Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

package worktree

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"paw/worktree/gitdir"
)

// counting makes every git that this process starts leave a line, and returns a
// function that says which subcommands ran since the last call.
func counting(t *testing.T) func() []string {
	t.Helper()
	log := filepath.Join(realTemp(t), "log")
	writeFile(t, log, "")
	shimmed(t, `echo "$*" >>"`+log+`"`)
	return func() []string {
		lines := strings.Split(strings.TrimSpace(readFile(t, log)), "\n")
		if err := os.Truncate(log, 0); err != nil {
			t.Fatal(err)
		}
		if lines[0] == "" {
			return nil
		}
		return lines
	}
}

func wantCount(t *testing.T, what string, got []string, most int) {
	t.Helper()
	if len(got) > most {
		t.Errorf("%s: %d git processes instead of %d:\n%s", what, len(got), most, strings.Join(got, "\n"))
	}
	t.Logf("%s: %d git processes", what, len(got))
}

// counted returns what does a step and wants no more git processes than that.
func counted(t *testing.T) func(what string, most int, f func() error) {
	count := counting(t)
	return func(what string, most int, f func() error) {
		t.Helper()
		if err := f(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		wantCount(t, what, count(), most)
	}
}

func TestGitProcessesAreCounted(t *testing.T) {
	w := newWorld(t)
	var plans []Plan
	for i := range 8 {
		plans = append(plans, w.plan(fmt.Sprintf("a%d", i)))
	}
	ctx := t.Context()
	do := counted(t)
	do("discover", 0, func() error { _, err := gitdir.Discover(w.Dir); return err })
	do("head", 1, func() error { _, err := w.m.Refs().Head(ctx, ""); return err })
	do("check 8", 1, func() error { return w.m.Check(ctx, plans) })
	var made []Made
	do("create 8", 18, func() (err error) { made, err = w.m.Create(ctx, plans, nil); return err })
	do("create 8 again", 1, func() error { _, err := w.m.Create(ctx, plans, nil); return err })
	do("list 9", 0, func() error { _, err := w.m.Registry().List(ctx); return err })
	do("verify", 0, func() error { return gitdir.Verify(plans[0].Path, w.m.Repository.CommonDir, "a0") })
	do("snapshot, clean", 3, func() error {
		_, err := w.m.Snapshots().Take(ctx, plans[0].Path, "refs/paw/s_a0/turn/1", "m")
		return err
	})
	writeFile(t, filepath.Join(plans[0].Path, "new"), "x\n")
	do("snapshot, dirty", 6, func() error {
		_, err := w.m.Snapshots().Take(ctx, plans[0].Path, "refs/paw/s_a0/turn/2", "m")
		return err
	})
	do("inspect", 2, func() error { _, err := w.m.inspect(ctx, plans[0]); return err })
	do("remove", 2, func() error { _, err := w.m.Remove(ctx, plans[1], Seen{}); return err })
	do("roll back 1", 3, func() error { return w.m.Rollback(ctx, plans[2:3], made[2:3]) })
}

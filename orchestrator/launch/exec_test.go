package launch

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"paw/config"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session"
)

// A launch holds API keys: whatever becomes of it, its launcher deletes it. One that is started all the same takes the place
// of the test and fails.
func TestALaunchThatIsOverIsDeleted(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Locks: session.Locks{Dir: t.TempDir()}}
	for name, c := range map[string]struct {
		code  int
		spoil func(t *testing.T, path string) error
	}{
		"the agent runs": {exitLaunchOver, func(t *testing.T, _ string) error {
			held, err := h.Locks.HoldAgent("shop", "one", session.Holder{PID: os.Getpid()})
			if err == nil {
				t.Cleanup(func() { held.Close() })
			}
			return err
		}},
		"cut short": {exitLaunchOver, func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(`{"env":["KEY=secret"`), 0o600)
		}},
		"not its worktree":    {exitLaunchRefused, func(*testing.T, string) error { return nil }},
		"withdrawn meanwhile": {exitLaunchOver, withdrawWhileRead},
	} {
		t.Run(name, func(t *testing.T) {
			path, err := writeLaunch(h, launchFile{
				Session: "shop", Agent: "one", Generation: 1, Worktree: t.TempDir(), LocksDir: h.Locks.Dir,
				Argv: []string{"/bin/false"}, Env: []string{"KEY=secret"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(t, path); err != nil {
				t.Fatal(err)
			}
			if code, err := RunAgent("shop", "one", 1, path, nil); code != c.code || err == nil {
				t.Fatalf("code %d, %v", code, err)
			}
			reason, hints := observe.LaunchFailure(h, "shop", "one")
			if c.code == exitLaunchRefused && (!strings.Contains(reason, "one: not started: ") || !slices.Equal(hints, []string{"paw recover shop"})) {
				t.Errorf("it gave up: %q, %q", reason, hints)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.json"))
			if err != nil || len(left) > 0 {
				t.Errorf("%v are left (%v)", left, err)
			}
		})
	}
}

// withdrawWhileRead makes the file of a launch a pipe: it is gone before its reader has come to its end.
func withdrawWhileRead(t *testing.T, path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
		return err
	}
	go func() {
		pipe, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader
		if err != nil {
			t.Error(err)
			return
		}
		_, err = pipe.Write(content)
		if err = errors.Join(err, os.Remove(path), pipe.Close()); err != nil {
			t.Error(err)
		}
	}()
	return nil
}

// A launcher that wakes up late finds no launch of an earlier generation, and no key.
func TestTheNextLaunchWithdrawsEarlierOnes(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}}
	for generation := 1; generation <= 3; generation++ {
		path, err := writeLaunch(h, launchFile{Session: "shop", Agent: "one", Generation: generation, Argv: []string{"/bin/false"}, Env: []string{"KEY=secret"}})
		if err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*.json")); !slices.Equal(left, []string{path}) {
			t.Errorf("launch %d: %v are there", generation, left)
		}
	}
}

// The folder may have any name: what is open is found and withdrawn all the same.
func TestLaunchesAreWithdrawnWhateverTheirFolderIsCalled(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: filepath.Join(t.TempDir(), `st[1]*\?`)}}
	for _, l := range []launchFile{{Session: "shop", Agent: "one", Generation: 1}, {Session: "shop", Agent: "one", Generation: 12}, {Session: "shop", Agent: "two", Generation: 1}} {
		if err := app.WritePrivate(observe.LaunchPath(h, l.Session, l.Agent, l.Generation), []byte("{}")); err != nil {
			t.Fatal(err)
		}
	}
	if open := observe.OpenLaunches(h, "shop"); len(open["one"]) == 0 || len(open["on"]) > 0 {
		t.Error("open launches are not found")
	}
	if err := WithdrawLaunches(h, "shop", "one"); err != nil {
		t.Fatal(err)
	}
	if observe.LaunchOpen(h, "shop", "one", 1) || observe.LaunchOpen(h, "shop", "one", 12) || !observe.LaunchOpen(h, "shop", "two", 1) {
		t.Error("not withdrawn, or one too many")
	}
}

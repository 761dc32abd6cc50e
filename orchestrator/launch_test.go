package orchestrator

import (
	"os"
	"path/filepath"
	"testing"

	"paw/config"
	"paw/session"
)

// A launch holds API keys: whatever becomes of it, its launcher deletes it.
func TestALaunchThatIsOverIsDeleted(t *testing.T) {
	p := &Paw{Paths: config.Paths{StateDir: t.TempDir()}, Locks: session.Locks{Dir: t.TempDir()}}
	for name, spoil := range map[string]func(t *testing.T, path string) error{
		"the agent runs": func(t *testing.T, _ string) error {
			held, err := p.Locks.HoldAgent("shop", "one", session.Holder{PID: os.Getpid()})
			if err == nil {
				t.Cleanup(func() { held.Close() })
			}
			return err
		},
		"cut short": func(_ *testing.T, path string) error {
			return os.WriteFile(path, []byte(`{"env":["KEY=secret"`), 0o600)
		},
		"not its worktree": func(*testing.T, string) error { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path, err := p.writeLaunch(launchFile{
				Session: "shop", Agent: "one", Generation: 1, Worktree: t.TempDir(), LocksDir: p.Locks.Dir,
				Argv: []string{"/bin/true"}, Env: []string{"KEY=secret"},
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := spoil(t, path); err != nil {
				t.Fatal(err)
			}
			if code, err := RunAgent("shop", "one", 1, path, nil); code == 0 || err == nil {
				t.Fatalf("launched: code %d, %v", code, err)
			}
			left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.json"))
			if err != nil || len(left) > 0 {
				t.Errorf("%v are left (%v)", left, err)
			}
		})
	}
}

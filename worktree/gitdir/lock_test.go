package gitdir

import (
	"errors"
	"path/filepath"
	"testing"
)

// A free lock is taken without a word. One that stays held is waited for, unless that is useless.
func TestAwaitAsksOnlyWhereTheLockStaysHeld(t *testing.T) {
	path, asked := filepath.Join(t.TempDir(), "lock"), 0
	w := Waiting{Waits: func(string) bool { asked++; return false }}
	file, err := w.Await(t.Context(), path, LockWait)
	if err != nil || asked > 0 {
		t.Fatalf("asked %d times, %v", asked, err)
	}
	defer file.Close()
	if _, err := w.Await(t.Context(), path, LockWait); !errors.Is(err, ErrBusy) || asked != 1 {
		t.Errorf("held: asked %d times, %v", asked, err)
	}
	if _, err := w.Await(t.Context(), path, registryChange); !errors.Is(err, ErrBusy) || asked != 1 {
		t.Errorf("held, and patience is over: asked %d times, %v", asked, err)
	}
}

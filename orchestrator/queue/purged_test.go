package queue

import (
	"context"
	"errors"
	"os"
	"testing"

	"paw/session"
)

// purging are hands under which the session is purged while the pump looks.
type purging struct {
	hands
	purge func()
}

func (p purging) look(context.Context, *session.Queue) (Facts, error) {
	p.purge()
	return Facts{}, errors.New("no such session")
}

// TestThePumpOfAPurgedSessionLeavesNoLock: a purge cannot delete a lock that is held.
func TestThePumpOfAPurgedSessionLeavesNoLock(t *testing.T) {
	w := newWorld(t)
	w.p.Store = session.Store{Dir: t.TempDir(), LocksDir: w.p.Locks.Dir}
	_ = (&pump{App: w.p, session: "shop", hands: purging{purge: func() { w.p.Locks.Forget("shop") }}}).run(t.Context())
	if left, _ := os.ReadDir(w.p.Locks.Dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

package session

import (
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A FIFO in the place of a lock file has nobody at its other end, and must not keep anybody waiting.
func TestFIFOInThePlaceOfALock(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	for _, kind := range []string{"agent", turnLock, deliveryLock} {
		if err := unix.Mkfifo(filepath.Join(l.Dir, lockFile(kind, "shop", "one")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for what, look := range map[string]func(){
		"probe": func() {
			if got, err := l.ProbeAgent("shop", "one"); err == nil || got.State != LockUnknown {
				t.Errorf("probe: %+v, %v", got, err)
			}
		},
		"hold": func() {
			if f, err := l.HoldAgent("shop", "one", Holder{}); err == nil {
				f.Close()
				t.Error("held")
			}
		},
		"turn": func() {
			if !l.TurnHeld("shop", "one").IsZero() || l.DeliveryHeld("shop", "one") {
				t.Error("held by nobody")
			}
			if unlock, err := l.Turn(t.Context(), "shop", "one"); err == nil {
				unlock()
				t.Error("locked a FIFO")
			}
		},
		"pid": func() { _ = recordedPID(filepath.Join(l.Dir, lockFile(turnLock, "shop", "one"))) },
	} {
		done := make(chan bool)
		go func() { look(); close(done) }()
		select {
		case <-done:
		case <-time.After(5 * time.Second):
			t.Errorf("%s waits for the other end", what)
		}
	}
}

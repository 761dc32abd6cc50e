package session

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestCreatingLockTellsWhoMakesAnAgent(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	if pid, held := l.CreatedBy("shop", "one"); held || pid != 0 {
		t.Errorf("without a lock file: %d %t", pid, held)
	}
	unlock, err := l.Creating("shop", "one")
	if err != nil {
		t.Fatal(err)
	}
	if pid, held := l.CreatedBy("shop", "one"); !held || pid != os.Getpid() {
		t.Errorf("held: %d %t", pid, held)
	}
	var locked *LockedError
	if _, err := l.Creating("shop", "one"); !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a second time: %v", err)
	}
	other, err := l.Creating("shop", "two")
	if err != nil {
		t.Fatal(err)
	}
	other()
	unlock()
	if pid, held := l.CreatedBy("shop", "one"); held || pid != 0 {
		t.Errorf("released: %d %t", pid, held)
	}
}

// The commands of a set-up do not inherit the lock of the agent, and the CLI does.
func TestAgentLockIsKeptBackWhileTheWorktreeIsSetUp(t *testing.T) {
	l := Locks{Dir: t.TempDir()}
	holder := myself(t)
	holder.SetUp = "npm ci"
	f, err := l.HoldAgent("shop", "one", holder)
	if err != nil {
		t.Fatal(err)
	}
	KeepBack(f)
	sleeper(t, "exec sleep 1000")
	if lock, err := l.ProbeAgent("shop", "one"); err != nil || lock.State != LockHeld || lock.Holder.SetUp != "npm ci" {
		t.Errorf("during the set-up: %+v, %v", lock, err)
	}
	now := time.Now().UTC()
	if err := errors.Join(NoteSetUp(f, now), PassOn(f)); err != nil {
		t.Fatal(err)
	}
	if lock, err := l.ProbeAgent("shop", "one"); err != nil || lock.Holder.SetUp != "" || !lock.Holder.At.Equal(now) || lock.Holder.PID != holder.PID {
		t.Errorf("after it: %+v, %v", lock, err)
	}
	f.Close() // the sleeper does not have it
	again, err := l.try("agent-shop-one.lock")
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

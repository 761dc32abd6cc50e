package observe

import (
	"errors"
	"os"
	"testing"
	"time"

	"paw/config"
	"paw/orchestrator/app"
)

// TestNoteIsReadWholeWhileItIsWritten: who looks while a hook notes again what it could not record
// reads the note of before or the new one. An empty note would say that the disk was full.
func TestNoteIsReadWholeWhileItIsWritten(t *testing.T) {
	h := &app.App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	if err := os.MkdirAll(h.StateDir("s", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	note := func() { NoteUnrecorded(h, "s", "a", "launch", errors.New("read-only file system")) }
	note()
	written := make(chan struct{})
	go func() {
		defer close(written)
		for range 300 {
			note()
		}
	}()
	for reads := 0; ; reads++ {
		if got := readUnrecorded(unrecordedPath(h, "s", "a")); got.Prompt != "read-only file system" || got.lost {
			t.Fatalf("read %d: %+v", reads, got)
		}
		select {
		case <-written:
			return
		default:
		}
	}
}

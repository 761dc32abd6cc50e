package app

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"paw/config"
)

// The log of failed hooks does not grow for ever, and the newest failures stay.
func TestHookLogIsBounded(t *testing.T) {
	h := &App{Paths: config.Paths{StateDir: t.TempDir()}, Now: time.Now}
	long := strings.Repeat("x", 10<<10)
	for range 3 * maxHookLog / len(long) {
		h.HookLog().Add("demo", "old", errors.New(long))
	}
	h.HookLog().Add("demo", "new", errors.New("the last one"))
	info, err := os.Stat(h.HookLog().Path)
	if err != nil || info.Size() > maxHookLog+2*int64(len(long)) {
		t.Errorf("%d bytes (%v), want no more than about %d", info.Size(), err, maxHookLog)
	}
	n, last := h.HookLog().Failures()
	if n < 2 || last.Event != "new" || last.Error != "the last one" {
		t.Errorf("%d failures, the last %+v", n, last)
	}
}

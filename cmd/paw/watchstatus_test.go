package main

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestWatchLooksSoonAfterAChange measures the time between two looks of --watch: a change is seen
// long before the next second, but a file that changes all the time does not make paw look all the
// time.
func TestWatchLooksSoonAfterAChange(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after time.Duration // time of the change
		want  time.Duration // longest time until the next look
		least time.Duration
	}{
		{"never", time.Hour, watchInterval + watchSoonest, watchInterval},
		{"in the middle", 400 * time.Millisecond, 400*time.Millisecond + watchSoonest, 400 * time.Millisecond},
		{"always", 0, watchSoonest, watchSoonest},
	} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			if !untilNextLook(t.Context(), func() bool { return time.Since(began) >= tt.after }) {
				t.Errorf("%s: it ended", tt.name)
			}
			if took := time.Since(began); took < tt.least || took > tt.want {
				t.Errorf("%s: it waited %s", tt.name, took)
			}
			ended, end := context.WithCancel(t.Context())
			end()
			if untilNextLook(ended, func() bool { return false }) {
				t.Errorf("%s: it goes on after its end", tt.name)
			}
		})
	}
}

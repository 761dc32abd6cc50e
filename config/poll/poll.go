// Package poll waits for conditions that another process brings about without a signal to paw.
package poll

import (
	"context"
	"time"
)

// Tick is the pause between two looks at a condition that takes a moment.
const Tick = 10 * time.Millisecond

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Until calls a condition again and again, once at least, and reports whether the condition came to
// hold before patience was over or ctx was done. The first pauses are shorter: most conditions take
// a millisecond or two.
func Until(ctx context.Context, every, patience time.Duration, yes func() bool) bool {
	pause := max(every/64, 1)
	for end := time.Now().Add(patience); ; Sleep(ctx, pause) {
		pause = min(2*pause, every)
		if yes() {
			return true
		}
		if time.Now().After(end) || ctx.Err() != nil {
			return false
		}
	}
}

// Package poll waits for conditions that another process brings about without notifying paw.
package poll

import (
	"context"
	"time"
)

// Tick is the usual pause between two tests of a condition.
const Tick = 10 * time.Millisecond

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Until calls yes, at least once, until it returns true, and reports whether it did before patience
// had passed or ctx was done. The first pauses are short: most conditions hold after a millisecond
// or two.
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

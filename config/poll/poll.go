// Package poll waits for what another process does and tells nobody. It is the one loop of that kind, and imports nothing of paw.
package poll

import (
	"context"
	"time"
)

// Tick is how often what takes a moment is looked at again.
const Tick = 10 * time.Millisecond

// Sleep waits for d, or until ctx is done.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// Until asks again and again, once at least, and reports whether the answer came to be yes before the patience was over
// or ctx was done. The first pauses are shorter: most of what is waited for takes a millisecond or two.
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

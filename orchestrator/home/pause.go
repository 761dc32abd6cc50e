package home

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

package copilot

import (
	"context"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Uses reads the file of events. What copilot calls a cost there is a number of premium requests, and no money.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      struct {
			Usage struct {
				Input      int64 `json:"inputTokens"` // with what came from a cache
				Output     int64 `json:"outputTokens"`
				CacheRead  int64 `json:"cacheReadTokens"`
				CacheWrite int64 `json:"cacheWriteTokens"`
			} `json:"usage"`
		} `json:"data"`
	}
	return records.Uses(ctx, c, s, func(l line) (id string, u cli.Use) {
		if l.Type != "session.usage_record" {
			return "", cli.Use{}
		}
		t := l.Data.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.CacheRead-t.CacheWrite, 0), CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
}

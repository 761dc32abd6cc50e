package copilot

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
)

// Uses reads the file of events. What copilot calls a cost there is a number of premium requests, and no money.
func (c driver) Uses(ctx context.Context, s agent.Spec) ([]agent.Use, error) {
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return nil, err
	}
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      struct {
			Usage *struct {
				Input      int64 `json:"inputTokens"` // with what came from a cache
				Output     int64 `json:"outputTokens"`
				CacheRead  int64 `json:"cacheReadTokens"`
				CacheWrite int64 `json:"cacheWriteTokens"`
			} `json:"usage"`
		} `json:"data"`
	}
	var all []agent.Use
	err = records.EachLine(path, func(l line) bool {
		if u := l.Data.Usage; l.Type == "session.usage_record" && u != nil {
			all = append(all, agent.Use{At: l.Timestamp, Input: max(u.Input-u.CacheRead-u.CacheWrite, 0), CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
		}
		return true
	})
	return all, err
}

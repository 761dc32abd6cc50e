package qwen

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
)

// Uses reads the chat file: all of it, also what was taken back.
func (q driver) Uses(ctx context.Context, s agent.Spec) ([]agent.Use, error) {
	path, err := records.TranscriptFile(ctx, q, s)
	if err != nil {
		return nil, err
	}
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Usage     *struct {
			Input  int64 `json:"promptTokenCount"` // with what came from a cache
			Cached int64 `json:"cachedContentTokenCount"`
			Total  int64 `json:"totalTokenCount"`
		} `json:"usageMetadata"`
	}
	var all []agent.Use
	err = records.EachLine(path, func(l line) bool {
		if u := l.Usage; l.Type == "assistant" && u != nil && u.Total > 0 {
			all = append(all, agent.Use{At: l.Timestamp, Input: max(u.Input-u.Cached, 0), CacheRead: u.Cached, Output: max(u.Total-u.Input, 0)})
		}
		return true
	})
	return all, err
}

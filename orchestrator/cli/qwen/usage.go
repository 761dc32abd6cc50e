package qwen

import (
	"context"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Uses reads the chat file: all of it, also what was taken back.
func (q driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Usage     struct {
			Input  int64 `json:"promptTokenCount"` // with what came from a cache
			Cached int64 `json:"cachedContentTokenCount"`
			Total  int64 `json:"totalTokenCount"`
		} `json:"usageMetadata"`
	}
	return records.Uses(ctx, q, s, func(l line) (id string, u cli.Use) {
		if l.Type != "assistant" {
			return "", cli.Use{}
		}
		t := l.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
	})
}

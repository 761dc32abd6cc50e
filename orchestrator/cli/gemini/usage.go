package gemini

import (
	"context"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Uses reads the chat file, which has a message again whenever it has changed.
func (g driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
		Type      string    `json:"type"`
		Tokens    struct {
			Input  int64 `json:"input"` // with what came from a cache
			Cached int64 `json:"cached"`
			Total  int64 `json:"total"`
		} `json:"tokens"`
	}
	return records.Uses(ctx, g, s, func(l line) (id string, u cli.Use) {
		if l.Type != "gemini" {
			return "", cli.Use{}
		}
		t := l.Tokens
		return l.ID, cli.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
	})
}

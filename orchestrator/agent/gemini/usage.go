package gemini

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
)

// Uses reads the chat file, which has a message again whenever it has changed.
func (g driver) Uses(ctx context.Context, s agent.Spec) ([]agent.Use, error) {
	path, err := records.TranscriptFile(ctx, g, s)
	if err != nil {
		return nil, err
	}
	type line struct {
		ID        string    `json:"id"`
		Timestamp time.Time `json:"timestamp"`
		Type      string    `json:"type"`
		Tokens    *struct {
			Input  int64 `json:"input"` // with what came from a cache
			Cached int64 `json:"cached"`
			Total  int64 `json:"total"`
		} `json:"tokens"`
	}
	var all []agent.Use
	at := map[string]int{}
	err = records.EachLine(path, func(l line) bool {
		t := l.Tokens
		if l.Type != "gemini" || t == nil || t.Total == 0 {
			return true
		}
		use := agent.Use{At: l.Timestamp, Input: max(t.Input-t.Cached, 0), CacheRead: t.Cached, Output: max(t.Total-t.Input, 0)}
		if i, again := at[l.ID]; again && l.ID != "" {
			all[i] = use
			return true
		}
		at[l.ID] = len(all)
		all = append(all, use)
		return true
	})
	return all, err
}

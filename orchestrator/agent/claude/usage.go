package claude

import (
	"context"
	"time"

	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/records"
)

// Uses reads the transcript, which has each part of an answer on a line of its own, with what all of it took by then.
func (c driver) Uses(ctx context.Context, s agent.Spec) ([]agent.Use, error) {
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return nil, err
	}
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Message   struct {
			ID    string `json:"id"`
			Usage *struct {
				Input      int64 `json:"input_tokens"`
				CacheWrite int64 `json:"cache_creation_input_tokens"`
				CacheRead  int64 `json:"cache_read_input_tokens"`
				Output     int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	var all []agent.Use
	at := map[string]int{} // index of an answer by its id
	err = records.EachLine(path, func(l line) bool {
		u := l.Message.Usage
		if l.Type != "assistant" || u == nil || u.Input+u.CacheRead+u.CacheWrite+u.Output == 0 {
			return true
		}
		use := agent.Use{At: l.Timestamp, Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
		if i, again := at[l.Message.ID]; again && l.Message.ID != "" {
			use.At = all[i].At
			all[i] = use
			return true
		}
		at[l.Message.ID] = len(all)
		all = append(all, use)
		return true
	})
	return all, err
}

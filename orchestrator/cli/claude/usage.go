package claude

import (
	"context"
	"path/filepath"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// Uses reads the transcripts of the conversation and of its subagents. Each part of an answer is a
// line with the tokens of the answer so far. The cost is known for several answers together.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Message   struct {
			ID    string `json:"id"`
			Usage struct {
				Input      int64 `json:"input_tokens"`
				CacheWrite int64 `json:"cache_creation_input_tokens"`
				CacheRead  int64 `json:"cache_read_input_tokens"`
				Output     int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"message"`
	}
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return nil, err
	}
	subagents, _ := filepath.Glob(filepath.Join(cli.GlobQuote(subagentFiles(path)), "*.jsonl"))
	uses, err := records.UsesIn(append([]string{path}, subagents...), func(l line) (id string, u cli.Use) {
		if l.Type != "assistant" {
			return "", cli.Use{}
		}
		t := l.Message.Usage
		return l.Message.ID, cli.Use{At: l.Timestamp, Input: t.Input, CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
	return priced(uses, costs(costPoints(s, path))), err
}

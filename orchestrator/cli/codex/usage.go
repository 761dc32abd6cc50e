package codex

import (
	"context"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

// tokens has the counts as codex records them: Input includes the tokens from a cache.
type tokens struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

func (t tokens) use(at time.Time) cli.Use {
	return cli.Use{At: at, Input: max(t.Input-t.CacheRead-t.CacheWrite, 0), CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
}

// Uses reads the rollout file: one line per answer or, of an older codex, the running totals, which
// repeat. A fork also has lines of the original conversation, which are skipped.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return nil, err
	}
	type line struct {
		Timestamp time.Time `json:"timestamp"`
		Type      string    `json:"type"`
		Payload   struct {
			Type   string  `json:"type"`
			Thread string  `json:"thread_id"`
			Usage  *tokens `json:"usage"`
			Info   *struct {
				Total tokens `json:"total_token_usage"`
				Last  tokens `json:"last_token_usage"`
			} `json:"info"`
		} `json:"payload"`
	}
	var answers, counts []cli.Use
	var total tokens
	err = records.EachLine(path, func(l line) bool {
		switch p := l.Payload; {
		case l.Type == "token_usage_record" && p.Usage != nil && p.Thread == s.ConversationID:
			answers = append(answers, p.Usage.use(l.Timestamp))
		case l.Type == "event_msg" && p.Type == "token_count" && p.Info != nil && p.Info.Total != total:
			total = p.Info.Total
			counts = append(counts, p.Info.Last.use(l.Timestamp))
		}
		return true
	})
	if len(answers) > 0 {
		return answers, err
	}
	return counts, err
}

package cli_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"paw/orchestrator/cli"
)

// TestUsesOfRealRecords counts what the recorded conversations took. The model that they were recorded with took 100 tokens
// for each prompt of it, and answered with 10 or 20.
func TestUsesOfRealRecords(t *testing.T) {
	want := map[string]string{
		"claude.jsonl":        "14 answers: 1400 in, 0 and 0 cached, 140 out", // on more lines
		"codex.jsonl":         "14 answers: 1400 in, 0 and 0 cached, 280 out",
		"codex-resumed.jsonl": "4 answers: 400 in, 0 and 0 cached, 80 out",
		"codex-fork.jsonl":    "1 answers: 100 in, 0 and 0 cached, 20 out", // the others are of the conversation it is a copy of
		"qwen.jsonl":          "2 answers: 200 in, 0 and 0 cached, 40 out",
		"copilot.jsonl":       "1 answers: 100 in, 0 and 0 cached, 20 out",
		"pi.jsonl":            "5 answers: 500 in, 0 and 0 cached, 100 out",
		"opencode.json":       "8 answers: 800 in, 0 and 0 cached, 80 out",
	}
	for _, r := range recordings {
		l := newLab(t)
		path := l.put(r.file(l), l.sample("history/"+r.name))
		if r.more != nil {
			r.more(l)
		}
		s := l.with(r.id)
		if r.cli == "opencode" {
			s.Executable = exporter(l, path)
		}
		uses, err := get(t, r.cli).Uses(context.Background(), s)
		if err != nil {
			t.Errorf("%s: %v", r.name, err)
			continue
		}
		var sum cli.Use
		for i, u := range uses {
			sum.Input, sum.CacheRead, sum.CacheWrite, sum.Output = sum.Input+u.Input, sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite, sum.Output+u.Output
			if u.At.IsZero() || i > 0 && u.At.Before(uses[i-1].At) || u.Priced {
				t.Errorf("%s: answer %d: %+v", r.name, i, u)
			}
		}
		got := fmt.Sprintf("%d answers: %d in, %d and %d cached, %d out", len(uses), sum.Input, sum.CacheRead, sum.CacheWrite, sum.Output)
		if got != want[r.name] {
			t.Errorf("%s: %s, want %s", r.name, got, want[r.name])
		}
	}
}

// What came from a cache is not read anew, however the CLIs count it; an older codex has counts alone, some of them twice.
func TestUsesWithCaches(t *testing.T) {
	for _, c := range []struct {
		name, content string
		want          cli.Use
	}{
		{"claude.jsonl", `{"type":"assistant","timestamp":"2026-01-02T03:04:05Z","message":{"id":"a","usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":1}}}
{"type":"assistant","timestamp":"2026-01-02T03:04:06Z","message":{"id":"a","usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":7}}}`,
			cli.Use{Input: 3, CacheRead: 100, CacheWrite: 20, Output: 7}},
		{"codex.jsonl", `{"timestamp":"2026-01-02T03:04:05Z","type":"token_usage_record","payload":{"thread_id":"` + codexSample + `","usage":{"input_tokens":123,"cached_input_tokens":100,"output_tokens":7}}}
{"timestamp":"2026-01-02T03:04:06Z","type":"token_usage_record","payload":{"thread_id":"of another","usage":{"input_tokens":9,"output_tokens":9}}}`,
			cli.Use{Input: 23, CacheRead: 100, Output: 7}},
		{"qwen.jsonl", `{"type":"assistant","timestamp":"2026-01-02T03:04:05Z","usageMetadata":{"promptTokenCount":123,"candidatesTokenCount":7,"thoughtsTokenCount":3,"totalTokenCount":130,"cachedContentTokenCount":100}}`,
			cli.Use{Input: 23, CacheRead: 100, Output: 7}},
		{"copilot.jsonl", `{"type":"session.usage_record","timestamp":"2026-01-02T03:04:05Z","data":{"usage":{"inputTokens":143,"outputTokens":7,"cacheReadTokens":100,"cacheWriteTokens":20,"cost":1}}}`,
			cli.Use{Input: 23, CacheRead: 100, CacheWrite: 20, Output: 7}},
		{"pi.jsonl", `{"type":"message","timestamp":"2026-01-02T03:04:05Z","message":{"role":"assistant","usage":{"input":23,"output":7,"reasoning":3,"cacheRead":100,"cacheWrite":20,"cost":{"total":0.25}}}}`,
			cli.Use{Input: 23, CacheRead: 100, CacheWrite: 20, Output: 7, Cost: 0.25, Priced: true}},
		{"opencode.json", `{"info":{},"messages":[{"info":{"id":"1","role":"assistant","time":{"created":1767323045000},"cost":0.25,"tokens":{"input":23,"output":4,"reasoning":3,"cache":{"read":100,"write":20}}},"parts":[]}]}`,
			cli.Use{Input: 23, CacheRead: 100, CacheWrite: 20, Output: 7, Cost: 0.25, Priced: true}},
	} {
		for _, r := range recordings {
			if r.name != c.name {
				continue
			}
			l := newLab(t)
			path := l.put(r.file(l), c.content)
			s := l.with(r.id)
			if r.cli == "opencode" {
				s.Executable = exporter(l, path)
			}
			got, err := get(t, r.cli).Uses(context.Background(), s)
			if c.want.At = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC); err != nil || len(got) != 1 || got[0] != c.want {
				t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
			}
		}
	}
}

package codex

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

// Observe reads the ends of the rollout files of the conversations that work for the open turn; an
// API error is reported nowhere else. A turn without an end there goes on, or died with its
// process. A turn of several conversations ends with the last of them.
func (c driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	ids := []string{s.ConversationID}
	if records.IsOpen(last) && len(last.Others) > 0 {
		ids = append([]string{last.Conversation}, last.Others...)
	}
	var seen cli.Observed
	folder := c.forkedTo(s)
	for _, id := range ids {
		s.ConversationID = id
		one, err := c.observe(ctx, s, last)
		if err != nil {
			return cli.Observed{}, err
		}
		seen = beside(seen, one)
	}
	seen.Folder = folder
	return seen, nil
}

// forkedTo returns the folder of the newest fork of the agent's conversation that its codex has open, "" for none. The commands
// that take codex to another folder, such as /cd and /fork, go on in a fork, which no hook reports before its first prompt.
func (c driver) forkedTo(s cli.Spec) (folder string) {
	type fork struct {
		lock, folder string
		origins      []string
	}
	home := cli.Folder(s.Env, "CODEX_HOME", ".codex")
	forks := cli.Once(s.Look, "forks of codex in "+home, func() (all []fork) {
		locks, _ := filepath.Glob(filepath.Join(cli.GlobQuote(home), "thread-writer-locks", "*.lock"))
		for _, lock := range locks { // ids begin with the time
			meta := metaOf(home, strings.TrimSuffix(filepath.Base(lock), ".lock"))
			one := fork{lock: lock, folder: meta.Cwd}
			for interactive := meta.interactive(); interactive && meta.ForkedFrom != "" && len(one.origins) < longestFork; {
				one.origins = append(one.origins, meta.ForkedFrom)
				meta = metaOf(home, meta.ForkedFrom)
			}
			all = append(all, one)
		}
		return all
	})
	for _, one := range forks {
		if !slices.Contains(one.origins, s.ConversationID) {
			continue
		}
		// The fork of another agent, or of the user, is open in a process elsewhere.
		if pid := cli.LockedBy(cli.GlobQuote(one.lock)); pid != 0 && cli.Resolved(fmt.Sprintf("/proc/%d/cwd", pid)) == s.Resolved(s.Worktree) {
			folder = one.folder
		}
	}
	return folder
}

// beside merges the observations of two conversations: a question takes precedence over work and
// work over an end; of two alike the newer counts.
func beside(a, b cli.Observed) cli.Observed {
	weight := func(o cli.Observed) int {
		switch {
		case o.Waiting:
			return 3
		case o.Busy:
			return 2
		case o.Known:
			return 1
		}
		return 0
	}
	working := append(a.Working, b.Working...)
	if weight(b) > weight(a) || weight(b) == weight(a) && b.At.After(a.At) {
		a = b
	}
	a.Working = working
	return a
}

// observe reads the end of one conversation's rollout file.
func (c driver) observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	found, err := c.Conversation(ctx, s)
	if err != nil || found.Transcript == "" {
		return cli.Observed{}, err
	}
	tail, err := readTail(found.Transcript, last)
	if err != nil || tail.at.IsZero() {
		return cli.Observed{}, err
	}
	seen := cli.Observed{Known: true, At: tail.at, Source: session.SourceTranscript, Ended: tail.ended}
	if seen.Ended != nil {
		seen.Ended.Conversation, seen.Ended.Transcript = s.ConversationID, found.Transcript
		return seen, nil
	}
	seen.Busy = tail.busy
	if tail.busy {
		seen.Working = []string{s.ConversationID}
	}
	if asked, ok := questionOf(last, s.ConversationID); ok && !tail.answered(asked.Since) {
		seen.Busy, seen.Waiting, seen.Question, seen.At = false, true, asked.Question, asked.Since
		seen.Late = len(last.Others) == 0 // else the screen may be that of another conversation
	}
	return seen, nil
}

// questionOf returns the question that a conversation has asked in the open turn; false for none.
func questionOf(last *turn.Record, conversation string) (turn.Asked, bool) {
	if !records.IsOpen(last) || !last.Waiting {
		return turn.Asked{}, false
	}
	if len(last.Others) > 0 {
		return last.AskedBy(conversation)
	}
	asked := turn.Asked{Conversation: conversation, Question: last.Question}
	if last.WaitingSince != nil {
		asked.Since = *last.WaitingSince
	}
	return asked, true
}

// rolloutTail is the state of the newest turn, from the end of a rollout file.
type rolloutTail struct {
	ended   *turn.Event
	busy    bool
	at      time.Time
	outputs map[string]time.Time // times of the outputs of tools, by the id of the call
	pending bool                 // a call has no output yet
}

// answered reports whether codex went on after a question: the tool has an output then, also when
// the user refused it. Before the answer codex writes nothing.
func (t rolloutTail) answered(asked time.Time) bool {
	if asked.IsZero() || t.pending {
		return false
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(t.outputs)), func(at time.Time) bool { return at.After(asked) })
}

type rolloutLine struct {
	Timestamp time.Time `json:"timestamp"`
	Type      string    `json:"type"`
	Payload   struct {
		Type             string `json:"type"`
		TurnID           string `json:"turn_id"`
		CallID           string `json:"call_id"`
		Reason           string `json:"reason"`
		LastAgentMessage string `json:"last_agent_message"`
		TurnAttribution  struct {
			Trigger string `json:"turn_trigger"`
		} `json:"turn_attribution"`
		Error *struct {
			Message string          `json:"message"`
			Info    json.RawMessage `json:"codex_error_info"`
		} `json:"error"`
		RateLimits struct {
			Primary   *window `json:"primary"`
			Secondary *window `json:"secondary"`
		} `json:"rate_limits"`
	} `json:"payload"`
}

// window is the use of one of the subscription's limits, which is reset at a certain time.
type window struct {
	UsedPercent float64 `json:"used_percent"`
	ResetsAt    int64   `json:"resets_at"` // Unix time in seconds
}

// usageLimit is codex's error type for a usage limit.
const usageLimit = "usage_limit_exceeded"

// limit returns when the exhausted windows are reset, a zero time where no window is exhausted.
func (l rolloutLine) limit() turn.Limit {
	var until int64
	for _, w := range []*window{l.Payload.RateLimits.Primary, l.Payload.RateLimits.Secondary} {
		if w != nil && w.UsedPercent >= 100 {
			until = max(until, w.ResetsAt)
		}
	}
	if until == 0 {
		return turn.Limit{}
	}
	return turn.Limit{Until: time.Unix(until, 0)}
}

// marks has a part of every line that readTail decodes: other lines are skipped without decoding.
var marks = [][]byte{[]byte(`"task_started"`), []byte(`"task_complete"`), []byte(`"turn_aborted"`), []byte(`_call`), []byte(`"token_count"`)}

// readTail reads a rollout file backwards to the begin of the newest turn, or of the open one.
func readTail(path string, last *turn.Record) (rolloutTail, error) {
	tail := rolloutTail{outputs: map[string]time.Time{}}
	err := records.LinesBack(path, func(raw []byte) bool {
		if !slices.ContainsFunc(marks, func(mark []byte) bool { return bytes.Contains(raw, mark) }) {
			return true
		}
		var line rolloutLine
		if json.Unmarshal(raw, &line) != nil {
			return true
		}
		switch p := line.Payload; p.Type {
		case "function_call_output", "custom_tool_call_output":
			tail.outputs[p.CallID] = line.Timestamp
		case "function_call", "custom_tool_call":
			_, done := tail.outputs[p.CallID]
			tail.pending = tail.pending || !done
		case "token_count":
			if tail.limited() { // the line comes before the error that it explains
				*tail.ended.Limit = line.limit()
				return false
			}
		case "task_started", "task_complete", "turn_aborted":
			return tail.mark(line, last)
		}
		return true
	})
	return tail, err
}

// mark reads the begin or end of a turn, and reports whether to read on. The user's own shell
// commands are turns in the file, too.
func (t *rolloutTail) mark(line rolloutLine, last *turn.Record) (more bool) {
	if t.limited() {
		return false // no line says until when
	}
	p := line.Payload
	if !records.IsOpen(last) {
		t.at, t.busy = line.Timestamp, p.Type == "task_started"
		return false
	}
	own := p.TurnID == last.TurnID || len(last.Others) > 0 && slices.Contains(last.OlderIDs, p.TurnID)
	if last.TurnID == "" {
		own = !line.Timestamp.Before(last.StartedAt)
	}
	switch {
	case !own && p.Type == "task_started" && p.TurnAttribution.Trigger != "" && line.Timestamp.After(last.StartedAt):
		t.ended = &turn.Event{Kind: turn.KindInterrupt, TurnID: last.TurnID, Message: "another turn began"}
		t.at = line.Timestamp
		return true // the turn's own end may be further up
	case !own:
		return true
	case p.Type == "task_started":
		t.busy = true
		if t.at.IsZero() {
			t.at = line.Timestamp
		}
		return false
	}
	t.at = line.Timestamp
	e := turn.Event{Kind: turn.KindEnd, TurnID: p.TurnID, Message: p.LastAgentMessage}
	switch {
	case p.Type == "turn_aborted":
		e.Kind, e.Message = turn.KindInterrupt, ""
	case p.Error != nil:
		e.Kind, e.Message, e.ErrorType = turn.KindError, p.Error.Message, errorType(p.Error.Info)
		if e.ErrorType == usageLimit {
			e.Limit = &turn.Limit{}
		}
	}
	t.ended = &e
	return t.limited()
}

func (t *rolloutTail) limited() bool { return t.ended != nil && t.ended.Limit != nil }

// errorType returns the error's name: info is a string, or an object whose one key is the name.
func errorType(info json.RawMessage) string {
	var word string
	if json.Unmarshal(info, &word) == nil {
		return word
	}
	var details map[string]json.RawMessage
	_ = json.Unmarshal(info, &details)
	for key := range details {
		return key
	}
	return ""
}

// Uses reads the rollout file, which has one line per answer. A fork also has lines of the original
// conversation, which are skipped.
func (c driver) Uses(ctx context.Context, s cli.Spec) ([]cli.Use, error) {
	type line struct {
		Timestamp time.Time `json:"timestamp"`
		Type      string    `json:"type"`
		Payload   struct {
			Thread string `json:"thread_id"`
			// The counts: Input includes the tokens from a cache.
			Usage struct {
				Input      int64 `json:"input_tokens"`
				CacheRead  int64 `json:"cached_input_tokens"`
				CacheWrite int64 `json:"cache_write_input_tokens"`
				Output     int64 `json:"output_tokens"`
			} `json:"usage"`
		} `json:"payload"`
	}
	return records.Uses(ctx, c, s, "token_usage_record", func(l line) (id string, u cli.Use) {
		if l.Type != "token_usage_record" || l.Payload.Thread != s.ConversationID {
			return "", cli.Use{}
		}
		t := l.Payload.Usage
		return "", cli.Use{At: l.Timestamp, Input: max(t.Input-t.CacheRead-t.CacheWrite, 0), CacheRead: t.CacheRead, CacheWrite: t.CacheWrite, Output: t.Output}
	})
}

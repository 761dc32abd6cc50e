package codex

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
	"paw/session/history"
)

// longestFork bounds how many forks of forks are followed.
const longestFork = 100

// History reads the rollout file. The file of a fork names the original conversation and the line
// before which it was forked; the messages before that line come first.
func (c driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	path, err := records.TranscriptFile(ctx, c, s)
	if err != nil {
		return cli.Transcript{}, err
	}
	t := records.Talk{Transcript: cli.Transcript{ID: s.ConversationID}}
	var before *int64 // number of the first line that the fork does not have, nil for all lines
	var files [][]record
	for range longestFork {
		var all []record
		skipped, err := records.CountLines(path, s.Recent, func(r record) bool {
			if before != nil && r.Ordinal != nil && *r.Ordinal >= *before {
				return false
			}
			all = append(all, r)
			return true
		})
		if err != nil {
			return cli.Transcript{}, err
		}
		files = append(files, all)
		t.Skipped += skipped
		meta, err := readMeta(path)
		whole := len(all) > 0 && all[0].Type == "session_meta" // else only its end was read
		if err != nil || !whole || meta.ForkedFrom == "" || meta.ForkedBefore == nil {
			break // no fork, or a fork by an older codex, which copies all lines
		}
		source := s
		source.ConversationID, before = meta.ForkedFrom, meta.ForkedBefore
		if path, err = records.TranscriptFile(ctx, c, source); err != nil {
			t.Skipped++ // the messages before the fork are gone
			break
		}
	}
	for _, all := range slices.Backward(files) {
		for _, r := range all {
			add(&t, r)
		}
	}
	return t.Transcript, nil
}

type record struct {
	Timestamp time.Time `json:"timestamp"`
	Ordinal   *int64    `json:"ordinal"`
	Type      string    `json:"type"`
	Payload   struct {
		Type      string          `json:"type"`
		Role      string          `json:"role"`
		Content   records.Parts   `json:"content"`
		CallID    string          `json:"call_id"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments string          `json:"arguments"`
		Input     string          `json:"input"`
		Action    json.RawMessage `json:"action"`
		Output    records.Parts   `json:"output"`
		NumTurns  int             `json:"num_turns"`
		Error     *struct {
			Message string `json:"message"`
		} `json:"error"`
		Metadata struct {
			Kinds []string `json:"content_item_kinds"`
		} `json:"internal_chat_message_metadata_passthrough"`
	} `json:"payload"`
}

// add adds one record. The messages are in response_item lines. event_msg lines have the ends
// of turns, and repeat messages for the screen.
func add(t *records.Talk, r record) {
	switch r.Type {
	case "response_item":
		addItem(t, r)
	case "event_msg":
		switch p := r.Payload; {
		case p.Type == "turn_aborted":
			t.Notice(r.Timestamp, records.StoppedByUser)
		case p.Type == "task_complete" && p.Error != nil:
			t.Notice(r.Timestamp, p.Error.Message)
		case p.Type == "thread_rolled_back":
			forget(t, p.NumTurns)
		}
	default:
		t.Strange(r.Type, len(r.Payload.Content) > 0)
	}
}

func addItem(t *records.Talk, r record) {
	p := r.Payload
	switch p.Type {
	case "message":
		addMessage(t, r)
	case "function_call":
		t.Call(r.Timestamp, history.ToolCall{ID: p.CallID, Name: p.Name, Arguments: p.Arguments})
	case "custom_tool_call":
		t.Call(r.Timestamp, history.ToolCall{ID: p.CallID, Name: p.Name, Arguments: p.Input})
	case "local_shell_call":
		t.Call(r.Timestamp, history.ToolCall{ID: cmp.Or(p.CallID, p.ID), Name: "local_shell", Arguments: records.CompactJSON(p.Action)})
	case "web_search_call":
		t.Call(r.Timestamp, history.ToolCall{ID: cmp.Or(p.CallID, p.ID), Name: "web_search", Arguments: records.CompactJSON(p.Action)})
	case "function_call_output", "custom_tool_call_output", "local_shell_call_output":
		t.Result(r.Timestamp, cmp.Or(p.CallID, p.ID), p.Output.Words())
	case "reasoning", "ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction":
	default:
		t.Skipped++
	}
}

var shellCommand = lazyregexp.New(`(?s)<command>\n(.*?)\n</command>\s*<result>\n(.*?)\s*</result>`)

// addMessage adds prompts, answers and the user's shell commands. What developers and codex
// itself tell the model, partly in the user's name, is left out.
func addMessage(t *records.Talk, r record) {
	p := r.Payload
	text := p.Content.Words()
	switch {
	case p.Role == "assistant":
		t.Say(history.RoleAssistant, r.Timestamp, text)
	case p.Role != "user":
	case strings.HasPrefix(text, "<user_shell_command>"):
		if shell := shellCommand().FindStringSubmatch(text); shell != nil {
			t.Say(history.RoleUser, r.Timestamp, "!"+shell[1])
			t.Say(history.RoleSystem, r.Timestamp, shell[2])
		}
	case len(p.Metadata.Kinds) == len(p.Content):
		var typed records.Parts
		for i, kind := range p.Metadata.Kinds {
			if strings.HasPrefix(kind, "user.") {
				typed = append(typed, p.Content[i])
			}
		}
		t.Say(history.RoleUser, r.Timestamp, typed.Words())
	default:
		t.Say(history.RoleUser, r.Timestamp, text)
	}
}

// forget removes the last prompts and everything after them.
func forget(t *records.Talk, prompts int) {
	for i, m := range slices.Backward(t.Messages) {
		if prompts <= 0 {
			return
		}
		if m.Role == history.RoleUser {
			prompts--
			t.Messages = t.Messages[:i]
		}
	}
}

// Conversation finds the rollout file of an id; codex needs nothing else to resume. A conversation
// without a prompt has no file. For an archived one codex asks a question first. A prompt that is
// sent while a tool runs gets into the rollout file, and is reported by the hook, only after the
// tool has ended: Prompts names a file that has it at once.
func (c driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	folder := cli.Folder(s.Env, "CODEX_HOME", ".codex")
	home := cli.GlobQuote(folder)
	name := "rollout-*-" + s.ConversationID + ".jsonl"
	found := cli.Conversation{Reason: "codex has no conversation of this id"}
	for _, place := range []struct{ pattern, reason string }{
		{filepath.Join(home, "sessions", "*", "*", "*", name), ""},
		{filepath.Join(home, "archived_sessions", name), "it is archived: codex asks whether to bring it back"},
	} {
		files, err := filepath.Glob(place.pattern)
		if err != nil {
			return cli.Conversation{}, err
		}
		for _, file := range files {
			meta, err := readMeta(file)
			if err != nil {
				return cli.Conversation{}, err
			}
			if meta.ID == s.ConversationID && meta.ThreadSource == sideChat {
				return cli.Conversation{Found: true, Transcript: file, Reason: "it is a side chat"}, nil
			}
			if meta.ID == s.ConversationID {
				prompts := filepath.Join(folder, "history.jsonl")
				return cli.Conversation{Found: true, Resumable: true, Transcript: file, Prompts: prompts, Reason: place.reason}, nil
			}
			found = cli.Conversation{Found: true, Transcript: file, Reason: "its rollout file does not begin with this conversation"}
		}
	}
	return found, nil
}

// Learn reads the first line of each rollout file and returns the interactive conversations of the
// worktree, by their last use: /resume goes back to an older one.
func (c driver) Learn(ctx context.Context, s cli.Spec) ([]string, error) {
	home := cli.Folder(s.Env, "CODEX_HOME", ".codex")
	files, err := records.ByUse(filepath.Join(cli.GlobQuote(home), "sessions", "*", "*", "*", "rollout-*.jsonl"))
	var ids []string
	worktree := cli.Resolved(s.Worktree)
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		meta, err := readMeta(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if meta.interactive() && records.BeganHere(s, meta.Timestamp) && cli.Resolved(meta.Cwd) == worktree {
			ids = append(ids, meta.ID)
		}
	}
	return ids, err
}

type sessionMeta struct {
	ID           string          `json:"id"`
	Timestamp    time.Time       `json:"timestamp"` // begin of the conversation
	Cwd          string          `json:"cwd"`
	Source       json.RawMessage `json:"source"` // "cli", "exec", "vscode", or an object for codex's own subagents
	ThreadSource string          `json:"thread_source"`
	ForkedFrom   string          `json:"forked_from_id"`
	ForkedBefore *int64          `json:"forked_from_ordinal_exclusive"` // number of the first line of the original that the fork does not have
}

// sideChat is the ThreadSource of a conversation that /side opens beside the main one, since 0.171.0.
const sideChat = "tui_side_chat"

func (m sessionMeta) interactive() bool {
	return string(m.Source) == `"cli"` && (m.ThreadSource == "" || m.ThreadSource == "user")
}

// metaOf returns the head of a conversation's rollout file, the zero value where there is none. The id of a conversation begins with
// the time, and its file is in the folder of that day, in local time: years of folders need not be read.
func metaOf(home, id string) (meta sessionMeta) {
	parsed, _ := uuid.Parse(id)
	seconds, _ := parsed.Time().UnixTime()
	for _, days := range []int{0, -1, 1} {
		day := time.Unix(seconds, 0).AddDate(0, 0, days).Format("2006/01/02")
		if files, _ := filepath.Glob(filepath.Join(cli.GlobQuote(home), "sessions", day, "rollout-*-"+cli.GlobQuote(id)+".jsonl")); len(files) > 0 {
			meta, _ = readMeta(files[0])
			return meta
		}
	}
	return meta
}

// readMeta reads the session_meta line, which is the first one; a file without it gives the zero
// value.
func readMeta(file string) (sessionMeta, error) {
	var meta sessionMeta
	err := records.EachLine(file, func(line struct {
		Type    string      `json:"type"`
		Payload sessionMeta `json:"payload"`
	}) bool {
		if line.Type == "session_meta" {
			meta = line.Payload
		}
		return false
	})
	return meta, err
}

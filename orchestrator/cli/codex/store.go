package codex

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/records"
)

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
	files, err := filepath.Glob(filepath.Join(cli.GlobQuote(home), "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		return nil, err
	}
	var uses records.LastUses
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
			uses.Add(meta.ID, file)
		}
	}
	return uses.IDs(), nil
}

type sessionMeta struct {
	ID           string          `json:"id"`
	Timestamp    time.Time       `json:"timestamp"` // begin of the conversation
	Cwd          string          `json:"cwd"`
	Source       json.RawMessage `json:"source"` // "cli", "exec", "vscode", or an object for codex's own subagents
	ThreadSource string          `json:"thread_source"`
}

func (m sessionMeta) interactive() bool {
	return string(m.Source) == `"cli"` && (m.ThreadSource == "" || m.ThreadSource == "user")
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

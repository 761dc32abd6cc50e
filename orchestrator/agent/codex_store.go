package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

// Conversation finds the rollout file of an id; codex needs nothing else to resume. A conversation without a prompt has
// none. An archived one comes back after a question. A prompt that is sent while a tool runs is in the rollout file, and
// is reported by the hook, only when the tool has ended.
func (c codex) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	folder := folder(s.Env, "CODEX_HOME", ".codex")
	home := globQuote(folder)
	name := "rollout-*-" + s.ConversationID + ".jsonl"
	found := Conversation{Reason: "codex has no conversation of this id"}
	for _, place := range []struct{ pattern, reason string }{
		{filepath.Join(home, "sessions", "*", "*", "*", name), ""},
		{filepath.Join(home, "archived_sessions", name), "it is archived: codex asks whether to bring it back"},
	} {
		files, err := filepath.Glob(place.pattern)
		if err != nil {
			return Conversation{}, err
		}
		for _, file := range files {
			meta, err := readCodexMeta(file)
			if err != nil {
				return Conversation{}, err
			}
			if meta.ID == s.ConversationID {
				prompts := filepath.Join(folder, "history.jsonl")
				return Conversation{Found: true, Resumable: true, Transcript: file, Prompts: prompts, Reason: place.reason}, nil
			}
			found = Conversation{Found: true, Transcript: file, Reason: "its rollout file does not begin with this conversation"}
		}
	}
	return found, nil
}

// Learn reads the first line of each rollout file: those of the interactive program whose directory is the worktree.
// Conversations come in the order of their last use, because /resume goes back to an older one.
func (c codex) Learn(ctx context.Context, s Spec) ([]string, error) {
	home := folder(s.Env, "CODEX_HOME", ".codex")
	files, err := filepath.Glob(filepath.Join(globQuote(home), "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		return nil, err
	}
	var uses lastUses
	worktree := resolved(s.Worktree)
	for _, file := range files {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		meta, err := readCodexMeta(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if meta.interactive() && beganHere(s, meta.Timestamp) && checkID(c.Name(), meta.ID) == nil && resolved(meta.Cwd) == worktree {
			uses.add(meta.ID, file)
		}
	}
	return uses.ids(), nil
}

type codexMeta struct {
	ID           string          `json:"id"`
	Timestamp    time.Time       `json:"timestamp"` // of the begin of the conversation
	Cwd          string          `json:"cwd"`
	Source       json.RawMessage `json:"source"` // "cli", "exec", "vscode" or an object for agents of codex's own
	ThreadSource string          `json:"thread_source"`
}

func (m codexMeta) interactive() bool {
	return string(m.Source) == `"cli"` && (m.ThreadSource == "" || m.ThreadSource == "user")
}

// readCodexMeta reads the session_meta line, which is the first; a file without one gives the zero value.
func readCodexMeta(file string) (codexMeta, error) {
	var meta codexMeta
	err := eachLine(file, func(line struct {
		Type    string    `json:"type"`
		Payload codexMeta `json:"payload"`
	}) bool {
		if line.Type == "session_meta" {
			meta = line.Payload
		}
		return false
	})
	return meta, err
}

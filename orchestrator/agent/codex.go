package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"
)

type codex struct{}

func (codex) Name() string    { return "codex" }
func (codex) Program() string { return "codex" }

func (codex) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

// NewConversation returns "": codex names a conversation at its first prompt.
func (codex) NewConversation() string { return "" }

// embedded keeps codex out of its shared daemon, in which turns would run with the environment of whichever session
// started it and outlive their pane. Any -c does that ("command-line configuration overrides … requires embedded
// mode"), in every version; this one also spares the agent the dialog about a new version, which would stand before
// its first prompt.
var embedded = []string{"-c", "check_for_update_on_startup=false"}

func (c codex) Launch(s Spec) (Command, error) {
	argv := append([]string{s.Executable}, c.options(s)...)
	if s.Prompt != "" {
		if err := checkPrompt(c.Name(), s.Prompt, s.Prompt); err != nil {
			return Command{}, err
		}
		// After the dashes neither "-x" is an option nor "resume" a subcommand.
		argv = append(argv, "--", s.Prompt)
	}
	return Command{Argv: argv}, nil
}

func (c codex) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	// Without -C a conversation that began elsewhere asks which directory is meant.
	argv := append([]string{s.Executable, "resume", "-C", s.Worktree}, c.options(s)...)
	return Command{Argv: append(argv, "--", s.ConversationID)}, nil
}

// options are those of both commands. In its sandbox codex cannot commit in a linked worktree: the index and the
// objects lie in two git directories outside of it, and both are needed.
func (codex) options(s Spec) []string {
	options := append([]string{}, embedded...)
	if s.GitWritable {
		for _, dir := range []string{s.GitCommonDir, s.GitDir} {
			if dir != "" {
				options = append(options, "--add-dir", dir)
			}
		}
	}
	return append(options, s.Args...)
}

// Conversation finds the rollout file of an id. A conversation without a prompt has none.
func (c codex) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	home := folder(s.Env, "CODEX_HOME", ".codex")
	files, err := filepath.Glob(filepath.Join(globQuote(home), "sessions", "*", "*", "*", "rollout-*-"+s.ConversationID+".jsonl"))
	if err != nil {
		return Conversation{}, err
	}
	for _, file := range files {
		meta, err := readCodexMeta(file)
		if err != nil {
			return Conversation{}, err
		}
		if meta.ID == s.ConversationID {
			return Conversation{Found: true, Resumable: true, Transcript: file}, nil
		}
	}
	if len(files) > 0 {
		return Conversation{Found: true, Transcript: files[0], Reason: "its rollout file does not begin with this conversation"}, nil
	}
	return Conversation{Reason: "codex has no conversation of this id"}, nil
}

// Learn reads the first line of each rollout file: those of the interactive program whose directory is the worktree.
// Conversations come in the order of their last use, because /resume goes back to an older one.
func (c codex) Learn(ctx context.Context, s Spec) ([]string, error) {
	home := folder(s.Env, "CODEX_HOME", ".codex")
	files, err := filepath.Glob(filepath.Join(globQuote(home), "sessions", "*", "*", "*", "rollout-*.jsonl"))
	if err != nil {
		return nil, err
	}
	type use struct {
		id   string
		last time.Time
	}
	var uses []use
	worktree := real(s.Worktree)
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
		if !meta.interactive() || checkID(c.Name(), meta.ID) != nil || real(meta.Cwd) != worktree {
			continue
		}
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		uses = append(uses, use{meta.ID, info.ModTime()})
	}
	sort.SliceStable(uses, func(i, j int) bool { return uses[i].last.Before(uses[j].last) })
	ids := make([]string, len(uses))
	for i, use := range uses {
		ids[i] = use.id
	}
	return ids, nil
}

// Environment has CODEX_SQLITE_HOME too: the list of conversations is a database beside the rollout files.
func (codex) Environment() []string { return []string{"CODEX_HOME", "CODEX_SQLITE_HOME"} }

func (codex) Facts() Facts {
	return Facts{
		Resume: "exact, by id", Fork: "yes", Headless: "codex exec",
		Turns: "exact, from hooks; API errors from the rollout file",
	}
}

type codexMeta struct {
	ID           string          `json:"id"`
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
	meta.ID = strings.TrimSpace(meta.ID)
	return meta, err
}

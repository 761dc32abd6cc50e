package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf16"

	"github.com/google/uuid"
)

// childSession is set for everything that claude runs, so also for a tmux server started from there. An interactive
// claude that has it writes neither transcript nor registry and cannot be resumed.
const childSession = "CLAUDE_CODE_CHILD_SESSION"

type claude struct{}

func (claude) Name() string    { return "claude" }
func (claude) Program() string { return "claude" }

func (claude) Version(ctx context.Context, executable string, env []string) (string, error) {
	return askVersion(ctx, executable, env)
}

func (claude) NewConversation() string { return uuid.NewString() }

func (c claude) Launch(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt != "" {
		prompt := claudePrompt(s.Prompt)
		if err := checkPrompt(c.Name(), s.Prompt, prompt); err != nil {
			return Command{}, err
		}
		// Options such as --allowedTools take every word up to the next option, hence the dashes.
		argv = append(argv, "--", prompt)
	}
	return Command{Argv: argv, Unset: []string{childSession}}, nil
}

func (c claude) Resume(s Spec) (Command, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Command{}, err
	}
	argv := append([]string{s.Executable, "--resume", s.ConversationID}, s.Args...)
	return Command{Argv: argv, Unset: []string{childSession}}, nil
}

// claudePrompt keeps a prompt from acting as a slash command: a leading space makes it text.
func claudePrompt(prompt string) string {
	if strings.HasPrefix(prompt, "/") {
		return " " + prompt
	}
	return prompt
}

// Conversation finds ID.jsonl in the folder of the worktree, then in that of any other directory.
//
// An unused conversation that ended cleanly leaves a file without a message: it can neither be resumed ("No
// conversation found") nor started again ("already in use").
func (c claude) Conversation(ctx context.Context, s Spec) (Conversation, error) {
	if err := checkID(c.Name(), s.ConversationID); err != nil {
		return Conversation{}, err
	}
	projects := filepath.Join(folder(s.Env, "CLAUDE_CONFIG_DIR", ".claude"), "projects")
	files := []string{filepath.Join(projects, claudeFolder(real(s.Worktree)), s.ConversationID+".jsonl")}
	others, err := filepath.Glob(filepath.Join(globQuote(projects), "*", s.ConversationID+".jsonl"))
	if err != nil {
		return Conversation{}, err
	}
	found := Conversation{Reason: "claude has no conversation of this id"}
	for _, file := range append(files, others...) {
		if ctx.Err() != nil {
			return Conversation{}, ctx.Err()
		}
		used, err := holds(file, claudeLine.isMessage)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return Conversation{}, err
		}
		if used {
			return Conversation{Found: true, Resumable: true, Transcript: file}, nil
		}
		found = Conversation{Found: true, Transcript: file, NewID: true, Reason: "the conversation has no message yet"}
	}
	return found, nil
}

// Learn returns none: the ids that /clear and /resume change are told by claude's hooks.
func (claude) Learn(context.Context, Spec) ([]string, error) { return nil, nil }

func (claude) Environment() []string { return []string{"CLAUDE_CONFIG_DIR"} }

func (claude) Facts() Facts {
	return Facts{
		ChoosesID: true, Resume: "exact, by id", Fork: "yes", Headless: "claude -p",
		Turns: "exact, from hooks",
	}
}

// claudeFolder is the name of a directory's folder under projects: every UTF-16 unit but ASCII letters and digits
// becomes a dash.
func claudeFolder(dir string) string {
	var name strings.Builder
	for _, unit := range utf16.Encode([]rune(dir)) {
		if r := rune(unit); r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			name.WriteRune(r)
		} else {
			name.WriteByte('-')
		}
	}
	return name.String()
}

type claudeLine struct {
	Type        string `json:"type"`
	IsMeta      bool   `json:"isMeta"`
	IsSidechain bool   `json:"isSidechain"`
	Message     struct {
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

// isMessage tells whether a line is something that the user wrote. Notices and local commands are user lines too.
func (l claudeLine) isMessage() bool {
	if l.Type != "user" || l.IsMeta || l.IsSidechain {
		return false
	}
	var text string
	if json.Unmarshal(l.Message.Content, &text) == nil {
		return text != "" && !strings.HasPrefix(text, "<command-name>") && !strings.HasPrefix(text, "<local-command-")
	}
	var blocks []struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(l.Message.Content, &blocks) != nil {
		return false
	}
	for _, block := range blocks {
		if block.Type == "text" || block.Type == "image" || block.Type == "document" {
			return true
		}
	}
	return false
}

// globQuote makes filepath.Glob take a path literally.
func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}

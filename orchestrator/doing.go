package orchestrator

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/transcript"
	"paw/session/history"
)

// Doing is what a CLI does in its turn, as it writes it into the file of the conversation. It is zero where that file
// tells nothing, or paw cannot read it.
type Doing struct {
	What  string    // the last tool call, else the model's last sentence; one line, "" for none yet
	Since time.Time // when What began
	Tool  bool      // What is a tool call without a result
	Last  time.Time // when the CLI last wrote its record
}

// Doings follows the records of several agents, for a command that keeps showing what they do.
type Doings struct {
	home *app.App
	seen map[string]followed // by session and agent
}

// followed is a record as it was when it was read last.
type followed struct {
	conversation, path string
	stamp              fileStamp
	doing              Doing
}

// NewDoings returns a Doings that has read nothing yet.
func NewDoings(h *app.App) *Doings { return &Doings{home: h, seen: map[string]followed{}} }

// Of returns what agents of a session do, by name. It reads the end of each record that has changed
// since the last call, and starts no program.
func (d *Doings) Of(ctx context.Context, sessionName string, agents []string) (map[string]Doing, error) {
	s, err := d.home.Load(sessionName)
	if err != nil {
		return nil, err
	}
	found := map[string]Doing{}
	for _, name := range agents {
		w, err := app.AgentNamed(s, name)
		if err != nil {
			continue // it was removed meanwhile
		}
		key := s.Name + "/" + name
		d.seen[key] = d.seen[key].again(ctx, d.home.Agent(s, w))
		found[name] = d.seen[key].doing
	}
	return found, nil
}

// again reads the record again if it has changed.
func (f followed) again(ctx context.Context, a app.Agent) followed {
	c, known := a.App.CLIs.Get(a.Record.CLI)
	if !known {
		return f
	}
	spec := a.App.Specs().Read(a.Session, a.Record, "")
	if f.path == "" || f.conversation != spec.ConversationID {
		record, err := c.Conversation(ctx, spec)
		if err != nil || record.Transcript == "" {
			return followed{}
		}
		f = followed{conversation: spec.ConversationID, path: record.Transcript}
	}
	now := stampOf(f.path)
	if now == f.stamp {
		return f
	}
	said, err := transcript.Recent(ctx, a)
	if err != nil {
		return followed{}
	}
	f.stamp, f.doing = now, doingIn(said.Messages, a.Record.WorktreePath)
	f.doing.Last = time.Unix(0, now.at)
	return f
}

// doingIn returns what the last answer does. Paths in the worktree are shortened.
func doingIn(messages []history.Message, worktree string) Doing {
	ended := map[string]time.Time{} // tool calls that have a result
	for _, m := range slices.Backward(messages) {
		switch m.Role {
		case history.RoleUser:
			return Doing{}
		case history.RoleTool:
			ended[m.ToolCallID] = m.Timestamp
		case history.RoleAssistant:
			for _, call := range slices.Backward(m.ToolCalls) {
				_, over := ended[call.ID]
				return Doing{What: callInWords(call, worktree), Since: m.Timestamp, Tool: !over}
			}
			if line := lastLine(m.Content); line != "" {
				return Doing{What: line, Since: m.Timestamp}
			}
		case history.RoleSystem:
		}
	}
	return Doing{}
}

// lastLine returns the last line of a text that is not blank.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return display.OneLine(text[strings.LastIndexByte(text, '\n')+1:])
}

// tellingArguments are names of arguments that say what a tool call is about, as CLIs call them, the
// best first.
var tellingArguments = []string{"command", "cmd", "file_path", "path", "filePath", "absolute_path", "pattern", "query", "url", "description", "prompt", "input"}

// callInWords returns the tool and what the call is about, such as "Bash npm test".
func callInWords(call history.ToolCall, worktree string) string {
	var arguments map[string]json.RawMessage
	about := ""
	if json.Unmarshal([]byte(call.Arguments), &arguments) != nil {
		about = call.Arguments // raw text
	}
	for _, name := range tellingArguments {
		var words []string
		if raw := arguments[name]; json.Unmarshal(raw, &about) != nil && json.Unmarshal(raw, &words) == nil && len(words) > 0 {
			about = words[len(words)-1] // bash -lc COMMAND
		}
		if about != "" {
			break
		}
	}
	about = strings.ReplaceAll(about, worktree+string(filepath.Separator), "")
	return display.OneLine(strings.TrimSpace(call.Name + " " + about))
}

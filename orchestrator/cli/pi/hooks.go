package pi

import (
	_ "embed" // embeds the extension
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/inbox"
	"paw/orchestrator/cli/internal/questions"
	"paw/session/turn"
)

//go:embed extension.js
var extensionSource string

// extension returns the options and files of a launch that loads paw's extension beside the user's own, from a file
// outside of the worktree. Programs that the agent runs do not inherit it.
func (driver) extension(s cli.Spec) cli.Command {
	if s.Hook == "" {
		return cli.Command{}
	}
	channel := inbox.Of(s, "pi")
	source := strings.NewReplacer(
		"@HOOK@", string(hooks.JSON(s.Hook)), "@LONG@", strconv.Itoa(hooks.Patience), "@SHORT@", strconv.Itoa(hooks.Moment),
		"@LISTENS@", string(hooks.JSON(channel.Listens)), "@INBOX@", string(hooks.JSON(channel.Path)),
	).Replace(extensionSource)
	file := cli.File{Path: filepath.Join(s.StateDir, "paw-pi.js"), Content: []byte(source)}
	return cli.Command{Argv: []string{"-e", file.Path}, Files: append([]cli.File{file}, channel.Files()...)}
}

// hookPayload has the fields of all events of the extension.
type hookPayload struct {
	Session  string `json:"session"`
	File     string `json:"file"`
	Cwd      string `json:"cwd"`
	Turn     string `json:"turn"`
	Reason   string `json:"reason"` // why a conversation begins or is left
	Prompt   string `json:"prompt"`
	Queued   bool   `json:"queued"`
	Own      bool   `json:"own"` // an extension gave the prompt
	Question string `json:"question"`
	Aborted  bool   `json:"aborted"` // the user stopped the turn
	Stop     string `json:"stop"`    // end of the last message: "stop", "length", "toolUse", "error", "aborted"
	Error    string `json:"error"`
	Message  string `json:"message"`
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := turn.Event{Conversation: p.Session, TurnID: p.Turn, Transcript: p.File, Folder: p.Cwd}
	switch name {
	case "start":
		e.Kind, e.Source = turn.KindSessionStart, changes[p.Reason]
	case "prompt":
		e.Kind, e.Prompt, e.Queued = turn.KindPrompt, p.Prompt, p.Queued
		if p.Own {
			e.Type = turn.TypeNotification
		}
	case "asked":
		e.Kind, e.Message = turn.KindInput, inOneLine(p.Question)
	case "replied":
		e.Kind = turn.KindAnswered
	case "settled":
		e.Kind, e.Message = turn.KindEnd, p.Message
		switch {
		case p.Aborted || p.Stop == "aborted":
			e.Kind, e.Message = turn.KindInterrupt, ""
		case p.Stop == "error":
			e.Kind, e.Message = turn.KindError, p.Error
		}
	case "shutdown":
		e.Kind, e.Source = turn.KindSessionEnd, "exit"
		if p.Reason != "quit" {
			e.Source = turn.SourceClear // the start of the next conversation says more
		}
	}
	return e, nil
}

// changes translates pi's reasons for the start of a conversation.
var changes = map[string]string{
	"startup": turn.SourceStartup, "new": turn.SourceClear, "resume": turn.SourceResume, "fork": turn.SourceFork,
}

// inOneLine joins the lines of a question: the first one often only says that something follows.
func inOneLine(question string) string {
	return questions.Title(strings.Join(strings.Fields(question), " "))
}

package gemini

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/session"
	"paw/session/turn"
)

// hookEvents lists the events that paw listens to, with their matchers; none is called for tools.
var hookEvents = []string{"SessionStart", "BeforeAgent", "Notification:ToolPermission", "AfterAgent", "SessionEnd"}

// nothing is the answer in the payload of AfterAgent after an Esc and after an API error alike.
const nothing = "[no response text]"

type hookPayload struct {
	hooks.Payload
	PromptResponse string `json:"prompt_response"`
	Details        struct {
		Title   string `json:"title"`
		Command string `json:"command"`
		Tool    string `json:"toolName"` // name of an MCP server's tool
		Prompt  string `json:"prompt"`
	} `json:"details"`
	Timestamp time.Time `json:"timestamp"`
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var p hookPayload
	if err := json.Unmarshal(payload, &p); err != nil {
		return turn.Event{}, err
	}
	e := p.Named(name)
	switch {
	case name == "BeforeAgent":
		e = p.Event(turn.KindPrompt)
		e.Prompt = prompts.OwnWords(p.Prompt)
	case name == "Notification" && p.NotificationType == "ToolPermission":
		e = p.Event(turn.KindInput)
		e.Message = p.question()
	case name == "AfterAgent":
		e = p.Event("")
		p.end(&e)
	}
	return e, nil
}

// question returns what gemini asks about a tool, in one line. The title names the file of an edit,
// but not a command.
func (p hookPayload) question() string {
	for _, detail := range []string{p.Details.Command, p.Details.Tool, p.Details.Prompt} {
		if detail = strings.TrimSpace(detail); detail != "" && p.Details.Title != "" {
			return questions.Title(p.Details.Title + ": " + detail)
		}
	}
	return questions.Title(cmp.Or(p.Details.Title, p.Message))
}

// end interprets AfterAgent. After an Esc or an API error the payload looks like an answer that was
// cut short; the chat file, written before, tells them apart. The answer is taken from there too:
// the payload may repeat it.
func (p hookPayload) end(e *turn.Event) {
	var cut *turn.Event
	var answer string
	var err error
	if p.PromptResponse == nothing {
		cut, _, err = end(p.TranscriptPath, p.Timestamp.Add(-lag)) // when the file does not tell yet, Observe reads it later
	} else {
		cut, answer, err = newestTurn(p.TranscriptPath)
		e.Kind, e.Message = turn.KindEnd, p.PromptResponse
	}
	switch {
	case err != nil:
	case cut != nil:
		e.Kind, e.Message = cut.Kind, cut.Message
	case answer != "":
		e.Message = answer
	}
}

// lag is how long before the hook the notice of an Esc may have been written.
const lag = 2 * time.Second

// Observe reads the end of the chat file, where an Esc leaves a notice. A granted permission shows
// once its tool has a result.
func (g driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	if !records.IsOpen(last) {
		return cli.Observed{}, nil
	}
	found, err := g.Conversation(ctx, s)
	if err != nil || found.Transcript == "" {
		return cli.Observed{}, err
	}
	ended, at, err := end(found.Transcript, last.StartedAt)
	if err != nil || at.IsZero() {
		return cli.Observed{}, err
	}
	seen := cli.Observed{Known: true, At: at, Source: session.SourceTranscript}
	switch {
	case ended != nil:
		ended.Conversation, ended.TurnID, ended.Transcript = s.ConversationID, last.TurnID, found.Transcript
		seen.Ended = ended
	case last.Waiting && last.WaitingSince != nil && !at.After(*last.WaitingSince):
		seen.Waiting, seen.Late, seen.Question, seen.At = true, true, last.Question, *last.WaitingSince
	default:
		seen.Busy = true
	}
	return seen, nil
}

// cut returns the end of a turn without an answer that the line records: the notice of an Esc, or
// an error. nil for other lines.
func (r record) cut() *turn.Event {
	switch {
	case r.Type == "info" && r.text() == "Request cancelled.":
		return &turn.Event{Kind: turn.KindInterrupt}
	case r.Type == "error":
		return &turn.Event{Kind: turn.KindError, Message: r.text()}
	}
	return nil
}

// newestTurn reads the newest turn of a chat file, back to its prompt: the event that cut it, if
// any, and the answer.
func newestTurn(path string) (cut *turn.Event, answer string, err error) {
	err = records.EachBack(path, func(line record) bool {
		if line.Type == "gemini" && answer == "" {
			answer = line.Content.Text()
		}
		cut = line.cut()
		return cut == nil && !line.isPrompt()
	})
	return cut, answer, err
}

// end looks at the lines since a time for an event that ended a turn without an answer. at is the
// time of that line, else of the newest one.
func end(path string, since time.Time) (cut *turn.Event, at time.Time, err error) {
	err = records.EachBack(path, func(line record) bool {
		if line.Timestamp.IsZero() {
			return true
		}
		if line.Timestamp.Before(since) {
			return false
		}
		if at.IsZero() {
			at = line.Timestamp
		}
		if cut = line.cut(); cut != nil {
			at = line.Timestamp
		}
		return cut == nil
	})
	return cut, at, err
}

// Package demo drives the demo CLI, the agent inside paw's own binary.
package demo

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/orchestrator/cli"
	"paw/orchestrator/cli/demo/program"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Driver is the driver of demo.
var Driver cli.Driver = driver{cli.Named{Of: "demo", Known: cli.Facts{
	ChoosesID: true, Version: "built in", Resume: "exact, by id", Turns: "exact, from hooks",
	Environment: []string{"XDG_STATE_HOME"},
	Marks:       []string{program.HookVariable},
	Ready:       cli.Ready{Event: true, Box: true, Silent: true, Clear: []string{"C-u"}}, // the demo CLI reads what was typed before it started
}}}

type driver struct{ cli.Named }

// Program returns the path of the running paw: demo is always installed.
func (driver) Program() string {
	if path, err := os.Executable(); err == nil {
		return path
	}
	return "paw"
}

func (d driver) Launch(s cli.Spec) (cli.Command, error) {
	argv := append([]string{s.Executable, "demo-agent", "--session-id", s.ConversationID}, s.Args...)
	if s.Prompt == "" {
		return d.command(s, argv), nil
	}
	_, err := d.Literal(s.Prompt)
	return d.command(s, append(argv, "--", s.Prompt)), cmp.Or(err, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt))
}

func (d driver) Resume(s cli.Spec) (cli.Command, error) {
	return d.command(s, append([]string{s.Executable, "demo-agent", "--resume", s.ConversationID}, s.Args...)), nil
}

// Fork copies the conversation from, under Spec.ConversationID.
func (d driver) Fork(s cli.Spec, from string) (cli.Command, error) {
	s.Args = slices.Concat([]string{"--fork", from}, s.Args)
	return d.Launch(s)
}

func (d driver) command(s cli.Spec, argv []string) cli.Command {
	if s.Hook == "" {
		return cli.Command{Argv: argv, Unset: []string{program.HookVariable}}
	}
	return cli.Command{Argv: argv, Env: []string{program.HookVariable + "=" + s.Hook}}
}

// Conversation finds the file of an id; a conversation can be resumed once it has a prompt.
func (d driver) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	return records.Lookup(d.file(s), "demo has no conversation of this id", func(e program.Entry) bool { return e.Role == history.RoleUser })
}

func (driver) file(s cli.Spec) string {
	folder, _ := program.Folder(s.Env)
	return filepath.Join(folder, s.ConversationID+".jsonl")
}

// Headless runs the demo CLI with -p, whose standard output is the answer.
func (d driver) Headless(s cli.Spec) (cli.Command, error) {
	option, err := prompts.Session(d, s)
	if err != nil {
		return cli.Command{}, err
	}
	argv := append([]string{s.Executable, "demo-agent", option, s.ConversationID}, s.Args...)
	return cli.Command{Argv: append(argv, "-p", s.Prompt), Unset: []string{program.HookVariable}}, prompts.CheckArgument(d.Name(), s.Prompt, s.Prompt)
}

func (d driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	message := strings.TrimRight(string(stdout), "\n")
	if exitCode != 0 {
		return "", &cli.TurnError{CLI: d.Name(), Message: message, ExitCode: exitCode}
	}
	return message, nil
}

// Literal trims line feeds: the demo CLI trims a prompt itself, but line feeds at the end would
// hide its input line.
func (d driver) Literal(prompt string) (string, error) {
	return strings.TrimRight(prompt, "\n"), prompts.CheckWord(d.Name(), prompt, "/help", "/exit")
}

// History reads the file of the conversation and, of the recent part, the steps of the open turn.
func (d driver) History(ctx context.Context, s cli.Spec) (cli.Transcript, error) {
	var all []program.Entry
	t, err := records.ReadTalk(ctx, d, s, func(e program.Entry) { all = append(all, e) })
	for _, e := range all {
		switch {
		case e.Role == history.RoleUser || e.Role == history.RoleAssistant:
			t.Say(e.Role, e.Timestamp, e.Content)
		case e.Event == "interrupted":
			t.Notice(e.Timestamp, records.StoppedByUser)
		case e.Event == "error":
			t.Notice(e.Timestamp, e.Error)
		case e.Type == program.TypeStep && !s.Recent: // the answer has what the step has said
		case e.Type == program.TypeStep && e.Step == "say":
			t.Say(history.RoleAssistant, e.Timestamp, e.Content)
		case e.Type == program.TypeStep:
			t.Answer(e.Timestamp, "", []history.ToolCall{{Name: e.Step, Arguments: e.Content}})
		case e.Type != "event":
			t.Strange(e.Type, e.Content != "")
		}
	}
	return t.Transcript, err
}

func (driver) Event(name string, payload []byte) (turn.Event, error) {
	var r program.Report
	err := json.Unmarshal(payload, &r)
	r.Event = name
	return eventOf(r), err
}

// eventOf translates a report of the demo CLI.
func eventOf(r program.Report) turn.Event {
	e := turn.Event{Conversation: r.SessionID, TurnID: r.TurnID, Transcript: r.TranscriptPath, Folder: r.Cwd}
	switch r.Event {
	case "start":
		e.Kind, e.Source = turn.KindSessionStart, r.Source
	case "turn_start":
		e.Kind, e.Prompt = turn.KindPrompt, r.Prompt
	case "waiting":
		e.Kind, e.Message = turn.KindInput, r.Question
	case "answered":
		e.Kind, e.Message = turn.KindAnswered, r.Answer
	case "turn_end":
		e.Kind, e.Message = turn.KindEnd, r.Answer
	case "interrupted":
		e.Kind = turn.KindInterrupt
	case "error":
		e.Kind, e.ErrorType, e.Message = turn.KindError, "error", r.Error
		if r.Until != nil {
			e.Limit = &turn.Limit{Until: *r.Until}
		}
	case "exit":
		e.Kind, e.Source = turn.KindSessionEnd, "exit"
	}
	return e
}

// Observe reads the end of the conversation's file, which has every event that hooks report.
func (d driver) Observe(ctx context.Context, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	var seen cli.Observed
	file, open := d.file(s), records.IsOpen(last)
	left := false // the program began or ended after the turn's last event
	err := records.EachBack(file, func(line program.Entry) bool {
		id := program.TurnID(s.ConversationID, line.Turn)
		e := eventOf(program.Report{Entry: line, SessionID: s.ConversationID, TurnID: id, TranscriptPath: file})
		if e.Kind == "" || open && last.TurnID != "" && last.TurnID != id {
			return true
		}
		now := cli.Observed{Known: true, At: line.Timestamp, Source: session.SourceTranscript}
		switch ended := e.Kind == turn.KindEnd || e.Kind == turn.KindError || e.Kind == turn.KindInterrupt; {
		case e.Kind == turn.KindSessionStart, e.Kind == turn.KindSessionEnd:
			seen, left = now, true
			return open // look for the turn that the exit cut off
		case left && !ended:
			e.Kind, e.Message = turn.KindInterrupt, "the CLI exited"
			seen.Ended = &e
			return false
		case ended && open:
			now.Ended = &e
		case ended:
		case e.Kind == turn.KindInput:
			now.Waiting, now.Question = true, e.Message
		default:
			now.Busy = true
		}
		seen = now
		return false
	})
	return seen, err
}

// Screen expects the cursor at the end of the output: the demo CLI prints below what it printed
// before. While a turn runs the input line has no mark: it is empty when the cursor is at the start
// of a line.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	rows := screens.RowsOf(s)
	if !s.CursorShown || s.CursorY >= len(rows) || len(screens.Ending(rows, 1)) == 0 {
		return cli.Screen{}
	}
	if s.CursorX == 0 && len(rows[s.CursorY]) == 0 {
		return cli.Screen{Box: cli.BoxEmpty, Works: true}
	}
	line, whole := rows[s.CursorY].String(), wrapped(rows[:s.CursorY+1], s.Width)
	if question, ok := strings.CutSuffix(whole, " [y/n]"); ok && s.CursorX == len(rows[s.CursorY])+1 && !strings.HasPrefix(whole, ">") {
		if len([]rune(whole)) > s.Width*(s.Height-1) { // it may begin above the pane
			question = "…" + question
		}
		title, options := questions.Title(question), []cli.Option{{Label: "y", Key: "y"}, {Label: "n", Key: "n"}}
		return cli.Screen{Dialog: title, Question: &cli.Question{Text: title, Options: options, Outside: title == trust}}
	}
	switch first := promptRow(rows[:s.CursorY+1]); {
	case line == ">" && s.CursorX == 2:
		return cli.Screen{Box: cli.BoxEmpty}
	case first < s.CursorY || // several lines, or typed while a turn runs
		!strings.HasPrefix(line, "> ") || s.CursorX != len(rows[s.CursorY]):
		return cli.Screen{Box: cli.BoxFilled}
	}
	return cli.Screen{Box: cli.BoxFilled, Draft: strings.TrimPrefix(line, "> ")}
}

// wrapped joins the rows of the last line: a line continues in the next row where a row is full.
func wrapped(rows []screens.Row, width int) string {
	y := len(rows) - 1
	for y > 0 && width > 0 && len(rows[y-1]) == width {
		y--
	}
	line := ""
	for _, row := range rows[y:] {
		line += row.String()
	}
	return line
}

// trust is the question that the demo CLI asks with --ask-trust, before its first hook.
const trust = "Do you trust the files in this folder?"

// promptRow returns the row where the prompt in the last rows begins, -1 for none.
func promptRow(rows []screens.Row) int {
	for y := len(rows) - 1; y >= 0; y-- {
		switch line := rows[y].String(); {
		case line == ">" || strings.HasPrefix(line, "> "):
			return y
		case strings.HasPrefix(line, "demo: ") || strings.HasPrefix(line, "queued: ") || strings.HasPrefix(line, "you: "):
			return -1
		}
	}
	return -1
}

package plain

import (
	"context"
	"slices"
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/hooks"
	"paw/orchestrator/cli/internal/questions"
	"paw/orchestrator/cli/internal/records"
	"paw/orchestrator/cli/internal/screens"
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
)

// Reader reads the reports, the record and the screen of such a conversation for a driver.
type Reader struct{ Who string } // Who is the name of the Dialogue

// Event reads a report.
func (Reader) Event(name string, payload []byte) (turn.Event, error) { return hooks.Own(name, payload) }

// eventOf translates an entry of the conversation id, whose record is at path.
func eventOf(e Entry, id, path string) turn.Event {
	t := turn.Event{Conversation: id, TurnID: TurnID(id, e.Turn), Transcript: path}
	switch e.Event {
	case Started:
		t.Kind, t.TurnID, t.Source = turn.KindSessionStart, "", e.Source
	case TurnStarted:
		t.Kind, t.Prompt = turn.KindPrompt, e.Prompt
	case Waiting:
		t.Kind, t.Message = turn.KindInput, e.Question
	case Answered:
		t.Kind, t.Message = turn.KindAnswered, e.Answer
	case TurnEnded:
		t.Kind, t.Message = turn.KindEnd, e.Answer
	case Interrupted:
		t.Kind = turn.KindInterrupt
	case Failed:
		t.Kind, t.ErrorType, t.Message = turn.KindError, "error", e.Error
		if e.Until != nil {
			t.Limit = &turn.Limit{Until: *e.Until}
		}
	case Exited:
		t.Kind, t.TurnID, t.Source = turn.KindSessionEnd, "", "exit"
	}
	return t
}

// History reads the record and, of the recent part, the steps of the open turn.
func History(ctx context.Context, d cli.Driver, s cli.Spec) (cli.Transcript, error) {
	t, all, err := records.ReadTalk[Entry](ctx, d, s)
	for _, e := range Joined(all) {
		switch {
		case e.Role != "":
			t.Say(e.Role, e.Timestamp, e.Content)
		case e.Type == TypeTool:
			t.Call(e.Timestamp, history.ToolCall{ID: e.ID, Name: e.Content, Arguments: e.Input})
		case e.Type == TypeResult:
			t.Result(e.Timestamp, e.ID, e.Content)
		case e.Type == TypeNotice:
			t.Notice(e.Timestamp, e.Content)
		case e.Event == Interrupted:
			t.Notice(e.Timestamp, records.StoppedByUser)
		case e.Event == Failed:
			t.Notice(e.Timestamp, e.Error)
		case e.Type == TypeStep && !s.Recent: // the answer has what the step has said
		case e.Type == TypeStep && e.Step == "say":
			t.Say(history.RoleAssistant, e.Timestamp, e.Content)
		case e.Type == TypeStep:
			t.Answer(e.Timestamp, "", []history.ToolCall{{Name: e.Step, Arguments: e.Content}})
		case !slices.Contains(aside, e.Type):
			t.Strange(e.Type, e.Content != "")
		}
	}
	return t.Transcript, err
}

// ObserveFile reads the end of the conversation's file, which has every event that hooks report.
func ObserveFile(file string, s cli.Spec, last *turn.Record) (cli.Observed, error) {
	var seen cli.Observed
	open := records.IsOpen(last)
	left := false // the program began or ended after the turn's last event
	err := records.EachBack(file, func(line Entry) bool {
		id := TurnID(s.ConversationID, line.Turn)
		e := eventOf(line, s.ConversationID, file)
		if e.Kind == "" || open && last.TurnID != "" && last.TurnID != id {
			return true
		}
		now := cli.Observed{Known: true, Leaves: line.Code != nil, At: line.Timestamp, Source: session.SourceTranscript}
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

// Screen expects the cursor at the end of the output: the dialogue prints below what it printed
// before. While a turn runs the input line has no mark: it is empty when the cursor is at the start
// of a line.
func (r Reader) Screen(s cli.Screenshot) cli.Screen {
	rows := screens.RowsOf(s)
	if !s.CursorShown || s.CursorY >= len(rows) || len(screens.Ending(rows, 1)) == 0 {
		return cli.Screen{}
	}
	if s.CursorX == 0 && len(rows[s.CursorY]) == 0 {
		return cli.Screen{Box: cli.BoxEmpty, Works: true}
	}
	line, whole := rows[s.CursorY].String(), wrapped(rows[:s.CursorY+1], s.Width)
	if asked := asks().FindStringSubmatch(whole); asked != nil && s.CursorX == len(rows[s.CursorY])+1 && !strings.HasPrefix(whole, ">") {
		question := asked[1]
		if len([]rune(whole)) > s.Width*(s.Height-1) { // it may begin above the pane
			question = "…" + question
		}
		var options []cli.Option
		for key := range strings.SplitSeq(asked[2], "/") {
			options = append(options, cli.Option{Label: key, Key: key})
		}
		title := questions.Title(question)
		return cli.Screen{Dialog: title, Question: &cli.Question{Text: title, Options: options, Outside: title == Trust}}
	}
	switch first := r.promptRow(rows[:s.CursorY+1]); {
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

// asks matches a question with its keys.
var asks = lazyregexp.New(`^(.*) \[(\w(?:/\w)+)\]$`)

// Trust is a question outside of any turn, which no hook reports.
const Trust = "Do you trust the files in this folder?"

// promptRow returns the row where the prompt in the last rows begins, -1 for none.
func (r Reader) promptRow(rows []screens.Row) int {
	for y := len(rows) - 1; y >= 0; y-- {
		switch line := rows[y].String(); {
		case line == ">" || strings.HasPrefix(line, "> "):
			return y
		case strings.HasPrefix(line, r.Who+": ") || strings.HasPrefix(line, "queued: ") || strings.HasPrefix(line, "you: "):
			return -1
		}
	}
	return -1
}

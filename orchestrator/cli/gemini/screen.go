package gemini

import (
	"encoding/json"
	"strings"
	"time"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/internal/screens"
	"paw/orchestrator/cli/internal/streams"
)

// Screen looks for the input box around the terminal's cursor, which gemini hides and draws itself.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	seen := box.Screen(since(s))
	seen.Limited = strings.HasPrefix(seen.Dialog, limitReached)
	return seen
}

// limitReached begins paw's words for the dialog of a usage limit.
const limitReached = "has reached the usage limit"

// Question reads a dialog in which a digit takes an option at once, or the arrow keys select one.
func (driver) Question(s cli.Screenshot) (cli.Question, bool) {
	question, ok := box.Question(since(s), "●")
	if question.Text == trusts {
		question.Deaf = trustSettle
		ok = ok && !starts(s)
	}
	return question, ok
}

// trusts is paw's words for the question whether to trust the folder.
const trusts = "asks whether to trust the folder"

// trustSettle is how long gemini may still be starting when its head is drawn.
const trustSettle = time.Second

// starts reports whether a dialog stands where gemini draws its head when it has started. A gemini
// 0.61.0 that is told before to trust the folder may close the dialog, and go on without its hooks.
func starts(s cli.Screenshot) bool {
	return s.CursorY < s.Height-1 && strings.HasPrefix(strings.TrimSpace(screens.TextOf(screens.RowsOf(s))), "╭")
}

// restarts is the last line of a gemini that has been told to trust the folder. Its dialog stays
// above, and the next gemini draws below.
const restarts = "Gemini CLI is restarting to apply the trust changes"

// since returns a screenshot with empty lines in place of what was drawn before a restart.
func since(s cli.Screenshot) cli.Screenshot {
	if end := strings.LastIndex(s.Text, restarts); end >= 0 {
		s.Text = strings.Repeat("\n", strings.Count(s.Text[:end], "\n")) + s.Text[end+len(restarts):]
	}
	return s
}

// box describes gemini's input box, whose edges are lines where there are no colours, and its
// dialogs, which are in frames.
var box = screens.EdgedBox{
	Upper: "▄─", Lower: "▀─", Marks: ">*", Mark: 1,
	Placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'Esc' for NORMAL mode\.|Press 'i' for INSERT mode\.)$`),
	Places:      lazyregexp.New(`\[(Pasted Text|Image)\b`),
	Works:       lazyregexp.New(`(?m)^ *\S .*\(esc to cancel, `),
	Dialogs: []screens.Dialog{
		screens.AsksByList(`^ ?│ +Do you trust the files in this folder\?|^ ?│ +\d\. Don't trust `, trusts),
		screens.Asks(`^│ +How would you like to authenticate|^│ +Terms of Services and Privacy Notice|^│ +Enter Gemini API Key`, "asks you to log in"),
		screens.AsksInTurn(`^│ \? Shell +([^\n]*?) *│$(?s:.*)^│ Allow execution of`, "asks for permission: $1"),
		screens.AsksInTurn(`^│ Answer Questions *│\n│ *│\n│ ([^\n]*?) *│$`, "$1"),
		screens.AsksByList(`^│ Usage limit reached for ([^\n]*?)\. *│$`, limitReached+" for $1: asks whether to go on"),
		screens.Asks(`^│ +Select Model`, "asks to choose a model"),
		screens.Asks(`^ *No auto-saved conversations found|^ *Chat Sessions`, "asks which conversation to resume"),
		screens.Asks(`(?i)\(.*\b(Enter to select|Esc to close)\b`, "a menu is open"),
	},
}

// Headless runs gemini with -p. In a folder that is not trusted gemini exits with an error.
func (g driver) Headless(s cli.Spec) (cli.Command, error) {
	argv, err := prompts.OneShot(g, s, "stream-json")
	if err != nil {
		return cli.Command{}, err
	}
	s.Hook = ""
	return g.command(s, argv)
}

type streamLine struct {
	Type       string          `json:"type"`
	Role       string          `json:"role"`
	Content    string          `json:"content"` // a piece of the answer
	Tool       string          `json:"tool_name"`
	Parameters json.RawMessage `json:"parameters"`
	Status     string          `json:"status"`
	Message    string          `json:"message"`
	Error      struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

func (driver) HeadlessLine(line []byte) string { return streams.Show(line, streamLine.tell) }

func (g driver) HeadlessResult(stdout []byte, exitCode int) (string, error) {
	return streams.Result(g.Name(), streams.Turn{}, stdout, exitCode, streamLine.tell)
}

func (l streamLine) tell(t *streams.Turn) {
	switch {
	case l.Type == "message" && l.Role == "assistant":
		t.Answer, t.Shown = t.Answer+l.Content, l.Content
	case l.Type == "tool_use":
		t.Answer, t.Shown = "", streams.ToolLine(l.Tool, l.Parameters)
	case l.Type == "error":
		t.Shown = l.Message + "\n"
	case l.Type == "result":
		t.Ended, t.Shown = l.Status == "success", "\n"
		t.Failed.Type, t.Failed.Message = l.Error.Type, l.Error.Message
	}
}

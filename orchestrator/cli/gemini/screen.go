package gemini

import (
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/screens"
)

// Screen: gemini keeps the terminal's cursor, hidden, where it draws its own.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	seen := box.Screen(s)
	seen.Limited = strings.HasPrefix(seen.Dialog, limitReached)
	return seen
}

// limitReached begins what paw says of a dialog that comes with a usage limit.
const limitReached = "has reached the usage limit"

// Question: a digit takes an option at once.
func (driver) Question(s cli.Screenshot) (cli.Question, bool) { return box.Question(s, "●") }

// box is the input box of gemini; without colours its edges are lines. Its dialogs are in frames.
var box = screens.EdgedBox{
	Upper: "▄─", Lower: "▀─", Marks: ">*", Mark: 1,
	Placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'Esc' for NORMAL mode\.|Press 'i' for INSERT mode\.)$`),
	Places:      lazyregexp.New(`\[(Pasted Text|Image)\b`),
	Works:       lazyregexp.New(`(?m)^ *\S .*\(esc to cancel, `),
	Dialogs: []screens.Dialog{
		screens.Asks(`^ ?│ +Do you trust the files in this folder\?|^ ?│ +\d\. Don't trust `, "asks whether to trust the folder"),
		screens.Asks(`^│ +How would you like to authenticate|^│ +Terms of Services and Privacy Notice|^│ +Enter Gemini API Key`, "asks you to log in"),
		screens.AsksInTurn(`^│ \? Shell +([^\n]*?) *│$(?s:.*)^│ Allow execution of`, "asks for permission: $1"),
		screens.AsksInTurn(`^│ Answer Questions *│\n│ *│\n│ ([^\n]*?) *│$`, "$1"),
		screens.Asks(`^│ Usage limit reached for ([^\n]*?)\. *│$`, limitReached+" for $1: asks whether to go on"),
		screens.Asks(`^│ +Select Model`, "asks to choose a model"),
		screens.Asks(`^ *No auto-saved conversations found|^ *Chat Sessions`, "asks which conversation to resume"),
		screens.Asks(`(?i)\(.*\b(Enter to select|Esc to close)\b`, "a menu is open"),
	},
}

package qwen

import (
	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/screens"
)

// Screen: qwen shows the terminal's cursor in its input box; 0.15 only draws one of its own there.
func (driver) Screen(s cli.Screenshot) cli.Screen { return box.Screen(s) }

// Question: a digit takes an option at once.
func (driver) Question(s cli.Screenshot) (cli.Question, bool) { return box.Question(s, "›❯") }

// box is the input box of qwen.
var box = screens.EdgedBox{
	Upper: "─", Lower: "─", Marks: ">*", Mark: 0,
	Weak:        "(shift + tab to cycle)",
	Placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'i' for INSERT mode and 'Esc' for NORMAL mode\.)$`),
	Places:      lazyregexp.New(`\[(Pasted Content|Pasted Text|Image)\b`),
	Works:       lazyregexp.New(`(?m)^ *\S+ .*\(\d.*esc to cancel\)`),
	Dialogs: []screens.Dialog{
		screens.AsksInTurn(`^ +(?:│ )?\? +Shell ([^\n]*?) ←(?s:.*)^ +(?:│ )?Allow execution of`, "asks for permission: $1"),
		screens.AsksInTurn(`^ +(?:│ )?Allow execution of: '([^']*)'\?`, "asks for permission: $1"),
		screens.AsksInTurn(`^ +\? AskUserQuestion [^\n]*\n\s*\n +[^\n]+\n\s*\n +([^\n]+)\n`, "$1"),
		screens.Asks(`^ +│ > Approval Mode`, "a menu is open"),
		screens.Asks(`^ +│ +Terms of Services and Privacy Notice|^ *How would you like to authenticate`, "asks you to log in"),
		screens.Asks(`^ +│ Select Model`, "asks to choose a model"),
		screens.Asks(`Ctrl\+B to toggle branch · .* · Esc to cancel`, "asks which conversation to resume"),
		screens.Asks(`^ +│ .*\b(Enter to select|Esc to (close|cancel))\b`, "a menu is open"),
	},
}

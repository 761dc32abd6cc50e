package copilot

import (
	"strings"

	"paw/config/lazyregexp"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/internal/screens"
)

// Screen looks for the input box around the terminal's cursor, which copilot hides while its pane
// has no focus. copilot draws the box long before it takes input, and also without an account: both
// are recognized by their texts.
func (driver) Screen(s cli.Screenshot) cli.Screen {
	switch text := screens.TextOf(screens.RowsOf(s)); {
	case starts.MatchString(text):
		return cli.Screen{}
	case loggedOut.MatchString(text):
		return cli.Screen{Dialog: "asks you to log in"}
	}
	return box.Screen(s)
}

// Question reads dialogs in which the arrow keys select and Enter takes an option. A plain "no" is
// Esc: Enter on that option opens a text input.
func (driver) Question(s cli.Screenshot) (cli.Question, bool) {
	asked, ok := box.Question(s, "❯")
	for i, o := range asked.Options {
		asked.Options[i].Key = ""
		if strings.HasPrefix(o.Label, "No, and tell Copilot") {
			asked.Options[i].Key = "Escape"
		}
	}
	asked.Onward, asked.Back = "Down", "Up"
	return asked, ok
}

var (
	starts    = lazyregexp.New(`(?m)^ [◉○◎●] Loading:`)
	loggedOut = lazyregexp.New(`(?m)^Please use /login to sign in to use Copilot`)
)

// box describes copilot's input box, which has no placeholder.
var box = screens.EdgedBox{
	Upper: "─", Lower: "─", Marks: "❯", Mark: 0,
	Placeholder: lazyregexp.New(`^$`),
	Places:      lazyregexp.New(`\[(Paste|Image) #\d+|^/`), // a slash command is shown completed before the user has typed all of it
	Works:       lazyregexp.New(`(?m)^ [◉○◎●] (Working|Cancelling)\b`),
	Dialogs: []screens.Dialog{
		screens.AsksByList(`^│ +Do you trust the files in this folder\?|^│ +3\. No \(Esc\) +│$`, "asks whether to trust the folder"),
		screens.AsksByList(`^│ Session in use +│$`, "asks whether to resume a conversation that may be in use"),
		screens.AsksInTurn(`^│ │ +([^\n]*?) +│ │\n(?s:.*)^│ Do you want to run this command\?`, "asks for permission: $1"),
		screens.AsksInTurn(`^│ (Do you want to [^?]*\?)`, "$1"),
		screens.AsksInTurn(`^│ +\d\. No, and tell Copilot what to do`, "asks for permission"),
		screens.Asks(`^ *Copilot needs information\.\n *([^\n]+)`, "$1"),
		screens.Asks(`^ *❯ +Search models…`, "asks to choose a model"),
		screens.Asks(`^ +/ search · ↑/↓ navigate · enter open `, "asks which conversation to resume"),
		screens.Asks(`^ *What account do you want to log into\?|github\.com/login/device`, "asks you to log in"),
		screens.Asks(`^[│ ]*↑/↓ .*\besc( to)? (cancel|close)\b|^[│ ]*↑/↓ to navigate .*(\n.*)?enter to select`, "a menu is open"),
	},
}

package agent

import "paw/config/lazyregexp"

// Screen: copilot keeps the terminal's cursor in its input box, hidden while its pane has no focus. It draws the box long
// before it takes input, and without an account too.
func (copilot) Screen(s Screenshot) Screen {
	switch text := textOf(rowsOf(s)); {
	case copilotStarts.MatchString(text):
		return Screen{}
	case copilotLoggedOut.MatchString(text):
		return Screen{Dialog: "asks you to log in"}
	}
	return copilotBox.screen(s)
}

var (
	copilotStarts    = lazyregexp.New(`(?m)^ [◉○◎●] Loading:`)
	copilotLoggedOut = lazyregexp.New(`(?m)^Please use /login to sign in to use Copilot`)
)

// copilotBox is the input box of copilot. It has no placeholder.
var copilotBox = edgedBox{
	upper: "─", lower: "─", marks: "❯", mark: 0,
	placeholder: lazyregexp.New(`^$`),
	places:      lazyregexp.New(`\[(Paste|Image) #\d+|^/`), // a command is shown completed before it is
	works:       lazyregexp.New(`(?m)^ [◉○◎●] (Working|Cancelling)\b`),
	dialogs: []dialog{
		asks(`^│ +Do you trust the files in this folder\?|^│ +3\. No \(Esc\) +│$`, "asks whether to trust the folder"),
		asks(`^│ │ +([^\n]*?) +│ │\n(?s:.*)^│ Do you want to run this command\?`, "asks for permission: $1"),
		asks(`^│ (Do you want to [^?]*\?)`, "$1"),
		asks(`^│ +\d\. No, and tell Copilot what to do`, "asks for permission"),
		asks(`^ *Copilot needs information\.\n *([^\n]+)`, "$1"),
		asks(`^ *❯ +Search models…`, "asks to choose a model"),
		asks(`^ +/ search · ↑/↓ navigate · enter open `, "asks which conversation to resume"),
		asks(`^ *What account do you want to log into\?|github\.com/login/device`, "asks you to log in"),
		asks(`^[│ ]*↑/↓ .*\besc( to)? (cancel|close)\b|^[│ ]*↑/↓ to navigate .*(\n.*)?enter to select`, "a menu is open"),
	},
}

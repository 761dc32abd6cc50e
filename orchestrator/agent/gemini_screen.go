package agent

import "paw/config/lazyregexp"

// Screen: gemini keeps the terminal's cursor, hidden, where it draws its own.
func (gemini) Screen(s Screenshot) Screen { return geminiBox.screen(s) }

// geminiBox is the input box of gemini; without colours its edges are lines. Its dialogs are in frames.
var geminiBox = edgedBox{
	upper: "▄─", lower: "▀─", marks: ">*", mark: 1,
	placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'Esc' for NORMAL mode\.|Press 'i' for INSERT mode\.)$`),
	places:      lazyregexp.New(`\[(Pasted Text|Image)\b`),
	works:       lazyregexp.New(`(?m)^ *\S .*\(esc to cancel, `),
	dialogs: []dialog{
		asks(`^ ?│ +Do you trust the files in this folder\?|^ ?│ +\d\. Don't trust `, "asks whether to trust the folder"),
		asks(`^│ +How would you like to authenticate|^│ +Terms of Services and Privacy Notice|^│ +Enter Gemini API Key`, "asks you to log in"),
		asks(`^│ \? Shell +([^\n]*?) *│$(?s:.*)^│ Allow execution of`, "asks for permission: $1"),
		asks(`^│ Answer Questions *│\n│ *│\n│ ([^\n]*?) *│$`, "$1"),
		asks(`^│ +Select Model`, "asks to choose a model"),
		asks(`^ *No auto-saved conversations found|^ *Chat Sessions`, "asks which conversation to resume"),
		asks(`(?i)\(.*\b(Enter to select|Esc to close)\b`, "a menu is open"),
	},
}

package agent

import "paw/config/lazyregexp"

// Screen: qwen shows the terminal's cursor in its input box; 0.15 only draws one of its own there.
func (qwen) Screen(s Screenshot) Screen { return qwenBox.screen(s) }

// qwenBox is the input box of qwen.
var qwenBox = edgedBox{
	upper: "─", lower: "─", marks: ">*", mark: 0,
	placeholder: lazyregexp.New(`^  ?(Type your message or @path/to/file|Press 'i' for INSERT mode and 'Esc' for NORMAL mode\.)$`),
	places:      lazyregexp.New(`\[(Pasted Content|Pasted Text|Image)\b`),
	works:       lazyregexp.New(`(?m)^ *\S+ .*\(\d.*esc to cancel\)`),
	dialogs: []dialog{
		asks(`^ +(?:│ )?\? +Shell ([^\n]*?) ←(?s:.*)^ +(?:│ )?Allow execution of`, "asks for permission: $1"),
		asks(`^ +(?:│ )?Allow execution of: '([^']*)'\?`, "asks for permission: $1"),
		asks(`^ +\? AskUserQuestion [^\n]*\n\s*\n +[^\n]+\n\s*\n +([^\n]+)\n`, "$1"),
		asks(`^ +│ > Approval Mode`, "a menu is open"),
		asks(`^ +│ +Terms of Services and Privacy Notice|^ *How would you like to authenticate`, "asks you to log in"),
		asks(`^ +│ Select Model`, "asks to choose a model"),
		asks(`Ctrl\+B to toggle branch · .* · Esc to cancel`, "asks which conversation to resume"),
		asks(`^ +│ .*\b(Enter to select|Esc to (close|cancel))\b`, "a menu is open"),
	},
}

package fakemodel

// Manners are how a CLI behaves towards somebody at its terminal, where the CLIs differ.
type Manners struct {
	Asks  string   // on the screen while it asks for permission
	Allow []string // keys that grant it, by their tmux names
	Again string   // on the screen where an Esc has to be confirmed by another one
	// Background: a prompt puts the command that runs into the background, whose end is a turn of its own.
	Background bool
}

// MannersOf has the manners of the CLIs that Prepare knows.
var MannersOf = map[string]Manners{
	"claude":   {Asks: "Do you want to proceed?", Allow: []string{"Enter"}},
	"codex":    {Asks: "Would you like to run the following command?", Allow: []string{"y"}},
	"opencode": {Asks: "Permission required", Allow: []string{"Enter"}, Again: "again to interrupt"},
	"gemini":   {Asks: "Allow execution of", Allow: []string{"Enter"}},
	"qwen":     {Asks: "Allow execution of", Allow: []string{"Enter"}},
	"copilot":  {Asks: "Do you want to run this command?", Allow: []string{"Enter"}, Again: "again to interrupt", Background: true},
	"demo":     {Asks: "[y/n]", Allow: []string{"y"}},
}

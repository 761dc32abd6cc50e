package orchestrator

import (
	"io"

	"paw/orchestrator/startplan"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
)

// RunOptions is what the user asked of paw run.
type RunOptions struct {
	Agent  string             // "" makes a new agent, see New
	New    *startplan.Options // the new agent: one item in CLIs, at most one in Branches
	Prompt string
	Type   turn.Type // TypePrompt when empty
	// Out gets what the CLI says while it works, Err its standard error; nil for nothing.
	Out, Err io.Writer
	// Started, which may be nil, is called before the turn is begun, which from then
	// on is closed whatever happens. It gets a function that kills the CLI and all it
	// started at once, for a user who does not want to wait any longer, and is called
	// again with another one when the CLI starts and when it has ended.
	Started func(kill func())
}

// Ran is a headless turn that was begun, however it ended.
type Ran struct {
	Session *session.Session
	Agent   string
	Turn    turns.Turn
	Notes   []string // what the user would otherwise miss
}

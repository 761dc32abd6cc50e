package startplan

import (
	"paw/session"
	"paw/session/history"
	"paw/session/turn"
	"paw/worktree"
)

// Options is what the user asked of paw add.
type Options struct {
	CLIs     []string
	Branches []string
	Base     string
	From     string // "AGENT[@N]": start where that agent's turn N ended
	Prompt   string
	Force    bool // also from the commit alone of a turn that has no snapshot
	DryRun   bool
	Origin   *Origin // what a child starts from, nil for an agent that nobody spawned
	Parent   string  // that spawns it, "" for none
	Headless bool    // it gets no pane
}

// Addition is agents that are about to be added to a session.
type Addition struct {
	Manager worktree.Manager
	Draft   session.Session // the session with the new agents alone
	Plans   []worktree.Plan
	Notes   map[string][]string // by agent
	prompts map[string]string   // first prompts by agent, of those that do not get the user's alone
	Steps   []string            // what else a user wants to know beforehand
}

// PromptFor is the first prompt of an agent, prompt being that of the user.
func (a *Addition) PromptFor(agentName, prompt string) string {
	if own, ok := a.prompts[agentName]; ok {
		return own
	}
	return prompt
}

// Origin is the end of a turn that new agents start from.
type Origin struct {
	session.Origin
	source *session.Agent
	commit string
	last   bool // nothing came after that turn
	// current: not the end of a turn, but the state that the source is in now.
	current bool
	notes   []string

	turns    []turn.Record     // until then, with that one
	talk     string            // the conversation that was read
	messages []history.Message // what was said in it until then, once it was read
	unread   error             // why it cannot be read
}

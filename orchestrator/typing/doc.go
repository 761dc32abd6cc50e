// Package typing is the only package that types into the panes of agents. A sender checks that the
// CLI takes a prompt, pastes the prompt, presses Enter and waits until the prompt has arrived as it
// was sent.
//
// It may import orchestrator/app, observe and turns. Begin with Send, then sender.go, ready.go and
// paste.go, draft.go for text in the input box, refusals.go and arrival.go.
package typing

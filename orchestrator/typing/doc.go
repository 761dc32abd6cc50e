// Package typing is the only place that types into the panes of agents. A sender looks that the CLI takes a prompt,
// pastes it, presses Enter and sees that it arrives as it was sent.
//
// It may import orchestrator/app, observe and turns. Begin with Send, then sender.go, draft.go for what stands in
// the box, refusals.go and arrival.go.
package typing

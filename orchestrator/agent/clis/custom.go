package clis

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/orchestrator/agent/internal/prompts"
)

const idPlace = "{id}"

// custom is a CLI that only the configuration describes: its command is the program with its options, where "{id}" is an id
// that paw chooses. What it has to resume is put behind the command, with "{id}" replaced; behind the program alone where
// the command has an "{id}" of its own.
type custom struct {
	agent.Named
	config.CLI
}

func (c custom) Program() string { return c.Command[0] }

// Environment has nothing: who writes the command sets what it needs.
func (custom) Environment() []string { return nil }

// CheckID leaves it to each command: not all of them have a place for an id.
func (custom) CheckID(string) error { return nil }

func (c custom) NewConversation() string {
	if c.choosesID() {
		return uuid.NewString()
	}
	return ""
}

func (c custom) choosesID() bool { return hasPlace(c.Command) }

func hasPlace(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, idPlace) })
}

func (c custom) Launch(s agent.Spec) (agent.Command, error) {
	words, err := c.fill(c.Command[1:], s.ConversationID)
	if err != nil {
		return agent.Command{}, err
	}
	argv := slices.Concat([]string{s.Executable}, words, s.Args)
	if s.Prompt != "" {
		if c.Prompt == config.PromptSend {
			return agent.Command{}, &agent.PromptError{CLI: c.Name(), Send: true, Reason: "takes no prompt as an argument (prompt = \"send\")"}
		}
		if err := prompts.CheckArgument(c.Name(), s.Prompt, s.Prompt); err != nil {
			return agent.Command{}, err
		}
		argv = append(argv, s.Prompt)
	}
	return agent.Command{Argv: argv}, nil
}

func (c custom) Resume(s agent.Spec) (agent.Command, error) {
	if len(c.CLI.Resume) == 0 {
		return agent.Command{}, &agent.ConversationError{CLI: c.Name(), ID: s.ConversationID, Reason: "clis." + c.Name() + ".resume is not set"}
	}
	command := c.Command[1:]
	if c.choosesID() {
		command = nil
	}
	words, err := c.fill(slices.Concat(command, c.CLI.Resume), s.ConversationID)
	if err != nil {
		return agent.Command{}, err
	}
	return agent.Command{Argv: slices.Concat([]string{s.Executable}, words, s.Args)}, nil
}

func (c custom) fill(words []string, id string) ([]string, error) {
	if !hasPlace(words) {
		return words, nil
	}
	if err := agent.CheckID(c.Name(), id); err != nil {
		return nil, err
	}
	filled := make([]string, len(words))
	for i, word := range words {
		filled[i] = strings.ReplaceAll(word, idPlace, id)
	}
	return filled, nil
}

// Conversation knows no files; it believes the configuration.
func (c custom) Conversation(ctx context.Context, s agent.Spec) (agent.Conversation, error) {
	if len(c.CLI.Resume) == 0 {
		return agent.Conversation{Reason: "clis." + c.Name() + ".resume is not set", NewID: c.choosesID()}, nil
	}
	if hasPlace(c.CLI.Resume) && agent.CheckID(c.Name(), s.ConversationID) != nil {
		return agent.Conversation{Reason: "no conversation id is known"}, nil //nolint:nilerr // a missing id is an answer, not a failure
	}
	return agent.Conversation{Found: true, Resumable: true}, nil
}

func (c custom) Facts() agent.Facts {
	facts := agent.Facts{ChoosesID: c.choosesID(), Resume: "no", Turns: agent.UnseenTurns, Unseen: true}
	switch {
	case hasPlace(c.CLI.Resume):
		facts.Resume = "as configured, by id"
	case len(c.CLI.Resume) > 0:
		facts.Resume = "as configured"
	}
	return facts
}

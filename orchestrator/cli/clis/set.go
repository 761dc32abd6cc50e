// Package clis lists all CLIs that paw can start: the known ones, one folder each beside this one,
// and those of the configuration.
package clis

import (
	"context"
	"maps"
	"slices"
	"strings"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/acp"
	"paw/orchestrator/cli/claude"
	"paw/orchestrator/cli/codex"
	"paw/orchestrator/cli/copilot"
	"paw/orchestrator/cli/demo"
	"paw/orchestrator/cli/internal/prompts"
	"paw/orchestrator/cli/opencode"
	"paw/orchestrator/cli/pi"
	"paw/orchestrator/cli/qwen"
)

// Set is the CLIs that paw can start, by name.
type Set struct {
	names []string
	clis  map[string]cli.CLI
}

// drivers lists the known CLIs in the order in which they are shown. CONTRIBUTING.md lists the other
// places of a new one.
var drivers = []cli.Driver{claude.Driver, codex.Driver, opencode.Driver, qwen.Driver, copilot.Driver, pi.Driver, aider, demo.Driver}

// aider has one conversation in each folder, ends after the answer to a prompt in its arguments, and has no hooks.
var aider = customOf("aider", config.CLI{Command: []string{"aider"}, Resume: []string{"--restore-chat-history"}, Prompt: config.PromptSend})

// New returns the known CLIs and those of cfg. An entry of cfg for a known CLI adds to it: its
// command is a wrapper for the program, unless the entry also has resume, or the CLI is known by its
// name alone, which makes it a CLI of its own. With acp the entry is an agent that speaks ACP.
func New(cfg map[string]config.CLI) Set {
	set := Set{clis: map[string]cli.CLI{}}
	for _, d := range drivers {
		set.names = append(set.names, d.Name())
		set.clis[d.Name()] = cli.CLI{Driver: d}
	}
	for _, name := range slices.Sorted(maps.Keys(acp.Known)) {
		set.names = append(set.names, name)
		set.clis[name] = cli.CLI{Driver: acp.Driver(name, acp.Known[name])}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg)) {
		c := cfg[name]
		known, ok := set.clis[name]
		switch {
		case len(c.ACP) > 0:
			set.clis[name] = cli.Configure(acp.Driver(name, c.ACP), nil, c.Args, c.Env)
		case len(c.Command) > 0 && (!ok || len(c.Resume) > 0 || acp.Known[name] != nil):
			set.clis[name] = cli.Configure(customOf(name, c), nil, c.Args, c.Env)
		case ok:
			set.clis[name] = cli.Configure(known.Driver, c.Command, c.Args, c.Env)
		default:
			continue
		}
		if !ok {
			set.names = append(set.names, name)
		}
	}
	return set
}

// customOf returns the driver of a CLI that only the configuration describes.
func customOf(name string, c config.CLI) cli.Driver {
	one := custom{cli.Named{Of: name, Known: factsOf(c)}, c}
	if c.Hooks != config.HooksClaude {
		return one
	}
	one.Known.Turns, one.Known.Unseen = "from its hooks", false
	return hooked{one}
}

// Get returns the CLI of that name.
func (s Set) Get(name string) (cli.CLI, bool) {
	cli, ok := s.clis[name]
	return cli, ok
}

// Names returns the known CLIs in a fixed order, then those of the configuration by name.
func (s Set) Names() []string { return slices.Clone(s.names) }

// Nearest returns the name most like the given one, or "" when none is like it.
func (s Set) Nearest(name string) string { return config.Nearest(name, s.names) }

// Inherited removes from an agent's environment what paw and the CLI have set for it. What the user
// had set under the names that paw uses for a launch is lost.
func Inherited(env []string) []string {
	var marks []string
	for _, d := range drivers {
		marks = append(marks, d.Facts().Marks...)
	}
	return cli.Without(env, marks)
}

const idPlace = "{id}"

// custom drives a CLI that only the configuration describes. "{id}" in its command stands for an id
// that paw chooses. To resume, the words of its resume key, with "{id}" replaced, follow the
// command, or only the program where the command itself has an "{id}".
type custom struct {
	cli.Named
	config.CLI
}

func (c custom) Program() string { return c.Command[0] }

// CheckID accepts every id: fill checks the ids of those commands that have a place for one.
func (custom) CheckID(string) error { return nil }

// factsOf names no environment: the user who configures the command sets what it needs.
func factsOf(c config.CLI) cli.Facts {
	facts := cli.Facts{ChoosesID: hasPlace(c.Command), Resume: "no", Turns: cli.UnseenTurns, Unseen: true}
	switch {
	case hasPlace(c.Resume):
		facts.Resume = "as configured, by id"
	case len(c.Resume) > 0:
		facts.Resume = "as configured"
	}
	return facts
}

func hasPlace(words []string) bool {
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, idPlace) })
}

func (c custom) Launch(s cli.Spec) (cli.Command, error) {
	words, err := c.fill(c.Command[1:], s.ConversationID)
	if err != nil {
		return cli.Command{}, err
	}
	argv := slices.Concat([]string{s.Executable}, words, s.Args)
	switch {
	case s.Prompt == "":
		return cli.Command{Argv: argv}, nil
	case c.Prompt == config.PromptSend:
		return cli.Command{}, &cli.PromptError{CLI: c.Name(), Send: true, Reason: "takes no prompt as an argument (prompt = \"send\")"}
	}
	return cli.Command{Argv: append(argv, s.Prompt)}, prompts.CheckArgument(c.Name(), s.Prompt, s.Prompt)
}

func (c custom) Resume(s cli.Spec) (cli.Command, error) {
	if len(c.CLI.Resume) == 0 {
		return cli.Command{}, &cli.ConversationError{CLI: c.Name(), ID: s.ConversationID, Reason: "clis." + c.Name() + ".resume is not set"}
	}
	command := c.Command[1:]
	if c.Known.ChoosesID {
		command = nil
	}
	words, err := c.fill(slices.Concat(command, c.CLI.Resume), s.ConversationID)
	if err != nil {
		return cli.Command{}, err
	}
	return cli.Command{Argv: slices.Concat([]string{s.Executable}, words, s.Args)}, nil
}

func (c custom) fill(words []string, id string) ([]string, error) {
	if !hasPlace(words) {
		return words, nil
	}
	if err := cli.CheckID(c.Name(), id); err != nil {
		return nil, err
	}
	filled := make([]string, len(words))
	for i, word := range words {
		filled[i] = strings.ReplaceAll(word, idPlace, id)
	}
	return filled, nil
}

// Conversation reads no files: it reports what the configuration says about resuming.
func (c custom) Conversation(ctx context.Context, s cli.Spec) (cli.Conversation, error) {
	if len(c.CLI.Resume) == 0 {
		return cli.Conversation{Reason: "clis." + c.Name() + ".resume is not set", NewID: c.Known.ChoosesID}, nil
	}
	if hasPlace(c.CLI.Resume) && cli.CheckID(c.Name(), s.ConversationID) != nil {
		return cli.Conversation{Reason: "no conversation id is known"}, nil //nolint:nilerr // a missing id is an answer, not a failure
	}
	return cli.Conversation{Found: true, Resumable: true}, nil
}

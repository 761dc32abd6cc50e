// Package clis lists all CLIs that paw can start: the known ones, one folder each beside this one,
// and those of the configuration.
package clis

import (
	"maps"
	"slices"

	"paw/config"
	"paw/orchestrator/cli"
	"paw/orchestrator/cli/aider"
	"paw/orchestrator/cli/claude"
	"paw/orchestrator/cli/codex"
	"paw/orchestrator/cli/copilot"
	"paw/orchestrator/cli/demo"
	"paw/orchestrator/cli/gemini"
	"paw/orchestrator/cli/opencode"
	"paw/orchestrator/cli/qwen"
)

// Set is the CLIs that paw can start, by name.
type Set struct {
	names []string
	clis  map[string]cli.CLI
}

// drivers lists the known CLIs in the order in which they are shown. CONTRIBUTING.md lists the other
// places of a new one.
var drivers = []cli.Driver{claude.Driver, codex.Driver, opencode.Driver, gemini.Driver, qwen.Driver, copilot.Driver, aider.Driver, demo.Driver}

// New returns the known CLIs and those of cfg. An entry of cfg for a known CLI adds to it: its
// command is a wrapper for the program, unless the entry also has resume, which makes it a CLI of
// its own.
func New(cfg map[string]config.CLI) Set {
	set := Set{clis: map[string]cli.CLI{}}
	for _, d := range drivers {
		set.names = append(set.names, d.Name())
		set.clis[d.Name()] = cli.CLI{Driver: d}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg)) {
		c := cfg[name]
		known, ok := set.clis[name]
		switch {
		case len(c.Command) > 0 && (!ok || len(c.Resume) > 0):
			set.clis[name] = cli.Configure(custom{cli.Named(name), c}, nil, c.Args, c.Env)
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
		marks = append(marks, cli.CLI{Driver: d}.Marks()...)
	}
	return cli.Without(env, marks)
}

package agent

import (
	"maps"
	"slices"

	"paw/config"
)

// Set is the CLIs that paw can start: those it knows and those of the configuration.
type Set struct {
	names []string
	clis  map[string]CLI
}

// New makes a set of the CLIs paw knows and those of cfg, by name. What cfg says about a known CLI is added to it.
func New(cfg map[string]Custom) Set {
	set := Set{clis: map[string]CLI{}}
	for _, cli := range []CLI{claude{}, codex{}, opencode{}, gemini{}, qwen{}, copilot{}, aider{}, demo{}} {
		set.names = append(set.names, cli.Name())
		set.clis[cli.Name()] = cli
	}
	for _, name := range slices.Sorted(maps.Keys(cfg)) {
		c := cfg[name]
		c.Name = name
		known, ok := set.clis[name]
		switch {
		case ok && len(c.Resume) == 0:
			set.clis[name] = configured{CLI: known, command: c.Command, args: c.Args, env: c.Env}
		case len(c.Command) > 0:
			set.clis[name] = configured{CLI: custom{Custom: c}, args: c.Args, env: c.Env}
		case ok:
			set.clis[name] = configured{CLI: known, args: c.Args, env: c.Env}
		default:
			continue
		}
		if !ok {
			set.names = append(set.names, name)
		}
	}
	return set
}

// Get is the CLI of a name.
func (s Set) Get(name string) (CLI, bool) {
	cli, ok := s.clis[name]
	return cli, ok
}

// Names are the known CLIs in a fixed order, then those of the configuration by name.
func (s Set) Names() []string { return slices.Clone(s.names) }

// Nearest is the name most like the given one, or "" when none is like it.
func (s Set) Nearest(name string) string {
	nearest, least := "", max(1, len(name)/3)+1
	for _, candidate := range s.names {
		if d := config.Distance(name, candidate); d < least {
			nearest, least = candidate, d
		}
	}
	return nearest
}

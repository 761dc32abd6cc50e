package orchestrator

import (
	"fmt"
	"strings"

	"paw/config"
	"paw/orchestrator/agent"
	"paw/orchestrator/fault"
	"paw/session"
)

// StartOptions is what the user asked of paw start.
type StartOptions struct {
	CLIs     []string // items "[AGENT=]CLI"
	Branches []string
	Name     string // "" picks one from the repository's directory name
	Base     string // "" is HEAD
	Prompt   string
	Preset   string
	DryRun   bool
}

// plannedAgent is one agent as the options ask for it; branch "" means paw's own.
type plannedAgent struct {
	name   string
	cli    string
	branch string
}

// applyPreset fills in what the options leave open from the preset they name.
func applyPreset(o StartOptions, presets map[string]config.Preset) (StartOptions, error) {
	if o.Preset == "" {
		return o, nil
	}
	preset, ok := presets[o.Preset]
	if !ok {
		names := make([]string, 0, len(presets))
		for name := range presets {
			names = append(names, name)
		}
		return o, fault.New(fault.Usage, "preset %s: not in the configuration (%s)", o.Preset, listOr(names, "there is none")).Hint("paw config")
	}
	if len(o.CLIs) == 0 {
		o.CLIs = preset.CLI
	}
	if len(o.Branches) == 0 {
		o.Branches = preset.Branches
	}
	if o.Base == "" {
		o.Base = preset.Base
	}
	return o, nil
}

// planAgents turns the items of --cli and --branches into agents: one branch
// each, every agent with a name of its own. taken holds names in use already.
func planAgents(items, branches []string, set agent.Set, taken map[string]bool) ([]plannedAgent, error) {
	agents, err := parseItems(items, set)
	if err != nil {
		return nil, err
	}
	switch {
	case len(branches) == 0:
	case len(agents) == 1 && agents[0].name == "":
		cli := agents[0].cli
		agents = agents[:0]
		for _, branch := range branches {
			agents = append(agents, plannedAgent{cli: cli, branch: branch})
		}
	case len(agents) == len(branches):
		for i := range agents {
			agents[i].branch = branches[i]
		}
	default:
		return nil, fault.New(fault.Usage, "--branches: %d branches for %d CLIs (give one CLI for all of them, or one for each)", len(branches), len(agents))
	}
	used := map[string]bool{}
	for name := range taken {
		used[name] = true
	}
	for _, a := range agents {
		if a.name == "" {
			continue
		}
		if used[a.name] {
			return nil, fault.New(fault.Usage, "agent %s: the name is taken", a.name)
		}
		used[a.name] = true
	}
	for i := range agents {
		if agents[i].name != "" {
			continue
		}
		name := agents[i].cli
		if agents[i].branch != "" {
			if fromBranch := session.NameFrom(agents[i].branch); fromBranch != "" {
				name = fromBranch
			}
		}
		agents[i].name = firstFree(name, used)
		used[agents[i].name] = true
	}
	return agents, nil
}

// parseItems reads "[AGENT=]CLI" items; every CLI must be known.
func parseItems(items []string, set agent.Set) ([]plannedAgent, error) {
	var agents []plannedAgent
	for _, item := range items {
		name, cli, named := strings.Cut(strings.TrimSpace(item), "=")
		if !named {
			name, cli = "", name
		}
		if cli == "" {
			return nil, fault.New(fault.Usage, "--cli %q: no CLI named", item).Hint("paw clis")
		}
		if named {
			if err := session.ValidateName("agent", name); err != nil {
				return nil, fault.New(fault.Usage, "%w", err)
			}
		}
		if _, ok := set.Get(cli); !ok {
			e := fault.New(fault.Usage, "%s: unknown CLI", cli)
			if nearest := set.Nearest(cli); nearest != "" {
				e.Message += fmt.Sprintf(" (did you mean %s?)", nearest)
			}
			return nil, e.Hint("paw clis")
		}
		agents = append(agents, plannedAgent{name: name, cli: cli})
	}
	if len(agents) == 0 {
		return nil, fault.New(fault.Usage, "--cli: no CLI named").Hint("paw clis")
	}
	return agents, nil
}

// firstFree is name, or name_2, name_3, ...
func firstFree(name string, used map[string]bool) string {
	if !used[name] {
		return name
	}
	for n := 2; ; n++ {
		if next := fmt.Sprintf("%s_%d", name, n); !used[next] {
			return next
		}
	}
}

// listOr joins names, or says what is there instead.
func listOr(names []string, none string) string {
	if len(names) == 0 {
		return none
	}
	return strings.Join(names, ", ")
}

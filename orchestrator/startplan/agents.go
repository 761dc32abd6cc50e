package startplan

import (
	"fmt"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/cli/clis"
	"paw/orchestrator/errs"
	"paw/orchestrator/launch"
	"paw/session"
)

// Agent is an agent as the options ask for it; an empty branch stands for paw's default.
type Agent struct {
	name   string
	CLI    string
	branch string
}

// Agents combines the items of --cli and --branches to agents: one branch each, and unique names.
// taken has names that are in use, with words about the user of each.
func Agents(items, branches []string, set clis.Set, taken map[string]string) ([]Agent, error) {
	agents, err := parseItems(items, set)
	if err != nil {
		return nil, err
	}
	switch {
	case len(branches) == 0:
	case len(agents) == 1 && agents[0].name == "":
		cli := agents[0].CLI
		agents = agents[:0]
		for _, branch := range branches {
			agents = append(agents, Agent{CLI: cli, branch: branch})
		}
	case len(agents) == len(branches):
		for i := range agents {
			agents[i].branch = branches[i]
		}
	default:
		e := errs.New(errs.Usage, "--branches: %d branches for %d CLIs (give one CLI for all of them, or one for each)", len(branches), len(agents))
		e.Instead = errs.Instead{Of: strings.Join(items, ","), By: strings.Join(asMany(items, len(branches)), ",")}
		return nil, e
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
			free := firstFree(a.name, used)
			e := errs.New(errs.Usage, "agent %s: the name is taken%s; %s is free", a.name, taken[a.name], free)
			e.Instead = errs.Instead{Of: a.name, By: free}
			return nil, e
		}
		used[a.name] = true
	}
	for i := range agents {
		if agents[i].name != "" {
			continue
		}
		name := agents[i].CLI
		if agents[i].branch != "" {
			if fromBranch := session.NameFrom(ownPart(agents[i].branch)); fromBranch != "" {
				name = fromBranch
			}
		}
		agents[i].name = firstFree(name, used)
		used[agents[i].name] = true
	}
	return agents, nil
}

// ownPart returns the distinguishing part of a branch name: paw's own branches are all named
// paw/SESSION/AGENT.
func ownPart(branch string) string {
	if rest, own := strings.CutPrefix(branch, app.BranchPrefix); own {
		if _, agent, both := strings.Cut(rest, "/"); both {
			return agent
		}
	}
	return branch
}

// parseItems parses items of the form "[AGENT=]CLI"; every CLI must be known.
func parseItems(items []string, set clis.Set) ([]Agent, error) {
	var agents []Agent
	for _, item := range items {
		name, cli, named := strings.Cut(strings.TrimSpace(item), "=")
		if !named {
			name, cli = "", name
		}
		if cli == "" {
			return nil, errs.New(errs.Usage, "--cli %q: no CLI named", item).Hint("paw clis")
		}
		if named {
			if err := session.ValidateName("agent", name); err != nil {
				return nil, errs.New(errs.Usage, "%w", err)
			}
		}
		if _, ok := set.Get(cli); !ok {
			e := errs.New(errs.Usage, "%s: unknown CLI", cli)
			if nearest := set.Nearest(cli); nearest != "" {
				e.Message += fmt.Sprintf(" (did you mean %s?)", nearest)
				e.Instead = errs.Instead{Of: cli, By: nearest}
			}
			return nil, e.Hint("paw clis")
		}
		agents = append(agents, Agent{name: name, CLI: cli})
	}
	if len(agents) == 0 {
		return nil, errs.New(errs.Usage, "--cli: no CLI named").Hint("paw clis")
	}
	return agents, nil
}

// firstFree returns name, or the first free one of name_2, name_3, ...
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

// RequireCLIs refuses CLIs that are not installed, and a prompt that one of them cannot take.
func RequireCLIs(h *app.App, agents []Agent, prompt string) error {
	for _, a := range agents {
		cli, _ := h.CLIs.Get(a.CLI)
		executable, err := h.Program(cli)
		if err != nil {
			return err
		}
		if prompt == "" {
			continue
		}
		if _, err := cli.Launch(h.Specs().Draft(cli, executable, prompt)); err != nil && !launch.CanOnlyBeSent(err) {
			return errs.New(errs.Usage, "%w", err)
		}
	}
	return nil
}

// asMany are so many items of --cli: without the last ones, or with the CLI of the last one again.
func asMany(items []string, number int) []string {
	items = strings.Split(strings.Join(items, ","), ",")
	_, last, named := strings.Cut(items[len(items)-1], "=")
	if !named {
		last = items[len(items)-1]
	}
	for len(items) < number {
		items = append(items, last)
	}
	return items[:number]
}

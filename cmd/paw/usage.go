package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
)

type usageOptions struct{ *invocation }

func newUsage(a *invocation) *cobra.Command {
	o := usageOptions{a}
	cmd := &cobra.Command{
		Use:   "usage [AGENT...]",
		Short: "Show what the agents' models took: tokens, and what they cost",
		Long: exits(`Show how many tokens the models of agents took, as the CLIs' own records count them: all in all,
or by turn where agents are named. INPUT was read anew, FROM CACHE and TO CACHE is what the
model's provider kept, OUTPUT has what the model thought. What an answer cost is shown only where the CLI says
it. Sub-agents that a CLI keeps apart are not counted. Of a subscription that has limits it
says what is used of them, as far as the CLI tells.`, exitUsage, exitNotFound),
		Example: `  paw usage
  paw usage claude
  paw usage --json`,
		ValidArgsFunction: a.completes(completion.agents),
		RunE:              o.run,
	}
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o usageOptions) run(cmd *cobra.Command, args []string) error {
	h, s, agents, err := o.agents(cmd, args)
	if err != nil {
		return err
	}
	done := o.busy(h, "reading what "+errs.Counted(cmp.Or(len(agents), len(s.Agents)), "agent")+" took")
	all, err := orchestrator.Usage(cmd.Context(), h, s, agents)
	done()
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(usageView(s.Name, all))
	}
	o.printUsage(all, len(agents) > 0)
	return nil
}

// printUsage prints a line for each agent, with byTurn also for each turn.
func (o usageOptions) printUsage(all []orchestrator.AgentUsage, byTurn bool) {
	row := func(name, what string, s cli.Spent) []cell {
		cost := ""
		if s.Priced {
			cost = fmt.Sprintf("$%.4f", s.Cost)
		}
		return texts(name, what, count(s.Input), count(s.CacheRead), count(s.CacheWrite), count(s.Output), cost)
	}
	rows := [][]cell{heads("AGENT", "TURN", "INPUT", "FROM CACHE", "TO CACHE", "OUTPUT", "COST")}
	var unknown []string // reasons for missing numbers, each once
	agents := map[string][]string{}
	for _, u := range all {
		if u.Unknown != "" && u.Total.Answers == 0 {
			rows = append(rows, texts(u.Agent, "-"))
			if len(agents[u.Unknown]) == 0 {
				unknown = append(unknown, u.Unknown)
			}
			agents[u.Unknown] = append(agents[u.Unknown], u.Agent)
			continue
		}
		if byTurn {
			for _, t := range u.Turns {
				rows = append(rows, row(u.Agent, strconv.Itoa(t.Number), t.Spent))
			}
			if u.Outside.Answers > 0 {
				rows = append(rows, row(u.Agent, "between", u.Outside))
			}
		}
		rows = append(rows, row(u.Agent, "all", u.Total))
		for _, w := range u.Windows {
			o.note(u.Agent + ": " + w.String())
		}
		if u.Unknown != "" {
			o.note(u.Agent + ": not all of its record can be read: " + u.Unknown)
		}
	}
	o.printTable(o.stdout, "", rows, "TO CACHE", "FROM CACHE", "TURN")
	for _, why := range unknown {
		fmt.Fprintf(o.stdout, "%s: %s\n", strings.Join(agents[why], ", "), display.OneLine(why))
	}
}

// inShort describes the usage of models in one line: tokens in, from a cache or not, tokens out,
// and the cost if it is known; "" for no usage.
func inShort(s *cli.Spent) string {
	if s == nil || s.Answers == 0 {
		return ""
	}
	text := count(s.Input+s.CacheRead+s.CacheWrite) + " in, " + count(s.Output) + " out"
	if s.Priced {
		text += fmt.Sprintf(", $%.2f", s.Cost)
	}
	return text
}

// count formats a number of tokens: 950, 12.3k, 4.5M.
func count(n int64) string {
	switch {
	case n < 1000:
		return strconv.FormatInt(n, 10)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1000)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// spent is the usage of models, with the cost if it is known.
type spent struct {
	cli.Spent
	Cost *float64 `json:"cost_usd"`
}

// spentView returns the usage of models, nil if there was none.
func spentView(s cli.Spent) *spent {
	switch {
	case s.Answers == 0:
		return nil
	case s.Priced:
		return &spent{s, &s.Cost}
	}
	return &spent{Spent: s}
}

func usageView(sessionName string, all []orchestrator.AgentUsage) object {
	return object{{"version", 1}, {"session", sessionName}, {"agents", objects(all, func(u orchestrator.AgentUsage) object {
		type turn struct {
			Number int `json:"number"`
			*spent
		}
		var turns []turn
		for _, t := range u.Turns {
			turns = append(turns, turn{t.Number, spentView(t.Spent)})
		}
		return object{
			{"name", u.Agent}, {"cli", u.CLI}, {"total", spentView(u.Total)}, {"turns", turns}, {"between", spentView(u.Outside)},
			{"unknown", orNull(u.Unknown)}, {"limits", u.Windows},
		}
	})}}
}

package main

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"paw/config"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
)

func newConfig(a *invocation) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration and where it comes from",
		Long: exits(`Show the configuration in force and where it comes from: the defaults, the user's
file, .paw.toml of the repository, and PAW_* variables, the later over the earlier.`),
		Example: `  paw config
  PAW_TMUX_LAYOUT=windows paw config --json`,
		Args: cobra.NoArgs,
		RunE: a.withHome(func(_ *cobra.Command, h *app.App, _ []string) error {
			if a.json {
				return a.printJSON(map[string]any{"version": 1, "config": h.Config.Config, "sources": h.Config.Sources, "untrusted": h.Config.Untrusted, "ignored": h.Config.Ignored})
			}
			for _, source := range h.Config.Sources {
				fmt.Fprintf(a.stdout, "# from %s: %s\n", shortened(source.Name), strings.Join(source.Keys, ", "))
			}
			for _, key := range h.Config.Ignored {
				fmt.Fprintf(a.stdout, "# left out, a repository has no say in it: %s\n", key)
			}
			for _, c := range h.Config.Untrusted {
				fmt.Fprintf(a.stdout, "# left out, not trusted: %s = %s\n", c.Key, strings.ReplaceAll(c.Text, "\n", "\n#   | "))
			}
			return toml.NewEncoder(a.stdout).Encode(h.Config.Config)
		}),
	}
	a.addJSON(cmd)
	cmd.AddCommand(newConfigTrust(a))
	return cmd
}

type trustOptions struct {
	*invocation
	yes bool
}

func newConfigTrust(a *invocation) *cobra.Command {
	o := &trustOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust the commands that .paw.toml of this repository runs",
		Long: exits(`Trust the commands that .paw.toml of this repository runs, word for word as they are
now: a changed text has to be trusted again.`, exitUsage),
		Example: `  paw config trust
  paw config trust --yes`,
		Args: cobra.NoArgs,
		RunE: a.withHome(o.run),
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (o *trustOptions) run(cmd *cobra.Command, h *app.App, _ []string) error {
	if len(h.Config.Untrusted) == 0 {
		fmt.Fprintln(o.stdout, "nothing to trust")
		return nil
	}
	text, question := trustQuestion(h.Config.Untrusted)
	fmt.Fprint(o.stdout, text)
	if !o.yes {
		if err := o.confirm(cmd.Context(), question, "paw config trust --yes"); err != nil {
			return err
		}
	}
	return orchestrator.Trust(h, h.Config.Untrusted)
}

// trustQuestion formats texts so that no line of a text can be taken for anything else. The
// question counts the lines, because the first ones may have scrolled away.
func trustQuestion(asked []config.Command) (text, question string) {
	var b strings.Builder
	lines := 0
	for _, c := range asked {
		fmt.Fprintf(&b, "%s:\n", c.Key)
		for line := range strings.SplitSeq(c.Text, "\n") {
			fmt.Fprintf(&b, "  | %s\n", line)
			lines++
		}
	}
	return b.String(), fmt.Sprintf("trust these %s (%s)?", errs.Counted(len(asked), "text"), errs.Counted(lines, "line"))
}

package main

import (
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"

	"paw/config"
)

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Show the configuration and where it comes from",
		Long: exits(`Show the configuration in force and where it comes from: the defaults, the user's
file, .paw.toml of the repository, and PAW_* variables, the later over the earlier.`),
		Example: `  paw config
  PAW_TMUX_LAYOUT=windows paw config --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := a.paw()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"version": 1, "config": p.Config.Config, "sources": p.Config.Sources, "untrusted": p.Config.Untrusted})
			}
			for _, source := range p.Config.Sources {
				fmt.Fprintf(a.stdout, "# from %s: %s\n", shortened(source.Name), strings.Join(source.Keys, ", "))
			}
			for _, c := range p.Config.Untrusted {
				fmt.Fprintf(a.stdout, "# left out, not trusted: %s = %s\n", c.Key, strings.ReplaceAll(c.Text, "\n", "\n#   | "))
			}
			return toml.NewEncoder(a.stdout).Encode(p.Config.Config)
		},
	}
	a.addJSON(cmd)
	cmd.AddCommand(newConfigTrust(a))
	return cmd
}

func newConfigTrust(a *app) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Trust the commands that .paw.toml of this repository runs",
		Long: exits(`Trust the commands that .paw.toml of this repository runs, word for word as they are
now: a changed text has to be trusted again.`, exitUsage),
		Example: `  paw config trust
  paw config trust --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := a.paw()
			if err != nil {
				return err
			}
			if len(p.Config.Untrusted) == 0 {
				fmt.Fprintln(a.stdout, "nothing to trust")
				return nil
			}
			text, question := trustQuestion(p.Config.Untrusted)
			fmt.Fprint(a.stdout, text)
			if !yes {
				if err := a.confirm(question, "paw config trust --yes"); err != nil {
					return err
				}
			}
			return p.Trust(p.Config.Untrusted)
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}

// trustQuestion shows texts so that no line of one can be taken for anything else, and says how many lines there are:
// the first ones may have scrolled away.
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
	return b.String(), fmt.Sprintf("trust these %s (%s)?", countOf(len(asked), "text"), countOf(lines, "line"))
}

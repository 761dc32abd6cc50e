package main

import (
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/home"
	"paw/session"
)

func newCompletion(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Long: exits(`Print the completion script of a shell. Names of sessions, agents and CLIs complete.
That of bash needs the package bash-completion.`, exitUsage),
		Example: `  source <(paw completion bash)
  paw completion zsh > "${fpath[1]}/_paw"
  paw completion fish > ~/.config/fish/completions/paw.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				return cmd.Root().GenBashCompletionV2(a.stdout, true)
			case "zsh":
				return cmd.Root().GenZshCompletion(a.stdout)
			default:
				return cmd.Root().GenFishCompletion(a.stdout, true)
			}
		},
	}
}

// completeFlag registers what a flag completes to.
func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not defined: a mistake in this program
	}
}

// names is a completion of words that are no files.
func names(words []string) ([]string, cobra.ShellCompDirective) {
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (a *app) completeSessions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	h, err := a.paw()
	if err != nil || len(args) > 0 {
		return names(nil)
	}
	sessions, _, _ := h.Store.List()
	words := make([]string, 0, len(sessions))
	for _, s := range sessions {
		words = append(words, s.Name)
	}
	return names(words)
}

func (a *app) completeAgents(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	h, err := a.paw()
	if err != nil || len(args) > 0 {
		return names(nil)
	}
	s, err := h.Find("")
	if err != nil {
		return names(nil)
	}
	return names(agentNames(s, nil))
}

// completeSessionsAndAgents completes [NAME] [AGENT...].
func (a *app) completeSessionsAndAgents(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
	h, err := a.paw()
	if err != nil {
		return names(nil)
	}
	if len(args) > 0 {
		s, rest, err := question{Home: h, cmd: cmd, words: args}.sessionAndAgents("")
		if err != nil || s == nil {
			return names(nil)
		}
		return names(agentNames(s, rest))
	}
	words, _ := a.completeSessions(cmd, args, prefix)
	if s, err := h.Find(""); err == nil {
		words = append(words, agentNames(s, nil)...)
	}
	return names(words)
}

func agentNames(s *session.Session, given []string) []string {
	var words []string
	for _, w := range s.Worktrees {
		taken := false
		for _, g := range given {
			taken = taken || g == w.Agent
		}
		if !taken {
			words = append(words, w.Agent)
		}
	}
	return words
}

// completeCLIs completes the last of several items [AGENT=]CLI.
func (a *app) completeCLIs(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := a.paw()
	if err != nil {
		return names(nil)
	}
	before := typed[:strings.LastIndexAny(typed, ",=")+1]
	words := h.CLIs.Names()
	for i := range words {
		words[i] = before + words[i]
	}
	return names(words)
}

func (a *app) completePresets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	h, err := a.paw()
	if err != nil {
		return names(nil)
	}
	return names(presetNames(h))
}

func presetNames(h *home.Home) []string {
	var words []string
	for name := range h.Config.Presets {
		words = append(words, name)
	}
	return words
}

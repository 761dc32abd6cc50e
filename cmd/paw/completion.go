package main

import (
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/observe"
	"paw/session/turn"
)

func newCompletion(a *invocation) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish",
		Short: "Print the completion script of a shell",
		Long: exits(`Print the completion script of a shell. Names of sessions and of agents complete with
their states, turns with their prompts, --cli with the CLIs that are installed, and
branches.`, exitUsage),
		Example: `  source <(paw completion bash)
  paw completion zsh > "${fpath[1]}/_paw"
  paw completion fish > ~/.config/fish/completions/paw.fish`,
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish"},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch args[0] {
			case "bash":
				if err := cmd.Root().GenBashCompletionV2(a.stdout, true); err != nil {
					return err
				}
				_, err := io.WriteString(a.stdout, bashAlone+bashOfGit)
				return err
			case "zsh":
				return cmd.Root().GenZshCompletion(a.stdout)
			default:
				return cmd.Root().GenFishCompletion(a.stdout, true)
			}
		},
	}
}

// bashAlone takes the words of the line from bash itself if the package bash-completion is missing.
// Bash splits words at = and :, so the words are read from the whole line.
const bashAlone = `
__paw_init_completion() {
    COMPREPLY=()
    if declare -F _get_comp_words_by_ref >/dev/null; then
        _get_comp_words_by_ref "$@" cur prev words cword
        return
    fi
    local line=${COMP_LINE:0:COMP_POINT}
    read -ra words <<<"$line"
    [[ $line == *' ' ]] && words+=("")
    cword=$((${#words[@]} - 1)) cur=${words[-1]} prev=${words[-2]}
}
`

// bashOfGit completes git paw: git's own completion calls _git_paw with the words of the line.
const bashOfGit = `
_git_paw() {
    local -a COMP_WORDS=(paw "${words[@]:2}")
    local COMP_CWORD=$((cword - 1)) COMP_LINE="paw ${COMP_LINE#*paw }" COMP_POINT
    COMP_POINT=${#COMP_LINE}
    __start_paw
}
`

// completer completes the words of a command line in a shell.
type completer struct{ *invocation }

func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not defined: a mistake in paw
	}
}

// addSession adds the flag --session, for words that name agents of several sessions.
func (a *invocation) addSession(cmd *cobra.Command) {
	cmd.Flags().String("session", "", "session that is meant (default: that of this place)")
	completeFlag(cmd, "session", completer{a}.completeSessions)
}

// names returns words as a completion that excludes files.
func names(words []string) ([]string, cobra.ShellCompDirective) {
	return words, cobra.ShellCompDirectiveNoFileComp
}

// described returns a word with the description that shells show behind a completion.
func described(word, about string) string {
	return cobra.CompletionWithDesc(word, columns.Cut(display.OneLine(about), 60))
}

func (c completer) completeSessions(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil || len(args) > 0 {
		return names(nil)
	}
	return names(sessionWords(h))
}

func sessionWords(h *app.App) []string {
	sessions, _, _ := h.Store.List()
	words := make([]string, 0, len(sessions))
	for _, s := range sessions {
		words = append(words, described(s.Name, "session, "+string(s.Status)+", "+shortened(s.RepoPath)))
	}
	return words
}

func (c completer) completeAgent(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return names(nil)
	}
	return names(c.agentWords(cmd, nil))
}

// completeAgents completes AGENT[@N]..., each agent once.
func (c completer) completeAgents(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if words, at := c.wordsAt(cmd, typed); at {
		return names(words)
	}
	return names(c.agentWords(cmd, args))
}

// completeAgentAndTurn completes AGENT N and AGENT@N.
func (c completer) completeAgentAndTurn(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
		return c.completeAgents(cmd, nil, typed)
	case 1:
		return names(c.turnWords(cmd, args[0]))
	}
	return names(nil)
}

// wordsAt completes AGENT@ with the numbers of the agent's turns.
func (c completer) wordsAt(cmd *cobra.Command, typed string) (words []string, at bool) {
	agent, _, at := strings.Cut(typed, "@")
	if !at {
		return nil, false
	}
	for _, word := range c.turnWords(cmd, agent) {
		words = append(words, agent+"@"+word)
	}
	return words, true
}

// completeCommand completes AGENT COMMAND...; the shell completes COMMAND.
func (c completer) completeCommand(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return names(c.agentWords(cmd, nil))
}

// completeSessionsAndAgents completes [NAME] [AGENT[@N]...].
func (c completer) completeSessionsAndAgents(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil {
		return names(nil)
	}
	if words, at := c.wordsAt(cmd, typed); at {
		return names(words)
	}
	if len(args) == 0 {
		return names(append(c.agentWords(cmd, nil), sessionWords(h)...))
	}
	s, given, err := newQuestion(cmd, h, args).sessionAndAgents()
	if err != nil || s == nil {
		return names(nil)
	}
	statuses, _, _ := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{Name: s.Name})
	return names(describedAgents(statuses, given))
}

// agentWords returns the agents of the session that --session names, else of the sessions of the
// current directory, without the agents in given.
func (c completer) agentWords(cmd *cobra.Command, given []string) []string {
	h, err := c.paw()
	if err != nil {
		return nil
	}
	statuses, _, _ := orchestrator.Status(cmd.Context(), h, orchestrator.StatusOptions{Name: newQuestion(cmd, h, nil).name})
	return describedAgents(statuses, given)
}

// describedAgents returns the names of agents with CLI and state. If there are several sessions,
// each name begins with its session.
func describedAgents(statuses []observe.SessionStatus, given []string) []string {
	var words []string
	for _, st := range statuses {
		for _, ag := range st.Agents {
			word := ag.Record.Name
			if len(statuses) > 1 {
				word = st.Session.Name + "/" + word
			}
			about := ag.Record.CLI + ", " + orchestrator.StateWord(ag.AgentStatus)
			if ag.Reason != "" {
				about += ": " + ag.Reason
			}
			if !slices.Contains(given, word) {
				words = append(words, described(word, about))
			}
		}
	}
	return words
}

// turnWords returns the numbers of an agent's finished turns with their prompts, and 0 for the
// base.
func (c completer) turnWords(cmd *cobra.Command, agent string) []string {
	h, s, agent, err := c.agent(cmd, agent)
	if err != nil {
		return nil
	}
	words := []string{described("0", "where it began")}
	sequences, _, _ := orchestrator.Turns(cmd.Context(), h, s, agent)
	for _, sequence := range sequences {
		for _, one := range sequence.Turns {
			if one.State != turn.InProgress {
				words = append(words, described(strconv.Itoa(one.Number), one.Prompt.Words()))
			}
		}
	}
	return words
}

// completeBranches completes the last branch of a list separated by commas.
func (c completer) completeBranches(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil {
		return names(nil)
	}
	before := typed[:strings.LastIndexByte(typed, ',')+1]
	words := orchestrator.Branches(cmd.Context(), h)
	for i := range words {
		words[i] = before + words[i]
	}
	return names(words)
}

// completeCLIs completes the last item of a list [AGENT=]CLI,... with the installed CLIs.
func (c completer) completeCLIs(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil {
		return names(nil)
	}
	words := installedCLIs(cmd.Context(), h)
	for i := range words {
		words[i] = typed[:strings.LastIndexAny(typed, ",=")+1] + words[i]
	}
	return names(words)
}

func (c completer) completePresets(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	h, err := c.paw()
	if err != nil {
		return names(nil)
	}
	return names(slices.Collect(maps.Keys(h.Config.Presets)))
}

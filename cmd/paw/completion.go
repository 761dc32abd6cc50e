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

// completion is a command line of which a shell completes the last word.
type completion struct {
	*invocation
	cmd  *cobra.Command
	h    *app.App
	args []string // words before the last one
	last string   // what is typed of the last one
}

// completes returns a completion by the words that list returns, and by no files.
func (a *invocation) completes(list func(completion) []string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		h, err := a.paw()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return list(completion{a, cmd, h, args, typed}), cobra.ShellCompDirectiveNoFileComp
	}
}

func completeFlag(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag is not defined: a mistake in paw
	}
}

// addSession adds the flag --session, for words that name agents of several sessions.
func (a *invocation) addSession(cmd *cobra.Command) {
	cmd.Flags().String("session", "", "session that is meant (default: that of this place)")
	completeFlag(cmd, "session", a.completes(completion.sessions))
}

// described returns a word with the description that shells show behind a completion.
func described(word, about string) string {
	return cobra.CompletionWithDesc(word, columns.Cut(display.OneLine(about), 60))
}

func (c completion) sessions() (words []string) {
	if len(c.args) > 0 {
		return nil
	}
	sessions, _, _ := c.h.Store.List()
	for _, s := range sessions {
		words = append(words, described(s.Name, "session, "+string(s.Status)+", "+shortened(s.RepoPath)))
	}
	return words
}

func (c completion) oneAgent() []string {
	if len(c.args) > 0 {
		return nil
	}
	return c.agentWords(nil)
}

// agents completes AGENT[@N]..., each agent once.
func (c completion) agents() []string {
	if words, at := c.wordsAt(); at {
		return words
	}
	return c.agentWords(c.args)
}

// agentAndTurn completes AGENT N and AGENT@N.
func (c completion) agentAndTurn() []string {
	switch len(c.args) {
	case 0:
		return c.agents()
	case 1:
		return c.turnWords(c.args[0])
	}
	return nil
}

// wordsAt completes AGENT@ with the numbers of the agent's turns.
func (c completion) wordsAt() (words []string, at bool) {
	agent, _, at := strings.Cut(c.last, "@")
	if !at {
		return nil, false
	}
	for _, word := range c.turnWords(agent) {
		words = append(words, agent+"@"+word)
	}
	return words, true
}

// completeCommand completes AGENT COMMAND...; the shell completes COMMAND.
func (a *invocation) completeCommand(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completes(completion.oneAgent)(cmd, args, typed)
}

// sessionsAndAgents completes [NAME] [AGENT[@N]...].
func (c completion) sessionsAndAgents() []string {
	if words, at := c.wordsAt(); at {
		return words
	}
	if len(c.args) == 0 {
		return append(c.agentWords(nil), c.sessions()...)
	}
	s, given, err := c.question(c.cmd, c.h, c.args).sessionAndAgents()
	if err != nil || s == nil {
		return nil
	}
	return describedAgents(c.statuses(s.Name), given)
}

// races completes the name of a race and, for paw race pick, an agent of it.
func (c completion) races() (words []string) {
	for _, status := range c.statuses(c.question(c.cmd, c.h, nil).name) {
		q, err := c.h.Queues().Load(status.Session.Name)
		if q == nil || err != nil {
			continue
		}
		for _, r := range q.Races {
			switch {
			case len(c.args) == 0:
				words = append(words, described(r.Name, r.Prompt))
			case len(c.args) == 1 && c.cmd.Name() == "pick" && r.Name == c.args[0]:
				for _, one := range r.Racers {
					words = append(words, described(one.Agent, one.CLI))
				}
			}
		}
	}
	return words
}

// agentWords returns the agents of the session that --session names, else of the sessions of the
// current directory, without the agents in given.
func (c completion) agentWords(given []string) []string {
	return describedAgents(c.statuses(c.question(c.cmd, c.h, nil).name), given)
}

// statuses returns the status of the named session or, without a name, of the sessions of the current
// directory.
func (c completion) statuses(name string) []observe.SessionStatus {
	statuses, _, _ := orchestrator.Status(c.cmd.Context(), c.h, orchestrator.StatusOptions{Name: name})
	return statuses
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
			about := ag.Record.CLI + ", " + ag.InWords()
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
func (c completion) turnWords(agent string) []string {
	h, s, agent, err := c.agent(c.cmd, agent)
	if err != nil {
		return nil
	}
	words := []string{described("0", "where it began")}
	sequences, _, _ := orchestrator.Turns(c.cmd.Context(), h, s, agent)
	for _, sequence := range sequences {
		for _, one := range sequence.Turns {
			if one.State != turn.InProgress {
				words = append(words, described(strconv.Itoa(one.Number), one.Prompt.Words()))
			}
		}
	}
	return words
}

// branches completes the last branch of a list separated by commas.
func (c completion) branches() []string {
	return c.inList(",", orchestrator.Branches(c.cmd.Context(), c.h))
}

// clis completes the last item of a list [AGENT=]CLI,... with the installed CLIs.
func (c completion) clis() []string { return c.inList(",=", installedCLIs(c.cmd.Context(), c.h)) }

// inList puts what is typed up to the last separator in front of words.
func (c completion) inList(separators string, words []string) []string {
	for i := range words {
		words[i] = c.last[:strings.LastIndexAny(c.last, separators)+1] + words[i]
	}
	return words
}

func (c completion) presets() []string { return slices.Collect(maps.Keys(c.h.Config.Presets)) }

func (c completion) templates() (words []string) {
	for _, name := range slices.Sorted(maps.Keys(c.h.Config.Prompts)) {
		words = append(words, described(name, c.h.Config.Prompts[name]))
	}
	return words
}

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
)

type answerOptions struct {
	*invocation
	id string
}

func newAnswer(a *invocation) *cobra.Command {
	o := &answerOptions{invocation: a}
	cmd := &cobra.Command{
		Use:   "answer [AGENT] [yes|no|always|N|TEXT]",
		Short: "Answer the question of an agent, and confirm that it was taken",
		Long: exits(`Answer what an agent asks in its pane: yes (this once), no, always, the number of an
option or its words, several with commas between where they are ticked. Without an answer
it shows the question with its options and, on a terminal, asks for one. It types only
while the question is on the agent's screen with that option, and is done when the CLI's
own record says so. It answers what the CLI itself asks where that is a numbered list that
paw knows. Everything else is yours to answer in the pane: paw attach AGENT. Without AGENT
it is the only one that asks, or the one whose worktree you stand in.`, exitUsage, "3    nothing typed: it asks nothing that paw knows, or no longer that", "6    the answer was typed, but nothing says that it was taken", exitNotFound, exitLocked, exitMissing),
		Example: `  paw answer claude
  paw answer claude yes
  paw answer codex 2
  paw answer claude Postgres
  paw answer claude 1,3`,
		Args:              cobra.MaximumNArgs(2),
		ValidArgsFunction: a.completes(completion.answer),
		RunE:              o.run,
	}
	cmd.Flags().StringVar(&o.id, "question", "", "answer only the question that has this id in --json")
	a.addJSON(cmd)
	a.addSession(cmd)
	return cmd
}

func (o *answerOptions) run(cmd *cobra.Command, args []string) error {
	named, given := args[:min(len(args), 1)], args[min(len(args), 1):]
	if len(args) == 1 && isAnswer(args[0]) && o.sessionHere().Agent(args[0]) == nil {
		named, given = nil, args
	}
	h, s, agent, err := o.oneAgent(cmd, named)
	if err != nil {
		return err
	}
	if len(given) > 0 {
		return o.answerWith(cmd, h, s, agent, given[0], o.id)
	}
	asked, err := typing.LookAtQuestion(cmd.Context(), h, s, agent)
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(questionView(s.Name, asked, nil))
	}
	o.printQuestion(asked)
	if !o.interactive() || !isTerminal(o.stdout) {
		return nil
	}
	answer, err := o.ask(cmd.Context(), "Answer (Enter for none):")
	if err != nil || answer == "" {
		return err
	}
	return o.answerWith(cmd, h, s, agent, answer, asked.ID)
}

// isAnswer reports whether a word answers most questions. Such a word needs no agent in front,
// unless an agent has this name.
func isAnswer(word string) bool {
	return word == "yes" || word == "no" || word == "always" || word != "" && strings.Trim(word, "0123456789,") == ""
}

func (o *answerOptions) answerWith(cmd *cobra.Command, h *app.App, s *session.Session, agent, answer, id string) error {
	if strings.TrimSpace(answer) == "" {
		return usagef(cmd, "the answer is empty")
	}
	answered, err := typing.Answer(cmd.Context(), h, s, agent, answer, id)
	if err != nil {
		return err
	}
	orchestrator.FollowAnswer(h, s, agent)
	return o.show(questionView(s.Name, &answered.Asked, &answered.Took.Label), display.OneLine(answered.String()))
}

func (o *answerOptions) printQuestion(asked *typing.Asked) {
	out := forReading(o.stdout)
	fmt.Fprintf(out, "%s: %s\n", asked.Agent, display.OneLine(asked.Text))
	if asked.Details != "" {
		fmt.Fprintf(out, "  │ %s\n", strings.ReplaceAll(asked.Details, "\n", "\n  │ "))
	}
	for i, option := range asked.Options {
		text := strings.TrimLeft(option.Box+" "+option.Label, " ")
		if option.About != "" {
			text += "  " + option.About
		}
		fmt.Fprintf(out, "  %d  %s\n", i+1, display.OneLine(text))
	}
}

// questionView returns a question with its options; answered is the option that was taken, nil before.
// A question outside of a turn has neither turn nor since.
func questionView(sessionName string, asked *typing.Asked, answered *string) object {
	asksIn, since := any(nil), any(nil)
	if !asked.Outside {
		asksIn, since = asked.Turn, asked.Since.UTC()
	}
	number := 0
	options := objects(asked.Options, func(o cli.Option) object {
		number++
		return object{{"number", number}, {"label", o.Label}, {"about", orNull(o.About)}, {"means", orNull(o.Means())}}
	})
	return object{
		{"version", 1}, {"session", sessionName}, {"agent", asked.Agent}, {"id", asked.ID}, {"turn", asksIn}, {"since", since},
		{"question", asked.Text}, {"details", orNull(asked.Details)}, {"reason", orNull(asked.Hook)}, {"several", asked.Submit != ""}, {"options", options}, {"answered", answered},
	}
}

// answer completes AGENT, then the numbers of the options of the agent's question.
func (c completion) answer() (words []string) {
	if len(c.args) == 0 {
		return c.askingWords()
	}
	h, s, agent, err := c.agent(c.cmd, c.args[0])
	if err != nil || len(c.args) > 1 {
		return nil
	}
	asked, err := typing.LookAtQuestion(c.cmd.Context(), h, s, agent)
	if err != nil {
		return nil
	}
	for i, o := range asked.Options {
		words = append(words, described(fmt.Sprint(i+1), o.Label))
	}
	return words
}

// askingWords completes the agents that wait for an answer, or all agents if none waits.
func (c completion) askingWords() []string {
	statuses := c.statuses(c.question(c.cmd, c.h, nil).name)
	all := describedAgents(statuses, nil)
	for i := range statuses {
		statuses[i].Agents = slices.DeleteFunc(statuses[i].Agents, func(ag observe.AgentStatus) bool { return !asksUser(ag) })
	}
	if asking := describedAgents(statuses, nil); len(asking) > 0 {
		return asking
	}
	return all
}

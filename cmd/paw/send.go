package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/fault"
	"paw/orchestrator/home"
	"paw/orchestrator/landing"
	"paw/session"
)

func newSend(a *app) *cobra.Command {
	var noWait, conflict bool
	var into string
	cmd := &cobra.Command{
		Use:   "send AGENT[,AGENT...] [TEXT...]",
		Short: "Type a prompt into an agent's pane, and confirm that it arrived",
		Long: exits(`Type a prompt into an agent's pane and wait for the CLI's own word that it arrived.
Without TEXT the prompt is read from standard input. It waits for a CLI that is
still starting and never types into a permission dialog. Quote a TEXT that has words
beginning with a dash.`, exitUsage, exitRefused, "6    the prompt was typed, but nothing says that it arrived", exitNotFound, exitLocked, exitMissing),
		Example: `  paw send claude fix the failing test
  paw send claude "what does the flag --stat do?"
  paw send codex < prompt.md
  paw send claude --conflict`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeAgent,
		RunE: func(cmd *cobra.Command, args []string) error {
			h, s, agents, err := a.agents(cmd, strings.Split(args[0], ","))
			if err != nil {
				return err
			}
			if err := home.RequireAgents(s, agents...); err != nil {
				return err
			}
			if err := refuseNames(s, agents, args[1:]); err != nil && cmd.ArgsLenAtDash() != 1 {
				return err
			}
			agents = home.Once(agents)
			prompt := strings.Join(args[1:], " ")
			switch {
			case conflict && len(args)+len(agents) > 2:
				return usagef(cmd, "--conflict takes one agent and no text")
			case conflict:
				prompt, err = landing.ConflictPrompt(cmd.Context(), h, s, agents[0], into)
			case into != "":
				return usagef(cmd, "--into goes with --conflict")
			case len(args) == 1:
				prompt, err = a.readPrompt(cmd.Context())
			}
			if err != nil {
				return err
			}
			for i, agent := range agents {
				sent, err := orchestrator.Send(cmd.Context(), h, s, agent, prompt, !noWait)
				if err != nil {
					return leftToSend(err, s.Name, agents[:i], agents[i:], args[1:])
				}
				fmt.Fprintln(a.stdout, sent)
			}
			return nil
		},
	}
	f := cmd.Flags()
	f.BoolVar(&noWait, "no-wait", false, "do not wait for the confirmation")
	f.BoolVar(&conflict, "conflict", false, "ask it to bring in the branch that its work conflicts with, and to resolve that")
	f.StringVar(&into, "into", "", "with --conflict: that branch (default: the one the session was started from)")
	a.addSession(cmd)
	return cmd
}

// refuseNames refuses a prompt whose first word is the name of another agent of the session: the user may have meant to send the
// prompt to that agent as well. A quoted text of several words, and any text after --, is a prompt.
func refuseNames(s *session.Session, agents, text []string) error {
	if len(text) == 0 {
		return nil
	}
	var more []string
	for _, word := range strings.Split(text[0], ",") {
		name := strings.TrimPrefix(word, s.Name+"/")
		if s.Agent(name) == nil || slices.Contains(agents, name) {
			return nil
		}
		more = append(more, name)
	}
	to := s.Name + "/" + strings.Join(agents, ",")
	e := fault.New(fault.Usage, "%s: is an agent of %s; is it to get the prompt, or the first word of it?", text[0], s.Name)
	words := make([]string, len(text))
	for i, word := range text {
		words[i] = fault.Quote(word)
	}
	both := "paw send " + to + "," + strings.Join(more, ",")
	if len(text) > 1 {
		both += " " + strings.Join(words[1:], " ")
	}
	return e.Hint("%s", both).Hint("paw send %s -- %s", to, strings.Join(words, " "))
}

// leftToSend adds a hint to the error of a prompt that reached only some of several agents: the line that sends the prompt to
// the others.
func leftToSend(err error, sessionName string, got, left, text []string) error {
	if len(got) == 0 {
		return err
	}
	line := "paw send " + sessionName + "/" + strings.Join(left, ",")
	if len(text) > 0 {
		line += " " + fault.Quote(strings.Join(text, " "))
	}
	return fault.WithHints(err, line)
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/session/turn"
)

// agentMeant returns the agent that a command without an agent means: the agent whose pane or
// worktree the user is in, else the session's only agent; for paw answer, the only agent that has a
// question.
func (a *invocation) agentMeant(cmd *cobra.Command, h *app.App, s *session.Session) (string, error) {
	if here := h.Place().Agent(s); here != "" {
		return here, nil
	}
	if len(s.Agents) == 1 {
		return s.Agents[0].Name, nil
	}
	if cmd.Name() == "answer" {
		switch asking := agentsThat(cmd.Context(), h, s, asksUser); len(asking) {
		case 0:
			return "", errs.New(errs.Refused, "%s: no agent is asking anything", s.Name).Hint("paw status %s", s.Name)
		case 1:
			return asking[0], nil
		}
	}
	return "", a.whichAgent(cmd, h, s)
}

func asksUser(ag observe.AgentStatus) bool { return ag.State == session.StateWaitingInput }

// agentsThat returns the agents of a session for which is returns true, the most urgent first.
func agentsThat(ctx context.Context, h *app.App, s *session.Session, is func(observe.AgentStatus) bool) (names []string) {
	statuses, _, _ := orchestrator.Status(ctx, h, orchestrator.StatusOptions{Name: s.Name})
	for _, st := range statuses {
		for _, ag := range mostUrgent(st.Agents) {
			if is(*ag.AgentStatus) {
				names = append(names, ag.Record.Name)
			}
		}
	}
	return names
}

// maxAgentHints limits the hint lines that differ only in the agent's name.
const maxAgentHints = 3

// whichAgent returns the error for a command that names none of several agents. Its hints name the likeliest: for paw answer agents
// with a question, else agents with work to review, then agents that have done any.
func (a *invocation) whichAgent(cmd *cobra.Command, h *app.App, s *session.Session) error {
	if len(s.Agents) == 0 {
		return errs.New(errs.Usage, "%s: has no agents", s.Name)
	}
	names := agentsThat(cmd.Context(), h, s, asksUser)
	if cmd.Name() != "answer" {
		names = agentsThat(cmd.Context(), h, s, func(ag observe.AgentStatus) bool { return ag.ToReview > 0 })
		names = append(names, agentsThat(cmd.Context(), h, s, func(ag observe.AgentStatus) bool { return ag.LastTurn > 0 })...)
		names = app.Once(append(names, app.AgentNames(s)...))
	}
	names = names[:min(len(names), maxAgentHints)]
	e := errs.New(errs.Usage, "which agent? %s has %s", s.Name, strings.Join(names, ", "))
	if more := len(s.Agents) - len(names); more > 0 {
		e.Message += fmt.Sprintf(" and %d more", more)
	}
	for _, name := range names {
		e = e.Hint("%s", a.lineWith(cmd, nil, s.Name+"/"+name))
	}
	return e
}

// sessionAndAgents reads [NAME] [AGENT...] of a command that shows a session, which must exist.
func (a *invocation) sessionAndAgents(cmd *cobra.Command, args []string) (*app.App, *session.Session, []string, error) {
	h, err := a.paw()
	if err != nil {
		return nil, nil, nil, err
	}
	s, agents, err := a.question(cmd, h, args).sessionAndAgents()
	if err == nil && s == nil {
		err = h.Place().None()
	}
	return h, s, agents, err
}

// oneAgent reads [AGENT]: if none is named, it is the one agentMeant finds.
func (a *invocation) oneAgent(cmd *cobra.Command, args []string) (*app.App, *session.Session, string, error) {
	if len(args) > 0 {
		return a.agent(cmd, args[0])
	}
	h, s, err := a.session(cmd)
	if err != nil {
		return nil, nil, "", err
	}
	agent, err := a.agentMeant(cmd, h, s)
	return h, s, agent, err
}

// agentAndTurn reads [AGENT[@N]] [N]. If no agent is named, it is the one of oneAgent; the turn is
// "" if none is named.
func (a *invocation) agentAndTurn(cmd *cobra.Command, args []string) (h *app.App, s *session.Session, agent, number string, err error) {
	alone := len(args) == 1 && a.turnAlone(cmd, args[0]) // as in paw diff 2
	switch {
	case alone:
		number = args[0]
	case len(args) > 0:
		agent, number, err = splitTurn(cmd, args[0])
	}
	switch {
	case err != nil:
		return nil, nil, "", "", err
	case len(args) > 1 && number != "":
		return nil, nil, "", "", usagef(cmd, "%s: names a turn, and so does %s", args[0], args[1])
	case len(args) > 1:
		number = args[1]
	}
	if alone || len(args) == 0 {
		h, s, agent, err = a.oneAgent(cmd, nil)
	} else {
		h, s, agent, err = a.agent(cmd, agent)
	}
	if err == nil && number == lastTurn {
		number, err = lastTurnOf(cmd, h, s, agent)
	}
	return h, s, agent, number, err
}

// lastTurn stands for the number of an agent's last turn.
const lastTurn = "last"

// turnAlone reports whether the only word of a command is a turn, and no agent.
func (a *invocation) turnAlone(cmd *cobra.Command, word string) bool {
	return word != "" && (isTurns(word) || word == lastTurn) && slices.Contains([]string{"diff", "rewind", "log"}, cmd.Name()) && a.sessionHere().Agent(word) == nil
}

// lastTurnOf returns the number of an agent's last finished turn.
func lastTurnOf(cmd *cobra.Command, h *app.App, s *session.Session, agent string) (string, error) {
	sequences, _, err := orchestrator.Turns(cmd.Context(), h, s, agent)
	for _, sequence := range sequences {
		for _, one := range slices.Backward(sequence.Turns) {
			if one.State != turn.InProgress {
				return strconv.Itoa(one.Number), nil
			}
		}
	}
	if err != nil {
		return "", err
	}
	return "", errs.New(errs.NotFound, "%s: has had no turn yet", agent).Hint("paw status %s", s.Name)
}

// eachAgent calls do for each agent of the words AGENT[@N]..., once all words are known to be
// agents. Without words it calls do for the agent that agentMeant finds.
func (a *invocation) eachAgent(cmd *cobra.Command, words []string, do func(h *app.App, s *session.Session, agent, number string) error) error {
	h, s, agents, numbers, err := a.agentsAndTurns(cmd, words)
	if err == nil && len(agents) > 1 {
		err = app.RequireAgents(s, agents...)
	}
	if err != nil {
		return err
	}
	for i, agent := range agents {
		if err := do(h, s, agent, numbers[i]); err != nil {
			return err
		}
	}
	return nil
}

// agentsAndTurns reads AGENT[@N]... of one session. Without words it is the agent that agentMeant
// finds.
func (a *invocation) agentsAndTurns(cmd *cobra.Command, args []string) (h *app.App, s *session.Session, agents, numbers []string, err error) {
	if len(args) == 0 {
		h, s, agent, err := a.oneAgent(cmd, nil)
		return h, s, []string{agent}, []string{""}, err
	}
	var words []string
	for _, arg := range eachOf(args) {
		word, number, err := splitTurn(cmd, arg)
		if err != nil {
			return nil, nil, nil, nil, err
		}
		words, numbers = append(words, word), append(numbers, number)
	}
	h, s, agents, err = a.agents(cmd, words)
	return h, s, agents, numbers, err
}

// isTurns reports whether a word is the number of a turn or a range of them. Agents cannot have
// such names.
func isTurns(word string) bool {
	return strings.Trim(word, "0123456789.") == ""
}

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/observe"
	"paw/session"
)

// agentMeant is the agent that is meant where none is named: the one whose pane or worktree the user is in, else the session's
// only one; for paw answer, the only one that asks.
func (a *invocation) agentMeant(cmd *cobra.Command, h *app.App, s *session.Session) (string, error) {
	if here := h.AgentHere(s); here != "" {
		return here, nil
	}
	if len(s.Agents) == 1 {
		return s.Agents[0].Name, nil
	}
	if cmd.Name() != "answer" {
		return "", whichAgent(cmd.Context(), cmd, h, s)
	}
	asking := agentsThat(cmd.Context(), h, s, asksUser)
	switch len(asking) {
	case 0:
		return "", errs.New(errs.Refused, "%s: no agent is asking anything", s.Name).Hint("paw status %s", s.Name)
	case 1:
		return asking[0], nil
	}
	return "", whichAgent(cmd.Context(), cmd, h, s)
}

func asksUser(ag observe.AgentStatus) bool { return ag.State == session.StateWaitingInput }

// agentsThat are the agents of a session of which something is so, the most urgent first.
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

// whichAgent is the error of a line that names no agent of several, with the lines that make most sense: for paw answer agents
// that ask, for a command about work those with work that was not seen yet, then those that have done any.
func whichAgent(ctx context.Context, cmd *cobra.Command, h *app.App, s *session.Session) error {
	if len(s.Agents) == 0 {
		return errs.New(errs.Usage, "%s: has no agents", s.Name)
	}
	anybody := func(observe.AgentStatus) bool { return true }
	sense := []func(observe.AgentStatus) bool{anybody}
	switch cmd.Name() {
	case "answer":
		sense = []func(observe.AgentStatus) bool{asksUser}
	case "land", "pr", "diff", "review", "seen", "check", "rewind", "bisect":
		sense = []func(observe.AgentStatus) bool{
			func(ag observe.AgentStatus) bool { return ag.ToReview > 0 }, func(ag observe.AgentStatus) bool { return ag.LastTurn > 0 }, anybody,
		}
	}
	var names []string
	for _, is := range sense {
		names = app.Once(append(names, agentsThat(ctx, h, s, is)...))
	}
	if len(names) == 0 {
		names = app.AgentNames(s)
	}
	listed := strings.Join(names[:min(len(names), maxAgentHints)], ", ")
	if more := len(s.Agents) - min(len(names), maxAgentHints); more > 0 {
		listed += fmt.Sprintf(" and %d more", more)
	}
	e := errs.New(errs.Usage, "which agent? %s has %s", s.Name, listed)
	for _, name := range names[:min(len(names), maxAgentHints)] {
		e = e.Hint("%s %s/%s", cmd.CommandPath(), s.Name, name)
	}
	return e
}

// named is a word as SESSION/AGENT where it is the branch of an agent or, as tmux has it, SESSION:AGENT; else as it was typed.
func (q question) named(word string) string {
	if session, agent, ok := strings.Cut(word, ":"); ok && session != "" && agent != "" {
		return session + "/" + agent
	}
	of, agent, both := strings.Cut(word, "/")
	if !both {
		return word
	}
	if s, err := q.Store.Load(of); err == nil && s != nil && s.Agent(agent) != nil {
		return word
	}
	if rest, ok := strings.CutPrefix(word, "paw/"); ok {
		of, agent, _ := strings.Cut(rest, "/")
		if s, err := q.Store.Load(of); err == nil && s != nil && s.Agent(agent) != nil {
			return rest
		}
	}
	here, err := q.SessionsHere()
	if err != nil {
		return word
	}
	for _, s := range here {
		for i := range s.Agents {
			if s.Agents[i].Branch == word {
				return s.Name + "/" + s.Agents[i].Name
			}
		}
	}
	return word
}

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator"
	"paw/session"
)

// addSession gives a command the flag that names a session without any doubt.
func (a *app) addSession(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(name, "session", "", "session that is meant (default: that of this place)")
	completeFlag(cmd, "session", a.completeSessions)
}

// session finds the session called name or, without a name, that of this place.
func (a *app) session(name string) (*orchestrator.Paw, *session.Session, error) {
	p, err := a.paw()
	if err != nil {
		return nil, nil, err
	}
	s, err := p.Find(name)
	return p, s, err
}

// sessionAndAgents reads [NAME] [AGENT...]: the words are agents of the session
// of this place, or the first one is a session. Words that can be read both ways
// are an error. The session is nil when nothing is named and nothing is here.
func sessionAndAgents(cmd *cobra.Command, p *orchestrator.Paw, name string, args []string) (*session.Session, []string, error) {
	if name != "" {
		s, err := p.Find(name)
		return s, args, err
	}
	here, err := p.Here()
	if len(args) == 0 {
		return here, nil, err
	}
	named, loadErr := p.Store.Load(args[0])
	if loadErr != nil {
		named = nil
	}
	owners := ownersHere(p, here, err, args)
	switch {
	case named == nil && here == nil && err == nil:
		named, err = p.Find(args[0]) // says that there is none of that name
		return named, nil, err
	case named == nil || len(owners) > 0 && !hasAll(named, args[1:]):
		return here, args, err
	case len(owners) == 0 || len(owners) == 1 && owners[0].Name == named.Name && len(named.Worktrees) == 1:
		return named, args[1:], nil
	}
	return nil, nil, ambiguous(cmd, owners, named, args)
}

// ownersHere are the sessions of this place that have all these agents; here and
// err are what p.Here returned.
func ownersHere(p *orchestrator.Paw, here *session.Session, err error, agents []string) []*session.Session {
	sessions := []*session.Session{here}
	var several *session.AmbiguousError
	if errors.As(err, &several) {
		for _, name := range several.Names {
			if s, err := p.Store.Load(name); err == nil {
				sessions = append(sessions, s)
			}
		}
	}
	return slices.DeleteFunc(sessions, func(s *session.Session) bool { return s == nil || !hasAll(s, agents) })
}

// hasAll tells whether a session has all these agents.
func hasAll(s *session.Session, agents []string) bool {
	return !slices.ContainsFunc(agents, func(name string) bool { return s.Worktree(name) == nil })
}

// ambiguous names the ways to read the arguments of a command.
func ambiguous(cmd *cobra.Command, owners []*session.Session, named *session.Session, args []string) error {
	e := &orchestrator.Error{Kind: orchestrator.KindUsage}
	way := func(s *session.Session, agents []string) {
		e.Hints = append(e.Hints, strings.Join(append([]string{cmd.CommandPath(), "--session", s.Name}, agents...), " "))
	}
	var names []string
	for _, s := range owners {
		names = append(names, s.Name)
		way(s, args)
	}
	way(named, args[1:])
	e.Message = fmt.Sprintf("%s: is an agent of %s, and a session", args[0], strings.Join(names, " and "))
	return e
}

// sessionAndAgent reads [NAME] [AGENT] of a session that must exist; the agent
// is "" when none is given.
func (a *app) sessionAndAgent(cmd *cobra.Command, name string, args []string) (*orchestrator.Paw, *session.Session, string, error) {
	p, err := a.paw()
	if err != nil {
		return nil, nil, "", err
	}
	if name == "" && len(args) == 2 {
		name, args = args[0], args[1:]
	}
	if here, err := p.Here(); name == "" && len(args) == 1 && err == nil && here != nil && here.Name == args[0] {
		name, args = args[0], nil // which shows an agent of that name, too
	}
	s, agents, err := sessionAndAgents(cmd, p, name, args)
	switch {
	case err != nil:
		return nil, nil, "", err
	case s == nil:
		_, err := p.Find("")
		return nil, nil, "", err
	case len(agents) > 1:
		return nil, nil, "", usagef(cmd, "%s: one agent at a time", strings.Join(agents, " "))
	case len(agents) == 1:
		return p, s, agents[0], nil
	}
	return p, s, "", nil
}

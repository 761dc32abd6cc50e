package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
)

// question finds the session and the agents that the words of a command line mean.
type question struct {
	*app.App
	asked  *invocation
	cmd    *cobra.Command
	name   string   // session that --session names, "" for none
	words  []string // words as typed
	strict bool     // the command cannot be undone, so the only active session of several is not preferred
}

func (a *invocation) question(cmd *cobra.Command, h *app.App, words []string) question {
	q := question{App: h, asked: a, cmd: cmd, words: words}
	if flag := cmd.Flags().Lookup("session"); flag != nil {
		q.name = flag.Value.String()
	}
	return q
}

// session finds the session that --session names, else the session of the current directory.
func (a *invocation) session(cmd *cobra.Command) (*app.App, *session.Session, error) {
	h, s, _, err := a.agents(cmd, nil)
	return h, s, err
}

// agent finds the agent that a word names: AGENT or SESSION/AGENT.
func (a *invocation) agent(cmd *cobra.Command, word string) (*app.App, *session.Session, string, error) {
	h, s, agents, err := a.agents(cmd, []string{word})
	if err == nil && len(agents) > 1 {
		err = usagef(cmd, "%s: one agent at a time", word)
	}
	if err != nil {
		return nil, nil, "", err
	}
	return h, s, agents[0], nil
}

// agents finds the agents that several words name, all of one session.
func (a *invocation) agents(cmd *cobra.Command, words []string) (*app.App, *session.Session, []string, error) {
	h, err := a.paw()
	if err != nil {
		return nil, nil, nil, err
	}
	s, agents, err := a.question(cmd, h, cmd.Flags().Args()).agents(words)
	return h, s, agents, err
}

// agentsOrAll finds the agents that words name or, with all and no words, all of the session.
func (a *invocation) agentsOrAll(cmd *cobra.Command, words []string, all bool) (*app.App, *session.Session, []string, error) {
	if all == (len(words) > 0) {
		return nil, nil, nil, errs.New(errs.Usage, "give agents, or --all").Hint("%s --all", cmd.CommandPath())
	}
	h, s, agents, err := a.agents(cmd, words)
	if err == nil && all {
		agents = app.AgentNames(s)
	}
	return h, s, agents, err
}

// splitTurn splits a word AGENT@N. The number is "" if there is none.
func splitTurn(cmd *cobra.Command, word string) (agent, number string, err error) {
	agent, number, numbered := strings.Cut(word, "@")
	if _, err := strconv.ParseUint(number, 10, 31); numbered && err != nil {
		return "", "", usagef(cmd, "%s: %s is not the number of a turn", word, number)
	}
	return agent, number, nil
}

// agents reads words that name agents of one session. The session exists; the command has to check
// whether it has the agents.
func (q question) agents(words []string) (*session.Session, []string, error) {
	name, words, err := q.split(words)
	if err != nil {
		return nil, nil, err
	}
	if name != "" {
		s, err := q.Load(name)
		return s, words, err
	}
	here, err := q.Place().Sessions()
	if err != nil {
		return nil, nil, err
	}
	if len(here) == 0 {
		return nil, nil, q.Place().None()
	}
	s, err := q.choose(here, words)
	return s, words, err
}

// known reports whether a word names an agent, or several sessions have one of that name.
func (q question) known(word string) bool {
	s, agents, err := q.agents([]string{word})
	var noName *session.NameError
	return err == nil && app.RequireAgents(s, agents...) == nil || err != nil && exitCode(err) == int(errs.Usage) && !errors.As(err, &noName)
}

// sessionAndAgents reads [NAME] [AGENT...]: the first word is a session, or all words are agents of the current one. If both
// are possible, a session here is taken, since paw prints lines as NAME [AGENT...]; for paw stop, and with a session elsewhere, it
// is an error. The session is nil if nothing is named and there is no current session.
func (q question) sessionAndAgents() (*session.Session, []string, error) {
	name, words, err := q.split(q.words)
	here, hereErr := q.Place().Sessions()
	if err != nil || name != "" || len(words) == 0 && len(here) > 0 {
		return q.agents(q.words)
	}
	if len(words) == 0 {
		return nil, nil, hereErr
	}
	named, err := q.Store.Load(words[0])
	if named == nil && (hereErr != nil || len(here) == 0) {
		_, err := q.Load(words[0]) // fails, and says why
		return nil, nil, cmp.Or(hereErr, err)
	}
	var noName *session.NameError
	owners := having(here, words)
	ofHere := named != nil && slices.ContainsFunc(here, func(s *session.Session) bool { return s.Name == named.Name })
	switch {
	case named == nil && err != nil && !errors.As(err, &noName):
		return nil, nil, q.RecordError(words[0], err)
	case named == nil || len(owners) > 0 && !hasAll(named, words[1:]):
		s, err := q.choose(here, words)
		return s, words, err
	case len(owners) == 0 || ofHere && q.cmd.Name() != "stop" || ofHere && len(owners) == 1 && len(named.Agents) == 1:
		return named, words[1:], nil
	}
	e := errs.New(errs.Usage, "%s: is an agent of %s, and a session", words[0], strings.Join(sessionNames(owners), " and "))
	for _, s := range owners {
		e = e.Hint("%s", q.line(s.Name))
	}
	return nil, nil, e.Hint("%s", q.line(named.Name, named.Name))
}

// eachOf splits words such as a,b, which name several.
func eachOf(words []string) (all []string) {
	for _, word := range words {
		all = append(all, strings.Split(word, ",")...)
	}
	return all
}

// split removes the session from words SESSION/AGENT and SESSION/AGENT,AGENT. Without one it returns
// the session of --session.
func (q question) split(words []string) (string, []string, error) {
	name := q.name
	if flag := q.cmd.Flags().Lookup("session"); name == "" && flag != nil && flag.Changed {
		return "", nil, usagef(q.cmd, "--session: is empty")
	}
	if err := q.refuseHost(name); err != nil {
		return "", nil, err
	}
	var agents []string
	for _, word := range eachOf(words) {
		if word == "" { // a variable that is not set must not mean everything
			return "", nil, usagef(q.cmd, "a name is empty")
		}
		if err := q.refuseHost(word); err != nil {
			return "", nil, err
		}
		of, agent, both := strings.Cut(word, "/")
		if !both {
			agents = append(agents, word)
			continue
		}
		if name != "" && of != name {
			return "", nil, usagef(q.cmd, "%s: one session at a time, and this is not about %s", word, name)
		}
		name, agents = of, append(agents, agent)
	}
	return name, agents, nil
}

// choose returns the current session: the only one that has all the agents or, of several, the only
// active one.
func (q question) choose(here []*session.Session, agents []string) (*session.Session, error) {
	owners := having(here, agents)
	if len(owners) == 0 {
		owners = here // the command will name the agents that there are
	}
	if len(owners) == 1 {
		return owners[0], nil
	}
	if s := session.Among(owners); s != nil && !q.strict {
		return s, nil
	}
	e := &errs.Error{Kind: errs.Usage, Message: "several sessions here: " + strings.Join(sessionNames(owners), ", ")}
	if len(agents) > 0 {
		e.Message = fmt.Sprintf("%s: in several sessions: %s", strings.Join(agents, " "), strings.Join(sessionNames(owners), ", "))
	}
	if len(agents) > 0 && len(having(owners, agents)) == 0 {
		e.Kind, e.Message = errs.NotFound, fmt.Sprintf("%s: no such agent in %s", strings.Join(agents, " "), strings.Join(sessionNames(owners), ", "))
		e.Hints = []string{"paw status"}
		return nil, e
	}
	for _, s := range owners {
		e.Hints = append(e.Hints, q.line(s.Name))
	}
	return nil, e
}

// line returns the typed command line with a session named, and without the words that are left out.
func (q question) line(name string, without ...string) string {
	if q.cmd.Flags().Lookup("session") == nil {
		return q.asked.lineWith(q.cmd, without, name)
	}
	return q.asked.lineWith(q.cmd, without, "--session", name)
}

func having(sessions []*session.Session, agents []string) []*session.Session {
	return slices.DeleteFunc(slices.Clone(sessions), func(s *session.Session) bool { return !hasAll(s, agents) })
}

func hasAll(s *session.Session, agents []string) bool {
	return !slices.ContainsFunc(agents, func(name string) bool { return s.Agent(name) == nil })
}

func sessionNames(sessions []*session.Session) []string {
	var names []string
	for _, s := range sessions {
		names = append(names, s.Name)
	}
	return names
}

// sessionHere returns the current session, an empty one if there is none or it is ambiguous.
func (a *invocation) sessionHere() *session.Session {
	if h, err := a.paw(); err == nil {
		if here, err := h.Place().Sessions(); err == nil && session.Among(here) != nil {
			return session.Among(here)
		}
	}
	return &session.Session{}
}

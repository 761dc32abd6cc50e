package landing

import (
	"context"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
)

// work is an agent whose work is asked about, with its repository.
type work struct {
	home    *app.App
	m       worktree.Manager
	session *session.Session
	agent   *session.Agent
	handed  map[string]Handed  // nil for agents of this machine
	records []*session.Session // all records, read while nobody else can land; nil: read when they are needed
}

// Handed is the state of an agent of another machine, as that machine has taken it.
type Handed struct {
	State string // commit of all its files
	Head  string // commit of its branch
	Turn  int    // turn whose end the state is, 0 for another state
	Whole bool   // the state has what was not committed
	Turns []turns.Turn
	Err   *errs.Error // why the state could not be taken, nil if it was
}

// workOf finds an agent, and the repository of its session.
func workOf(ctx context.Context, h *app.App, s *session.Session, agentName string) (work, error) {
	w := work{home: h, session: s}
	var err error
	if w.agent, err = app.AgentNamed(s, agentName); err != nil {
		return w, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return w, err
	}
	w.m, err = h.ManagerOf(ctx, s)
	w.m = w.m.Remembering()
	return w, err
}

// allRecords returns the records of all sessions, also of hosts.
func (w work) allRecords() ([]*session.Session, error) {
	if w.records != nil {
		return w.records, nil
	}
	all, _, err := w.home.Store.ListAll()
	return all, err
}

// name returns the agent as the user calls it.
func (w work) name() string { return w.session.Name + "/" + w.agent.Name }

func (w work) changed(ctx context.Context, from, to string) (int, error) {
	paths, err := w.m.Objects().ChangedPaths(ctx, from, to)
	return len(paths), err
}

// edited lets the user edit a draft. not is what has not happened, for errors: "has landed".
func edited(ctx context.Context, edit func(context.Context, string) (string, error), draft, not string) (string, error) {
	text, err := edit(ctx, draft)
	if err != nil {
		return "", errs.New(errs.Failed, "%w; nothing %s", err, not)
	}
	if text = strings.TrimSpace(text); text == "" {
		return "", errs.New(errs.Failed, "the message is empty, nothing %s", not)
	}
	return text, nil
}

// keepWords saves a message that the user wrote for a command that then failed, and notes how to
// use it. The file is deleted with the agent.
func (w work) keepWords(verb, words string) {
	if words == "" {
		return
	}
	file, err := w.home.KeepText(w.session.Name, w.agent.Name, "message-*.txt", words+"\n")
	if err != nil {
		w.home.Notef("your message could not be kept: %v\n%s", err, words)
		return
	}
	w.home.Notef(`your message is kept; paw %s %s --message "$(cat %s)"`, verb, w.name(), errs.Quote(file))
}

// Package landing brings the exact state of an agent into a branch of the user, and undoes that.
//
// A landing looks once at the agent (source.go) and at the branch (target.go), makes the commits in
// the object store (compose.go, message.go), and then moves branch and checkout (advance.go). The
// record says before what is about to happen, so that an interrupted landing can be finished
// (finish.go). Package landing never writes to an agent's worktree, index or HEAD, except in
// update.go. Begin with work.go, which all commands here share, and land.go.
//
// What of an agent's work a branch has, git says: each state of the agent knows the one before it,
// and each landing the state that landed (package states). lands.go asks it.
package landing

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/turns"
	"paw/session"
)

// work is an agent whose work is asked about, with its repository.
type work struct {
	asked
	handed  map[string]Handed  // nil for agents of this machine
	records []*session.Session // all records, read while nobody else can land; nil: read when they are needed
}

func workOf(ctx context.Context, h *app.App, s *session.Session, agentName, command string) (work, error) {
	w := work{asked: asked{Agent: app.Agent{App: h, Session: s}, command: command}}
	var err error
	if w.Record, err = app.AgentNamed(s, agentName); err != nil {
		return w, err
	}
	if err := h.RequireGit(ctx); err != nil {
		return w, err
	}
	w.Repo, err = h.ManagerOf(ctx, s)
	w.Repo = w.Repo.Remembering()
	return w, err
}

// allRecords returns the records of all sessions, also of hosts.
func (w work) allRecords() ([]*session.Session, error) {
	if w.records != nil {
		return w.records, nil
	}
	all, _, err := w.App.Store.ListAll()
	return all, err
}

// badEnd says how the agent's last turn ended if not well, as turns.BadEnd does.
func (w work) badEnd(ctx context.Context) string {
	if w.Session.Host == "" {
		return turns.BadEnd(ctx, w.Agent)
	}
	if all := w.handed[w.Record.Name].Turns; len(all) > 0 {
		return live.BadEnd(all[len(all)-1].Record)
	}
	return ""
}

// begin returns the state with which the agent's chain begins.
func (w work) begin() string {
	if from := w.Record.From; from != nil && from.State != "" {
		return from.State
	}
	return w.Record.Start()
}

func (w work) changed(ctx context.Context, from, to string) (int, error) {
	paths, err := w.Repo.Objects().ChangedPaths(ctx, from, to)
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

// keepWords saves a message that the user wrote for the command, which then failed, and notes how to
// use it. The file is deleted with the agent.
func (w work) keepWords(words string) {
	if words == "" {
		return
	}
	file, err := w.App.KeepText(w.Session.Name, w.Record.Name, "message-*.txt", words+"\n")
	if err != nil {
		w.App.Notef("your message could not be kept: %v\n%s", err, words)
		return
	}
	w.App.Notef(`your message is kept; %s --message "$(cat %s)"`, w.line(app.Without("edit"), app.Without("message")), errs.Quote(file))
}

// cliVersion asks an agent's CLI for its version in the background. The returned function waits for
// the answer. It returns "" if the turns may have been made by another version, as after an update
// of the program.
func (w work) cliVersion(ctx context.Context) func(made []turns.Turn) string {
	unknown := func([]turns.Turn) string { return "" }
	if !slices.ContainsFunc(cli.LookedAts(), func(l cli.LookedAt) bool { return l.CLI == w.Record.CLI }) {
		return unknown // unknown programs may not have --version
	}
	program, executable, err := w.App.ProgramOf(w.Record)
	if err != nil {
		return unknown
	}
	answer := make(chan string, 1)
	go func() {
		ctx, cancel := context.WithTimeout(ctx, cli.VersionPatience)
		defer cancel()
		version, err := program.Version(ctx, executable, w.App.Env)
		if err != nil {
			version = ""
		}
		answer <- display.Title(version)
	}()
	version := sync.OnceValue(func() string { return <-answer })
	return func(made []turns.Turn) string {
		if len(made) == 0 || !unchangedSince(executable, made[0].StartedAt) {
			return ""
		}
		return version()
	}
}

// unchangedSince reports whether neither a program nor the link to it was written after a time, as
// an update would do.
func unchangedSince(executable string, at time.Time) bool {
	for _, look := range []func(string) (os.FileInfo, error){os.Lstat, os.Stat} {
		if info, err := look(executable); err != nil || info.ModTime().After(at) {
			return false
		}
	}
	return true
}

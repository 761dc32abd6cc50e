package landing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/config"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/orchestrator/hosts"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// ParseParcel parses what another machine has sent. Agents may control that machine, so whatever
// paw would not write is refused, and texts are cleaned for the terminal.
func ParseParcel(text []byte) (*Parcel, error) {
	var p Parcel
	var head struct {
		Version int `json:"version"`
		Session struct {
			Version int `json:"version"`
		} `json:"session"`
	}
	if json.Unmarshal(text, &head) == nil && (head.Version > parcelVersion || head.Session.Version > session.Version) {
		return nil, errNewer
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return nil, errors.New("its answer is not understood")
	}
	if reason := p.fault(); reason != "" {
		return nil, errors.New("its answer is not understood: " + reason)
	}
	return &p, nil
}

// errNewer reports that the other machine runs a newer paw.
var errNewer = errors.New("runs a newer paw, whose work this one does not know how to land")

// Limits on what another machine may say of an agent.
const mostTurns = 100_000

// fault names something in a parcel that paw never writes, "" for nothing.
func (p *Parcel) fault() string {
	if p.Version < 1 || session.ValidateName("session", p.Session.Name) != nil {
		return "no session"
	}
	names := map[string]bool{}
	for i := range p.Session.Agents {
		w := &p.Session.Agents[i]
		if reason := agentFault(p.Session.Name, w); reason != "" || names[w.Name] {
			return fmt.Sprintf("agent %d: %s", i+1, reason)
		}
		names[w.Name] = true
	}
	for i := range p.States {
		one := &p.States[i]
		switch {
		case !names[one.Agent]:
			return fmt.Sprintf("state %d: of no agent", i+1)
		case one.Error != "":
			continue
		case !isCommit(one.State) || one.Head != "" && !isCommit(one.Head) || !isCommit(one.Twin) || one.Turn < 0 || one.Turn > mostTurns || len(one.Turns) > mostTurns:
			return fmt.Sprintf("state %d: no commit", i+1)
		}
		for _, t := range one.Turns {
			if t.Number < 1 || t.Number > mostTurns || t.After != "" && !isCommit(t.After) {
				return fmt.Sprintf("state %d: turn %d", i+1, t.Number)
			}
		}
	}
	return ""
}

func agentFault(sessionName string, w *session.Agent) string {
	switch {
	case session.ValidTurnSession(sessionName, w.Name) != nil || session.ValidateName("turn session", w.TurnSession) != nil:
		return "its name"
	case w.TurnHighWater < 0 || w.TurnHighWater > mostTurns:
		return "its turns"
	case w.BaseCommit != "" && !isCommit(w.BaseCommit):
		return "its base"
	case w.From != nil && (w.From.Agent != "" && session.ValidateName("agent", w.From.Agent) != nil || w.From.Turn < 0 || w.From.Turn > mostTurns || w.From.Snapshot != "" && !isCommit(w.From.Snapshot) || w.From.State != "" && !isCommit(w.From.State)):
		return "its origin"
	}
	return ""
}

// isCommit reports whether a text has the form of an object's id.
func isCommit(text string) bool {
	return (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Refspecs returns the refspecs that fetch a parcel: its states, and the states that led to them.
// They write only refs below the host's name.
func (p *Parcel) Refspecs(host string) []string {
	var specs []string
	for i := range p.Session.Agents {
		w := &p.Session.Agents[i]
		from, to := turn.RefPrefix(w.TurnSession), turn.RefPrefix(session.FarTurnSession(host, w.TurnSession))
		for _, kind := range []string{"before/*", "turn/*", "head/*", "start/*", "state/*", "now"} {
			specs = append(specs, "+"+from+kind+":"+to+kind)
		}
		if slices.ContainsFunc(p.States, func(one parcelState) bool { return one.Agent == w.Name && one.Error == "" }) {
			specs = append(specs, "+"+from+"handed:"+to+"handed")
		}
	}
	return specs
}

// Fetched reports whether the refs fetched from a host match its parcel.
func (p *Parcel) Fetched(ctx context.Context, m *worktree.Manager, host string) (bool, error) {
	for _, one := range p.States {
		if one.Error != "" {
			continue
		}
		ref := turn.HandedRef(session.FarTurnSession(host, p.Session.Agent(one.Agent).TurnSession))
		if at, err := m.Refs().Read(ctx, ref); err != nil || at != one.State {
			return false, err
		}
	}
	return true, nil
}

// Agents returns the agents of a parcel's states, also those whose state could not be taken.
func (p *Parcel) Agents() (names []string) {
	for _, one := range p.States {
		names = append(names, one.Agent)
	}
	return names
}

// Handed returns the states of a parcel by agent. Errors of the host get hints that work on this
// machine; ssh is the host's name for ssh.
func (p *Parcel) Handed(ctx context.Context, m *worktree.Manager, host, ssh string) (map[string]Handed, error) {
	all, there := map[string]Handed{}, hosts.Host{Name: host, Host: config.Host{SSH: ssh}}
	for _, one := range p.States {
		if one.Error != "" {
			e := errs.New(errs.Kind(one.ExitCode), "%s:%s", host, display.Words(one.Error))
			if e.Kind <= 0 || e.Kind > errs.Missing {
				e.Kind = errs.Failed
			}
			for _, hint := range one.Hints {
				e = e.Hint("%s", there.Here(display.OneLine(hint)))
			}
			all[one.Agent] = Handed{Err: e}
			continue
		}
		handed := Handed{State: one.State, Twin: one.Twin, Head: one.Head, Turn: one.Turn}
		if same, err := m.Objects().SameTree(ctx, handed.State, handed.Twin); err != nil || !same {
			return nil, cmp.Or(err, error(errs.New(errs.Failed, "%s:%s: its answer is not understood: two states", host, one.Agent)))
		}
		if handed.Head == "" || handed.Head != handed.State && !m.Objects().Has(ctx, handed.Head) {
			head, err := m.Objects().SnapshotHead(ctx, handed.State)
			if err != nil {
				return nil, err
			}
			handed.Head = head
		}
		for _, t := range one.Turns {
			handed.Turns = append(handed.Turns, turns.Turn{After: t.After, Record: turn.Record{
				Number: t.Number, Type: turn.Type(t.Type), State: turn.State(t.State), Prompt: t.Prompt, Outcome: t.Outcome, Reason: turn.Reason(t.Reason),
			}})
		}
		all[one.Agent] = handed
	}
	return all, nil
}

// Far returns this machine's record of a parcel's session: the agents as the host has them, and
// what has landed here of them. target is the branch that work lands on. With keep the record is
// saved.
func (p *Parcel) Far(ctx context.Context, h *app.App, m *worktree.Manager, host, target string, keep bool) (*session.Session, error) {
	now := &session.Session{
		Version: session.Version, Name: session.FarName(host, p.Session.Name), Host: host, RepoPath: m.Repository.Path, GitCommonDir: m.Repository.CommonDir,
		ProjectName: filepath.Base(app.RootIn(m.Repository)), CreatedAt: p.Session.CreatedAt, Status: session.StatusActive, Target: target,
	}
	for i := range p.Session.Agents {
		now.Agents = append(now.Agents, p.agent(ctx, m, host, &p.Session.Agents[i]))
	}
	old, err := h.Store.LoadAny(now.Name)
	if err != nil {
		return nil, h.RecordError(now.Name, err)
	}
	if old != nil && old.GitCommonDir != now.GitCommonDir && len(old.Landings) > 0 && !app.Gone(old) {
		return nil, errs.New(errs.Refused, "%s: lands in %s, another repository", now.Name, old.RepoPath).Hint("cd %s", errs.Quote(old.RepoPath))
	}
	switch {
	case !keep && old != nil:
		return now, grownInto(now, old)
	case !keep:
		return now, nil
	case old == nil:
		return now, h.RecordError(now.Name, h.Store.Create(ctx, now, nil))
	}
	return h.Update(ctx, now.Name, func(rec *session.Session) error {
		err := grownInto(now, rec)
		*rec = *now
		return err
	})
}

// agent returns the record of a host's agent, as far as landing needs it.
func (p *Parcel) agent(ctx context.Context, m *worktree.Manager, host string, w *session.Agent) session.Agent {
	one := lifeAlone(w)
	one.TurnSession = session.FarTurnSession(host, w.TurnSession)
	one.CLI = display.Graphemes.Cut(display.Words(w.CLI), session.MaxName)
	commits := []*string{&one.BaseCommit}
	if one.From != nil {
		commits = append(commits, &one.From.Snapshot, &one.From.State)
	}
	for _, commit := range commits {
		if *commit != "" && !m.Objects().Has(ctx, *commit) { // it is not in this repository
			*commit = ""
		}
	}
	return one
}

// grownInto completes a host's new record with the landings of the old one, and with the agents that the
// host has no more.
func grownInto(now, old *session.Session) error {
	if !old.CreatedAt.Equal(now.CreatedAt) { // another session of the same name
		if slices.ContainsFunc(old.Landings, Unfinished) {
			return errs.New(errs.Refused, "%s: a landing of an earlier session of that name was cut short", now.Name).Hint("paw recover")
		}
		return nil
	}
	now.Landings, now.Checks = old.Landings, old.Checks
	for _, one := range old.Agents {
		if now.Agent(one.Name) == nil {
			now.Agents = append(now.Agents, one)
		}
	}
	return nil
}

// SessionsHere returns the sessions whose work has landed in the current repository, with those that run on other
// machines.
func SessionsHere(h *app.App) []*session.Session {
	here, err := gitdir.Discover(h.Dir)
	all, _, listErr := h.Store.ListAll()
	if err != nil || listErr != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(s *session.Session) bool {
		return s.GitCommonDir != here.CommonDir || len(s.Landings) == 0
	})
}

package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"paw/orchestrator/agent"
	"paw/session"
)

// Finding is one thing doctor looked at.
type Finding struct {
	OK    bool     `json:"ok"`
	Text  string   `json:"text"`
	Hints []string `json:"hints"`
}

// Doctor looks at everything paw depends on. It changes nothing.
func (p *Paw) Doctor(ctx context.Context) []Finding {
	var found []Finding
	add := func(err error, fine string) {
		if err == nil {
			found = append(found, Finding{OK: true, Text: fine, Hints: []string{}})
			return
		}
		found = append(found, Finding{Text: err.Error(), Hints: append([]string{}, hintsOf(err)...)})
	}
	add(p.requireTools(ctx), "git and tmux are new enough")
	add(p.writable(), "state and data folders can be written")
	found = append(found, p.examineCLIs(ctx)...)
	for _, c := range p.Config.Untrusted {
		add(failf(KindError, "%s of this repository is not trusted: %s", c.Key, c.Text).hint("paw config trust"), "")
	}
	if n, last := p.hookFailures(); n > 0 {
		add(failf(KindError, "%d reports of hooks failed, last %s of %s at %s: %s", n, last.Event, last.Launch, last.At.Format(time.RFC3339), last.Error).
			hint("cat %s", Quote(p.hookLog())).hint("rm -f %s %s", Quote(p.hookLog()), Quote(p.hookLog()+".old")), "")
	}
	sessions, problems, err := p.Store.List()
	if err != nil {
		add(err, "")
	}
	for _, problem := range problems {
		add(p.recordError("", problem), "")
	}
	for _, s := range sessions {
		if note := p.codexNote(s); note != "" { // said at the start too, where the session covers it at once
			found = append(found, Finding{OK: true, Text: note, Hints: []string{"paw config"}})
			break
		}
	}
	repositories := map[string]bool{}
	for _, s := range sessions {
		p.examineSession(ctx, s, add)
		if !repositories[s.GitCommonDir] {
			repositories[s.GitCommonDir] = true
			p.examineRepository(ctx, s, add)
		}
	}
	return found
}

// examineCLIs looks at the versions of the installed CLIs. One that was never looked at need not be broken: the finding
// says how to find out.
func (p *Paw) examineCLIs(ctx context.Context) []Finding {
	var found []Finding
	for _, info := range p.ListCLIs(ctx, true) {
		switch note := info.VersionNote(); {
		case info.Path == "":
		case info.Err != nil:
			found = append(found, Finding{Text: fmt.Sprintf("%s: does not say its version: %v", info.Name, info.Err), Hints: []string{Quote(info.Path) + " --version"}})
		case note != "":
			found = append(found, Finding{OK: true, Text: note, Hints: []string{"paw doctor --cli " + info.Name}})
		case info.Standing == agent.StandingSame:
			found = append(found, Finding{OK: true, Text: fmt.Sprintf("%s %s was looked at", info.Name, info.Version), Hints: []string{}})
		}
	}
	return found
}

// writable looks whether the folders that every change needs can be written or
// made. It makes none.
func (p *Paw) writable() error {
	for _, dir := range []string{p.Paths.SessionsDir, p.Paths.LocksDir(), p.Paths.LaunchDir()} {
		there := dir
		_, err := os.Stat(there)
		for ; errors.Is(err, fs.ErrNotExist); _, err = os.Stat(there) {
			there = filepath.Dir(there)
		}
		if err != nil {
			return err
		}
		if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
			return failf(KindError, "%s: cannot be written: %w", there, err)
		}
	}
	return nil
}

// examineSession looks at the agents of one session.
func (p *Paw) examineSession(ctx context.Context, s *session.Session, add func(error, string)) {
	f, err := p.observe(ctx, s)
	if err != nil {
		add(err, "")
		return
	}
	st := p.statusOf(f)
	bad := false
	for _, a := range st.Agents {
		suspended := a.State == session.StateSuspended || a.State == session.StateWaitingChildren && a.PID == 0
		switch {
		case a.Orphan:
			bad = true
			add(failf(KindError, "%s/%s: pid %d runs outside of tmux", s.Name, a.Record.Agent, a.PID).hint("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Agent, s.Name), "")
		case s.Status == session.StatusActive && suspended && a.Record.Phase != session.PhaseStopped:
			bad = true
			add(failf(KindError, "%s/%s: suspended (%s)", s.Name, a.Record.Agent, a.Reason).hint("paw recover %s", s.Name), "")
		}
		if text := p.undelivered(s, a.Record.Agent); text != "" && a.lockFree() {
			bad = true
			add(failf(KindError, "%s/%s: %s", s.Name, a.Record.Agent, text), "")
		}
		p.examineRecords(ctx, s, &a.Record, add)
	}
	_, problems, _ := p.Turns(ctx, s, "") // examineRepository says where that is gone
	for _, problem := range problems {
		bad = true
		add(&Error{Kind: KindError, Message: s.Name + "/" + problem.Error(), Hints: hintsOf(problem)}, "")
	}
	if !bad {
		add(nil, fmt.Sprintf("session %s is %s", s.Name, st.Status))
	}
}

func (a AgentStatus) lockFree() bool { return a.PID == 0 }

// examineRepository looks at the worktree registrations and the trash.
func (p *Paw) examineRepository(ctx context.Context, s *session.Session, add func(error, string)) {
	repository, err := p.repositoryOf(ctx, s)
	if err != nil {
		add(err, "")
		return
	}
	m := p.manager(repository)
	entries, err := m.List(ctx)
	if err != nil {
		add(err, "")
		return
	}
	for _, e := range entries {
		if e.Head == "" && !e.Bare {
			add(failf(KindError, "%s: a half-made worktree registration, %s", s.RepoPath, e.AdminDir).hint("paw recover %s", s.Name), "")
		}
	}
	if kept := keptTrash(m); kept != "" {
		add(nil, kept)
	}
}

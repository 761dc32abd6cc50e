package orchestrator

import (
	"context"
	"fmt"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree/gitdir"
)

// Doctor checks everything that paw depends on. It changes nothing, except with fix what a finding
// says it can.
func Doctor(ctx context.Context, h *app.App, fix bool) []Finding {
	var found findings
	found.examineTools(ctx, h)
	if err := writable(h); err != nil {
		found.wrong(err)
	} else {
		found.fine("state and data folders can be written; " + diskUsed(h))
	}
	found.examineNames(h)
	if hints := h.StartHints(); len(hints) > 1 {
		found.fine("no AI coding CLI is installed but the built-in demo", hints...)
	}
	found.examineCLIs(ctx, h)
	if problem := h.Config.TrustProblem; problem != nil {
		found.wrong(errs.New(errs.Failed, "nothing of this repository counts as trusted: %w", problem))
	}
	for _, key := range h.Config.Ignored {
		found.fine(ignoredText(key), "paw config")
	}
	for _, c := range h.Config.Untrusted {
		found.wrong(errs.New(errs.Failed, "%s of this repository is not trusted: %s", c.Key, c.Text).Hint("paw config trust"))
	}
	if n, last := h.HookLog().Failures(); n > 0 {
		what := last.Event
		if last.Launch != "" { // a log entry without a launch is from a command of the user
			what += " of " + last.Launch
		}
		found.wrong(errs.New(errs.Failed, "%d reports of hooks failed, last %s at %s: %s", n, what, last.At.Format(time.RFC3339), last.Error).
			Hint("cat %s", errs.Quote(h.HookLog().Path)).Hint("rm -f %s %s", errs.Quote(h.HookLog().Path), errs.Quote(h.HookLog().Path+".old")))
	}
	sessions, problems, err := h.Store.List()
	if err != nil {
		found.wrong(err)
	}
	for _, problem := range problems {
		found.wrong(h.RecordError("", problem))
	}
	if litter := h.Store.Litter(); len(litter) > 0 {
		found.fine(fmt.Sprintf("%s of saves that were killed; nothing in them is missing elsewhere", errs.Counted(len(litter), "temporary file")),
			"rm -f "+quotedAll(litter))
	}
	for _, s := range sessions {
		if note := codexNote(h, s); note != "" { // start prints this note too, but the attached session may hide it at once
			found.fine(note, "paw config")
			break
		}
	}
	found.examineDecoration(ctx, h, fix)
	repositories := map[string]bool{}
	for _, s := range sessions {
		found.examineSession(ctx, h, s)
		if !repositories[s.GitCommonDir] {
			repositories[s.GitCommonDir] = true
			if _, err := h.ConfiguredFor(s); err != nil { // mistakes that h forgives were reported when h was made
				found.wrong(err)
			}
			found.examineRepository(ctx, h, s)
		}
		if m, err := h.ManagerOf(ctx, s); err == nil { // on an error examineRepository has reported it
			found.examineLinks(ctx, m, s)
			found.examinePaths(ctx, m, s)
		}
	}
	return found
}

// examineCLIs checks the versions of the installed CLIs. An untested version may work: the finding
// says how to find out.
func (f *findings) examineCLIs(ctx context.Context, h *app.App) {
	for _, info := range ListCLIs(ctx, h, true) {
		switch note := info.VersionNote(); {
		case info.Path == "":
		case info.Err != nil:
			f.wrong(errs.New(errs.Failed, "%s: does not say its version: %w", info.Name, info.Err).Hint("%s --version", errs.Quote(info.Path)))
		case note != "":
			f.fine(note, "paw doctor --cli "+info.Name)
		case info.Standing == cli.StandingSame:
			f.fine(fmt.Sprintf("%s %s was looked at", info.Name, info.Version))
		case info.Looked.CLI == "" && info.Name != "demo":
			f.fine(fmt.Sprintf("%s %s is installed", info.Name, info.Version))
		}
	}
}

func quotedAll(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = errs.Quote(word)
	}
	return strings.Join(quoted, " ")
}

func (f *findings) examineSession(ctx context.Context, h *app.App, s *session.Session) {
	seen, err := observe.Observe(ctx, h, s)
	if err != nil {
		f.wrong(err)
		return
	}
	st := observe.StatusOf(h, seen)
	bad := false
	var reasons []string // reasons of agents that are down, each once
	down := map[string][]string{}
	for _, a := range st.Agents {
		suspended := a.State == session.StateSuspended || a.State == session.StateWaitingChildren && a.PID == 0
		switch {
		case a.Orphan:
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: pid %d runs outside of tmux", s.Name, a.Record.Name, a.PID).Hint("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Name, s.Name))
		case a.WorktreeGone && a.PID != 0:
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: it runs, and %s", s.Name, a.Record.Name, session.ReasonWorktreeGone).Hint("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Name, s.Name))
		case a.Away:
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, a.Reason).Hint("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Name, s.Name))
		case a.Elsewhere:
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, a.Reason).Hint("paw attach %s %s", s.Name, a.Record.Name))
		case a.Cause == session.CauseUnrecorded:
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, a.Reason).Hint("cat %s", errs.Quote(h.HookLog().Path)))
		case s.Status == session.StatusActive && suspended && a.Record.Phase != session.PhaseStopped && a.Cause != session.CauseClosed:
			bad = true
			if down[a.Reason] == nil {
				reasons = append(reasons, a.Reason)
			}
			down[a.Reason] = append(down[a.Reason], a.Record.Name)
		}
		if text := observe.Undelivered(h, s, a.Record.Name); text != "" && a.LockFree() {
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, text))
		}
		f.examineRecords(ctx, h.Agent(s, &a.Record))
	}
	for _, reason := range reasons {
		f.wrong(errs.New(errs.Failed, "session %s: suspended (%s): %s", s.Name, reason, strings.Join(down[reason], ", ")).Hint("paw recover %s", s.Name))
	}
	for _, text := range observe.StrayPrompts(h, s) {
		bad = true
		f.wrong(errs.New(errs.Failed, "session %s: %s", s.Name, text))
	}
	for _, l := range s.Landings {
		if landing.Unfinished(l) {
			bad = true
			f.wrong(errs.New(errs.Failed, "%s/%s: landing %d in %s is half done (%s)", s.Name, l.Agent, l.ID, l.Target, l.Phase).Hint("paw recover %s", s.Name))
		}
	}
	_, problems, _ := Turns(ctx, h, s) // examineRepository reports a repository that is gone
	for _, problem := range problems {
		bad = true
		f.wrong(&errs.Error{Kind: errs.Failed, Message: s.Name + "/" + problem.Error(), Hints: errs.HintsOf(problem)})
	}
	if !bad {
		f.fine(fmt.Sprintf("session %s is %s%s", s.Name, st.Status, hooksSeen(st)))
	}
}

// examineRepository checks the worktree registrations and the trash.
func (f *findings) examineRepository(ctx context.Context, h *app.App, s *session.Session) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		f.wrong(err)
		return
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		f.wrong(err)
		return
	}
	for _, e := range entries {
		if e.Head == "" && !e.Bare && (e.Branch == "" || e.Unregistered()) { // a branch may have no commit
			f.wrong(errs.New(errs.Failed, "%s: a half-made worktree registration, %s", s.RepoPath, e.AdminDir).Hint("paw recover %s", s.Name))
		}
	}
	places, err := m.Registry().Unended(ctx)
	if err != nil {
		f.wrong(err)
	}
	for _, place := range places {
		err := m.Journals().SettledAt(ctx, place)
		if err == nil {
			err = errs.New(errs.Failed, "%s: its index is still locked by a paw that was killed", place.Path).Hint("paw recover %s", s.Name)
		}
		f.wrong(err)
	}
	for _, dir := range m.Trash().Undeleted(sweepPatience) {
		f.wrong(errs.New(errs.Failed, "%s: a removed directory that could not be deleted; nothing in it is lost", dir).Hint("rm -rf %s", errs.Quote(dir)))
	}
	if kept := keptTrash(m); kept != "" {
		f.fine(kept)
	}
}

// hooksSeen says for how many running agents hooks have reported, "" where none has hooks.
func hooksSeen(st observe.SessionStatus) string {
	seen, all := 0, 0
	for _, a := range st.Agents {
		if a.Hooks != observe.HooksNone {
			all++
		}
		if a.Hooks == observe.HooksSeen {
			seen++
		}
	}
	if all == 0 {
		return ""
	}
	return fmt.Sprintf("; hooks of %d of %s have reported", seen, errs.Counted(all, "running agent"))
}

// examineDecoration reports whether turn tags of the user's repository show in git log, and hides
// them if fix is set.
func (f *findings) examineDecoration(ctx context.Context, h *app.App, fix bool) {
	repository, err := gitdir.Discover(h.Dir)
	if err != nil {
		return
	}
	m := h.Manager(repository)
	if tags, err := turns.AllTags(ctx, m); err != nil || len(tags) == 0 {
		return
	}
	if hidden, err := m.Remotes().Undecorated(ctx, ownRefs...); err != nil || hidden {
		return
	}
	if !fix {
		f.fine("turn tags show in git log", "paw doctor --fix")
	} else if err := m.Remotes().Undecorate(ctx, ownRefs...); err != nil {
		f.wrong(errs.WithHints(err, hideTags))
	} else {
		f.fine("git log no longer names turn tags: " + hideTags)
	}
}

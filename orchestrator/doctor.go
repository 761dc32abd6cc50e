package orchestrator

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/tmux"
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
	locks := h.Paths.LocksDir()
	found.grows(filesIn(locks), manyLocks, "lock files in "+locks, "paw stop --all && find "+errs.Quote(locks)+" -name 'repository-*' -mtime +30 -delete")
	found.examineNames(h)
	if hints := h.StartHints(); len(hints) > 1 {
		found.fine("no AI coding CLI is installed but the built-in demo", hints...)
	}
	found.examineCLIs(ctx, h)
	found.examineTrust(h)
	found.examineHookLog(h)
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
	}
	return found
}

// examineTrust checks what the user has not trusted of the repository's configuration.
func (f *findings) examineTrust(h *app.App) {
	if problem := h.Config.TrustProblem; problem != nil {
		f.wrong(errs.New(errs.Failed, "nothing of this repository counts as trusted: %w", problem))
	}
	for _, key := range h.Config.Ignored {
		f.fine(ignoredText(key), "paw config")
	}
	for _, c := range h.Config.Untrusted {
		f.wrong(errs.New(errs.Failed, "%s of this repository is not trusted: %s", c.Key, c.Text).Hint("paw config trust"))
	}
}

// examineHookLog reports failures of hooks, which a hook writes into its log and tells no user.
func (f *findings) examineHookLog(h *app.App) {
	n, last := h.HookLog().Failures()
	if n == 0 {
		return
	}
	what := last.Event
	if last.Launch != "" { // a log entry without a launch is from a command of the user
		what += " of " + last.Launch
	}
	f.wrong(errs.New(errs.Failed, "%d reports of hooks failed, last %s at %s: %s", n, what, last.At.Format(time.RFC3339), last.Error).
		Hint("cat %s", errs.Quote(h.HookLog().Path)).Hint("rm -f %s %s", errs.Quote(h.HookLog().Path), errs.Quote(h.HookLog().Path+".old")))
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
		case info.Standing == cli.SameVersion:
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
	wrong := func(err error) {
		bad = true
		f.wrong(err)
	}
	if err := QueueProblem(h, s.Name); err != nil {
		wrong(err)
	}
	if q, _ := h.Queues().Load(s.Name); q != nil {
		f.grows(len(q.Tasks), manyTasks, "tasks in the queue of "+s.Name, "paw queue drop --done"+h.Place().Of(s.Name))
	}
	switch {
	case errors.Is(seen.TmuxErr, tmux.ErrNoServer) && seen.Tmux == session.TmuxUnknown && app.AttachElsewhere(s) != "":
		wrong(observe.Unanswered(s, seen.TmuxErr))
	case errors.Is(seen.TmuxErr, tmux.ErrNoServer) && seen.Tmux == session.TmuxUnknown:
		wrong(errs.New(errs.Failed, "session %s: %s", s.Name, observe.Silence(seen.TmuxErr)).Hint("paw recover %s", s.Name))
	case errors.Is(seen.TmuxErr, tmux.ErrTimeout):
		wrong(errs.New(errs.Failed, "session %s: %s (process %d): it is stopped, or very busy", s.Name, observe.Silence(seen.TmuxErr), s.Tmux.ServerPID).
			Hint("ps -o stat,pcpu,args -p %d", s.Tmux.ServerPID))
	case seen.Tmux == session.TmuxUnknown && app.AttachOldServer(s) != "":
		wrong(errs.New(errs.Failed, "session %s: %s", s.Name, observe.Silence(seen.TmuxErr)).Hint("%s", app.AttachOldServer(s)))
	}
	for _, a := range st.Agents {
		if err := atWrongPlace(ctx, h, s, a); err != nil {
			wrong(err)
		}
		if text := observe.Undelivered(h, s, a.Record.Name); text != "" && a.LockFree() && a.Cause != session.CauseMade {
			wrong(errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, text))
		}
	}
	for _, err := range downAgents(s, st) {
		wrong(err)
	}
	for _, text := range observe.StrayPrompts(h, s) {
		wrong(errs.New(errs.Failed, "session %s: %s", s.Name, text))
	}
	for _, l := range s.Landings {
		if landing.Unfinished(l) {
			wrong(errs.New(errs.Failed, "%s/%s: landing %d in %s is half done (%s)", s.Name, l.Agent, l.ID, l.Target, l.Phase).Hint("paw recover %s", s.Name))
		}
	}
	_, problems, _ := Turns(ctx, h, s) // examineRepository reports a repository that is gone
	for _, problem := range problems {
		wrong(&errs.Error{Kind: errs.Failed, Message: s.Name + "/" + problem.Error(), Hints: errs.HintsOf(problem)})
	}
	if !bad {
		f.fine(fmt.Sprintf("session %s is %s%s", s.Name, st.Status, hooksSeen(st)))
	}
}

// atWrongPlace returns the error for an agent that runs where its pane and worktree are not, or
// whose work is not recorded; nil for another one.
func atWrongPlace(ctx context.Context, h *app.App, s *session.Session, a observe.AgentStatus) error {
	wrong := func(what string) *errs.Error { return errs.New(errs.Failed, "%s/%s: %s", s.Name, a.Record.Name, what) }
	again := fmt.Sprintf("paw stop %s %s --only && paw recover %s", s.Name, a.Record.Name, s.Name)
	switch {
	case a.Orphan && strings.HasPrefix(a.Reason, session.ReasonOtherMachine):
		return wrong(a.Reason).Hint("paw status %s", s.Name)
	case a.Orphan:
		return wrong(fmt.Sprintf("pid %d runs outside of tmux", a.PID)).Hint("%s", again)
	case a.WorktreeGone && a.PID != 0:
		return wrong("it runs, and "+session.ReasonWorktreeGone).Hint("%s", again)
	case a.HookLost != "" && a.PID != 0:
		return wrong(a.HookLost).Hint("%s", again)
	case a.Away:
		return wrong(a.Reason).Hint("%s", again)
	case a.Elsewhere:
		e := wrong(a.Reason)
		e.Hints = turns.OutsideLines(ctx, h.Agent(s, &a.Record))
		return e
	case a.Cause == session.CauseUnrecorded:
		return wrong(a.Reason).Hint("cat %s", errs.Quote(h.HookLog().Path))
	}
	return nil
}

// downAgents returns an error for each reason for which agents of an active session do not run.
func downAgents(s *session.Session, st observe.SessionStatus) (all []error) {
	var reasons []string
	down := map[string][]string{}
	for _, a := range st.Agents {
		suspended := a.State == session.StateSuspended || a.State == session.StateWaitingChildren && a.PID == 0
		meant := a.Record.Phase == session.PhaseStopped || a.Cause == session.CauseClosed
		if s.Status == session.StatusActive && suspended && !meant {
			if down[a.Reason] == nil {
				reasons = append(reasons, a.Reason)
			}
			down[a.Reason] = append(down[a.Reason], a.Record.Name)
		}
	}
	for _, reason := range reasons {
		all = append(all, errs.New(errs.Failed, "session %s: suspended (%s): %s", s.Name, reason, strings.Join(down[reason], ", ")).Hint("paw recover %s", s.Name))
	}
	return all
}

// examineRepository checks the worktree registrations and the trash.
func (f *findings) examineRepository(ctx context.Context, h *app.App, s *session.Session) {
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		f.wrong(err)
		return
	}
	if err := m.Registry().Unbared(); err != nil {
		f.wrong(app.Conflict(err))
	}
	for i := range s.Agents {
		if err := observe.RefuseMovedBranch(ctx, m, &s.Agents[i]); err != nil {
			f.wrong(fmt.Errorf("%s/%w", s.Name, err))
		}
	}
	entries, err := m.Registry().List(ctx)
	if err != nil {
		f.wrong(err)
		return
	}
	for _, e := range entries {
		switch {
		case e.Head != "" || e.Bare || e.Branch != "" && !e.Unregistered(): // a branch may have no commit
		case strings.HasPrefix(e.LockReason, app.OwnerPrefix):
			f.wrong(errs.New(errs.Failed, "%s: a half-made worktree registration, %s", s.RepoPath, e.AdminDir).Hint("paw recover %s", s.Name))
		case e.Path == "":
			f.fine(fmt.Sprintf("%s: another program has left a half-made worktree registration, %s", s.RepoPath, e.AdminDir), "git -C "+errs.Quote(s.RepoPath)+" worktree prune")
		default:
			f.fine(fmt.Sprintf("%s: another program has left a half-made worktree registration, %s", s.RepoPath, e.AdminDir), "ls -la "+errs.Quote(e.AdminDir))
		}
	}
	if line := app.LeftIn(m.Repository.CommonDir); line != "" {
		f.wrong(errs.New(errs.Failed, "%s: a git that was killed has left locks", s.RepoPath).Hint("%s", line))
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
	if kept, line := keptTrash(m); kept != "" {
		f.fine(kept, line...)
	}
	pack := "git -C " + errs.Quote(s.RepoPath) + " gc"
	f.grows(256*filesIn(filepath.Join(m.Repository.CommonDir, "objects", "17")), manyObjects, "loose objects, by one folder of 256, in "+s.RepoPath, pack)
	f.grows(filesIn(filepath.Join(m.Repository.CommonDir, "refs")), manyRefs, "loose refs in "+s.RepoPath, pack)
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
	_, err = m.Objects().TreeOf(ctx, "HEAD")
	if line := app.Trust(err); line != "" {
		f.wrong(errs.WithHints(err, line))
	}
	if tags, err := turns.AllTags(ctx, m); err != nil || len(tags) == 0 {
		return
	}
	shown, err := m.Remotes().Decorated(ctx, ownRefs...)
	if err != nil || len(shown) == 0 {
		return
	}
	if !fix {
		f.fine("turn tags show in git log", "paw doctor --fix")
	} else if err := m.Remotes().Undecorate(ctx, shown); err != nil {
		f.wrong(errs.WithHints(err, hideTags))
	} else {
		f.fine("git log no longer names turn tags: " + hideTags)
	}
}

package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/config/display"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
)

// holdHalfMade takes the locks of agents that a killed paw has left half made. An agent that another
// paw makes by now is left to that one.
func holdHalfMade(h *app.App, s *session.Session, jobs []Job, making *Making) {
	for i := range jobs {
		j := &jobs[i]
		if j.Worktree != WorktreeCreate || j.Kind == ResultRefused || making.holds(j.Agent) {
			continue
		}
		if err := making.Hold(h, s.Name, j.Agent); err != nil {
			j.Kind, j.Worktree, j.Reason = ResultAlive, WorktreeKeep, session.ReasonMade
		}
	}
}

// planSetUps decides which launchers set their worktrees up: those that were just checked out, and
// those whose set-up has not completed. Where nothing is to be copied or run, and for an agent
// without a pane, this process does it.
func planSetUps(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, jobs []Job) {
	for i := range jobs {
		j := &jobs[i]
		if !j.Starts() && !j.headless() {
			continue
		}
		a := h.Agent(s, s.Agent(j.Agent)).In(m)
		switch {
		case a.Record.Here:
		case j.Worktree == WorktreeKeep && !m.Setups().Unprepared(a.Record.WorktreePath):
		case !j.headless() && !m.Setups().Nothing(a.Setup(nil)):
			j.setUp = &m.Repository
		default:
			j.Notes = append(j.Notes, SetUp(ctx, a)...)
		}
	}
}

// HoldForSetUp keeps other commands away from an agent while paw setup prepares its worktree. If the agent's CLI does not run, it
// takes the lock that a running CLI holds: paw status shows a set-up then, and no other command starts the CLI or a
// turn. A CLI that runs has that lock itself; then only another set-up is kept away.
func HoldForSetUp(a app.Agent, running live.Running) (release func(), err error) {
	if running != live.NothingRuns {
		making := Making{}
		return making.Release, making.Hold(a.App, a.Session.Name, a.Record.Name)
	}
	holder, err := session.ThisProcess()
	if err != nil {
		return nil, err
	}
	holder.Generation, holder.SetUp = a.Session.Generation, setUpWords(a.Setup(nil).Command)
	_, release, err = a.App.Locks.HoldForTurn(a.Session.Name, a.Record.Name, holder)
	if locked, ok := errors.AsType[*session.LockedError](err); ok {
		err = errs.New(errs.Locked, "%w", locked).Hint("paw status %s", a.Session.Name)
	}
	return release, err
}

// SetUp prepares the worktree of one agent in this process, reports the output of the set-up command
// as progress, and returns a note for each problem.
func SetUp(ctx context.Context, a app.Agent) (notes []string) {
	lines := &cli.LineWriter{Each: func(line []byte) { a.App.Sayf("%s | %s", a.Record.Name, line) }}
	setup := a.Setup(lines)
	setup.Copied = func(all []string) { a.App.Sayf("%s: %s", a.Record.Name, copiedWords(all)) }
	failed := ""
	for _, problem := range a.Repo.Setups().SetUp(ctx, a.Record.WorktreePath, setup) {
		note := problem.String()
		if problem.Err != nil {
			failed = display.OneLine(problem.What)
			note += fmt.Sprintf(" (%s runs it again)", errs.Line("paw setup %s/%s", a.Session.Name, a.Record.Name))
		}
		notes = append(notes, note)
	}
	lines.Flush()
	if ctx.Err() != nil {
		return []string{fmt.Sprintf("its set-up was interrupted (%s runs it again)", errs.Line("paw setup %s/%s", a.Session.Name, a.Record.Name))}
	}
	if failed != a.Record.SetUpFailed {
		if err := a.App.UpdateAgent(ctx, a.Session.Name, a.Record.Name, func(w *session.Agent) { w.SetUpFailed = failed }); err != nil {
			notes = append(notes, "not recorded: "+err.Error())
		}
	}
	if setup.Command == "" {
		return notes
	}
	found, problems := a.App.Found(a.Session.Name, a.Record.Name)
	if len(found) > 0 {
		a.App.Sayf("%s: set-up has set %s", a.Record.Name, strings.Join(slices.Sorted(maps.Keys(found)), ", "))
	}
	return append(notes, problems...)
}

// restoreWorktree makes a missing worktree again, and notes the outcome in the job.
func restoreWorktree(ctx context.Context, a app.Agent, j *Job) {
	more, err := recordRestore(ctx, a) // turn of which files come back by a rewind
	if err != nil {
		j.Refuse(err)
		return
	}
	rescue, err := a.Repo.Restore(ctx, app.PlanOf(a.Session, *a.Record), a.App.Step)
	if err != nil {
		j.Refuse(app.Conflict(err))
		return
	}
	j.Notes = append(j.Notes, fmt.Sprintf("its worktree was missing and was checked out again from %s; files that were not committed are not in it", a.Record.Branch))
	if more > 0 {
		j.Notes = append(j.Notes, fmt.Sprintf("files that were not committed at the end of turn %d come back with: %s", more, errs.Line("paw rewind %s/%s %d", a.Session.Name, a.Record.Name, more)))
	}
	if rescue != "" {
		j.Notes = append(j.Notes, "what it had staged is kept in "+rescue)
	}
	a.App.Step("worktree.restored")
}

// recordRestore records, before a worktree is checked out again from its branch, to which of the
// agent's turns the files go back, the newest whose files are all in commits of the branch: what was
// not committed will be missing without anybody having deleted it. It returns the number of the last
// turn if the turn's snapshot has uncommitted work on top of the branch, else 0.
func recordRestore(ctx context.Context, agent app.Agent) (more int, err error) {
	list, _, err := turns.List(ctx, agent)
	if err != nil {
		return 0, err
	}
	tip, err := agent.Repo.Refs().Tip(ctx, agent.Record.Branch)
	if err != nil {
		return 0, err
	}
	to, last := 0, 0
	for _, one := range slices.Backward(list.Turns) {
		last = max(last, one.Number)
		if one.After == "" || tip == "" {
			continue
		}
		there, err := agent.Repo.Objects().Contains(ctx, tip, one.After)
		if err != nil {
			return 0, err
		}
		if there {
			to = one.Number
			break
		}
		if one.Number == last {
			if parent, err := agent.Repo.Refs().Head(ctx, one.After+"^"); err == nil && parent == tip {
				more = one.Number
			}
		}
	}
	err = wentBack(ctx, agent, tip, to)
	agent.App.Step("worktree.restore-recorded")
	return more, err
}

// wentBack makes the state of an agent that has the files of its branch's tip the newest one, else the end of
// a turn.
func wentBack(ctx context.Context, agent app.Agent, tip string, number int) error {
	c, err := turns.ChainOf(ctx, agent)
	if err != nil || tip == "" {
		return err
	}
	now, err := c.WithFiles(ctx, tip)
	if now = cmp.Or(now, c.End(number)); now == "" || err != nil {
		return err
	}
	return c.Moved(ctx, now, tip)
}

// lastCommitOf returns the newest known commit of an agent: the last HEAD of its worktree, else the
// commit at the end or begin of its last turn, else its base.
func lastCommitOf(h *app.App, entries []worktree.Entry, s *session.Session, w session.Agent) string {
	for _, e := range entries {
		if e.Path == w.WorktreePath && e.LastHead() != "" {
			return e.LastHead()
		}
	}
	if last, err := h.TurnDir(s.Name, w.Name).Last(); err == nil && last != nil {
		return cmp.Or(last.CommitHash, last.StartCommit, w.BaseCommit)
	}
	return w.BaseCommit
}

// WayBack returns the commands that help when something else is in the place of an agent's worktree. The
// first one repairs a worktree whose .git file is gone; paw cannot tell that from a folder which somebody has made there, so that the
// second one moves the folder away.
func WayBack(s *session.Session, w *session.Agent) (lines []string) {
	path := errs.Quote(w.WorktreePath)
	info, err := os.Lstat(filepath.Join(w.WorktreePath, ".git"))
	target, linked := gitdir.Target(filepath.Join(w.WorktreePath, ".git"))
	switch {
	case err != nil, linked == nil && !disk.Exists(target): // a foreign folder, or one that git has forgotten
		files, _ := filepath.Glob(filepath.Join(s.GitCommonDir, "worktrees", "*", "gitdir"))
		if slices.ContainsFunc(files, func(file string) bool { return gitdir.Line(file) == filepath.Join(w.WorktreePath, ".git") }) {
			lines = []string{fmt.Sprintf("git -C %s worktree repair && paw recover %s", errs.Quote(s.RepoPath), s.Name)}
		}
		return append(lines, fmt.Sprintf("mv %s %s && paw recover %s", path, errs.Quote(w.WorktreePath+".aside"), s.Name))
	case info.IsDir(): // another repository
		return []string{fmt.Sprintf("paw remove %s/%s --keep-worktree", s.Name, w.Name)}
	}
	return []string{fmt.Sprintf("git -C %s worktree repair %s", errs.Quote(s.RepoPath), path)}
}

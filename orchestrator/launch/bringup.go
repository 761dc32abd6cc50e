// Package launch starts and ends agents: from a plan of jobs over worktrees, tags and set-up to the
// panes, and from there, inside the pane, to the CLI.
//
// BringUp carries out jobs; PlanRecover makes the jobs of agents that ran before (recover_plan.go
// is the pure table). A launch is written to a file; the launcher in the pane (exec.go) reads and
// deletes the file and becomes the CLI. EndAgents ends running agents; UndoStart and UndoAdd take
// back agents that never started. The package may import orchestrator/app, observe, turns and
// typing. Begin with bringup.go.
package launch

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/config/poll"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/errs"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
	"paw/worktree"
	"paw/worktree/gitdir"
	"paw/worktree/refs"
)

// BringUp makes the worktrees of the jobs and starts their agents. It may be repeated: it leaves
// what already exists unchanged.
//
// making has the locks of the agents that the caller has added to the record. BringUp adds the locks
// of agents that a killed paw has left half made, and releases all locks once the panes are recorded.
// After an error the locks stay: the caller takes back what was made, and then releases them.
func BringUp(ctx context.Context, h *app.App, s *session.Session, jobs []Job, making *Making) (*session.Session, []Result, error) {
	holdHalfMade(h, s, jobs, making)
	m, err := h.ManagerOf(ctx, s)
	if err != nil {
		return s, nil, err
	}
	panes := slices.ContainsFunc(jobs, func(j Job) bool { return !j.headless() })
	var reserved *reservation
	if panes && s.Generation == 0 {
		reserved = reserve(ctx, h, s)
		defer reserved.withdraw(ctx)
	}
	if err := prepareWorktrees(ctx, h, m, s, jobs); err != nil {
		return s, nil, err
	}
	if s, err = settleHeadless(ctx, h, s, jobs); err != nil || !panes {
		if err == nil {
			making.Release()
		}
		return s, ResultsOf(s, jobs), err
	}
	starting := pointersTo(jobs)
	if s, err = openPanes(ctx, h, s, starting, reserved); err != nil {
		return s, nil, err
	}
	making.Release()
	h.Step("panes.recorded")
	awaitLaunches(ctx, h, s, starting)
	awaitSetUps(ctx, h, s, starting)
	refuseEnded(ctx, h, s, starting)
	if s, err = startRefused(ctx, h, s, starting); err != nil {
		return s, nil, err
	}
	sendNext(ctx, h, s, starting)
	return s, ResultsOf(s, jobs), nil
}

// prepareWorktrees creates and restores the worktrees that the jobs ask for.
func prepareWorktrees(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, jobs []Job) error {
	warnings, err := createWorktrees(ctx, h, m, s, jobs)
	if err != nil {
		return err
	}
	if err := keepOrigins(ctx, h, m, s, jobs); err != nil {
		return err
	}
	for i := range jobs {
		j := &jobs[i]
		if warnings[j.Agent] != "" {
			j.Notes = append(j.Notes, warnings[j.Agent])
		}
		w := s.Agent(j.Agent)
		if j.Kind != ResultRefused && j.Worktree == WorktreeCreate {
			restoreOrigin(ctx, h, m, w, j)
		}
		if j.Kind != ResultRefused && j.Worktree == WorktreeRestore {
			restoreWorktree(ctx, h.Agent(s, w).In(m), j)
		}
	}
	planSetUps(ctx, h, m, s, jobs)
	return nil
}

// createWorktrees makes the worktrees of new agents, and returns warnings by agent. In one
// transaction with the branches it tags their bases as turn 0 and makes the owner refs: of several
// sessions with the same names only one gets them. An existing tag is an error, unless an
// interrupted run of the same session left it.
func createWorktrees(ctx context.Context, h *app.App, m *worktree.Manager, s *session.Session, jobs []Job) (warnings map[string]string, err error) {
	var plans []worktree.Plan
	for _, j := range jobs {
		if j.Kind == ResultRefused || j.Worktree != WorktreeCreate {
			continue
		}
		w := s.Agent(j.Agent)
		plan := app.PlanOf(s, *w)
		if plan.Refs, err = missingStarts(ctx, m, s, w); err != nil {
			return nil, err
		}
		// The folder marks the owner of the tag when there is no record any more (loggedAgents).
		if err := os.MkdirAll(h.TurnDir(s.Name, w.Name).Path, 0o700); err != nil {
			return nil, err
		}
		if w.Here {
			if err := takeUsers(ctx, m, plan); err != nil {
				return nil, err
			}
			continue
		}
		plans = append(plans, plan)
	}
	if len(plans) == 0 {
		return nil, nil
	}
	if here, err := gitdir.Discover(h.Dir); err == nil && here.Worktree != "" && disk.SamePath(here.CommonDir, s.GitCommonDir) {
		for i := range plans {
			plans[i].Beside = here.Worktree
		}
	}
	made, err := m.Create(ctx, plans, h.Step)
	for _, plan := range plans {
		if err == nil {
			break
		}
		if _, taken := missingStarts(ctx, m, s, s.Agent(plan.Agent)); taken != nil {
			return nil, taken // another session was faster
		}
	}
	warnings = map[string]string{}
	for _, one := range made {
		warnings[one.Agent] = one.Warning
	}
	return warnings, app.Conflict(err)
}

// takeUsers makes the refs of an agent that works in a worktree of the user's, which is left as it is.
func takeUsers(ctx context.Context, m *worktree.Manager, plan worktree.Plan) error {
	if err := gitdir.Verify(plan.Path, m.Repository.CommonDir, plan.Branch); err != nil {
		return errs.New(errs.Refused, "%s: %w", plan.Agent, err).Hint("git worktree list")
	}
	var changes []refs.Change
	for ref, oid := range plan.Refs {
		changes = append(changes, refs.Change{Ref: ref, To: oid, From: refs.None})
	}
	if len(changes) == 0 {
		return nil
	}
	return m.Refs().Apply(ctx, changes)
}

// settleHeadless records that agents without a pane are ready.
func settleHeadless(ctx context.Context, h *app.App, s *session.Session, jobs []Job) (*session.Session, error) {
	var complete []string
	for _, j := range jobs {
		if j.headless() {
			complete = append(complete, j.Agent)
		}
	}
	if len(complete) == 0 {
		return s, nil
	}
	saved, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, name := range complete {
			if w := rec.Agent(name); w != nil && w.Phase == session.PhaseCreating {
				w.Phase = session.PhaseStopped
			}
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	h.Step("run.agent-made")
	return saved, nil
}

// resumeGrace is how long recover watches a CLI that resumes a conversation which paw could not
// look up: a CLI without the conversation says so and exits within two seconds.
const resumeGrace = 3 * time.Second

// resumePatience is how long recover watches a CLI that refused the conversation before: gemini
// needs eight seconds to refuse on an idle machine. The watch ends early when the CLI shows that it
// has opened the conversation.
const resumePatience = 40 * time.Second

// startRefused starts the agents fresh whose CLI refused its conversation. The refused id stays in
// the record, and the CLI's words become the reason.
func startRefused(ctx context.Context, h *app.App, s *session.Session, jobs []*Job) (*session.Session, error) {
	var again []*Job
	for _, j := range jobs {
		if !j.launched() || j.Kind != ResultResumed || !j.unverified {
			continue
		}
		if reason, refused := refusedResume(ctx, h, s, j); refused {
			j.Kind, j.Reason, j.setUp = ResultFresh, reason, nil
			if cli, err := h.CLIOf(s.Agent(j.Agent)); err == nil {
				j.planned, j.NewID = s.Agent(j.Agent).Conversation(), cli.NewConversation()
			}
			again = append(again, j)
		}
	}
	if len(again) == 0 {
		return s, nil
	}
	if _, err := h.Update(ctx, s.Name, func(rec *session.Session) error {
		for _, j := range again {
			Intend(rec.Agent(j.Agent), *j)
		}
		return nil
	}); err != nil {
		return s, err
	}
	s, err := openPanes(ctx, h, s, again, nil)
	if err == nil {
		awaitLaunches(ctx, h, s, again)
	}
	return s, err
}

// opened waits until an agent that refused its conversation before has opened it (a hook reported,
// or the screen shows a dialog, or an input box at rest: no turn runs yet) or no longer runs, and
// reports whether it opened.
func opened(ctx context.Context, h *app.App, s *session.Session, name string) bool {
	shown := false
	poll.Until(ctx, 20*poll.Tick, resumePatience, func() bool {
		f, err := observe.With(ctx, h, s, observe.AskTmux(h), observe.WhereUnknown)
		if err != nil {
			return false
		}
		a := f.Agent(name)
		screen := a.Turns.Screen
		shown = !a.Turns.HooksSeen.IsZero() || screen.Box != cli.BoxUnseen && !screen.Works || screen.Dialog != ""
		return shown || f.Running(*a) == live.NothingRuns
	})
	return shown
}

// refusedResume watches an agent that was just resumed. It returns true and the reason when the CLI
// exits with an error right away.
func refusedResume(ctx context.Context, h *app.App, s *session.Session, j *Job) (string, bool) {
	name := j.Agent
	if j.refusedBefore && opened(ctx, h, s, name) || observe.Outlives(ctx, h, s, name, resumeGrace) {
		return "", false
	}
	f, err := observe.Observe(ctx, h, s)
	if err != nil {
		return "", false
	}
	a := f.Agent(name)
	if a == nil || a.Pane == nil || !a.Pane.Dead || (a.Pane.ExitCode != nil && *a.Pane.ExitCode == 0) {
		return "", false
	}
	reason := fmt.Sprintf("%s refused conversation %s", a.Record.CLI, a.Record.Conversation())
	if said := lastOutput(ctx, h, s, a.Pane.ID); said != "" {
		reason += ": " + said
	}
	return reason, true
}

// lastOutput returns the last line of the program in a dead pane that begins with "error", else its last line; "" when tmux closed
// the terminal before it had read the line, which is lost then.
func lastOutput(ctx context.Context, h *app.App, s *session.Session, paneID string) string {
	screen, err := h.TmuxFor(s).CaptureTail(ctx, paneID, 20)
	if err != nil {
		return ""
	}
	return whatFailed(screen)
}

// whatFailed reads the end of a screen: a backtrace may stand behind the error.
func whatFailed(screen string) (last string) {
	for _, line := range slices.Backward(strings.Split(screen, "\n")) {
		switch line = strings.TrimSpace(line); {
		case strings.HasPrefix(line, "Pane is dead"), strings.Contains(line, "paw recover"): // added by tmux and by paw
		case strings.HasPrefix(strings.ToLower(line), "error"):
			return line
		case last == "":
			last = line
		}
	}
	return last
}

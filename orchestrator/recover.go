package orchestrator

import (
	"context"
	"errors"
	"slices"

	"paw/orchestrator/app"
	"paw/orchestrator/children"
	"paw/orchestrator/errs"
	"paw/orchestrator/landing"
	"paw/orchestrator/launch"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/orchestrator/queue"
	"paw/orchestrator/teardown"
	"paw/orchestrator/turns"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
)

// RecoverOptions selects what to recover.
type RecoverOptions struct {
	Name   string
	Agents []string // only these agents of the named session, none for all of them
	All    bool
	DryRun bool
	// AllAgents brings back also those beyond the number of agents that may run at the same time.
	AllAgents bool
	before    int  // agents that a dry run of sessions before this one would have started
	later     int  // agents of sessions after this one whose turns were cut
	mended    bool // after paw setup: the user looks at these agents, and the queue need not wait
}

// startMended starts agents whose set-up had failed, and is done by now.
func startMended(ctx context.Context, h *app.App, name string, agents []string) error {
	s, err := h.Load(name)
	if err != nil {
		return err
	}
	agents = slices.DeleteFunc(agents, func(agent string) bool {
		w := s.Agent(agent)
		stopped := w == nil || w.Phase.Stop() || s.Status == session.StatusStopped
		if stopped {
			h.Sayf("%s: was stopped meanwhile", agent)
		}
		return stopped
	})
	if len(agents) == 0 {
		return nil
	}
	recovered, err := recoverSession(ctx, h, s, RecoverOptions{Name: name, Agents: agents, mended: true})
	if err != nil {
		return err
	}
	for _, one := range recovered.Results {
		switch {
		case one.Kind == launch.ResultRefused:
			err = errs.New(errs.Failed, "%s: not started: %s", one.Agent, one.Reason).Hint("paw recover %s %s", name, one.Agent)
		case slices.Contains(agents, one.Agent):
			h.Sayf("%s: its CLI starts", one.Agent)
		}
	}
	return err
}

// Recovered is the result of a recover for one session.
type Recovered struct {
	Session *session.Session
	Results []launch.Result
	Left    string // why the session was left alone, "" when the session was recovered
	Err     error  // why the session could not be recovered, while the recover of the others went on

	Unfinished []string // interrupted landings and moves of files that could not be finished
}

// Recover starts the agents of sessions again, in panes as before and in the conversations of their
// CLIs. It starts no agent twice, deletes nothing, and sends no prompt but those that an agent has
// never got. Unreadable records come back as problems beside the sessions that can be read.
func Recover(ctx context.Context, h *app.App, o RecoverOptions) (all []Recovered, problems []error, err error) {
	if err := h.RequireTools(ctx); err != nil {
		return nil, nil, err
	}
	sessions, problems, err := selectSessions(h, StatusOptions{Name: o.Name, All: o.All})
	if err != nil {
		return nil, problems, err
	}
	if len(o.Agents) > 0 {
		if err := app.RequireAgents(sessions[0], o.Agents...); err != nil {
			return nil, problems, err
		}
	}
	if o.Name == "" {
		finished, err := finishFar(ctx, h, o)
		if err != nil || finished && len(sessions) == 0 {
			return nil, problems, err
		}
	}
	if len(sessions) == 0 && !o.All {
		if err := h.Place().Unreadable(); err != nil {
			return nil, problems, err
		}
		return nil, problems, errs.New(errs.NotFound, "no session here").Hint("paw status --all")
	}
	for i, s := range sessions {
		o.later = cutIn(h, sessions[i+1:])
		one, err := recoverSession(ctx, h, s, o)
		if err != nil && (len(sessions) == 1 || ctx.Err() != nil) {
			return all, problems, err
		}
		if err != nil { // one session that fails does not keep the others from being recovered
			one = Recovered{Session: s, Err: err}
		} else if !o.DryRun {
			one.Unfinished = unfinished(ctx, h, one.Session)
		} else {
			for _, result := range one.Results {
				if result.Starts() {
					o.before++
				}
			}
		}
		all = append(all, one)
	}
	return all, problems, nil
}

// unfinished names the interrupted landings and moves of files that a recover has left in a session.
func unfinished(ctx context.Context, h *app.App, s *session.Session) []string {
	left := landing.CutShort(ctx, h, s)
	if len(left) == 0 {
		return nil
	}
	if now, err := h.Load(s.Name); err == nil { // finished landings are in the record alone
		left = landing.CutShort(ctx, h, now)
	}
	return left
}

// recoverSession recovers one session. With o.DryRun it returns what it would do now, and changes
// nothing.
func recoverSession(ctx context.Context, h *app.App, s *session.Session, o RecoverOptions) (Recovered, error) {
	if err := finishMoves(ctx, h, s, o.DryRun); err != nil {
		return Recovered{}, err
	}
	var err error
	if s.Status == session.StatusStopped && o.Name == "" {
		if !o.DryRun {
			err = finishStop(ctx, h, s)
		}
		return Recovered{Session: s, Left: "stopped; " + errs.Line("paw recover %s", s.Name) + " brings it back"}, err
	}
	if app.Gone(s) && !o.DryRun {
		if s, err = adopt(ctx, h, s); err != nil {
			return Recovered{}, err
		}
	}
	if _, err := h.ManagerOf(ctx, s); err != nil {
		return Recovered{}, err
	}
	if h, err = h.ConfiguredFor(s); err != nil {
		return Recovered{}, err
	}
	var finished []launch.Result
	look := observe.Observe
	if !o.DryRun {
		if s, finished, err = finishCutShort(ctx, h, s); err != nil {
			return Recovered{}, err
		}
		look = observe.Revived
	}
	f, err := look(ctx, h, s)
	if err == nil {
		f, err = observe.AwaitDying(ctx, h, f)
	}
	if o.DryRun {
		f, finished = withoutRemovals(ctx, h, f)
	} else if err == nil {
		err = repair(ctx, h, f)
	}
	if err != nil {
		return Recovered{}, err
	}
	jobs, err := planJobs(ctx, h, f, o)
	if err != nil {
		return Recovered{}, err
	}
	if o.DryRun {
		waits, err := children.WaitsOf(ctx, h, s, observe.AskTmux(h))
		return Recovered{Session: s, Results: append(finished, children.WithWaits(launch.Foretold(ctx, h, s, jobs), waits)...)}, err
	}
	leaveToQueue(h, s.Name, jobs)
	for _, text := range observe.StrayPrompts(h, s) {
		h.Notef("%s", text)
	}
	refuseUnready(ctx, h, f, jobs)
	recovered, err := bringBack(ctx, h, f, jobs, !o.mended)
	recovered.Results = append(finished, recovered.Results...)
	return recovered, err
}

// requeue leaves the prompts that are kept for agents to the user, where an earlier one may have reached a CLI that has ended
// since. The prompts of tasks are the queue's.
func requeue(h *app.App, f observe.Facts) {
	for _, a := range f.Agents {
		if a.Lock.State != session.LockFree || queue.Begins(h, f.Session.Name, a.Record.Name) {
			continue
		}
		if err := h.Texts().Requeue(f.Session.Name, a.Record.Name); err != nil {
			h.Notef("%s: %v", a.Record.Name, err)
		}
	}
}

// planJobs plans what becomes of the agents; it refuses where more are named than may run.
func planJobs(ctx context.Context, h *app.App, f observe.Facts, o RecoverOptions) ([]launch.Job, error) {
	if !o.DryRun {
		requeue(h, only(f, o.Agents))
	}
	jobs, err := launch.PlanRecover(ctx, h, only(f, o.Agents), o.Name != "")
	if err == nil {
		launch.GiveFirst(h, f.Session, jobs)
		nameCut(ctx, h, f, jobs)
		namePorts(f.Session, jobs)
		err = leaveOver(h, f.Session, jobs, o)
	}
	return jobs, err
}

// leaveToQueue takes the first prompts of tasks that wait or have failed from the jobs: the queue has their texts, and types
// them.
func leaveToQueue(h *app.App, sessionName string, jobs []launch.Job) {
	for i := range jobs {
		j := &jobs[i]
		if j.Prompt == "" {
			continue
		}
		if t := queue.TaskWith(h, sessionName, j.Agent, j.Prompt); t != nil {
			who := "the queue"
			if t.State == session.TaskFailed {
				who = errs.Line("paw queue retry %s", t.ID)
			}
			h.Sayf("%s: its prompt is that of task %s; %s types it", j.Agent, t.ID, who)
			j.Prompt = ""
			j.Notes = slices.DeleteFunc(j.Notes, func(note string) bool { return note == launch.NoteFirst })
			h.Texts().DropPrompt(sessionName, j.Agent)
		}
	}
}

// nameCut adds to the job of each agent that will start a note about its interrupted or failed
// turn, and about prompts that its CLI had queued: recover sends no prompt again.
func nameCut(ctx context.Context, h *app.App, f observe.Facts, jobs []launch.Job) {
	for i := range jobs {
		j, a := &jobs[i], f.Agent(jobs[i].Agent)
		if a == nil || !j.Starts() {
			continue
		}
		last, err := h.TurnDir(f.Session.Name, j.Agent).Last()
		if cut := turns.CutOf(ctx, h, f, *a); cut != nil && last != nil && last.State == turn.InProgress {
			last = cut
		}
		why := live.Unfinished(last)
		if err != nil || why != "" && last.Number <= a.Record.SeenCut {
			continue
		}
		if why != "" {
			j.CutTurn, j.Notes = last.Number, append(j.Notes, why)
		}
		if queued := app.StillQueued(f.Session.Name, j.Agent, h.Texts().QueuedPrompts(f.Session.Name, j.Agent)); queued != "" {
			j.Notes = append(j.Notes, queued)
		}
	}
}

// refuseUnready refuses the jobs that would start a CLI between files that a move has left half
// moved, where finishMoves has said what leads on, or while another paw sets the worktree up.
func refuseUnready(ctx context.Context, h *app.App, f observe.Facts, jobs []launch.Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Starts() {
			err := observe.RefuseHalfMoved(ctx, h, f.Session, j.Agent)
			if a := f.Agent(j.Agent); err == nil && a != nil && a.Record.Phase != session.PhaseCreating {
				err = launch.RefuseMade(h, f.Session.Name, j.Agent)
			}
			if err != nil {
				*j = launch.Job{Result: launch.Result{Agent: j.Agent, CLI: j.CLI, Notes: j.Notes}}
				j.Refuse(err)
			}
		}
	}
}

// only returns the facts about the named agents, or about all of them if none is named.
func only(f observe.Facts, names []string) observe.Facts {
	if len(names) > 0 {
		f.Agents = slices.DeleteFunc(f.Agents, func(a observe.Agent) bool { return !slices.Contains(names, a.Record.Name) })
	}
	return f
}

// bringBack writes the jobs of a recover into the record and carries them out. With hold, the queue waits until the
// user has seen what came back.
func bringBack(ctx context.Context, h *app.App, f observe.Facts, jobs []launch.Job, hold bool) (Recovered, error) {
	name, nothing := f.Session.Name, launch.NothingToDo(f, jobs)
	s, err := h.Update(ctx, name, func(rec *session.Session) error {
		rec.Status = session.StatusActive
		for _, j := range jobs {
			launch.Intend(rec.Agent(j.Agent), j)
		}
		if nothing {
			launch.RecordAlive(rec, f, jobs)
		}
		return nil
	})
	if err != nil {
		return Recovered{}, err
	}
	h.Step("recover.recorded")
	results := launch.ResultsOf(s, jobs)
	var making launch.Making
	defer making.Release()
	if !nothing {
		s, results, err = launch.BringUp(ctx, h, s, jobs, &making)
	}
	for _, j := range jobs {
		if j.Kind == launch.ResultAlive {
			typing.SendLater(h, name, j.Agent) // the process that was to type them may be gone
		}
	}
	if err != nil {
		stopAgain(context.WithoutCancel(ctx), h, f, jobs)
	}
	if errors.Is(err, turns.ErrNameTaken) {
		return Recovered{}, errs.WithHints(err, "paw purge "+name)
	}
	if err != nil {
		return Recovered{}, err
	}
	if !nothing && hold {
		noteQueue(h, name, queue.HoldAll(ctx, h, name, "recover"))
	}
	queue.Wake(h, name, 0, false)
	waits, err := children.ResumeWaits(ctx, h, s, observe.AskTmux(h))
	if err != nil {
		return Recovered{}, err
	}
	return Recovered{Session: s, Results: children.WithWaits(results, waits)}, nil
}

// stopAgain stops the agents that were stopped before a recover that failed, so that their state is
// not taken for a crash.
func stopAgain(ctx context.Context, h *app.App, f observe.Facts, jobs []launch.Job) {
	var stopped []string
	for _, j := range jobs {
		if a := f.Agent(j.Agent); a != nil && j.Starts() && a.Record.Phase == session.PhaseStopped {
			stopped = append(stopped, j.Agent)
		}
	}
	s, err := h.Store.Load(f.Session.Name)
	if err != nil || s == nil || len(stopped) == 0 {
		return
	}
	o := teardown.StopOptions{Agents: stopped, Only: true}
	if f.Session.Status == session.StatusStopped {
		o = teardown.StopOptions{}
	}
	_, _ = Stop(ctx, h, s, o) // the caller reports the error of the recover
}

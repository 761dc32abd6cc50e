package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"time"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/checks"
	"paw/orchestrator/hosts"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
	"paw/session/turn"
)

// desk gives the view in package ui its facts, and runs commands for it.
type desk struct {
	app      *invocation
	home     *app.App
	commands sync.WaitGroup

	mu     sync.Mutex
	all    bool
	watch  *orchestrator.Watch
	doing  *orchestrator.Doings
	feeds  *hostFeeds
	news   chan struct{} // receives a value when a host has answered
	looked func()        // called after each look; nil for nothing
}

func newDesk(a *invocation, h *app.App, all bool) *desk {
	d := &desk{app: a, home: h, news: make(chan struct{}, 1), doing: orchestrator.NewDoings(h)}
	d.ShowAll(all)
	return d
}

// ShowAll makes Look return the sessions of all repositories, or only those of the current
// directory.
func (d *desk) ShowAll(all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.close()
	d.all, d.watch = all, orchestrator.NewWatch(d.home, orchestrator.StatusOptions{All: all, Closely: true})
	d.feeds = followHosts(d.home, all, d.news)
}

// close ends the watch on this machine and on the hosts.
func (d *desk) close() {
	if d.watch != nil {
		d.feeds.close()
	}
}

// Changed reports whether paw or a host has written anything since the last look.
func (d *desk) Changed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.watch.Changed() || d.feeds.changed()
}

// Look returns the present state of all agents.
func (d *desk) Look(ctx context.Context) (ui.Board, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	statuses, problems, err := d.watch.Look(ctx)
	if err != nil {
		return ui.Board{}, err
	}
	board := ui.Board{Place: d.place(statuses), Queues: queueLines(ctx, d.home, statuses)}
	for _, st := range statuses {
		marks := orchestrator.LandMarks(st.Session)
		running, checked := checks.RunningIn(d.home, st.Session)
		for i := range st.Agents {
			row := deskAgent(st, i)
			row.Lands = marks[i]
			if checked && row.Name == running.Agent {
				row.State, row.Colour, row.Since = running.What, stateColours[string(session.StateRunning)], running.Since
				row.About = display.OneLine(fmt.Sprintf("check %d of %d: %s", running.Number, running.Of, running.Command))
			}
			board.Agents = append(board.Agents, row)
		}
		for _, one := range orchestrator.HappenedIn(st) {
			name := one.Agent
			if len(statuses) > 1 {
				name = st.Session.Name + "/" + name
			}
			board.Events = append(board.Events, ui.Event{At: one.At, Text: name + " " + one.What, Bad: one.Bad})
		}
	}
	d.addHosts(&board, d.feeds.now(), d.home.Now())
	for _, problem := range problems {
		board.Problems = append(board.Problems, display.OneLine(problem.Error()))
	}
	if d.looked != nil {
		d.looked()
	}
	return board, nil
}

// place names the sessions that are shown.
func (d *desk) place(statuses []observe.SessionStatus) string {
	if d.all {
		return "all sessions"
	}
	if len(statuses) == 1 {
		return statuses[0].Session.Name + "  " + shortened(statuses[0].Session.RepoPath)
	}
	return shortened(d.home.Dir)
}

// deskAgent makes the desk's row for the i-th agent of a session.
func deskAgent(st observe.SessionStatus, i int) ui.Agent {
	ag := st.Agents[i]
	w := ag.Record
	row := ui.Agent{
		Session: st.Session.Name, Name: w.Name, Number: st.Session.Number(i), Parent: w.Parent, CLI: w.CLI, Branch: display.OneLine(w.Branch), Group: ui.Group(orchestrator.GroupOf(ag)),
		State: ag.InWords(), Colour: stateColours[colourOf(ag.AgentStatus)], Turn: turnNumber(&ag),
		Prompt: display.OneLine(ag.Prompt), Asks: ag.State == session.StateWaitingInput, Cut: ag.CutTurn != 0, Failed: ag.State == session.StateError, Dead: ag.State == session.StateSuspended && ag.Cause == session.CauseOther && st.Status != session.StatusActive, Pull: display.OneLine(w.PullRequest),
		Ended: fmt.Sprint(ag.LastTag, ag.LastTurn, ag.CurrentTurn == 0, len(st.Session.Landings)),
	}
	if ag.Since != nil {
		row.Since = *ag.Since
	}
	if row.Group == ui.NeedsYou && !row.Asks {
		row.Urgency = 1
	}
	if ag.PaneAlive != nil && ag.PaneID != "" {
		row.Pane = ag.PaneID
	}
	row.Exited = row.Failed && row.Pane != "" && ag.LockFree() && len(st.Seen.Agents) > 0 // the lock of another machine's agent is not known
	if len(st.Seen.Agents) > 0 && ag.State == session.StateRunning {                      // a turn that is held only waits for subagents
		last := st.Seen.Agents[i].Turns.Last
		row.Runs = last != nil && last.State == turn.InProgress && last.Held == nil
	}
	row.About = headline(ag.Prompt)
	if reason := display.OneLine(ag.Reason); reason != "" && ag.Cause != session.CauseStopped && ag.Cause != session.CauseClosed && ag.Cause != session.CauseTurnCut {
		if row.About != "" && ag.Reason == session.ReasonCrash {
			reason += ": " + row.About
		}
		row.About = reason
	}
	row.Mark = fmt.Sprint(row.Ended, ag.State, ag.ToReview)
	return row
}

// Screen returns the text of an agent's pane.
func (d *desk) Screen(ctx context.Context, a ui.Agent) (string, error) {
	s, err := d.home.Load(a.Session)
	if err != nil {
		return "", err
	}
	return orchestrator.Screen(ctx, d.home, s, a.Pane)
}

// Doing returns what agents in a turn do. Only one call may run at once.
func (d *desk) Doing(ctx context.Context, agents []ui.Agent) map[string]ui.Doing {
	names := map[string][]string{}
	for _, a := range agents {
		names[a.Session] = append(names[a.Session], a.Name)
	}
	found := map[string]ui.Doing{}
	for session, names := range names {
		doing, _ := d.doing.Of(ctx, session, names) // after an error nothing is known
		for name, one := range doing {
			found[session+"/"+name] = ui.Doing(one)
		}
	}
	return found
}

// mostPairs limits the agents of a session for which the desk forecasts unasked whose work conflicts
// with whose: that merges each pair of agents.
const mostPairs = 24

// Forecasts returns the forecasts for all agents of a session.
func (d *desk) Forecasts(ctx context.Context, name string) (map[string]ui.Forecast, error) {
	s, err := d.home.Load(name)
	if err != nil {
		return nil, err
	}
	outlooks, err := orchestrator.Outlooks(ctx, d.home, s, len(s.Agents) <= mostPairs)
	found := map[string]ui.Forecast{}
	for name, o := range outlooks {
		found[name] = ui.Forecast{Target: o.Target, Files: o.Conflicts, Others: o.Others, Lines: o.Lines.String()}
	}
	return found, err
}

// State returns the present state of an agent's worktree, as a commit.
func (d *desk) State(ctx context.Context, a ui.Agent) (ui.State, error) {
	s, err := d.home.Load(a.Session)
	if err != nil {
		return ui.State{}, err
	}
	now, err := orchestrator.Compare(ctx, d.home, s, a.Name, orchestrator.DiffOptions{StateAlone: true})
	if err != nil {
		return ui.State{}, err
	}
	defer now.Close()
	return ui.State{Commit: now.State(), Turn: now.Turn()}, nil
}

// Highlight colours the syntax of a diff.
func (d *desk) Highlight(ctx context.Context, diff string, dark bool) string {
	return orchestrator.Highlight(ctx, d.home, diff, dark)
}

func (d *desk) Question(ctx context.Context, a ui.Agent) (ui.Question, error) {
	if a.Far {
		return ui.Question{}, errors.New("its question is answered in its pane: Enter, or paw answer " + a.Key())
	}
	s, err := d.home.Load(a.Session)
	if err != nil {
		return ui.Question{}, d.told(err)
	}
	asked, err := typing.LookAtQuestion(ctx, d.home, s, a.Name)
	if err != nil {
		return ui.Question{}, d.told(err)
	}
	if asked.Details != "" { // a box of the desk has no room for them
		return ui.Question{}, errors.New("what it asks for has several lines, read and answer it in its pane: Enter, or paw answer " + a.Key())
	}
	q := ui.Question{ID: asked.ID, Text: display.OneLine(asked.Text), Several: asked.Submit != ""}
	for _, o := range asked.Options {
		label := o.Label
		if o.About != "" {
			label += "  " + o.About
		}
		q.Options = append(q.Options, ui.Option{Label: display.OneLine(label), Means: string(o.Means())})
	}
	return q, nil
}

func (d *desk) CLIs() []string { return installedCLIs(context.Background(), d.home) }

// told formats an error with its hints, as commands print it.
func (d *desk) told(err error) error {
	var said bytes.Buffer
	(&invocation{printer: printer{stderr: &said, env: d.app.env}}).printError(err)
	return errors.New(said.String())
}

// Run runs a command of paw in this process.
func (d *desk) Run(ctx context.Context, out io.Writer, words ...string) int {
	d.commands.Add(1)
	defer d.commands.Done()
	typed := words
	if words[0] == "--color" { // no user has typed it: hints do not name it
		typed = words[2:]
	}
	inner := &invocation{stdin: strings.NewReader(""), typed: typed, printer: printer{stdout: out, stderr: out, env: d.app.env}}
	root := d.app.commands(inner, words[0])
	root.SetArgs(words)
	root.SetIn(inner.stdin)
	root.SetOut(out)
	root.SetErr(out)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	inner.printError(err)
	return exitCode(err)
}

// Attach shows an agent's pane on the terminal. It reports over for a desk in a popup of tmux,
// which would cover the pane.
func (d *desk) Attach(ctx context.Context, a ui.Agent) (over bool, err error) {
	if a.Far {
		if err := attachThere(ctx, d.home, a.Key()); err != nil {
			return false, d.told(err)
		}
		return false, nil
	}
	s, err := d.home.Load(a.Session)
	if err == nil {
		err = orchestrator.Attach(ctx, d.home, s, a.Name)
	}
	if err != nil {
		return false, d.told(err)
	}
	return d.home.Getenv("TMUX") != "" && d.home.Getenv("TMUX_PANE") == "", nil
}

// Edit opens the user's editor on a prompt.
func (d *desk) Edit(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	return orchestrator.EditPrompt(ctx, d.home, text, stdin, stdout, stderr)
}

// endOfCommands is the time that the desk gives commands to end. It is longer than the time that
// commands give their own children, such as checks.
const endOfCommands = 8 * time.Second

func openDesk(ctx context.Context, a *invocation, h *app.App, all bool) error {
	h.Progress = nil // the desk draws on the whole screen
	h.Note = func(string) {}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := newDesk(a, h, all)
	defer d.close()
	// The library looks 25 times a second whether there is something to draw. With more than one
	// processor Go wakes others each time, to search for work. Only the first look is waited for.
	d.looked = sync.OnceFunc(func() { runtime.GOMAXPROCS(1) })
	err := ui.Open(ctx, d, ui.Options{Colour: a.coloured(), All: all, News: d.news}, a.stdin, a.stdout, a.env)
	cancel()
	ended := make(chan struct{})
	go func() {
		d.commands.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(endOfCommands):
	}
	return err
}

func (a *invocation) canShowDesk() bool {
	return isTerminal(a.stdin) && isTerminal(a.stdout) && lookUp(a.env, "TERM") != "dumb"
}

// addHosts adds the agents of hosts to the desk. If a host cannot be reached, its agents are shown
// as in its last answer, marked as away and with the age of that answer.
func (d *desk) addHosts(board *ui.Board, answers []hosts.Answer, now time.Time) {
	for _, one := range answers {
		if one.Err != nil {
			board.Problems = append(board.Problems, fmt.Sprintf("%s: %s", one.Host, whyNot(one.Err)))
		}
		for _, st := range hostStatuses(one, now) {
			for i := range st.Agents {
				row := deskAgent(st, i)
				row.Far = true
				if one.Err != nil {
					row.Away, row.Group, row.Asks, row.Since = true, ui.Quiet, false, one.AsOf
					row.About = "unreachable: " + whyNot(one.Err)
				}
				board.Agents = append(board.Agents, row)
			}
		}
	}
}

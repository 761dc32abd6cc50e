package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"paw/cmd/paw/ui"
	"paw/config/display"
	"paw/orchestrator"
	"paw/orchestrator/app"
	"paw/orchestrator/cli"
	"paw/orchestrator/observe"
	"paw/orchestrator/typing"
	"paw/session"
)

// desk is paw as the desk sees it: what it shows comes from a watch, what it does are commands.
type desk struct {
	app      *invocation
	home     *app.App
	guard    *guard
	commands sync.WaitGroup

	mu       sync.Mutex
	all      bool
	watch    *orchestrator.Watch
	sessions map[string]*session.Session // as the last look found them
	feeds    *hostFeeds
	news     chan struct{}     // sent to when a host has told something
	used     map[string]usedUp // by key of the agent
}

// usedUp is what an agent's models took by the end of a turn.
type usedUp struct {
	ended string
	by    cli.Spent
}

func newDesk(a *invocation, h *app.App, all bool) *desk {
	d := &desk{app: a, home: h, news: make(chan struct{}, 1)}
	d.ShowAll(all)
	return d
}

// ShowAll makes looks tell of all sessions, or of those of this place.
func (d *desk) ShowAll(all bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.close()
	d.all, d.watch = all, orchestrator.NewWatch(d.home, orchestrator.StatusOptions{All: all, Closely: true})
	d.feeds = followHosts(d.home, all, d.news)
}

// close ends the watch.
func (d *desk) close() {
	if d.watch != nil {
		d.watch.Close()
		d.feeds.close()
	}
}

// Changed reports whether something was written down since the last look.
func (d *desk) Changed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.watch.Changed() || d.feeds.changed()
}

// Look tells how all agents are now.
func (d *desk) Look(ctx context.Context) (ui.Board, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	statuses, problems, err := d.watch.Look(ctx)
	if err != nil {
		return ui.Board{}, err
	}
	d.sessions = map[string]*session.Session{}
	board := ui.Board{Place: d.place(statuses), Queues: queueLines(d.home, statuses)}
	for _, st := range statuses {
		d.sessions[st.Session.Name] = st.Session
		for i := range st.Agents {
			board.Agents = append(board.Agents, deskAgent(st, i))
		}
	}
	d.addHosts(&board, d.feeds.now(), d.home.Now())
	for _, problem := range problems {
		board.Problems = append(board.Problems, display.OneLine(problem.Error()))
	}
	return board, nil
}

// place says whose sessions are shown.
func (d *desk) place(statuses []observe.SessionStatus) string {
	if d.all {
		return "all sessions"
	}
	if len(statuses) == 1 {
		return statuses[0].Session.Name + "  " + shortened(statuses[0].Session.RepoPath)
	}
	return shortened(d.home.Dir)
}

// deskAgent makes a row of the desk of the agent at a place in a session.
func deskAgent(st observe.SessionStatus, i int) ui.Agent {
	ag := st.Agents[i]
	w := ag.Record
	row := ui.Agent{
		Session: st.Session.Name, Name: w.Name, Number: st.Session.Number(i), Parent: w.Parent, CLI: w.CLI, Branch: display.OneLine(w.Branch), Group: ui.Group(orchestrator.GroupOf(ag)),
		State: orchestrator.StateWord(ag.AgentStatus), Colour: stateColours[colourOf(ag.AgentStatus)], Turn: turnNumber(&ag),
		Prompt: display.OneLine(ag.Prompt), Asks: ag.State == session.StateWaitingInput, Cut: ag.CutTurn != 0, Failed: ag.State == session.StateError, Pull: display.OneLine(w.PullRequest),
		Ended: fmt.Sprint(ag.LastTag, ag.LastTurn, ag.CurrentTurn == 0, len(st.Session.Landings)),
	}
	if row.Group == ui.ToReview && ag.State == session.StateIdle {
		row.State = "done" // and for how long, says its age
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

// session is a session as the last look found it.
func (d *desk) session(name string) (*session.Session, error) {
	d.mu.Lock()
	s := d.sessions[name]
	d.mu.Unlock()
	if s == nil {
		return d.home.Load(name)
	}
	return s, nil
}

// Screen is what the pane of an agent shows.
func (d *desk) Screen(ctx context.Context, a ui.Agent) (string, error) {
	s, err := d.session(a.Session)
	if err != nil {
		return "", err
	}
	return orchestrator.Screen(ctx, d.home, s, a.Pane)
}

// Lines counts what an agent has changed since its base.
func (d *desk) Lines(ctx context.Context, a ui.Agent) (ui.Lines, error) {
	s, err := d.session(a.Session)
	if err != nil {
		return ui.Lines{}, err
	}
	lines, err := orchestrator.CountLines(ctx, s, a.Name)
	took := d.usage(ctx, s, a)
	found := ui.Lines{Added: lines.Added, Deleted: lines.Deleted, Usage: inShort(&took)}
	if took.Answers > 0 {
		found.Tokens = count(took.Input + took.CacheRead + took.CacheWrite + took.Output)
	}
	return found, err
}

// usage is what an agent's models took. It is read once for each turn: it may cost a process of the CLI.
func (d *desk) usage(ctx context.Context, s *session.Session, a ui.Agent) cli.Spent {
	d.mu.Lock()
	known := d.used[a.Key()]
	d.mu.Unlock()
	if known.ended == a.Ended {
		return known.by
	}
	w, err := app.AgentNamed(s, a.Name)
	if err != nil {
		return cli.Spent{}
	}
	known = usedUp{a.Ended, orchestrator.UsageOf(ctx, d.home, s, w).Total}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.used == nil {
		d.used = map[string]usedUp{}
	}
	d.used[a.Key()] = known
	return known.by
}

// mostForecast is for how many agents of a session the desk forecasts by itself: each pair of them is merged.
const mostForecast = 24

var errTooMany = errors.New("too many agents to forecast for without being asked")

// Forecasts returns the forecasts for all agents of a session.
func (d *desk) Forecasts(ctx context.Context, name string) (map[string]ui.Forecast, error) {
	s, err := d.session(name)
	if err != nil {
		return nil, err
	}
	if len(s.Agents) > mostForecast {
		return nil, errTooMany
	}
	outlooks, err := orchestrator.Outlooks(ctx, d.home, s)
	found := map[string]ui.Forecast{}
	for name, o := range outlooks {
		found[name] = ui.Forecast{Target: o.Target, Files: o.Conflicts, Others: o.Others}
	}
	return found, err
}

// State is what an agent has done by now.
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
	return ui.State{Commit: now.To, Turn: now.Turn()}, nil
}

// Question is what an agent asks.
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
	q := ui.Question{ID: asked.ID, Text: display.OneLine(asked.Text)}
	for _, o := range asked.Options {
		label := o.Label
		if o.About != "" {
			label += "  " + o.About
		}
		q.Options = append(q.Options, ui.Option{Label: display.OneLine(label), Means: string(o.Means())})
	}
	return q, nil
}

// CLIs are the names of the CLIs that are installed.
func (d *desk) CLIs() (names []string) {
	for _, info := range orchestrator.ListCLIs(context.Background(), d.home, false) {
		if info.Path != "" {
			names = append(names, info.Name)
		}
	}
	return names
}

// told is an error as commands print it, with its hints.
func (d *desk) told(err error) error {
	var said bytes.Buffer
	(&invocation{printer: printer{stderr: &said, env: d.app.env}}).printError(err)
	return errors.New(said.String())
}

// Run runs a command of paw in this process.
func (d *desk) Run(ctx context.Context, out io.Writer, words ...string) int {
	d.commands.Add(1)
	defer d.commands.Done()
	inner := &invocation{stdin: strings.NewReader(""), typed: words, printer: printer{stdout: out, stderr: out, env: d.app.env}}
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

// Attach shows the agent's pane on the terminal. A desk in a popup of tmux covers that pane, and is to end.
func (d *desk) Attach(ctx context.Context, a ui.Agent) (over bool, err error) {
	if a.Far {
		d.guard.tell(leftTerminal)
		defer d.guard.tell(hasTerminal)
		if err := attachThere(ctx, d.home, a.Key()); err != nil {
			return false, d.told(err)
		}
		return false, nil
	}
	s, err := d.home.Load(a.Session)
	if err == nil {
		d.guard.tell(leftTerminal)
		err = orchestrator.Attach(ctx, d.home, s, a.Name)
		d.guard.tell(hasTerminal)
	}
	if err != nil {
		return false, d.told(err)
	}
	return d.home.Getenv("TMUX") != "" && d.home.Getenv("TMUX_PANE") == "", nil
}

// Edit lets the user change a prompt in his editor.
func (d *desk) Edit(ctx context.Context, text string, stdin io.Reader, stdout, stderr io.Writer) (string, error) {
	d.guard.tell(leftTerminal)
	defer d.guard.tell(hasTerminal)
	return orchestrator.EditPrompt(ctx, d.home, text, stdin, stdout, stderr)
}

// endOfCommands is how long the desk waits for commands that were told to end: longer than a program that they run, such as a
// check, may take before they kill it.
const endOfCommands = 8 * time.Second

// openDesk shows the desk on the terminal.
func openDesk(ctx context.Context, a *invocation, h *app.App, all bool) error {
	h.Progress = nil // the screen is the desk's
	h.Note = func(string) {}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := newDesk(a, h, all)
	defer d.close()
	d.guard = guardTerminal(h, a.stdout.(*os.File)) // canShowDesk has seen it
	defer d.guard.dismiss()
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

// canShowDesk reports whether the terminal can show the desk.
func (a *invocation) canShowDesk() bool {
	return isTerminal(a.stdin) && isTerminal(a.stdout) && lookUp(a.env, "TERM") != "dumb"
}

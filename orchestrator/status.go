// Package orchestrator holds paw's use cases, one per file. Each gathers its facts once, decides in
// pure functions and acts in steps that may be repeated: a paw killed after any step leaves a state
// that the next command finishes.
//
// The code that use cases share is in the packages errs, live, app, observe, handover, transcript,
// turns, landing, typing, launch, teardown, startplan and children, each of which may import those
// before it. A new reader begins with app.App, then observe.Observe, then any use case.
package orchestrator

import (
	"context"
	"runtime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"paw/orchestrator/app"
	"paw/orchestrator/landing"
	"paw/orchestrator/observe"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree/gitdir"
)

// StatusOptions selects the sessions to show.
type StatusOptions struct {
	Name    string
	All     bool
	Closely bool // read the screens of agents in a turn too
}

func (o StatusOptions) closeness() observe.ScreenPolicy {
	if o.Closely {
		return observe.WhereRunning
	}
	return observe.WhereUnheard
}

// gather observes the selected sessions once. It calls meanwhile for each session while tmux is
// asked and the agents are read.
func gather(ctx context.Context, h *app.App, o StatusOptions, meanwhile func(*session.Session)) (all []*observe.Facts, problems []error, err error) {
	sessions, problems, err := selectSessions(h, o)
	if err != nil {
		return nil, problems, err
	}
	answers := map[string]func() observe.Panes{} // one tmux client per socket, all in parallel
	for _, s := range sessions {
		if answers[s.Tmux.Socket] == nil {
			answers[s.Tmux.Socket] = asked(ctx, h, s)
		}
	}
	processes := observe.LookAtProcesses()
	all = make([]*observe.Facts, len(sessions))
	for i, s := range sessions {
		var other sync.WaitGroup
		other.Go(func() { meanwhile(s) })
		agents := observe.LookAtAgents(ctx, h, s, processes)
		other.Wait()
		f := observe.Join(h, s, answers[s.Tmux.Socket](), agents)
		all[i] = &f
	}
	observe.LookAtScreens(ctx, h, all, o.closeness())
	return all, problems, nil
}

// asked asks the tmux server of a session for its panes, and returns the function that waits for the answer.
func asked(ctx context.Context, h *app.App, s *session.Session) func() observe.Panes {
	ask := sync.OnceValue(func() observe.Panes { return observe.AskTmux(h)(ctx, s) })
	go ask()
	return ask
}

// QueueProblem returns why the queue of a session cannot be used, nil for one that can.
func QueueProblem(h *app.App, sessionName string) error {
	if !h.Queues().Open(sessionName) {
		return nil
	}
	_, err := h.Queues().Load(sessionName)
	return h.RecordError(sessionName, err)
}

// noteGone adds to a session's reason that its repository is gone.
func noteGone(st *observe.SessionStatus) {
	if app.Gone(st.Session) {
		reason := "its repository is not there any more"
		if app.Replaced(st.Session) {
			reason = "its repository is gone, there is another one"
		}
		st.Reason = strings.TrimPrefix(st.Reason+", "+reason, ", ")
	}
}

// selectSessions loads the named session, all sessions, or those of the current repository.
func selectSessions(h *app.App, o StatusOptions) (sessions []*session.Session, problems []error, err error) {
	if o.All {
		sessions, problems, err = h.Store.List()
		for i := range problems {
			problems[i] = h.RecordError("", problems[i])
		}
		return sessions, problems, err
	}
	if o.Name != "" {
		s, err := h.Load(o.Name)
		if err != nil {
			return nil, nil, err
		}
		return []*session.Session{s}, nil, nil
	}
	sessions, err = h.Place().Sessions()
	if err == nil && len(sessions) == 0 {
		if unreadable := h.Place().Unreadable(); unreadable != nil {
			problems = append(problems, unreadable)
		}
	}
	return sessions, problems, err
}

// CountDirty counts the uncommitted files of each agent, with one git process per worktree, in
// parallel up to the number of processors.
func CountDirty(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	var group errgroup.Group
	group.SetLimit(runtime.NumCPU())
	for i := range statuses {
		repository, err := gitdir.Discover(statuses[i].Session.GitCommonDir)
		if err != nil {
			continue
		}
		m := h.Manager(repository)
		for k := range statuses[i].Agents {
			a := &statuses[i].Agents[k]
			group.Go(func() error {
				if n, err := m.Changed(ctx, a.Record.WorktreePath); err == nil {
					a.Dirty = &n
				}
				return nil
			})
		}
	}
	_ = group.Wait()
}

// CountLines counts the lines that a landing of each agent would change, with a few git processes per
// session. It prints a note for a session in which it cannot.
func CountLines(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	for _, st := range statuses {
		var names []string
		for _, a := range st.Agents {
			names = append(names, a.Record.Name)
		}
		if len(names) == 0 {
			continue
		}
		forecasts, err := byAgent(landing.LookAtLines(ctx, h, st.Session, names, false))
		if err != nil {
			h.Notef("%s: no changes counted: %v", st.Session.Name, err)
		}
		for k, name := range names {
			if o := forecasts[name]; o != nil {
				st.Agents[k].Lines = o.Lines
			}
		}
	}
}

// AddForecast adds to each agent whether its work merges with its target branch and with the work
// of the other agents, as paw forecast does. It prints a note for a session that has no forecast.
func AddForecast(ctx context.Context, h *app.App, statuses []observe.SessionStatus) {
	for i := range statuses {
		st := &statuses[i]
		if len(st.Session.Agents) == 0 {
			continue
		}
		forecasts, err := Outlooks(ctx, h, st.Session)
		if err != nil {
			h.Notef("%s: no forecast: %v", st.Session.Name, err)
			continue
		}
		for k := range st.Agents {
			st.Agents[k].Forecast = forecasts[st.Agents[k].Record.Name]
		}
	}
}

// Outlooks returns the forecast of each agent of a session, by agent name.
func Outlooks(ctx context.Context, h *app.App, s *session.Session) (map[string]*observe.Forecast, error) {
	return byAgent(landing.Look(ctx, h, s, nil, "", nil))
}

// OutlooksWithLines is Outlooks, and counts the lines that each landing would change. Only with pairs does it
// tell whose work conflicts with whose.
func OutlooksWithLines(ctx context.Context, h *app.App, s *session.Session, pairs bool) (map[string]*observe.Forecast, error) {
	return byAgent(landing.LookAtLines(ctx, h, s, nil, pairs))
}

func byAgent(f *landing.Forecast, err error) (map[string]*observe.Forecast, error) {
	if err != nil {
		return nil, err
	}
	forecasts := make(map[string]*observe.Forecast, len(f.Agents))
	for i := range f.Agents {
		forecasts[f.Agents[i].Agent] = &f.Agents[i]
	}
	return forecasts, nil
}

// LandMarks returns a text for each agent of a session that changes whenever a landing would bring
// something else: the tip of the target and the agent's newest state. It is "" if only git can tell.
func LandMarks(s *session.Session) []string {
	marks := make([]string, len(s.Agents))
	if cfg, err := gitdir.ReadCore(s.GitCommonDir); err != nil || !cfg.RefsInFiles() {
		return marks
	}
	refs := &gitdir.Refs{CommonDir: s.GitCommonDir}
	tip := refs.Resolve("refs/heads/" + s.Target)
	for i := range s.Agents {
		marks[i] = tip + " " + refs.Resolve(turn.NowRef(s.Agents[i].TurnSession))
	}
	return marks
}

// tagReader reads turn tags, from files where possible.
type tagReader struct {
	home *app.App
	tags map[string]*gitdir.Refs     // by common directory, nil if only git can list them
	seen map[[2]string]string        // commits of tags, by common directory and tag name
	read map[string]map[string][]int // all turn numbers, by common directory, then turn session
}

func newTagReader(h *app.App) tagReader {
	return tagReader{home: h, tags: map[string]*gitdir.Refs{}, seen: map[[2]string]string{}, read: map[string]map[string][]int{}}
}

// look reads the tags that add will need.
func (r tagReader) look(s *session.Session) {
	for i := range s.Agents {
		r.id(s.GitCommonDir, turn.TagName(s.Agents[i].TurnSession, s.Agents[i].Last))
	}
}

// add fills in the finished turns of each agent.
func (r tagReader) add(ctx context.Context, st *observe.SessionStatus) {
	for i := range st.Agents {
		a := &st.Agents[i]
		finished := a.Record.Finished
		if a.LastCommit != "" { // its log says so before the record does
			finished.Add(a.LastTurn)
		}
		a.TurnsCompleted, a.ToReview = finished.Turns, max(finished.Turns-a.Record.Seen.Turns, 0)
		r.addTag(ctx, st.Session.GitCommonDir, a)
	}
}

// addTag fills in the last tag of an agent.
func (r tagReader) addTag(ctx context.Context, commonDir string, a *observe.AgentStatus) {
	last, name := a.Record.Last, turn.TagName(a.Record.TurnSession, a.Record.Last)
	id, known := r.id(commonDir, name)
	switch {
	case id != "" && last == a.LastTurn && a.LastCommit != "" && id != a.LastCommit: // the tag was moved by hand
		a.Reason = strings.TrimPrefix(a.Reason+"; tag "+name+" is not on its commit, see paw turns", "; ")
	case id != "":
		a.LastTag = name
	case !known || last > 0: // the agent may have an earlier tag; later ones are not paw's, or of a turn that is just ending
		for _, n := range r.all(ctx, commonDir)[a.Record.TurnSession] {
			if n <= last {
				a.LastTag = turn.TagName(a.Record.TurnSession, n)
			}
		}
	}
}

// id returns the commit of a tag, "" if there is none; known is false if only git can tell.
func (r tagReader) id(commonDir, name string) (id string, known bool) {
	tags, asked := r.tags[commonDir]
	if !asked {
		if cfg, err := gitdir.ReadCore(commonDir); err == nil && cfg.RefsInFiles() {
			tags = &gitdir.Refs{CommonDir: commonDir}
		}
		r.tags[commonDir] = tags
	}
	if tags == nil {
		return "", false
	}
	id, looked := r.seen[[2]string{commonDir, name}]
	if !looked {
		id = tags.Resolve("refs/tags/" + name)
		r.seen[[2]string{commonDir, name}] = id
	}
	return id, true
}

// all lists the turn tags of a repository with git, once.
func (r tagReader) all(ctx context.Context, commonDir string) map[string][]int {
	numbers, done := r.read[commonDir]
	if !done {
		if repository, err := gitdir.Discover(commonDir); err == nil {
			numbers, _ = turns.AllTags(ctx, r.home.Manager(repository))
		}
		r.read[commonDir] = numbers
	}
	return numbers
}

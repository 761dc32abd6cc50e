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
	"paw/orchestrator/forge"
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
	return observe.WhereUnknown
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

// AskServers adds to each agent the pull request that paw pr has asked for, as its server had it within the last
// minute, and returns an error for each that cannot be had.
func AskServers(ctx context.Context, h *app.App, statuses []observe.SessionStatus) (problems []error) {
	var group errgroup.Group
	var one sync.Mutex
	group.SetLimit(askedAtOnce)
	for _, st := range statuses {
		for k := range st.Agents {
			a := &st.Agents[k]
			if a.Asked = true; a.Record.PullRequest == "" {
				continue
			}
			group.Go(func() error {
				pull, err := forge.Lately(ctx, h, st.Session, &a.Record)
				if a.Pull = &pull; err != nil {
					a.Pull, a.Asked = nil, false
					one.Lock()
					defer one.Unlock()
					problems = append(problems, err)
				}
				return nil
			})
		}
	}
	_ = group.Wait()
	return problems
}

// askedAtOnce limits the questions to servers at the same time.
const askedAtOnce = 8

// AddForecast adds to each agent the lines that its landing would change and, with pairs, whether its work merges with its
// target branch and with the work of the other agents, as paw forecast does. It prints a note for a session that has no
// forecast.
func AddForecast(ctx context.Context, h *app.App, statuses []observe.SessionStatus, pairs bool) {
	for _, st := range statuses {
		if len(st.Session.Agents) == 0 {
			continue
		}
		forecasts, err := Outlooks(ctx, h, st.Session, pairs)
		if err != nil {
			h.Notef("%s: no forecast: %v", st.Session.Name, err)
			continue
		}
		for k := range st.Agents {
			a := &st.Agents[k]
			if o := forecasts[a.Record.Name]; o != nil {
				a.Lines = o.Lines
			}
			if pairs {
				a.Forecast = forecasts[a.Record.Name]
			}
		}
	}
}

// Outlooks returns the forecast of each agent of a session, by agent name, with the lines that each landing would change. Only
// with pairs does it tell whose work conflicts with whose.
func Outlooks(ctx context.Context, h *app.App, s *session.Session, pairs bool) (map[string]*observe.Forecast, error) {
	f, err := landing.LookAtLines(ctx, h, s, pairs)
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

// addTags fills in the last tag of each agent. read has the numbers of all turn tags, by common directory and turn session, of
// repositories in which the tag of an agent's last turn is not there, or only git can tell.
func addTags(ctx context.Context, h *app.App, st *observe.SessionStatus, read map[string]map[string][]int) {
	for i := range st.Agents {
		a, at, last := &st.Agents[i], st.Seen.Agents[i].TagCommit, st.Agents[i].Record.Last
		switch name := turn.TagName(a.Record.TurnSession, last); {
		case at != "" && last == a.LastTurn && a.LastCommit != "" && at != a.LastCommit: // the tag was moved by hand
			a.Reason = strings.TrimPrefix(a.Reason+"; tag "+name+" is not on its commit, see paw turns", "; ")
		case at != "":
			a.LastTag = name
		default: // the agent may have an earlier tag; later ones are not paw's, or of a turn that is just ending
			for _, n := range allTags(ctx, h, st.Session.GitCommonDir, read)[a.Record.TurnSession] {
				if n <= last {
					a.LastTag = turn.TagName(a.Record.TurnSession, n)
				}
			}
		}
	}
}

// allTags lists the turn tags of a repository, once.
func allTags(ctx context.Context, h *app.App, commonDir string, read map[string]map[string][]int) map[string][]int {
	numbers, done := read[commonDir]
	if !done {
		if repository, err := gitdir.Discover(commonDir); err == nil {
			numbers, _ = turns.AllTags(ctx, h.Manager(repository))
		}
		read[commonDir] = numbers
	}
	return numbers
}

package orchestrator

import (
	"context"

	"paw/orchestrator/app"
	"paw/orchestrator/live"
	"paw/orchestrator/observe"
	"paw/session"
)

// Watch shows sessions for as long as somebody looks at them. It holds their agents as live sessions.
type Watch struct {
	home    *app.App
	options StatusOptions
	shown   map[string]*shownSession

	followed map[string]int // turns whose ends are being written down, by agent

	stamps map[string]fileStamp // of what the last look has read; nil until somebody asks
}

// shownSession is one session that is shown.
type shownSession struct {
	gathered []live.Facts // by the last look
	agents   *live.Registry
}

// NewWatch begins to show the selected sessions. Close ends it.
func NewWatch(h *app.App, o StatusOptions) *Watch {
	return &Watch{home: h, options: o, shown: map[string]*shownSession{}, followed: map[string]int{}}
}

// Look tells how sessions and agents are now, see Status.
func (w *Watch) Look(ctx context.Context) (statuses []observe.SessionStatus, problems []error, err error) {
	before := w.before()
	tags := newTagReader(w.home)
	all, problems, err := gather(ctx, w.home, w.options, tags.look)
	if err != nil {
		return nil, problems, err
	}
	w.follow(before, all)
	there := map[string]bool{}
	for _, f := range all {
		there[f.Session.Name] = true
	}
	for name, one := range w.shown {
		if !there[name] {
			one.close()
			delete(w.shown, name)
		}
	}
	for _, f := range all {
		one := w.shown[f.Session.Name]
		if one == nil {
			one = newShown()
			w.shown[f.Session.Name] = one
		}
		states, err := one.look(ctx, observe.LiveFacts(w.home, *f))
		if err != nil {
			return nil, problems, err
		}
		st := observe.StatusWith(*f, states)
		noteGone(&st)
		FollowUnseen(w.home, st, w.followed)
		tags.add(ctx, &st)
		statuses = append(statuses, st)
	}
	return statuses, problems, nil
}

// Close ends what Look has begun.
func (w *Watch) Close() {
	for name, one := range w.shown {
		one.close()
		delete(w.shown, name)
	}
}

func newShown() *shownSession {
	one := &shownSession{}
	one.agents = live.NewRegistry(live.Source{
		Look: func(context.Context) ([]live.Facts, error) { return one.gathered, nil },
	})
	return one
}

// look takes in what was gathered of the agents, and returns their states in the same order.
func (one *shownSession) look(ctx context.Context, gathered []live.Facts) ([]session.AgentStatus, error) {
	one.gathered = gathered
	if err := one.agents.Refresh(ctx); err != nil {
		return nil, err
	}
	branches, err := one.agents.Branches(ctx)
	if err != nil {
		return nil, err
	}
	loaded, err := one.agents.LoadAll(ctx, branches)
	if err != nil {
		return nil, err
	}
	states := make([]session.AgentStatus, len(loaded))
	for i, agent := range loaded {
		states[i] = agent.Status()
	}
	return states, nil
}

// close drops the agents that rest and that no terminal shows.
func (one *shownSession) close() {
	for _, facts := range one.gathered {
		one.agents.Unload(facts.Branch)
	}
}

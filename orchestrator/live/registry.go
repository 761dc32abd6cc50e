package live

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/history"
)

// ErrNoAgent means that no agent has the branch.
var ErrNoAgent = errors.New("no agent has this branch")

// Source provides facts. Its functions write nothing, and may be called concurrently.
type Source struct {
	// Look observes all agents at one moment.
	Look func(ctx context.Context) ([]Facts, error)
	// History reads the newest conversation of an agent.
	History func(ctx context.Context, of Branch) (Conversation, error)
}

// Conversation is the conversation of an agent, as far as it was understood.
type Conversation struct {
	history.History
	Begun   bool           // the conversation exists, and its id is the CLI's
	Skipped int            // lines and records that were not understood and may have been messages
	Unknown map[string]int // number of records by type, for types that paw does not know and that hold no message
}

// Registry is an index of live sessions by branch, and may be used concurrently. The children of a
// loaded session that waits are loaded, too.
type Registry struct {
	source Source

	mu       sync.Mutex // held in a look as well: an older look never replaces a newer one
	sessions map[Branch]*Session
	branches []Branch
}

// NewRegistry returns an empty registry.
func NewRegistry(source Source) *Registry {
	return &Registry{source: source, sessions: map[Branch]*Session{}}
}

// Load returns the live session of a branch, and creates it if there is none. Two calls return the
// same session; a loaded one keeps its facts. The error is ErrNoAgent when no agent has the branch.
func (r *Registry) Load(ctx context.Context, branch Branch) (*Session, error) {
	sessions, err := r.LoadAll(ctx, []Branch{branch})
	if err != nil {
		return nil, err
	}
	return sessions[0], nil
}

// LoadAll is like Load for several branches, with at most one look.
func (r *Registry) LoadAll(ctx context.Context, branches []Branch) ([]*Session, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.ContainsFunc(branches, func(b Branch) bool { return r.sessions[b] == nil }) {
		found, err := r.find(ctx, func(f *Facts) bool { return slices.Contains(branches, f.Branch) })
		if err != nil {
			return nil, err
		}
		maps.DeleteFunc(found, func(branch Branch, _ *Facts) bool { return r.sessions[branch] != nil }) // loaded sessions keep their facts
		r.put(found)
	}
	sessions := make([]*Session, len(branches))
	for i, branch := range branches {
		if sessions[i] = r.sessions[branch]; sessions[i] == nil {
			return nil, ErrNoAgent
		}
	}
	return sessions, nil
}

// Get returns a live session, nil when the branch is not loaded.
func (r *Registry) Get(branch Branch) *Session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sessions[branch]
}

// Unload drops a live session, and returns true if there is none afterwards. A session that is at
// work, that a terminal shows, or for which a parent waits, stays.
func (r *Registry) Unload(branch Branch) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.sessions[branch]
	if s == nil {
		return true
	}
	if len(s.facts.Terminals) > 0 || !r.family(s).State().State.Rests() {
		return false
	}
	if parent := r.sessions[s.facts.Parent]; parent != nil && parent.facts.Waits() {
		return false
	}
	delete(r.sessions, branch)
	return true
}

// Branches returns the branches of all agents in the last look, loaded or not.
func (r *Registry) Branches() []Branch {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.branches
}

// LoadActive loads the agents that are at work or wait, with the children of those that wait. It
// starts nothing and prompts nobody.
func (r *Registry) LoadActive(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.find(ctx, func(f *Facts) bool {
		return f.Status.State == session.StateRunning || f.Status.State == session.StateWaitingInput || f.Record.Wait != nil
	})
	r.put(found)
	return err
}

// Refresh looks again at all loaded sessions and replaces their facts; agents that have left the
// session are dropped.
func (r *Registry) Refresh(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	found, err := r.find(ctx, func(f *Facts) bool { return r.sessions[f.Branch] != nil })
	if err != nil {
		return err
	}
	r.replace(found)
	return nil
}

// Take loads all agents of a look that its caller has made, in place of those before, and returns
// their states in the same order.
func (r *Registry) Take(all []Facts) []session.AgentStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replace(r.withChildren(all, func(*Facts) bool { return true }))
	states := make([]session.AgentStatus, len(all))
	for i := range all {
		states[i] = r.family(r.sessions[all[i].Branch]).State()
	}
	return states
}

// find looks at all agents, and returns the wanted ones with the children of those that wait.
func (r *Registry) find(ctx context.Context, wanted func(*Facts) bool) (map[Branch]*Facts, error) {
	all, err := r.source.Look(ctx)
	if err != nil {
		return nil, err
	}
	return r.withChildren(all, wanted), nil
}

// replace stores facts, and drops the sessions of which there are none; the caller holds r.mu.
func (r *Registry) replace(found map[Branch]*Facts) {
	for branch, s := range r.sessions {
		if found[branch] == nil {
			s.facts, s.gone, s.history = Facts{Branch: branch}, true, nil
			delete(r.sessions, branch)
		}
	}
	r.put(found)
}

// withChildren returns the wanted agents of a look and, for those that wait, their children,
// recursively; the caller holds r.mu.
func (r *Registry) withChildren(all []Facts, wanted func(*Facts) bool) map[Branch]*Facts {
	there, found := make(map[Branch]*Facts, len(all)), make(map[Branch]*Facts, len(all))
	r.branches = make([]Branch, len(all))
	for i := range all {
		r.branches[i], there[all[i].Branch] = all[i].Branch, &all[i]
	}
	var take func(*Facts)
	take = func(f *Facts) {
		if f == nil || found[f.Branch] != nil {
			return
		}
		found[f.Branch] = f
		if f.Waits() || len(f.Blocked) > 0 {
			for _, child := range f.Children {
				take(there[child])
			}
		}
	}
	for i := range all {
		if wanted(&all[i]) {
			take(&all[i])
		}
	}
	return found
}

// put stores facts; the caller holds r.mu.
func (r *Registry) put(found map[Branch]*Facts) {
	for branch, facts := range found {
		s := r.sessions[branch]
		if s == nil {
			s = &Session{branch: branch, registry: r}
			r.sessions[branch] = s
		}
		s.facts, s.history = *facts, nil
	}
}

// family returns a session with its loaded children; the caller holds r.mu.
func (r *Registry) family(s *Session) Family {
	f := Family{Parent: s.facts, Children: map[string]Facts{}}
	for _, branch := range s.facts.Children {
		if child := r.sessions[branch]; child != nil {
			f.Children[child.facts.Record.Name] = child.facts
		}
	}
	return f
}

// Session is one agent in memory. It has the facts of its registry's last look, and may be used
// concurrently.
type Session struct {
	branch   Branch
	registry *Registry

	// Guarded by registry.mu, so that a look changes all sessions at once.
	facts   Facts
	gone    bool          // the agent has left the session
	history *Conversation // nil until asked for
}

// Status returns the agent's state, including its wait for children.
func (s *Session) Status() session.AgentStatus { return s.Family().State() }

// Gone reports whether the agent has left the session since it was loaded.
func (s *Session) Gone() bool {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	return s.gone
}

// Family returns the agent with its loaded children, which are all while it waits.
func (s *Session) Family() Family {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	return s.registry.family(s)
}

// History returns the agent's conversation as of now.
func (s *Session) History(ctx context.Context) (Conversation, error) {
	s.registry.mu.Lock()
	defer s.registry.mu.Unlock()
	if s.history == nil {
		loaded, err := s.registry.source.History(ctx, s.branch)
		if err != nil {
			return Conversation{}, err
		}
		s.history = &loaded
	}
	return *s.history, nil
}

// State returns the state of a parent, including its wait for children.
func (f Family) State() session.AgentStatus { return withWait(f.Parent.Status, f.waiting()) }

// waiting returns the parent's wait, nil where it waits for none.
func (f Family) waiting() *Waiting {
	w := f.Parent.Record.Wait
	if w == nil && len(f.Parent.Blocked) > 0 {
		return &Waiting{Children: f.Parent.Blocked, Left: slices.DeleteFunc(slices.Clone(f.Parent.Blocked), func(name string) bool {
			child, there := f.Children[name]
			return !there || child.Finished()
		})}
	}
	if w == nil {
		return nil
	}
	waiting := Waiting{Children: w.Children, Left: f.Left(), Since: w.Since}
	if f.Parent.Unconfirmed() {
		waiting.Unconfirmed = toldOf(w)
	}
	return &waiting
}

// toldOf returns the children whose results were typed, in the order of the wait.
func toldOf(w *session.Wait) []string {
	var names []string
	for _, name := range w.Children {
		if _, told := w.Telling[name]; told {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return w.Children // the results were of agents that have left the session
	}
	return names
}

// Recall describes, after a restart, what a parent is still owed; "" for nothing. paw does not
// prompt the parent by itself then.
func Recall(f Family) string {
	w := f.Parent.Record.Wait
	switch {
	case w == nil || len(w.Children) == 0:
		return ""
	case f.Parent.Unconfirmed():
		return "the results of " + strings.Join(toldOf(w), ", ") + " were typed and not confirmed; " + errs.Line("paw wait %s", strings.Join(toldOf(w), " ")) + " shows them"
	}
	text := fmt.Sprintf("waits for %s: %d of %d ended", strings.Join(w.Children, ", "), len(f.Ended()), len(w.Children))
	switch left := f.Left(); {
	case len(left) == 0:
		text += "; it is told with your next paw send, add or wait"
	case len(left) < len(w.Children):
		text += "; it goes on after the end of " + strings.Join(left, ", ") + ", or with your next paw send, add or wait"
	}
	return text
}

package live

import (
	"context"
	"errors"
	"maps"
	"slices"
)

// ErrNoAgent means that no agent has the branch.
var ErrNoAgent = errors.New("no agent has this branch")

// Registry is the list of live sessions of a process that looks more than once. The children of a loaded agent that waits
// are loaded, too.
type Registry struct {
	look   func(context.Context) ([]Facts, error)
	all    []Facts // of the last look
	loaded map[Branch]bool
}

// NewRegistry returns an empty registry; look observes all agents at one moment.
func NewRegistry(look func(context.Context) ([]Facts, error)) *Registry {
	return &Registry{look: look, loaded: map[Branch]bool{}}
}

// EnsureLoaded loads the agents of some branches, with one look unless all are loaded. The error is ErrNoAgent when no
// agent has one of the branches.
func (r *Registry) EnsureLoaded(ctx context.Context, branches ...Branch) error {
	if !slices.ContainsFunc(branches, func(b Branch) bool { return !r.loaded[b] }) {
		return nil
	}
	return r.load(ctx, branches...)
}

// Refresh looks again; agents that have left the session are not loaded any more.
func (r *Registry) Refresh(ctx context.Context) error { return r.load(ctx) }

// load looks, and loads the agents of some more branches.
func (r *Registry) load(ctx context.Context, branches ...Branch) error {
	all, err := r.look(ctx)
	if err != nil {
		return err
	}
	r.all = all
	there := r.Branches()
	maps.DeleteFunc(r.loaded, func(branch Branch, _ bool) bool { return !slices.Contains(there, branch) })
	for _, branch := range slices.AppendSeq(branches, maps.Keys(maps.Clone(r.loaded))) {
		if !r.take(branch) {
			err = ErrNoAgent
		}
	}
	return err
}

// take marks an agent as loaded, with its children if it waits for them. It reports whether there is one.
func (r *Registry) take(branch Branch) bool {
	f, there := FamilyOf(r.all, branch)
	if !there {
		return false
	}
	r.loaded[branch] = true
	for _, child := range f.Parent.Children {
		if f.Awaits() && !r.loaded[child] {
			r.take(child)
		}
	}
	return true
}

// Get returns a loaded agent with its children, as they were at the last look.
func (r *Registry) Get(branch Branch) (f Family, there bool) {
	if !r.loaded[branch] {
		return f, false
	}
	return FamilyOf(r.all, branch)
}

// Branches returns the branches of all agents in the last look, loaded or not.
func (r *Registry) Branches() []Branch {
	branches := make([]Branch, len(r.all))
	for i := range r.all {
		branches[i] = r.all[i].Branch
	}
	return branches
}

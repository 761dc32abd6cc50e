package landing

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"paw/orchestrator/fault"
	"paw/orchestrator/turns"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// As is the form in which work lands.
type As string

// The forms.
const (
	Squash  As = "squash"  // one commit
	Commits As = "commits" // each commit of the agent, and what is not committed as the last one
	Merge   As = "merge"   // a merge commit
)

// Forms are all of them, the default first.
var Forms = []As{Squash, Commits, Merge}

// composed is a landing in the object store.
type composed struct {
	tree    string
	commit  string // what the target becomes
	state   string // what landed, with what landed before among its parents
	files   int
	commits int // that the target gets
	title   string
	brought []turns.Listed
}

// composer makes the commits of one landing.
type composer struct {
	work
	source  *source
	as      As
	asked   string // message that the user gave, "" for none
	message func(draft string) (string, error)
	version func(made []turns.Listed) string // of the CLI, nil where nobody reads it
	sign    bool

	ours, theirs string // see withStates and joined
}

// withStates is the tip of a target as a commit that comes after every state that has landed in it, too. For what is merged with
// it, all that landed before is a common ancestor, although the history of the target does not show that. A landing that other
// has in its own history, because the target was merged there, is a common ancestor already: its state would be a second one,
// and the two need not go together.
func withStates(ctx context.Context, m worktree.Manager, tip, other string) (string, error) {
	landed, err := m.MergedRefs(ctx, tip, other, turn.LandedPattern)
	if err != nil || len(landed) == 0 {
		return tip, err
	}
	last := map[string]int{} // a later state comes after an earlier one of the same agent
	for _, ref := range landed {
		if turnSession, k, side, ok := turn.ParseLanded(ref); ok && side == "after" {
			last[turnSession] = max(last[turnSession], k)
		}
	}
	names := slices.Sorted(maps.Keys(last))
	prefixes := make([]string, 0, len(names))
	for _, turnSession := range names {
		prefixes = append(prefixes, turn.LandedPrefix(turnSession))
	}
	states, err := m.Refs(ctx, prefixes...)
	if err != nil {
		return "", err
	}
	parents := []string{tip}
	for _, turnSession := range names {
		if state := states[turn.LandedRef(turnSession, last[turnSession], "state")]; state != "" {
			parents = append(parents, state)
		}
	}
	return m.Commit(ctx, worktree.NewCommit{Tree: tip + "^{tree}", Parents: parents, Message: "paw: with what has landed\n", Own: true})
}

// joined is a state of the agent as a commit that comes after all that has landed of it: so what landed is the common
// ancestor of what comes next, however it landed. Where the target was merged since, that is.
func (w work) joined(ctx context.Context, state string) (string, error) {
	last := w.session.LastLanding(w.agent.TurnSession)
	if last == nil {
		return state, nil
	}
	if merged, err := w.m.Contains(ctx, state, last.After); merged || err != nil {
		return state, err
	}
	return w.m.Commit(ctx, worktree.NewCommit{
		Tree: state + "^{tree}", Parents: []string{state, last.State}, Message: fmt.Sprintf("paw: %s after landing %d", w.agent.Agent, last.ID), Own: true,
	})
}

// landedIn is the last landing of the agent in a target, as far as that still has it; nil for none.
func (c *composer) landedIn(ctx context.Context, t target) (*session.Landing, error) {
	for _, l := range slices.Backward(c.session.Landings) {
		if l.TurnSession != c.agent.TurnSession || l.Phase != session.LandingDone || l.Target != t.branch {
			continue
		}
		if there, err := c.m.Contains(ctx, t.tip, l.After); there || err != nil {
			return &l, err
		}
	}
	return nil, nil
}

// compose brings the state of the agent and a target together. It is nil when the target has all of it, and
// *ConflictError when they collide.
func (c *composer) compose(ctx context.Context, t target) (*composed, error) {
	var err error
	if c.theirs == "" {
		if c.theirs, err = c.joined(ctx, c.source.state); err != nil {
			return nil, err
		}
	}
	if c.ours, err = withStates(ctx, c.m, t.tip, c.source.state); err != nil {
		return nil, err
	}
	merged, err := c.m.MergeTree(ctx, t.place(c.m), c.ours, c.theirs)
	if err != nil {
		return nil, err
	}
	if len(merged.Conflicts) > 0 {
		return nil, c.collided(ctx, t, merged.Conflicts)
	}
	old, err := c.m.TreeOf(ctx, t.tip)
	if err != nil || old == merged.Tree {
		return nil, err
	}
	one := &composed{tree: merged.Tree, state: c.theirs}
	if err := c.commit(ctx, t, one); err != nil {
		return nil, err
	}
	one.files, err = c.changed(ctx, t.tip, one.commit)
	return one, err
}

// commit makes the commits of a tree, in the form that was asked for.
func (c *composer) commit(ctx context.Context, t target, one *composed) error {
	facts, own, err := c.lookAtWork(ctx, t, one)
	if err != nil {
		return err
	}
	one.title, one.commits = facts.title(), 1
	facts.Listed = c.as == Squash
	parents := []string{t.tip}
	switch c.as {
	case Squash:
	case Commits:
		tips, err := c.replay(ctx, t, own)
		if err != nil {
			return err
		}
		last := len(tips) - 1
		if tree, err := c.m.TreeOf(ctx, tips[last]); err != nil || tree == one.tree {
			one.commits, one.commit = last, tips[last]
			return err
		}
		one.commits, parents = last+1, tips[last:]
		facts.Commits = nil
	case Merge:
		side, err := c.side(ctx, facts)
		if err != nil {
			return err
		}
		parents = append(parents, side)
	}
	text, err := c.message(facts.message())
	if err != nil {
		return err
	}
	one.title = fault.FirstLine(text)
	one.commit, err = c.m.Commit(ctx, worktree.NewCommit{Tree: one.tree, Parents: parents, Message: text, Sign: c.sign})
	return err
}

// lookAtWork finds the turns and the commits that a landing brings: those since the last one into the same target.
func (c *composer) lookAtWork(ctx context.Context, t target, one *composed) (messageFacts, []worktree.CommitInfo, error) {
	before, err := c.landedIn(ctx, t)
	if err != nil {
		return messageFacts{}, nil, err
	}
	known, after := []string{t.tip}, 0
	if before != nil {
		known, after = append(known, before.State), before.LastTurn
	}
	one.brought = c.source.since(after)
	own, err := c.m.CommitsSince(ctx, c.source.head, known...)
	return c.factsFor(one.brought, own), own, err
}

// replay makes the commits of an agent anew on a target, each with what it changed against its own parent. tips begins
// with the target's own; a commit whose changes the target has is left out.
func (c *composer) replay(ctx context.Context, t target, own []worktree.CommitInfo) (tips []string, err error) {
	tips = []string{t.tip}
	for _, one := range own {
		tip := tips[len(tips)-1]
		picked, err := c.m.PickTree(ctx, t.place(c.m), tip, one)
		if err != nil {
			return nil, err
		}
		if len(picked.Conflicts) > 0 {
			return nil, fault.New(fault.Conflict, "%s: its commit %s (%s) alone conflicts with %s: %s",
				c.name(), one.ID[:12], fault.FirstLine(one.Message), t.branch, strings.Join(picked.Conflicts, ", ")).
				Hint("paw land %s --as squash", c.name())
		}
		if tree, err := c.m.TreeOf(ctx, tip); err != nil || tree == picked.Tree {
			if err != nil {
				return nil, err
			}
			continue
		}
		next, err := c.m.Commit(ctx, worktree.NewCommit{
			Tree: picked.Tree, Parents: []string{tip}, Message: one.Message, Author: one.Author, Sign: c.sign,
		})
		if err != nil {
			return nil, err
		}
		tips = append(tips, next)
	}
	return tips, nil
}

// side is the second parent of a merge: the branch of the agent, with a commit of what is not committed.
func (c *composer) side(ctx context.Context, facts messageFacts) (string, error) {
	if c.source.state == c.source.head {
		return c.source.head, nil
	}
	tree, err := c.m.TreeOf(ctx, c.source.state)
	if err != nil {
		return "", err
	}
	facts.Asked, facts.Commits = "", nil
	return c.m.Commit(ctx, worktree.NewCommit{Tree: tree, Parents: []string{c.source.head}, Message: facts.message(), Sign: c.sign})
}

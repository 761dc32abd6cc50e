package turns

import (
	"context"
	"errors"
	"slices"
	"strings"

	"paw/orchestrator/app"
	"paw/orchestrator/errs"
	"paw/session"
	"paw/session/turn"
	"paw/worktree"
)

// tagged reports whether turn n has a tag already.
func (t *Recorder) tagged(ctx context.Context, n int) (bool, error) {
	tags, err := Tags(ctx, t.M, t.Agent.TurnSession)
	return slices.Contains(tags, n), err
}

// Tags are the numbers of the turn tags of one turn session, read without git where refs are files.
func Tags(ctx context.Context, m worktree.Manager, turnSession string) ([]int, error) {
	numbers, err := AllTags(ctx, m)
	return numbers[turnSession], err
}

// AllTags are the numbers of the turn tags of a repository, in order, by turn session.
func AllTags(ctx context.Context, m worktree.Manager) (map[string][]int, error) {
	names, ok, err := worktree.TagNames(m.Repository.CommonDir, turn.TagPrefix)
	if err != nil {
		return nil, err
	}
	if !ok {
		refs, err := m.Refs(ctx, "refs/tags/"+turn.TagPrefix)
		if err != nil {
			return nil, err
		}
		for ref := range refs {
			names = append(names, strings.TrimPrefix(ref, "refs/tags/"))
		}
	}
	numbers := map[string][]int{}
	for _, name := range names {
		if turnSession, n, ok := turn.ParseTag(name); ok {
			numbers[turnSession] = append(numbers[turnSession], n)
		}
	}
	for turnSession := range numbers {
		slices.Sort(numbers[turnSession])
	}
	return numbers, nil
}

// TagPrefix is what the tags of a turn session begin with.
func TagPrefix(turnSession string) string { return "refs/tags/" + turn.TagPrefix + turnSession + "-" }

// tagsIn picks the turn tags of one turn session out of refs: what each is on, by number.
func tagsIn(refs map[string]string, turnSession string) map[int]string {
	found := map[int]string{}
	for ref, oid := range refs {
		if name, n, ok := turn.ParseTag(strings.TrimPrefix(ref, "refs/tags/")); ok && name == turnSession {
			found[n] = oid
		}
	}
	return found
}

// tagElsewhere is what is wrong with a tag that is there, nil when it is on the commit that its turn ended on.
func tagElsewhere(s *session.Session, w session.Agent, n int, at, commit string) error {
	name := turn.TagName(w.TurnSession, n)
	switch {
	case at == commit:
		return nil
	case commit == "":
		return errs.New(errs.Failed, "%s: turn %d: tag %s is on %.12s, and the turn has not finished", w.Name, n, name, at).
			Hint("git -C %s tag -d %s", errs.Quote(s.GitCommonDir), name)
	}
	return errs.New(errs.Failed, "%s: turn %d: tag %s is on %.12s, not on its commit %.12s", w.Name, n, name, at, commit).
		Hint("git -C %s update-ref %s %s %s", errs.Quote(s.GitCommonDir), turn.TagRef(w.TurnSession, n), commit, at)
}

// ErrNameTaken is the cause of a refusal because another session, of another user
// or of before, has turns under the same name in the repository.
var ErrNameTaken = errors.New("the name is taken in this repository")

// Own returns those agents under whose names the turns are those of s, and not of
// another user's session of the same name.
func Own(ctx context.Context, m worktree.Manager, s *session.Session, agents ...string) (own []string, err error) {
	ref := func(agent string) string { return turn.OwnerRef(s.Name + "_" + agent) }
	var refs []string
	for _, agent := range agents {
		refs = append(refs, ref(agent))
	}
	known, err := m.Refs(ctx, refs...)
	if err != nil {
		return nil, err
	}
	owner, err := m.BlobID(app.OwnerOf(s, ""))
	for _, agent := range agents {
		if at := known[ref(agent)]; at == "" || at == owner {
			own = append(own, agent)
		}
	}
	return own, err
}

// taken are the turn sessions that have tags already: their names
// cannot be used again, or turns of two sessions would be mixed.
func taken(ctx context.Context, m worktree.Manager) (map[string]bool, error) {
	numbers, err := AllTags(ctx, m)
	if err != nil && !errors.Is(err, worktree.ErrNotRepository) {
		return nil, err
	}
	taken := map[string]bool{}
	for name := range numbers {
		taken[name] = true
	}
	return taken, nil
}

package states

import (
	"context"
	"fmt"
	"slices"

	"paw/worktree/objects"
)

// join makes the twin in which a state has got a commit. Paths in which the two conflict are as in
// the state that the worktree came to.
func (s *Store) join(ctx context.Context, before, got string, t Taken) (string, error) {
	side, err := s.sideOf(ctx, before, got)
	if err != nil {
		return "", err
	}
	merged, err := s.objects.MergeTree(ctx, t.Dir, side, got)
	if err != nil {
		return "", err
	}
	if len(merged.Conflicts) > 0 {
		if merged.Tree, err = s.objects.TreeWith(ctx, merged.Tree, t.Snapshot, merged.Conflicts); err != nil {
			return "", err
		}
	}
	return s.Twin(ctx, merged.Tree, t.Name+", got", before, got)
}

// got returns the state that follows a twin with what the worktree has got of other branches since: the commits that HEAD has
// reached on its moves, as far as the files have them. After a git reset --soft HEAD claims commits that no file has.
func (s *Store) got(ctx context.Context, twin string, since moves, made map[string]bool, t Taken) (string, error) {
	tips, err := t.From(ctx)
	if err != nil || len(tips) == 0 {
		return twin, err
	}
	reached, err := s.reached(ctx, since.visited(t.Head), tips, made)
	for _, one := range reached {
		if err != nil {
			return "", err
		}
		at := arrival{commit: one.commit}
		var stays moves
		if stays, err = s.stays(ctx, since, one.head); err != nil {
			return "", err
		}
		at.into, at.done = stays.arrival(one.head)
		twin, err = s.getting(ctx, twin, at, t)
	}
	if err != nil {
		return "", err
	}
	other, err := s.merged(ctx, twin, tips, t)
	if other == "" || err != nil {
		return twin, err
	}
	return s.join(ctx, twin, other, t)
}

// stays returns the moves of HEAD since the last one to a commit that does not contain head: a merge of head before that was taken back.
func (s *Store) stays(ctx context.Context, all moves, head string) (moves, error) {
	for i, one := range slices.Backward(all) {
		if one.is == head || one.is == one.was || one.makes() { // what is made has what was before it
			continue
		}
		if has, err := s.plain.Contains(ctx, one.is, head); !has || err != nil {
			return all[i+1:], err
		}
	}
	return all, nil
}

// arrival is a commit of another branch that HEAD has come to: by a merge or a rebase, or by another command such as git reset.
type arrival struct {
	commit string
	into   string // HEAD into which git merged the commit, or which it rebased onto it, "" for another command
	done   string // HEAD after that, "" if that is not known
}

// getting returns the state that follows a twin with what the worktree has of one commit of another branch. What git merged is in the
// files of the commit that it came to; what another command brought, the files of the worktree have to say.
func (s *Store) getting(ctx context.Context, twin string, at arrival, t Taken) (string, error) {
	if has, err := s.objects.Contains(ctx, twin, at.commit); has || err != nil {
		return twin, err
	}
	if at.into != "" {
		there, err := s.plain.Contains(ctx, t.Head, at.commit)
		switch {
		case err != nil:
			return "", err
		case !there: // it was given up
			at.into, at.done = "", ""
		case at.done != "":
			t.Snapshot = at.done
		}
	}
	side, err := s.sideOf(ctx, twin, at.commit)
	if err != nil {
		return "", err
	}
	brought, err := s.brought(ctx, side, at, t)
	if err != nil {
		return "", err
	}
	taken, err := s.taken(ctx, side, brought, at, t)
	if taken == "" || err != nil {
		return twin, err
	}
	return s.join(ctx, twin, taken, t)
}

// brought returns what a merge or a rebase of a commit into a HEAD may have brought to a state: the commit, or a part of it. The user's git
// starts from what it takes for common: after a git reset --soft that is more than the files have, and of a landing it knows nothing.
func (s *Store) brought(ctx context.Context, state string, at arrival, t Taken) (string, error) {
	commit := at.commit
	if at.into == "" {
		return commit, nil
	}
	base, err := s.plain.MergeBase(ctx, at.into, commit)
	if base == "" || at.done == commit && base != at.into || err != nil { // a rebase may have left out all that the branch had
		return commit, err
	}
	from, bases, err := s.parted(ctx, t.Dir, state, commit)
	if from == "" || from == base || err != nil {
		return commit, err
	}
	history, err := s.lines(ctx, s.plain, slices.Concat([]string{state, "--not"}, bases, []string{"--"})...)
	for _, one := range history {
		if one.of == base { // the state has that in part
			from, bases = one.id, []string{one.id}
			break
		}
	}
	if err != nil {
		return "", err
	}
	merged, err := s.objects.MergeTrees(ctx, t.Dir, base, from, commit)
	if err != nil || len(merged.Conflicts) > 0 {
		return commit, err
	}
	if tree, err := s.objects.TreeOf(ctx, commit); tree == merged.Tree || err != nil {
		return commit, err
	}
	return s.part(ctx, merged.Tree, t.Name, commit, bases...)
}

// parted returns the commits from which a state and another commit went on, none if they have nothing in common, and a commit that has all of
// them merged. Where these conflict, the first one counts.
func (s *Store) parted(ctx context.Context, dir, state, commit string) (from string, bases []string, err error) {
	bases, err = s.objects.MergeBases(ctx, state, commit)
	for i, base := range bases {
		if i == 0 {
			from = base
			continue
		}
		merged, err := s.objects.MergeTree(ctx, dir, from, base)
		if err == nil && len(merged.Conflicts) > 0 {
			merged.Tree, err = s.objects.TreeWith(ctx, merged.Tree, from, merged.Conflicts)
		}
		if err == nil {
			from, err = s.objects.Commit(ctx, objects.NewCommit{Tree: merged.Tree, Parents: []string{from, base}, Message: "paw: parted\n", Own: true})
		}
		if err != nil {
			return "", nil, err
		}
	}
	return from, bases, err
}

// merged returns the newest state of another agent that HEAD has, and neither the state before nor another
// branch has the commit of, "" for none: the commit of an agent that has committed nothing is no work of it.
func (s *Store) merged(ctx context.Context, before string, tips []string, t Taken) (newest string, err error) {
	if t.Others == nil {
		return "", nil
	}
	others, err := t.Others(ctx)
	if err != nil || len(others) == 0 {
		return "", err
	}
	since, err := s.lines(ctx, s.plain, slices.Concat([]string{"--topo-order", fmt.Sprintf("--max-count=%d", mostLookedAt), t.Head, "--not", before}, tips, []string{"--"})...)
	for _, one := range since {
		twin := others[one.id]
		if twin == "" {
			continue
		}
		if has, err := s.objects.Contains(ctx, before, twin); has || err != nil {
			return "", err
		}
		taken, err := s.taken(ctx, before, twin, arrival{commit: twin, into: t.Head}, t)
		if taken == twin {
			return twin, err
		}
		return "", err
	}
	return "", err
}

// reached returns the commits of other branches that HEAD has reached, in the order in which it came to them: an older one may
// have brought a file that a newer one deletes. A commit that was made in the worktree itself, and then put on a branch, was not got, but what
// came before it may have been.
func (s *Store) reached(ctx context.Context, heads, tips []string, made map[string]bool) (found []reached, err error) {
	seen := map[string]bool{}
	for _, head := range heads {
		todo, err := s.plain.MergeBases(ctx, head, tips...) // the newest that any of them has
		for len(todo) > 0 && err == nil {
			one := todo[0]
			if todo = todo[1:]; seen[one] {
				continue
			}
			seen[one] = true
			if made[one] {
				var its []line
				if its, err = s.lines(ctx, s.plain, "--no-walk", one); err == nil && len(its) > 0 {
					todo = append(todo, its[0].parents...)
				}
				continue
			}
			found = append(found, reached{one, head})
		}
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// reached is a commit of another branch that HEAD has reached, and where HEAD was then.
type reached struct{ commit, head string }

// taken returns what of a commit was got, path by path. Of the paths that a merge of the commit into
// the state before would change, those that are as they were before were not taken, unless a merge or
// a rebase has resolved a conflict so. The result is the commit itself if all were taken, "" for none,
// else a commit that has those that were taken alone. The commit may be a part of the one that HEAD came to.
func (s *Store) taken(ctx context.Context, before, commit string, at arrival, t Taken) (string, error) {
	merged, err := s.objects.MergeTree(ctx, t.Dir, before, commit)
	if err != nil {
		return "", err
	}
	brought, err := s.objects.ChangedPaths(ctx, before, merged.Tree)
	if err != nil {
		return "", err
	}
	changed, err := s.objects.ChangedPaths(ctx, before, t.Snapshot)
	if err != nil {
		return "", err
	}
	lacks, err := s.lacks(ctx, before, merged.Tree, at.into != "", t)
	if err != nil {
		return "", err
	}
	if at.into == "" && len(merged.Conflicts) > 0 { // nobody has resolved them
		differ, err := s.objects.ChangedPaths(ctx, commit, t.Snapshot)
		if err != nil {
			return "", err
		}
		lacks = append(lacks, slices.DeleteFunc(differ, func(path string) bool { return !slices.Contains(merged.Conflicts, path) })...)
	}
	all := slices.Compact(slices.Sorted(slices.Values(append(brought, merged.Conflicts...))))
	renamed := map[string]string{}
	if slices.ContainsFunc(lacks, func(path string) bool { return !slices.Contains(all, path) }) {
		if renamed, err = s.objects.Renames(ctx, before, t.Snapshot); err != nil {
			return "", err
		}
	}
	var left []string
	for _, path := range all {
		if at.into != "" && slices.Contains(merged.Conflicts, path) { // resolved
			continue
		}
		if !slices.Contains(changed, path) || slices.Contains(lacks, path) || slices.Contains(lacks, renamed[path]) {
			left = append(left, path)
		}
	}
	if len(left) == 0 {
		return commit, nil
	}
	for _, path := range brought {
		if !slices.Contains(left, path) {
			return s.partWithout(ctx, before, commit, at.commit, left, t)
		}
	}
	return "", nil
}

// lacks returns the paths in which the worktree does not have, beside what it has changed itself, what a
// merge would have brought into the state before. Where both have changed the same lines, only git's own merge can have brought it.
func (s *Store) lacks(ctx context.Context, before, merged string, byMerge bool, t Taken) ([]string, error) {
	both, err := s.objects.MergeTrees(ctx, t.Dir, before, t.Snapshot, merged)
	if err != nil {
		return nil, err
	}
	paths, err := s.objects.ChangedPaths(ctx, t.Snapshot, both.Tree)
	if !byMerge {
		return append(paths, both.Conflicts...), err
	}
	return slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(both.Conflicts, path) }), err
}

// part makes a commit that stands in for another one, with a part of its files or with other parents. Blame
// names the other one.
func (s *Store) part(ctx context.Context, tree, name, commit string, parents ...string) (string, error) {
	return s.plain.Commit(ctx, objects.NewCommit{Tree: tree, Parents: parents, Message: partOf + name + ofWhole + commit + "\n", Own: true})
}

// partWithout makes a commit that has of a commit's paths what was got; those that were left are as they were before the
// commit and the state parted. A branch that has the commit has the part.
func (s *Store) partWithout(ctx context.Context, before, commit, whole string, left []string, t Taken) (string, error) {
	from, bases, err := s.parted(ctx, t.Dir, before, commit)
	if err != nil || from == "" {
		return "", err
	}
	tree, err := s.objects.TreeWith(ctx, commit, from, left)
	if err != nil {
		return "", err
	}
	return s.part(ctx, tree, t.Name, whole, bases...)
}

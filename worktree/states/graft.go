package states

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"paw/worktree/git"
	"paw/worktree/objects"
	"paw/worktree/refs"
)

// Graft notes that a commit of a branch stands for a state. It does nothing if the commit has the state
// already, or if the state came from the commit, and for a store that writes nothing. The state becomes
// the first parent: git blame asks the first one first.
func (s *Store) Graft(ctx context.Context, commit, twin string) error {
	if s.objects.IsReader() {
		return nil
	}
	for _, pair := range [][2]string{{commit, twin}, {twin, commit}} {
		if has, err := s.objects.Contains(ctx, pair[0], pair[1]); has || err != nil {
			return err
		}
	}
	its, err := s.lines(ctx, s.objects, "--no-walk", commit, "--")
	if err != nil || len(its) == 0 {
		return err
	}
	replace := git.Quietly(append([]string{"replace", "--force", "--graft", commit, twin}, its[0].parents...)...)
	return s.refs.Retry(ctx, GraftBase+commit, func() error { return s.objects.Home().Run(ctx, replace...) })
}

// Stand returns the ref with which a new commit of a branch, whose tree and parents are known, stands for a
// state. No state came from the commit.
func (s *Store) Stand(ctx context.Context, commit, tree, twin string, parents ...string) (refs.Change, error) {
	replacement, err := s.part(ctx, tree, "stand", commit, append([]string{twin}, parents...)...)
	return refs.Change{Ref: GraftBase + commit, To: replacement}, err
}

// Forget deletes the grafts onto states of some turn sessions.
func (s *Store) Forget(ctx context.Context, turnSessions []string) error {
	out, err := s.plain.Home().Output(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(parent)", GraftBase)
	if err != nil || out == "" {
		return err
	}
	grafts, onto := map[string]string{}, map[string][]string{} // ids of the replacements by ref; refs by parent
	var parents []string
	for text := range strings.Lines(out) {
		f := strings.Fields(text)
		grafts[f[0]] = f[1]
		for _, parent := range f[2:] {
			onto[parent], parents = append(onto[parent], f[0]), append(parents, parent)
		}
	}
	doomed := map[string]string{}
	told, err := s.plain.Home().Output(ctx, append([]string{"rev-list", "--no-walk", "--no-commit-header", "--format=%H %ae %s"}, parents...)...)
	for text := range strings.Lines(told) {
		f := strings.Fields(text)
		if len(f) > 4 && f[1] == objects.Email && (slices.Contains(turnSessions, f[4]) || len(f) > 5 && slices.Contains(turnSessions, f[5])) {
			for _, ref := range onto[f[0]] {
				doomed[ref] = grafts[ref]
			}
		}
	}
	if err != nil {
		return err
	}
	return s.refs.Delete(ctx, doomed)
}

// Trailer begins the line of a message that names the state which a commit brought, by the beginning
// of the snapshot's id.
const Trailer = "Paw-State: "

// ShortID is the length of such a beginning.
const ShortID = 16

// reverts begins the line that git revert puts into a message.
const reverts = "This reverts commit "

// Mentioned finds commits of a branch, since an earlier commit of it, that name states in their trailers: landings
// that were amended, rebased or squashed, the newest commit by the beginning of the snapshot's id. It also
// finds the commits that the branch has reverted since: the commit that says so by the one that it reverts. A
// revert that was reverted itself does not count.
func (s *Store) Mentioned(ctx context.Context, tip, since string) (named, by map[string]string, err error) {
	out, err := s.plain.Home().Output(ctx, "log", "--no-show-signature", "--no-notes", "--no-color", "--fixed-strings", "--grep="+Trailer, "--grep="+reverts,
		"--format=%x00%H%n%B", tip, "^"+since, "--")
	named, by = map[string]string{}, map[string]string{}
	note := func(found map[string]string, commit, line, text string, length int) {
		if id, is := strings.CutPrefix(strings.TrimSpace(line), text); is && len(id) >= length && found[id[:length]] == "" {
			found[id[:length]] = commit
		}
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		commit, message, _ := strings.Cut(entry, "\n")
		for line := range strings.Lines(message) {
			note(named, commit, line, Trailer, ShortID)
			note(by, commit, line, reverts, len(tip))
		}
	}
	again := map[string]bool{}
	for _, revert := range by {
		undone := false
		for at := by[revert]; at != ""; at = by[at] {
			undone = !undone
		}
		again[revert] = undone
	}
	maps.DeleteFunc(by, func(_, revert string) bool { return again[revert] })
	return named, by, err
}

// Merged returns the refs that match patterns of git for-each-ref and whose commits a tip has, in the
// history that o sees.
func Merged(ctx context.Context, o *objects.Store, tip string, patterns ...string) (map[string]bool, error) {
	out, err := o.Home().Output(ctx, append([]string{"for-each-ref", "--format=%(refname)", "--merged=" + tip}, patterns...)...)
	merged := map[string]bool{}
	for ref := range strings.FieldsSeq(out) {
		merged[ref] = true
	}
	return merged, err
}

// Containing returns the refs that match patterns of git for-each-ref and that have a commit, in the
// history that o sees.
func Containing(ctx context.Context, o *objects.Store, commit string, patterns ...string) ([]string, error) {
	out, err := o.Home().Output(ctx, append([]string{"for-each-ref", "--format=%(refname)", "--contains=" + commit}, patterns...)...)
	return strings.Fields(out), err
}

// Foreign returns the paths that a landing would change although no work has changed them. Where one
// side has renamed a file or a folder, the new name stands for the old one. also are paths that may
// change besides.
func (s *Store) Foreign(ctx context.Context, l Lands, tree string, also map[string]bool) ([]string, error) {
	if !slices.ContainsFunc(l.Steps, func(step Step) bool { return step.Got != "" }) && len(also)+len(l.Left) == 0 {
		return nil, nil // what git merges is what the steps have changed
	}
	own, err := s.Paths(ctx, l.Ahead)
	if err != nil {
		return nil, err
	}
	changed, err := s.objects.ChangedPaths(ctx, l.Tip, tree)
	if err != nil {
		return nil, err
	}
	return s.beyondWork(ctx, l, own, slices.DeleteFunc(changed, func(path string) bool { return also[path] }))
}

// beyondWork is Beyond for the work that a landing brings.
func (s *Store) beyondWork(ctx context.Context, l Lands, own map[string]bool, paths []string) ([]string, error) {
	if paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return own[path] }); len(paths) == 0 {
		return nil, nil
	}
	base, err := s.objects.MergeBase(ctx, l.Stands, l.State)
	if len(l.Left) > 0 && len(l.Steps) > 0 {
		base = l.Steps[0].From
	}
	if err != nil || base == "" {
		return paths, err
	}
	return s.Beyond(ctx, own, base, paths, l.Tip, l.State)
}

// Beyond returns those of some paths that are none of an agent's own, also not by another name that one of the sides has given them since a
// commit.
func (s *Store) Beyond(ctx context.Context, own map[string]bool, since string, paths []string, sides ...string) ([]string, error) {
	paths = slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return own[path] })
	for _, side := range sides {
		if len(paths) == 0 {
			return nil, nil
		}
		renamed, err := s.objects.Renames(ctx, since, side)
		if err != nil {
			return nil, err
		}
		paths = slices.DeleteFunc(paths, func(path string) bool { return renames(renamed, own, path) })
	}
	return paths, nil
}

// renames reports whether a path is the new name of one of some paths, by the renames of files, or
// by the folder of a renamed file.
func renames(renamed map[string]string, own map[string]bool, changed string) bool {
	for old, now := range renamed {
		if now == changed && own[old] || old == changed && own[now] {
			return true
		}
		for from, to := path.Dir(old), path.Dir(now); from != to; from, to = path.Dir(from), path.Dir(to) {
			if rest, in := strings.CutPrefix(changed, to+"/"); in && own[path.Join(from, rest)] {
				return true
			}
			if rest, in := strings.CutPrefix(changed, from+"/"); in && own[path.Join(to, rest)] {
				return true
			}
			if path.Base(from) != path.Base(to) || from == "." || to == "." {
				break
			}
		}
	}
	return false
}

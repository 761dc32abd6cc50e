package worktree

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/journal"
	"paw/worktree/objects"
	"paw/worktree/snapshot"
)

// lookAtIndex finds out whether the index is as before or as after the move.
func (s *settling) lookAtIndex(ctx context.Context) error {
	have, err := entriesOf(ctx, s.repo(), filepath.Join(s.at.AdminDir, "index"))
	if err != nil {
		return err
	}
	was, err := entriesOf(ctx, s.repo(), filepath.Join(s.at.AdminDir, journal.IndexFile))
	if err != nil {
		return err
	}
	untouched := maps.Equal(have, was)
	if !s.Resets { // other staged paths do not matter
		changes, err := objects.Between(ctx, s.m.objects.Home(), s.From, s.To)
		if err != nil {
			return err
		}
		before, after := true, true
		for _, c := range changes {
			before, after = before && have[c.Name] == was[c.Name], after && have[c.Name] == c.Entry()
		}
		untouched, s.installed = before, after
	} else if !untouched {
		out, err := s.repo().Output(ctx, git.Quietly("diff-index", "--cached", "--name-only", s.To)...)
		if err != nil {
			return err
		}
		s.installed = out == ""
	}
	if !untouched && !s.installed && (s.used || !s.Resets) {
		return errUsedSince
	}
	return nil
}

// entriesOf returns the entries of an index by path; the sides of a conflict by path and side.
func entriesOf(ctx context.Context, repo git.Repo, index string) (map[string]string, error) {
	listed, err := snapshot.ListIndex(ctx, repo, index)
	have := map[string]string{}
	for _, e := range listed {
		name := e.Name
		if e.Stage != "0" {
			name += "\x00" + e.Stage
		}
		have[name] = objects.EntryOf(e.Mode, e.ID)
	}
	return have, err
}

// makeIndex makes the goal's index in a scratch file, with the bits of the entries. When going back
// that is the index kept in the journal, or the present one if it is unchanged.
func (s *settling) makeIndex(ctx context.Context) error {
	s.away = map[string]bool{}
	for _, name := range s.Absent {
		s.away[name] = true
	}
	real, kept := filepath.Join(s.at.AdminDir, "index"), filepath.Join(s.at.AdminDir, journal.IndexFile)
	var repo git.Repo
	var err error
	switch {
	case !s.forward && !s.installed:
		return nil
	case !s.forward:
		s.index, _, err = s.scratchIndex(kept, s.dir)
		return err
	case s.Resets:
		s.index, err = s.resetIndex(ctx, s.dir)
		return err
	}
	if s.index, repo, err = s.scratchIndex(real, s.dir); err != nil {
		return err
	}
	if err := s.enter(ctx, repo, s.From, s.Was); err != nil {
		return err
	}
	if disk.Exists(filepath.Join(s.at.AdminDir, "info", "sparse-checkout")) {
		err = s.readSparse(ctx, repo)
	} else {
		err = repo.Run(ctx, git.Quietly("read-tree", "-i", "-m", s.Was, s.Becomes)...)
	}
	if err == nil {
		err = s.enter(ctx, repo, s.Becomes, s.To)
	}
	if err != nil {
		return err
	}
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", s.Assumed, "", nil)
}

// readSparse reads the goal into the index of a sparse checkout. git decides what the checkout
// leaves out: it writes the files into an empty folder.
func (s *settling) readSparse(ctx context.Context, repo git.Repo) error {
	empty := filepath.Join(s.dir, "files")
	if err := os.Mkdir(empty, 0o700); err != nil {
		return err
	}
	elsewhere := repo.WithEnv("GIT_DIR="+s.at.AdminDir, "GIT_WORK_TREE="+empty)
	if err := elsewhere.Run(ctx, git.Quietly("-c", "submodule.recurse=false", "read-tree", "-m", "-u", s.Was, s.Becomes)...); err != nil {
		return err
	}
	for _, c := range s.changes {
		if _, err := os.Lstat(filepath.Join(empty, c.Name)); !c.Gone && err != nil {
			s.away[c.Name] = true
		}
	}
	return nil
}

// resetIndex makes the index of the commit that a move leads to, from the index before the move:
// entries keep their bits, and unchanged ones their stat data.
func (v *move) resetIndex(ctx context.Context, dir string) (index string, err error) {
	kept := filepath.Join(v.at.AdminDir, journal.IndexFile)
	index, repo := snapshot.NewScratchIndex(dir), v.repo()
	if disk.Exists(kept) {
		if index, repo, err = v.scratchIndex(kept, dir); err != nil {
			return "", err
		}
	}
	repo = repo.WithEnv("GIT_INDEX_FILE=" + index)
	if err := repo.Run(ctx, git.Quietly("read-tree", "--no-sparse-checkout", "-i", "-m", v.To)...); err != nil {
		return "", err
	}
	if err := v.trackIgnored(ctx, repo); err != nil {
		return "", err
	}
	return index, snapshot.Refresh(ctx, repo)
}

// trackIgnored adds the files to the index that the tree of a move has and its commit does not, if git
// ignores them: they were in the index when the tree was made, as after `git add --force`, and
// without an entry they would not be the agent's work any more.
func (v *move) trackIgnored(ctx context.Context, repo git.Repo) error {
	changes, err := objects.Between(ctx, v.m.objects.Home(), v.To, v.Becomes)
	if err != nil {
		return err
	}
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool { return !c.Added || c.Gitlink() })
	if len(changes) == 0 {
		return nil
	}
	names := make([]string, len(changes))
	for i, c := range changes {
		names[i] = "./" + c.Name // A leading colon would be magic.
	}
	out, err := repo.Input(ctx, git.NulTerminated(names), snapshot.Privately("check-ignore", "--no-index", "-z", "--stdin")...)
	if err != nil && git.ExitCode(err) != 1 { // 1 means that none is ignored.
		return err
	}
	ignored := map[string]bool{}
	for _, name := range git.NulSeparated(out) {
		ignored[strings.TrimPrefix(name, "./")] = true
	}
	changes = slices.DeleteFunc(changes, func(c objects.Change) bool { return !ignored[c.Name] })
	if len(changes) == 0 {
		return nil
	}
	_, err = repo.Input(ctx, indexInfo(changes, objects.Change.Entry), git.Quietly("update-index", "-z", "--index-info")...)
	return err
}

// putIndex refreshes the scratch index, or a copy of the present one, and installs it.
func (s *settling) putIndex(ctx context.Context) error {
	if s.index == "" {
		var err error
		if s.index, _, err = s.scratchIndex(filepath.Join(s.at.AdminDir, "index"), s.dir); err != nil {
			return err
		}
	}
	if err := snapshot.Refresh(ctx, s.repo().WithEnv("GIT_INDEX_FILE="+s.index)); err != nil {
		return err
	}
	return s.install(s.index)
}

// indexWith copies an index, which may be missing, to a scratch file in dir in which the changed paths
// have the entries that entry returns, without bits. indexWith returns git with that file.
func indexWith(ctx context.Context, repo git.Repo, index, dir string, changes []objects.Change, entry func(objects.Change) string) (file string, _ git.Repo, err error) {
	file = snapshot.NewScratchIndex(dir)
	if disk.Exists(index) {
		if err := disk.CopyFile(index, file); err != nil {
			return "", repo, err
		}
	}
	repo = repo.WithEnv("GIT_INDEX_FILE=" + file)
	_, err = repo.Input(ctx, indexInfo(changes, entry), git.Quietly("update-index", "-z", "--index-info")...)
	return file, repo, err
}

// indexInfo returns an input for git update-index --index-info that gives paths the entries that
// entry returns, without bits.
func indexInfo(changes []objects.Change, entry func(objects.Change) string) []byte {
	var input strings.Builder
	for _, pass := range []bool{false, true} { // A folder can replace a file only after the file's entry is removed.
		for _, c := range changes {
			what := entry(c)
			switch {
			case !pass: // Every entry is removed first: a replaced one would keep its bits.
				input.WriteString("0 " + strings.Repeat("0", len(c.ID)) + "\t" + c.Name + "\x00")
			case what != "":
				input.WriteString(what + "\t" + c.Name + "\x00")
			}
		}
	}
	return []byte(input.String())
}

// errUsedSince says that paths of an interrupted move were staged since.
var errUsedSince = errors.New("staged since")

// hidden lists the paths of a move for which the index does not say whether the file has changed: the
// entry has a bit that hides that, or git's conversion makes the file differ.
type hidden struct {
	assumed []string // paths with the bit assume-unchanged
	skipped []string // paths with the bit skip-worktree
	absent  []string // skipped paths without a file
	gone    map[string]bool

	untouched map[string]string // files that only a conversion makes differ -> snapshot.BlobID

	refreshed string // copy of the index just refreshed by git, "" for none
}

// hiddenOf returns the hidden paths among changes.
func hiddenOf(l *snapshot.Look, changes []objects.Change) hidden {
	h := hidden{gone: map[string]bool{}, untouched: map[string]string{}}
	for _, c := range changes {
		if id := l.Untouched[c.Name]; id != "" {
			h.untouched[c.Name] = id
		}
		h.gone[c.Name] = c.Gone
		if _, is := slices.BinarySearch(l.Real.Assumed, c.Name); is {
			h.assumed = append(h.assumed, c.Name)
		}
		if _, is := slices.BinarySearch(l.Real.Skipped, c.Name); is {
			h.skipped = append(h.skipped, c.Name)
			if !disk.Exists(filepath.Join(l.Top, filepath.FromSlash(c.Name))) {
				h.absent = append(h.absent, c.Name)
			}
		}
	}
	return h
}

// refresh refreshes an index, including hidden files: git would take a file rewritten with the same
// content for changed.
func (h hidden) refresh(ctx context.Context, repo git.Repo) error {
	there := slices.DeleteFunc(slices.Clone(h.skipped), func(name string) bool { return slices.Contains(h.absent, name) })
	if err := snapshot.UpdateBits(ctx, repo, "--no-assume-unchanged", h.assumed, "--no-skip-worktree", there); err != nil {
		return err
	}
	if err := snapshot.Refresh(ctx, repo); err != nil {
		return err
	}
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", h.assumed, "--skip-worktree", there)
}

// clear removes the files that only a conversion makes differ, so that git writes them anew: git would
// refuse to overwrite them. A file that has changed since stays.
func (h hidden) clear(ctx context.Context, top string) error {
	for name, id := range h.untouched {
		path := filepath.Join(top, filepath.FromSlash(name))
		if snapshot.BlobID(ctx, path, len(id)/2) != id {
			continue
		}
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return nil
}

// mark sets the bits again on the entries that still exist.
func (h hidden) mark(ctx context.Context, repo git.Repo) error {
	return snapshot.UpdateBits(ctx, repo, "--assume-unchanged", h.staying(h.assumed), "--skip-worktree", h.staying(h.skipped))
}

// staying returns the paths that still exist after the move.
func (h hidden) staying(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return h.gone[name] })
}

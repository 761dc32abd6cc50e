package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"paw/worktree/git"
)

// Snapshot is the state of a worktree kept in a commit.
type Snapshot struct {
	Commit string // HEAD itself when the worktree is clean
	Ref    string
	// NotSaved are paths whose content is not in the commit: embedded repositories,
	// submodules with changes of their own, files that git could not read.
	NotSaved []string
}

// ErrRefTaken means that the ref of a snapshot exists already.
var ErrRefTaken = errors.New("the ref exists already")

// snapshotTries bounds the attempts against a `git gc --prune=now` that runs at
// the same time and takes objects no ref names yet.
const snapshotTries = 4

// snapshotAuthor signs snapshots, also where the user has not told git a name.
var snapshotAuthor = []string{
	"GIT_AUTHOR_NAME=paw", "GIT_AUTHOR_EMAIL=paw@localhost",
	"GIT_COMMITTER_NAME=paw", "GIT_COMMITTER_EMAIL=paw@localhost",
}

// Snapshot commits all files of the worktree at path as they are, untracked ones
// too, ignored ones not, with HEAD as the parent, and makes ref point to it. HEAD,
// index, files and what `git status` says stay as they are; neither a conflict nor
// a held index.lock is in the way. A clean worktree needs no commit: ref then
// points to HEAD. ErrRefTaken when there is such a ref. Without a ref none is made,
// and the commit lasts until git collects garbage.
func (m Manager) Snapshot(ctx context.Context, path, ref, message string) (Snapshot, error) {
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return Snapshot{}, err
	}
	for try := 1; ; try++ {
		shot, err := m.snapshotOnce(ctx, path, admin, ref, message)
		if err == nil || try == snapshotTries || ctx.Err() != nil || !vanished(err) {
			return shot, err
		}
	}
}

// vanished reports whether git missed an object that was there a moment ago.
func vanished(err error) bool {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return false
	}
	return slices.ContainsFunc([]string{
		"nonexistent object", "invalid object", "not a valid object", "unable to read", "bad object", "missing blob", "missing tree",
		"error building trees", "Not a valid object name", "does not point to a valid object", "could not parse",
	}, failed.Said)
}

func (m Manager) snapshotOnce(ctx context.Context, path, admin, ref, message string) (Snapshot, error) {
	s, err := newScratch(ctx, path, admin)
	if err != nil {
		return Snapshot{}, err
	}
	defer s.drop()
	head := m.headOf(admin)
	notSaved, err := s.addAll(ctx)
	if err != nil {
		return Snapshot{}, err
	}
	changed, embedded, err := s.compare(ctx, head)
	if err != nil {
		return Snapshot{}, err
	}
	submodules, err := s.changedSubmodules(ctx, path)
	if err != nil {
		return Snapshot{}, err
	}
	shot := Snapshot{Commit: head, Ref: ref, NotSaved: sorted(notSaved, embedded, submodules)}
	if changed || head == "" {
		if shot.Commit, err = s.commit(ctx, head, message); err != nil {
			return Snapshot{}, err
		}
	}
	if ref == "" {
		return shot, nil
	}
	return shot, m.keep(ctx, shot.Commit, ref)
}

// headOf is the commit of a worktree's HEAD, "" when its branch is gone or has none.
func (m Manager) headOf(admin string) string {
	e := Entry{AdminDir: admin}
	e.readHead(&refReader{commonDir: m.Repository.CommonDir})
	return e.Head
}

// compare reports whether the scratch index differs from the commit. Embedded
// repositories, of which git would record no more than a commit id that is not
// in this repository, are taken out and returned.
func (s *scratch) compare(ctx context.Context, head string) (changed bool, embedded []string, err error) {
	known := s.gitlinks()
	if head == "" { // git knows the empty tree without having it
		if head, err = s.repo.Line(ctx, "hash-object", "-t", "tree", "--stdin"); err != nil {
			return false, nil, err
		}
	}
	out, err := s.repo.Output(ctx, quietly("diff-index", "--cached", "--raw", "--no-renames", "--ignore-submodules=none", "-z", head)...)
	if err != nil {
		return false, nil, err
	}
	fields := nulSeparated(out)
	for i := 0; i+1 < len(fields); i += 2 {
		info, name := strings.Fields(fields[i]), fields[i+1]
		if len(info) > 1 && info[1] == modeGitlink && !known[name] {
			embedded = append(embedded, name)
			changed = changed || info[0] != ":000000"
			continue
		}
		changed = true
	}
	if len(embedded) > 0 {
		list := []byte(strings.Join(embedded, "\x00") + "\x00")
		_, err = s.repo.Input(ctx, list, quietly("update-index", "--force-remove", "-z", "--stdin")...)
	}
	return changed, embedded, err
}

// changedSubmodules are those that are checked out here and have changes that
// the commit id of the submodule does not stand for.
func (s *scratch) changedSubmodules(ctx context.Context, top string) ([]string, error) {
	var present []string
	for name := range s.gitlinks() {
		if exists(filepath.Join(top, name, ".git")) {
			present = append(present, name)
		}
	}
	var changed []string
	for _, name := range present {
		unsaved, err := unsavedSubmodule(ctx, filepath.Join(top, name))
		if err != nil {
			return nil, err
		}
		if unsaved {
			changed = append(changed, name)
		}
	}
	return changed, nil
}

// unsavedSubmodule reports whether a submodule has changes, or commits that are
// in no branch of its remotes: its store lies in the worktree's git directory and
// goes with it.
func unsavedSubmodule(ctx context.Context, dir string) (bool, error) {
	status, err := in(dir).Output(ctx, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return false, err
	}
	if status != "" {
		return true, nil
	}
	commits, err := in(dir).Output(ctx, "rev-list", "--max-count=1", "--branches", "HEAD", "--not", "--remotes")
	return commits != "", err
}

func (s *scratch) commit(ctx context.Context, head, message string) (string, error) {
	tree, err := s.repo.Line(ctx, quietly("write-tree")...)
	if err != nil {
		return "", err
	}
	args := []string{"-c", "i18n.commitEncoding=UTF-8", "commit-tree", tree}
	if head != "" {
		args = append(args, "-p", head)
	}
	out, err := s.repo.WithEnv(snapshotAuthor...).Input(ctx, []byte(message), args...)
	return strings.TrimSpace(out), err
}

// keep makes ref point to a commit, unless there is such a ref.
func (m Manager) keep(ctx context.Context, commit, ref string) error {
	err := m.home().Run(ctx, quietly("update-ref", ref, commit, "")...)
	var failed *git.Error
	if errors.As(err, &failed) && failed.Said("reference already exists") {
		return fmt.Errorf("%s: %w", ref, ErrRefTaken)
	}
	if err != nil || !exists(filepath.Join(m.Repository.CommonDir, "gc.pid")) {
		return err
	}
	// A gc that runs now may have decided before the ref was there: look whether
	// everything is still there.
	if err = m.home().Run(ctx, "rev-list", "--objects", "--quiet", "--no-walk", commit); err != nil {
		return errors.Join(err, m.home().Run(ctx, quietly("update-ref", "-d", ref, commit)...))
	}
	return nil
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// List returns the readable sessions, sorted by name, and one error for each unreadable file. An
// error of reading the folder itself is the last result; a missing folder has no sessions.
func (st Store) List() ([]*Session, []error, error) { return st.list(st.Dir) }

// ListAll is List with the far sessions added at the end.
func (st Store) ListAll() ([]*Session, []error, error) {
	sessions, unreadable, err := st.list(st.Dir)
	if err != nil {
		return nil, nil, err
	}
	far, problems, err := st.list(filepath.Join(st.Dir, farDir))
	return append(sessions, far...), append(unreadable, problems...), err
}

// list returns the sessions of one folder, and the errors of its unreadable records.
func (st Store) list(dir string) (sessions []*Session, unreadable []error, err error) {
	if st.Dir == "" {
		return nil, nil, errors.New("no folder for sessions")
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("sessions: %w", err)
	}
	for _, name := range recordsAmong(entries) {
		s, err := st.LoadAny(name)
		var bad *NameError
		if errors.As(err, &bad) || isFar(name) != (dir != st.Dir) {
			s, err = nil, &CorruptError{Name: name, Path: filepath.Join(dir, name+".json"), Reason: "not the name of a session"}
		}
		switch {
		case err != nil:
			unreadable = append(unreadable, err)
		case s != nil: // nil: the record was deleted since ReadDir
			sessions = append(sessions, s)
		}
	}
	slices.SortFunc(sessions, func(a, b *Session) int { return strings.Compare(a.Name, b.Name) })
	return sessions, unreadable, nil
}

// FindByRepo returns the session that path belongs to: path, with symlinks resolved, is or lies
// inside the session's main worktree, its common git directory, or the worktree of one of its
// agents. The innermost directory wins, so an agent's worktree belongs to its own session even if
// the repository has several. The search upwards ends at the root of the worktree that path is in.
// FindByRepo returns nil for no session and an *AmbiguousError for several; unreadable records are
// skipped.
func (st Store) FindByRepo(path string) (*Session, error) {
	if path == "" {
		return nil, nil
	}
	start, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	if real, err := filepath.EvalSymlinks(start); err == nil {
		start = real
	}
	sessions, _, err := st.List()
	if err != nil {
		return nil, err
	}
	roots := rootsOf(sessions)
	owners := innermost(start, roots, func(dir, root string) bool { return dir == root })
	if len(owners) == 0 { // paths in records are resolved: only a link, or another case of letters, needs a look at every worktree
		owners = innermost(start, roots, sameFile)
	}
	switch len(owners) {
	case 0:
		return nil, nil
	case 1:
		return owners[0], nil
	}
	return nil, &AmbiguousError{Path: path, Sessions: owners}
}

// innermost returns the owners of the first directory that is the root of a session, from dir up to the root of the worktree
// around it.
func innermost(dir string, roots []root, same func(dir, root string) bool) (owners []*Session) {
	for {
		for _, r := range roots {
			if same(dir, r.path) && !slices.Contains(owners, r.owner) {
				owners = append(owners, r.owner)
			}
		}
		if len(owners) > 0 || dir == filepath.Dir(dir) || isWorktree(dir) {
			return owners
		}
		dir = filepath.Dir(dir)
	}
}

// recordsAmong returns the names of the records in a folder. Other files are temporary ones, corrupt
// records set aside, and a file manager's leftovers.
func recordsAmong(entries []os.DirEntry) []string {
	var names []string
	for _, entry := range entries {
		if name, isRecord := strings.CutSuffix(entry.Name(), ".json"); isRecord && !strings.HasPrefix(name, ".") {
			names = append(names, name)
		}
	}
	return names
}

// Among picks the session that a command means when several are possible: the only one or, of
// several, the only active one. Otherwise nil.
func Among(sessions []*Session) *Session {
	if len(sessions) == 1 {
		return sessions[0]
	}
	var meant *Session
	for _, s := range sessions {
		if s.Status != StatusActive {
			continue
		}
		if meant != nil {
			return nil
		}
		meant = s
	}
	return meant
}

// root is a directory that belongs to a session.
type root struct {
	path  string
	owner *Session
}

func rootsOf(sessions []*Session) []root {
	var roots []root
	for _, s := range sessions {
		paths := []string{s.RepoPath, s.GitCommonDir}
		for i := range s.Agents {
			paths = append(paths, s.Agents[i].WorktreePath)
		}
		for _, path := range paths {
			if path != "" {
				roots = append(roots, root{path: filepath.Clean(path), owner: s})
			}
		}
	}
	return roots
}

// sameFile reports whether two paths are the same directory: under a symlink, or on a file system that ignores case.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(one, other)
}

func isWorktree(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

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

// At returns the sessions of the first of some directories that belongs to any: the main worktree, the common git directory or the
// worktree of an agent. Symlinks in the directories are resolved. Unreadable records are skipped.
func (st Store) At(places ...string) (here []*Session, err error) {
	sessions, _, err := st.List()
	// Paths in records are resolved: only a link, or another case of letters, needs a look at every worktree.
	for _, same := range []func(a, b string) bool{func(a, b string) bool { return a == b }, sameFile} {
		for _, place := range places {
			for _, s := range sessions {
				if place != "" && slices.ContainsFunc(s.roots(), func(root string) bool { return same(place, root) }) {
					here = append(here, s)
				}
			}
			if len(here) > 0 {
				return here, nil
			}
		}
	}
	return nil, err
}

// roots returns the directories that belong to a session.
func (s *Session) roots() (roots []string) {
	for _, path := range []string{s.RepoPath, s.GitCommonDir} {
		roots = append(roots, filepath.Clean(path))
	}
	for i := range s.Agents {
		roots = append(roots, filepath.Clean(s.Agents[i].WorktreePath))
	}
	return slices.DeleteFunc(roots, func(path string) bool { return path == "." })
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

// sameFile reports whether two paths are the same directory: under a symlink, or on a file system that ignores case.
func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(one, other)
}

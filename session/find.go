package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// List returns the readable sessions, sorted by name, and one error for each file that cannot be read. The last error
// is that of reading the folder itself; a missing folder is an empty one. Early hears of none of them: most are of other places.
func (st Store) List() ([]*Session, []error, error) {
	st.Early = nil
	sessions, unreadable, _, err := st.list(st.Dir)
	return sessions, unreadable, err
}

// list returns the sessions of a folder of records, and all that is in the folder.
func (st Store) list(dir string) (sessions []*Session, unreadable []error, entries []os.DirEntry, err error) {
	if st.Dir == "" {
		return nil, nil, nil, errors.New("no folder for sessions")
	}
	entries, err = os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil, nil
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("sessions: %w", err)
	}
	for _, entry := range entries {
		name, isRecord := strings.CutSuffix(entry.Name(), ".json")
		if !isRecord || strings.HasPrefix(name, ".") {
			continue // temporary files, corrupt ones set aside, what a file manager left
		}
		s, err := st.LoadAny(name)
		var bad *NameError
		if errors.As(err, &bad) || isFar(name) != (dir != st.Dir) {
			s, err = nil, &CorruptError{Name: name, Path: filepath.Join(dir, entry.Name()), Reason: "not the name of a session"}
		}
		switch {
		case err != nil:
			unreadable = append(unreadable, err)
		case s != nil: // nil: deleted in between
			sessions = append(sessions, s)
		}
	}
	slices.SortFunc(sessions, func(a, b *Session) int { return strings.Compare(a.Name, b.Name) })
	return sessions, unreadable, entries, nil
}

// FindByRepo returns the session to which path belongs: path, with symlinks resolved, is a session's main worktree, its
// common git directory, the worktree of one of its agents, or lies inside one. The innermost counts, so that inside an
// agent's worktree its own session is found even where the repository has several; another repository on the way up
// ends the search. It returns nil for no session and an *AmbiguousError for several. Records that cannot be read are
// passed over.
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
	dirs := upTo(start)
	// By name first: paths in records are resolved, and to read every record and to look at every worktree on the machine
	// is only worth it where names do not tell.
	owners := innermost(dirs, rootsOf(st.mentioning(dirs)), false)
	if len(owners) == 0 {
		sessions, _, err := st.List()
		if err != nil {
			return nil, err
		}
		roots := rootsOf(sessions)
		if owners = innermost(dirs, roots, false); len(owners) == 0 {
			owners = innermost(dirs, roots, true)
		}
	}
	switch len(owners) {
	case 0:
		return nil, nil
	case 1:
		return owners[0], nil
	}
	return nil, &AmbiguousError{Path: path, Sessions: owners}
}

// upTo are a directory and those above it, up to the worktree that it lies in.
func upTo(dir string) []string {
	dirs := []string{dir}
	for dir != filepath.Dir(dir) && !isWorktree(dir) {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	return dirs
}

// innermost are the sessions that the first of dirs which is a root of any belongs to.
func innermost(dirs []string, roots []root, byIdentity bool) []*Session {
	for _, dir := range dirs {
		if owners := ownersOf(dir, roots, byIdentity); len(owners) > 0 {
			return owners
		}
	}
	return nil
}

// mentioning are the sessions whose records name one of dirs as they are written there. Others are not decoded.
func (st Store) mentioning(dirs []string) []*Session {
	entries, err := os.ReadDir(st.Dir)
	if err != nil {
		return nil
	}
	var names [][]byte
	for _, dir := range dirs {
		if name, err := encodeText(dir); err == nil {
			names = append(names, name)
		}
	}
	found := make([]*Session, len(entries))
	var readers sync.WaitGroup
	var next atomic.Int64
	var telling sync.Mutex
	early := st.Early
	if early != nil {
		st.Early = func(socket string) {
			telling.Lock()
			defer telling.Unlock()
			early(socket)
		}
	}
	for range min(runtime.NumCPU(), 1+len(entries)/recordsForOne) {
		readers.Go(func() {
			var buffer []byte
			for i := next.Add(1) - 1; i < int64(len(entries)); i = next.Add(1) - 1 {
				found[i], buffer = st.mentions(entries[i], names, buffer)
			}
		})
	}
	readers.Wait()
	sessions := slices.DeleteFunc(found, func(s *Session) bool { return s == nil })
	slices.SortFunc(sessions, func(a, b *Session) int { return strings.Compare(a.Name, b.Name) })
	return sessions
}

// recordsForOne is how many records one reader takes in the time that it takes to begin another.
const recordsForOne = 20

// mentions is the session of a file of the folder if it names one of these directories, nil if not. The buffer is for the next file.
func (st Store) mentions(entry os.DirEntry, names [][]byte, buffer []byte) (*Session, []byte) {
	name, isRecord := strings.CutSuffix(entry.Name(), ".json")
	if !isRecord || !entry.Type().IsRegular() && entry.Type() != os.ModeSymlink || strings.HasPrefix(name, ".") {
		return nil, buffer
	}
	path, err := st.path(name)
	if err != nil || isFar(name) {
		return nil, buffer
	}
	content, err := readRegularInto(path, buffer)
	if err != nil {
		return nil, buffer
	}
	if !slices.ContainsFunc(names, func(name []byte) bool { return bytes.Contains(content, name) }) {
		return nil, content
	}
	st.early(content)
	s, err := decode(name, path, content)
	if err != nil {
		return nil, content
	}
	return s, content
}

// Among returns the session that is meant where any of several could be: the only one or, of more, the only one that is
// active. It returns nil where that does not tell.
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
	add := func(owner *Session, path string) {
		if path == "" {
			return
		}
		roots = append(roots, root{path: filepath.Clean(path), owner: owner})
	}
	for _, s := range sessions {
		add(s, s.RepoPath)
		add(s, s.GitCommonDir)
		for i := range s.Agents {
			add(s, s.Agents[i].WorktreePath)
		}
	}
	return roots
}

// ownersOf returns the sessions that dir is a root of, in the order of roots. By identity, links on either side and
// file systems that ignore case make no difference.
func ownersOf(dir string, roots []root, byIdentity bool) []*Session {
	here, err := os.Stat(dir)
	if byIdentity && err != nil {
		return nil
	}
	var owners []*Session
	for _, r := range roots {
		same := r.path == dir
		if byIdentity {
			info, err := os.Stat(r.path)
			same = err == nil && os.SameFile(here, info)
		}
		if same && !slices.Contains(owners, r.owner) {
			owners = append(owners, r.owner)
		}
	}
	return owners
}

// isWorktree tells whether a worktree of some repository begins at dir.
func isWorktree(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, ".git"))
	return err == nil
}

func names(sessions []*Session) []string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.Name)
	}
	return out
}

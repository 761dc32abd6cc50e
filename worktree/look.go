package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"paw/worktree/git"
)

// look is what one worktree holds at one moment, against HEAD and its index, and
// the scratch index that becomes the tree of a snapshot.
type look struct {
	top     string
	common  string   // directory of the repository
	repo    git.Repo // with the scratch index
	scratch string   // its file
	began   time.Time
	real    index
	entries []entry // of the real index, nothing hidden

	head       string   // "" when the branch is gone or has no commit
	changed    []string // tracked, to be recorded again
	untracked  []string
	embedded   []string // repositories that are no submodules
	submodules []string // with changes of their own
	dirty      bool     // the files are not those of HEAD
	certain    bool     // dirty for sure: otherwise a change may have been taken back
	staged     bool     // the index has content that neither HEAD nor a file has
	unmerged   bool
}

// lookAt compares a worktree with HEAD through a copy of its index in dir: one
// git process, and nothing is written elsewhere. The caller ends it with drop.
func (m Manager) lookAt(ctx context.Context, path, admin, dir string) (*look, error) {
	l := &look{top: path, common: m.Repository.CommonDir, began: time.Now()}
	idSize, err := idSizeOf(m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	if l.real, err = loadIndex(filepath.Join(admin, "index"), idSize); err != nil && !errors.Is(err, errForeignIndex) {
		return nil, err
	}
	file, createErr := os.CreateTemp(dir, scratchPattern)
	if createErr != nil {
		return nil, createErr
	}
	l.scratch = file.Name()
	l.repo = in(path).WithPatience(killPatience).WithEnv("GIT_INDEX_FILE=" + l.scratch)
	file.Close()
	if err != nil { // split, or of a version to come: git can make it plain
		err = l.simplify(ctx, filepath.Join(admin, "index"), idSize)
	}
	if err == nil {
		err = l.writeFirst()
	}
	if err == nil {
		err = l.compare(ctx)
	}
	if err != nil {
		l.drop()
		return nil, err
	}
	return l, nil
}

const (
	scratchPattern = "scratch-*"
	// killPatience is how long a git that is over its budget may take to clean up.
	killPatience = 300 * time.Millisecond
)

func (l *look) drop() {
	os.Remove(l.scratch)
	os.Remove(l.scratch + ".lock")
}

// simplify lets git write the index into the scratch file as one that stands for
// itself.
func (l *look) simplify(ctx context.Context, real string, idSize int) error {
	file, err := os.Create(l.scratch)
	if err != nil {
		return err
	}
	if err := copyIndex(real, file); err != nil {
		return err
	}
	err = l.repo.Run(ctx, quietly("-c", "index.sparse=false", "-c", "index.version=2",
		"update-index", "--no-split-index", "--force-write-index")...)
	if err != nil {
		return err
	}
	l.real, err = loadIndex(l.scratch, idSize)
	return err
}

// writeFirst makes the scratch index a copy of the real one in which no change is
// hidden, with the same time: git looks into a file whose time is not older than
// the index, and would miss a change in the same instant with a newer one.
func (l *look) writeFirst() error {
	if l.real.content == nil {
		return os.Remove(l.scratch) // git takes an empty file for a broken index
	}
	content := l.real.content
	var hidden bool
	if l.entries, hidden = l.real.revealed(l.top); hidden {
		content = encodeIndex(l.entries, nil, l.real.idSize)
	}
	if err := os.WriteFile(l.scratch, content, 0o600); err != nil {
		return err
	}
	return os.Chtimes(l.scratch, l.real.time, l.real.time)
}

// compare asks git what differs. The user's settings that make it list less are
// overruled.
func (l *look) compare(ctx context.Context) error {
	out, err := l.repo.Output(ctx, quietly("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
		"--untracked-files=all", "--ignored=no", "--ignore-submodules=none", "--no-renames")...)
	if err != nil {
		return err
	}
	for _, line := range nulSeparated(out) {
		if !l.add(line) {
			return fmt.Errorf("%s: git status says %q, which is not understood", l.top, line)
		}
	}
	return nil
}

// add takes one line of `git status --porcelain=v2`.
func (l *look) add(line string) bool {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "#":
		if oid, ok := strings.CutPrefix(rest, "branch.oid "); ok && isOID(oid) {
			l.head = oid
		}
	case "?":
		if name, folder := strings.CutSuffix(rest, "/"); folder {
			l.embedded = append(l.embedded, name)
			return true
		}
		l.untracked = append(l.untracked, rest)
		l.dirty, l.certain = true, true
	case "1":
		fields := strings.SplitN(rest, " ", 8) // XY sub mH mI mW hH hI path
		if len(fields) != 8 || len(fields[0]) != 2 || len(fields[1]) != 4 {
			return false
		}
		l.addChanged(fields[0][0], fields[0][1], fields[1], fields[7])
	case "u":
		fields := strings.SplitN(rest, " ", 10) // XY sub m1 m2 m3 mW h1 h2 h3 path
		if len(fields) != 10 {
			return false
		}
		l.changed = append(l.changed, fields[9])
		l.dirty, l.unmerged = true, true
	default:
		return false
	}
	return true
}

// addChanged takes a tracked path: inIndex and inFile are '.' where nothing has
// changed against HEAD and against the index.
func (l *look) addChanged(inIndex, inFile byte, sub, name string) {
	if sub[0] == 'S' {
		if sub[2] != '.' || sub[3] != '.' {
			l.submodules = append(l.submodules, name)
		}
		if inFile == 'M' && sub[1] == '.' { // the commit of the submodule is the same
			inFile = '.'
		}
	}
	if inFile != '.' {
		l.changed = append(l.changed, name)
	}
	if inIndex != '.' || inFile != '.' {
		l.dirty = true
	}
	switch {
	case inIndex != '.' && inFile != '.':
		l.staged = true
	case inIndex != '.' || inFile != '.':
		l.certain = true
	}
}

// gitlinks are the submodules that are checked out here.
func (l *look) gitlinks() []string {
	var names []string
	for _, e := range l.entries {
		if e.gitlink && exists(filepath.Join(l.top, e.name, ".git")) {
			names = append(names, e.name)
		}
	}
	return names
}

// changedSubmodules are those whose changes or commits are nowhere else.
func (l *look) changedSubmodules(ctx context.Context) ([]string, error) {
	names := l.submodules
	for _, name := range l.gitlinks() {
		unsaved, err := unsavedSubmodule(ctx, filepath.Join(l.top, name))
		if err != nil {
			return nil, err
		}
		if unsaved {
			names = append(names, name)
		}
	}
	return sorted(names), nil
}

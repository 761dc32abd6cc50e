package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// look holds the differences of a worktree from HEAD and from its index at one moment.
type look struct {
	m       Snapshots
	top     string
	began   time.Time
	repo    git.Repo      // git with the scratch index
	scratch string        // index file that git may change: first a copy of the real one, later the recorded one
	real    *privateIndex // copy of the worktree's index, with no bits that hide changes

	tracked map[string]indexEntry // index entries of changed paths; our side of conflicts
	deleted map[string]bool       // git sees no file, or one behind a symlink
	hides   map[string]bool       // the real index hides changes of the file, which exists
	names   []string              // changed and untracked paths

	head       string   // "" when the branch is gone or has no commit
	changed    []string // tracked paths to record again
	indexed    []string // paths at which the index differs from HEAD
	untracked  []string
	embedded   []string // repositories that are no submodules
	submodules []string // submodules with changes of their own
	dirty      bool     // files differ from HEAD
	certain    bool     // certainly dirty; otherwise the files may equal HEAD after all
	staged     bool     // the index has content that neither HEAD nor a file has
	unmerged   bool
}

// lookAt compares a worktree with HEAD through a copy of its index in dir. lookAt runs one git
// process if no entry is hidden, and writes nowhere else. The caller ends the look with drop.
func (snapshots Snapshots) lookAt(ctx context.Context, path, admin, dir string) (*look, error) {
	l := &look{m: snapshots, top: path, began: time.Now(), tracked: map[string]indexEntry{}, deleted: map[string]bool{}, hides: map[string]bool{}}
	var err error
	if l.real, err = copyOfIndex(ctx, path, admin, dir); err != nil {
		return nil, err
	}
	for _, name := range l.real.hidden {
		l.hides[name] = true
	}
	l.use(l.real.file)
	if err := l.compare(ctx); err != nil {
		l.drop()
		return nil, err
	}
	l.real.keep(ctx, path, dir, l.began)
	l.names = disk.SortedPaths(l.changed, l.untracked)
	return l, nil
}

// use makes file the scratch index.
func (l *look) use(file string) {
	l.scratch, l.repo = file, l.withIndex(file)
}

// withIndex returns git for the worktree with a file as its index.
func (l *look) withIndex(file string) git.Repo {
	return l.m.objects.Quarantined(repoWithIndex(l.top, file))
}

// asReal reports whether the scratch index differs from the real one only in its stat data: no bit
// was cleared, and git could write it.
func (l *look) asReal() bool {
	return l.scratch == l.real.file && len(l.real.hidden) == 0 && len(l.real.Submodules) == 0
}

func (l *look) drop() {
	l.real.drop()
	dropIndex(l.scratch)
}

// compare runs git status, overruling settings that make it list less. Git stores refreshed stat
// data in the copy of the index, to read fewer files next time; not with submodules, whose real
// indexes git would refresh as well.
func (l *look) compare(ctx context.Context) error {
	repo := l.repo
	if len(l.real.Submodules) == 0 {
		repo = repo.WithEnv("GIT_OPTIONAL_LOCKS=1")
	}
	out, err := repo.Output(ctx, privately("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
		"--untracked-files=all", "--ignored=no", "--ignore-submodules=none", "--no-renames")...)
	if err != nil {
		return err
	}
	for _, line := range git.NulSeparated(out) {
		if !l.add(line) {
			return fmt.Errorf("%s: git status says %q, which is not understood", l.top, line)
		}
	}
	return nil
}

// add applies one line of `git status --porcelain=v2`.
func (l *look) add(line string) bool {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "#":
		if oid, ok := strings.CutPrefix(rest, "branch.oid "); ok && gitdir.IsOID(oid) {
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
		l.addChanged(fields[0][0], fields[0][1], fields[1], indexEntry{name: fields[7], mode: fields[3], id: fields[6]})
	case "u":
		fields := strings.SplitN(rest, " ", 10) // XY sub m1 m2 m3 mW h1 h2 h3 path
		if len(fields) != 10 {
			return false
		}
		l.changed = append(l.changed, fields[9])
		l.tracked[fields[9]] = indexEntry{name: fields[9], mode: fields[3], id: fields[7]}
		l.dirty, l.unmerged = true, true
	default:
		return false
	}
	return true
}

// addChanged applies a tracked path. inIndex and inFile are git's letters for changes against HEAD
// and against the index, '.' for none.
func (l *look) addChanged(inIndex, inFile byte, sub string, e indexEntry) {
	name := e.name
	if sub[0] == 'S' {
		if sub[2] != '.' || sub[3] != '.' {
			l.submodules = append(l.submodules, name)
		}
		if inFile == 'M' && sub[1] == '.' { // The submodule's commit is unchanged.
			inFile = '.'
		}
	}
	if inFile != '.' {
		l.changed = append(l.changed, name)
		l.tracked[name], l.deleted[name] = e, inFile == 'D'
	}
	if inIndex != '.' {
		l.indexed = append(l.indexed, name)
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

// gitlinks returns the submodules that are checked out in the worktree.
func (l *look) gitlinks() []string {
	var names []string
	for _, name := range l.real.Submodules {
		if disk.Exists(filepath.Join(l.top, name, ".git")) {
			names = append(names, name)
		}
	}
	return names
}

// changedSubmodules returns the submodules with changes, or with commits that exist nowhere else.
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
	return disk.SortedPaths(names), nil
}

// unsavedSubmodule reports whether a submodule has changes, or commits in no branch of its remotes.
// A submodule's store is in the worktree's git directory, and removed with the worktree.
func unsavedSubmodule(ctx context.Context, dir string) (bool, error) {
	status, err := git.In(dir).Output(ctx, "status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
	if err != nil {
		return false, err
	}
	if status != "" {
		return true, nil
	}
	commits, err := git.In(dir).Output(ctx, "rev-list", "--max-count=1", "--branches", "HEAD", "--not", "--remotes")
	return commits != "", err
}

// indexEntry is one path of an index, as listed by `git ls-files --stage -v`.
type indexEntry struct {
	name, mode, id, stage string
	assumed               bool // the bit assume-unchanged is set
	skipped               bool // the bit skip-worktree is set
}

func (e indexEntry) gitlink() bool { return e.mode == objects.ModeGitlink }

// cacheinfo returns the entry in the format of git update-index --cacheinfo, "" for none.
func (e indexEntry) cacheinfo() string {
	if strings.Trim(e.mode, "0") == "" {
		return ""
	}
	return e.mode + "," + e.id
}

// same reports whether mode and id are equal.
func (e indexEntry) same(other indexEntry) bool { return e.mode == other.mode && e.id == other.id }

// alike reports whether path, stage, mode and id are equal.
func (e indexEntry) alike(other indexEntry) bool {
	return e.name == other.name && e.stage == other.stage && e.same(other)
}

// listIndex lists the index in a file, by name, then by stage. It starts git, as repo, only if
// readIndex does not understand the file.
func listIndex(ctx context.Context, repo git.Repo, file string) ([]indexEntry, error) {
	if entries, ok := readIndex(file); ok {
		return entries, nil
	}
	out, err := repo.WithEnv("GIT_INDEX_FILE="+file).Output(ctx, privately("ls-files", "--stage", "-v", "-z")...)
	if err != nil {
		return nil, err
	}
	entries := make([]indexEntry, 0, strings.Count(out, "\x00"))
	for line := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") { // TAG MODE ID STAGE, a tab, the path
		info, name, found := strings.Cut(line, "\t")
		if line == "" {
			continue
		}
		f := strings.Fields(info)
		if !found || len(f) != 4 || name == "" { // For a truncated index git lists entries without names.
			return nil, fmt.Errorf("git ls-files says %q, which is not understood", line)
		}
		tag := strings.ToUpper(f[0])
		entries = append(entries, indexEntry{
			name: name, mode: f[1], id: f[2], stage: f[3], assumed: tag != f[0], skipped: tag == "S",
		})
	}
	return entries, nil
}

// oneEach returns one entry for each path: of a conflict, our side.
func oneEach(all []indexEntry) []indexEntry {
	if !slices.ContainsFunc(all, func(e indexEntry) bool { return e.stage != "0" }) {
		return all
	}
	var one []indexEntry
	for _, e := range all {
		switch last := len(one) - 1; {
		case last < 0 || one[last].name != e.name:
			one = append(one, e)
		case e.stage == "2":
			one[last] = e
		}
	}
	return one
}

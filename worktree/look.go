package worktree

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/worktree/git"
)

// look holds how one worktree differs from HEAD and from the index at one moment.
type look struct {
	m       Snapshots
	top     string
	began   time.Time
	repo    git.Repo      // with the scratch index
	scratch string        // file of an index that git may change: first a copy of the real one, then what was recorded
	real    *privateIndex // nothing hidden

	tracked map[string]indexEntry // what the index has of changed paths, our side of conflicts
	deleted map[string]bool       // no file, or one behind a link, is there for git
	hides   map[string]bool       // the real index is told to hide it, and it is there
	names   []string              // changed and untracked ones

	head       string   // "" when the branch is gone or has no commit
	changed    []string // tracked, to be recorded again
	indexed    []string // the index has them otherwise than HEAD
	untracked  []string
	embedded   []string // repositories that are no submodules
	submodules []string // with changes of their own
	dirty      bool     // the files are not those of HEAD
	certain    bool     // dirty for sure: otherwise a change may have been taken back
	staged     bool     // the index has content that neither HEAD nor a file has
	unmerged   bool
}

// lookAt compares a worktree with HEAD through a copy of its index in dir: one git process where no entry of the index
// is hidden, and nothing is written elsewhere. The caller ends it with drop.
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
	l.names = sorted(l.changed, l.untracked)
	return l, nil
}

// use makes a file the scratch index.
func (l *look) use(file string) {
	l.scratch, l.repo = file, l.m.objects.quarantined(repoWithIndex(l.top, file))
}

// asReal reports whether the scratch index is the real one but for what git has noted of files: no bit was cleared, and git was let write it.
func (l *look) asReal() bool {
	return l.scratch == l.real.file && len(l.real.hidden) == 0 && len(l.real.Submodules) == 0
}

func (l *look) drop() {
	l.real.drop()
	dropIndex(l.scratch)
}

// compare asks git what differs. The user's settings that make it list less are overruled. Git notes in the copy of the
// index which files it had to read, so that it need not read them again the next time, unless it would do the same in the
// indexes of submodules.
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

// addChanged takes a tracked path: inIndex and inFile are '.' where nothing has
// changed against HEAD and against the index.
func (l *look) addChanged(inIndex, inFile byte, sub string, e indexEntry) {
	name := e.name
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
		if exists(filepath.Join(l.top, name, ".git")) {
			names = append(names, name)
		}
	}
	return names
}

// changedSubmodules returns the submodules with changes or commits that are nowhere else.
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

// indexEntry is one path of an index, as `git ls-files --stage -v` lists it.
type indexEntry struct {
	name, mode, id, stage string
	assumed               bool // assume-unchanged
	skipped               bool // skip-worktree
}

// modeGitlink is the mode of a submodule.
const modeGitlink = "160000"

func (e indexEntry) gitlink() bool { return e.mode == modeGitlink }

// cacheinfo is how git update-index takes an entry, "" for none.
func (e indexEntry) cacheinfo() string {
	if strings.Trim(e.mode, "0") == "" {
		return ""
	}
	return e.mode + "," + e.id
}

// same reports whether both stand for the same content.
func (e indexEntry) same(other indexEntry) bool { return e.mode == other.mode && e.id == other.id }

// alike reports whether both are the same path, side of a conflict and content.
func (e indexEntry) alike(other indexEntry) bool {
	return e.name == other.name && e.stage == other.stage && e.same(other)
}

// listIndex lists the index that repo has, by name, then by stage.
func listIndex(ctx context.Context, repo git.Repo) ([]indexEntry, error) {
	out, err := repo.Output(ctx, privately("ls-files", "--stage", "-v", "-z")...)
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
		if !found || len(f) != 4 || name == "" { // of an index that is cut off git lists entries without names
			return nil, fmt.Errorf("git ls-files says %q, which is not understood", line)
		}
		tag := strings.ToUpper(f[0])
		entries = append(entries, indexEntry{
			name: name, mode: f[1], id: f[2], stage: f[3], assumed: tag != f[0], skipped: tag == "S",
		})
	}
	return entries, nil
}

// oneEach returns the entries without the sides of conflicts, of which ours stands for all.
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

package snapshot

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// Look holds the differences of a worktree from HEAD and from its index at one moment.
type Look struct {
	m       *Taker
	Top     string
	admin   string // git directory of the worktree
	Dir     string // folder for scratch files
	oneOff  bool   // Dir was made for this look
	Began   time.Time
	Repo    git.Repo      // git with the scratch index
	Scratch string        // index file that git may change: first a copy of the real one, later the recorded one
	Real    *PrivateIndex // copy of the worktree's index, with no bits that hide changes

	gitlinks map[string]bool // changed paths that are submodules in the index
	deleted  map[string]bool // git sees no file, or one behind a symlink
	Names    []string        // changed and untracked paths
	doubted  []IndexEntry    // paths that judge decides about

	Untouched  []string // files that are as git checks them out, though git lists them as changed
	Head       string   // "" when the branch is gone or has no commit
	Changed    []string // tracked paths to record again
	Indexed    []string // paths at which the index differs from HEAD
	Untracked  []string
	Ignored    []string // only if asked for; folders end with a slash
	Embedded   []string // repositories that are no submodules
	Links      []string // untracked links in place of folders that git ignores, such as node_modules
	Submodules []string // submodules with changes of their own
	Behind     []string // submodules that were not updated when HEAD moved
	Dirty      bool     // files differ from HEAD
	certain    bool     // certainly dirty; otherwise the files may equal HEAD after all
	Staged     bool     // the index has content that neither HEAD nor a file has
	Unmerged   bool
}

// LookAt compares a worktree with HEAD through a copy of its index in dir, "" for a folder that Drop removes: in the worktree's
// git directory or, for a reader, outside of the repository. LookAt runs one git process if no entry is hidden, and writes nowhere
// else; options are for git status. The caller ends the look with Drop.
func (snapshots *Taker) LookAt(ctx context.Context, path, admin, dir string, options ...string) (*Look, error) {
	l := &Look{
		m: snapshots, Top: path, admin: admin, Dir: dir, oneOff: dir == "", Began: time.Now(),
		gitlinks: map[string]bool{}, deleted: map[string]bool{},
	}
	var err error
	switch {
	case !l.oneOff:
	case snapshots.objects.IsReader(): // nothing is written in the repository
		l.Dir, err = os.MkdirTemp("", "paw")
	default:
		l.Dir, err = newScratch(admin)
	}
	if err != nil {
		return nil, err
	}
	if l.Real, err = copyOfIndex(ctx, path, admin, l.Dir); err != nil {
		l.Drop()
		return nil, err
	}
	l.use(l.Real.File)
	if err := l.compare(ctx, options); err != nil {
		l.Drop()
		return nil, err
	}
	l.Names = disk.SortedPaths(l.Changed, l.Untracked)
	return l, nil
}

// use makes file the scratch index.
func (l *Look) use(file string) {
	l.Scratch, l.Repo = file, l.m.objects.Quarantined(RepoWithIndex(l.Top, file))
}

// Hides reports whether the real index hides changes of a file, which exists.
func (l *Look) Hides(name string) bool { return slices.Contains(l.Real.hidden, name) }

// Drop removes the files of the look.
func (l *Look) Drop() {
	if l.oneOff {
		_ = os.RemoveAll(l.Dir)
		return
	}
	if l.Real != nil {
		l.Real.drop()
		DropIndex(l.Scratch)
	}
}

// compare runs git status, overruling settings that make it list less. Git stores refreshed stat
// data in the copy of the index, to read fewer files next time; not with submodules, whose real
// indexes git would refresh as well.
func (l *Look) compare(ctx context.Context, options []string) error {
	repo := l.Repo
	if len(l.Real.Submodules) == 0 {
		repo = repo.WithEnv("GIT_OPTIONAL_LOCKS=1")
	}
	out, err := repo.Output(ctx, append(Privately("status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind",
		"--untracked-files=all", "--ignored=no", "--ignore-submodules=none", "--no-renames"), options...)...)
	if err != nil {
		return err
	}
	for _, line := range git.NulSeparated(out) {
		if !l.add(line) {
			return fmt.Errorf("%s: git status says %q, which is not understood", l.Top, line)
		}
	}
	return l.judge(ctx)
}

// add applies one line of `git status --porcelain=v2`.
func (l *Look) add(line string) bool {
	kind, rest, _ := strings.Cut(line, " ")
	switch kind {
	case "#":
		if oid, ok := strings.CutPrefix(rest, "branch.oid "); ok && gitdir.IsOID(oid) {
			l.Head = oid
		}
	case "!":
		l.Ignored = append(l.Ignored, rest)
	case "?":
		if name, folder := strings.CutSuffix(rest, "/"); folder {
			l.Embedded = append(l.Embedded, name)
			return true
		}
		l.Untracked = append(l.Untracked, rest)
	case "1":
		fields := strings.SplitN(rest, " ", 8) // XY sub mH mI mW hH hI path
		if len(fields) != 8 || len(fields[0]) != 2 || len(fields[1]) != 4 {
			return false
		}
		e := IndexEntry{Name: fields[7], Mode: fields[3], ID: fields[6]}
		if fields[0] == ".M" && e.Mode == fields[4] && (e.file() && fields[1] == "N..." || e.gitlink() && fields[1] == "SC..") {
			l.doubted = append(l.doubted, e)
			return true
		}
		l.addChanged(fields[0][0], fields[0][1], fields[1], e)
	case "u":
		fields := strings.SplitN(rest, " ", 10) // XY sub m1 m2 m3 mW h1 h2 h3 path
		if len(fields) != 10 {
			return false
		}
		l.Changed = append(l.Changed, fields[9])
		l.gitlinks[fields[9]] = fields[3] == objects.ModeGitlink
		l.Dirty, l.Unmerged = true, true
	default:
		return false
	}
	return true
}

// addChanged applies a tracked path. inIndex and inFile are git's letters for changes against HEAD
// and against the index, '.' for none.
func (l *Look) addChanged(inIndex, inFile byte, sub string, e IndexEntry) {
	name := e.Name
	if sub[0] == 'S' {
		if sub[2] != '.' || sub[3] != '.' {
			l.Submodules = append(l.Submodules, name)
		}
		if inFile == 'M' && sub[1] == '.' { // The submodule's commit is unchanged.
			inFile = '.'
		}
	}
	if inFile != '.' {
		l.Changed = append(l.Changed, name)
		l.gitlinks[name], l.deleted[name] = e.gitlink(), inFile == 'D'
	}
	if inIndex != '.' {
		l.Indexed = append(l.Indexed, name)
	}
	if inIndex != '.' || inFile != '.' {
		l.Dirty = true
	}
	switch {
	case inIndex != '.' && inFile != '.':
		l.Staged = true
	case inIndex != '.' || inFile != '.':
		l.certain = true
	}
}

// ScratchPrefix begins the names of scratch folders in the git directory of a worktree.
const ScratchPrefix = "paw-scratch-"

// Ages from which scratch files, and folders of them, count as left by a killed paw.
const (
	ScratchAge   = time.Hour
	abandonedAge = 24 * time.Hour
)

// newScratch makes a folder for private indexes in a worktree's git directory, and removes those
// left by killed paws. The caller removes it.
func newScratch(admin string) (dir string, err error) {
	sweepOld(admin, ScratchPrefix, abandonedAge)
	return os.MkdirTemp(admin, ScratchPrefix)
}

// sweepOld removes entries of dir that have the prefix and are older than age.
func sweepOld(dir, prefix string, age time.Duration) {
	content, _ := os.ReadDir(dir)
	for _, item := range content {
		if !strings.HasPrefix(item.Name(), prefix) {
			continue
		}
		if info, err := item.Info(); err == nil && time.Since(info.ModTime()) > age {
			_ = os.RemoveAll(filepath.Join(dir, item.Name()))
		}
	}
}

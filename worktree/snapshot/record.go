package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// recording has git turn an index into one with the files as they are: the index kept by an earlier
// snapshot, so that git reads only files touched since, or a copy of the real index.
type recording struct {
	*Look
	last   last   // the earlier snapshot, zero for none
	seen   string // hash of the stat data of all files
	recent bool   // a file may have changed since the earlier snapshot has read it, even if the times look equal
	size   int64  // bytes that no earlier snapshot has read

	again    []string // paths of which the kept index is to have the entry of the real one first: git must read the files
	files    []string // what git looks at
	replaced []string // paths without a file for git: a folder, a pipe, or a file behind a symlinked folder
	special  []string // those that are neither file, symlink nor folder
	notSaved []string // paths that could not be recorded
	cause    error    // git's error about the first unreadable file
}

// PackedBatch is the number of files from which they are written as one pack instead of loose
// objects; creating thousands of files takes seconds on some disks.
const PackedBatch = 500

// intoPack lists settings under which git writes new objects directly into a pack.
var intoPack = []string{"-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"}

// byAllFacts lists settings under which git takes a file for unchanged only if all its stat data is
// unchanged.
var byAllFacts = []string{"-c", "core.trustctime=true", "-c", "core.checkStat=default"}

// NotSavedError says that a file cannot be saved. Cause is git's error, nil if git did not try to
// read it.
type NotSavedError struct {
	Path  string // directory of the worktree
	Name  string
	Cause error
}

func (e *NotSavedError) Error() string {
	said := fmt.Sprintf("%s: %s cannot be saved", e.Path, strings.ReplaceAll(e.Name, "\n", `\n`))
	if e.Cause != nil {
		said += ": " + e.Cause.Error()
	}
	return said
}

func (e *NotSavedError) Unwrap() error { return e.Cause }

// Record makes the scratch index one with the files as they are, and returns the paths that it could
// not save, and git's error about the first of them.
func (l *Look) Record(ctx context.Context) (notSaved []string, cause, err error) {
	r := l.recordingAfter(last{})
	err = r.run(ctx)
	return r.notSaved, r.cause, err
}

// Holds reports whether a commit has all files of the worktree, and everything staged there. dir is a folder as for
// Taker.TakeWithin, from which Holds only reads.
func (l *Look) Holds(ctx context.Context, dir, commit string) (bool, error) {
	if l.Staged || l.Unmerged || len(l.Submodules) > 0 {
		return false, nil
	}
	r := l.recordingAfter(readLast(l.admin, dir))
	tree, _, err := r.tree(ctx)
	if err != nil || len(r.notSaved) > 0 {
		return false, err
	}
	if r.last.Commit == commit {
		l.m.objects.Know(commit, r.last.Tree, r.last.Head)
	}
	kept, err := l.m.objects.TreeOf(ctx, commit)
	return tree == kept, err
}

// recordingAfter looks at every file that differs from the real index.
func (l *Look) recordingAfter(before last) *recording {
	r := &recording{Look: l, last: before}
	had := make(map[string]bool, len(before.Names))
	for _, name := range before.Names {
		had[name] = true
	}
	var facts []byte
	for _, name := range l.Names {
		var at unix.Stat_t
		err := unix.Lstat(l.path(name), &at)
		if r.isReplaced(name, &at, err) {
			r.replaced, at = append(r.replaced, name), unix.Stat_t{}
		} else {
			r.files = append(r.files, name)
			changed := time.Unix(at.Ctim.Unix())
			again := !isGone(err) && (err != nil || recent(changed, before.Began))
			if r.recent = r.recent || again; again && had[name] || r.Hides(name) { // the kept entry may have the bit
				r.again = append(r.again, name)
			}
			if !had[name] || !changed.Before(before.Began) {
				r.size += at.Size
			}
		}
		facts = disk.AppendFacts(facts, name, int64(at.Ino), int64(at.Mode), at.Size, at.Mtim.Nano(), at.Ctim.Nano())
	}
	sum := sha256.Sum256(facts)
	r.seen = hex.EncodeToString(sum[:])
	return r
}

func isGone(err error) bool { return errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) }

// isReplaced reports whether something without a file for git is at a path that differs from the
// real index. A file that lstat(2) cannot look at is left to git, which reports why.
func (r *recording) isReplaced(name string, at *unix.Stat_t, err error) bool {
	mode := at.Mode & unix.S_IFMT
	switch {
	case r.deleted[name] && r.behindLink(name): // git does not look behind a symlink
		return true
	case isGone(err):
		return false
	case r.deleted[name] || mode == unix.S_IFDIR && !r.gitlinks[name]: // a symlink or a folder is there instead, whose files are listed
		return true
	case err != nil || mode == unix.S_IFDIR || mode == unix.S_IFREG || mode == unix.S_IFLNK:
		return false
	}
	r.special = append(r.special, name)
	return true
}

// behindLink reports whether a folder above a path is a symlink.
func (l *Look) behindLink(name string) bool {
	for folder := path.Dir(name); folder != "."; folder = path.Dir(folder) {
		if info, err := os.Lstat(l.path(folder)); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return true
		}
	}
	return false
}

// tree returns the id of the git tree that has the files of the worktree. same says that no file has changed since the last snapshot: it
// is that one's tree, and no git has run.
func (r *recording) tree(ctx context.Context) (tree string, same bool, err error) {
	if r.same() {
		r.notSaved = r.special
		return r.last.Tree, true, nil
	}
	if err = r.run(ctx); err == nil {
		tree, err = r.Repo.Line(ctx, Privately("write-tree")...)
	}
	return tree, false, err
}

// run records the files in a scratch index that begins as the kept one, if that can go on, or as the real one.
func (r *recording) run(ctx context.Context) error {
	r.use(NewScratchIndex(r.Dir))
	resets, whole := r.resets()
	if base := r.base(); base == "" || !whole || disk.CopyFile(base, r.Scratch) != nil { // another snapshot may have replaced it
		if err := disk.CopyFile(r.Real.File, r.Scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		r.again = nil
		resets, whole = r.resets()
	}
	r.notSaved = slices.Clone(r.special)
	if !whole {
		if _, err := r.Repo.Input(ctx, git.NulTerminated(r.replaced), Privately("update-index", "--force-remove", "-z", "--stdin")...); err != nil {
			return err
		}
		resets = nil
	}
	if len(resets)+len(r.files) == 0 {
		return nil
	}
	return r.add(ctx, resets, r.files)
}

// resetBytes limits the paths that are reset on the command line, which saves a process.
const resetBytes = 32 << 10

// resets returns options of git update-index that take away what is no file, and that reset what is read again; false
// for too many.
func (r *recording) resets() (options []string, whole bool) {
	size := 0
	for _, name := range slices.Concat(r.replaced, r.again) {
		size += len(name) + 100
		at, tracked := slices.BinarySearchFunc(r.Real.Entries, name, func(e IndexEntry, name string) int { return strings.Compare(e.Name, name) })
		if tracked && !slices.Contains(r.replaced, name) {
			options = append(options, "--cacheinfo", r.Real.Entries[at].Mode+","+r.Real.Entries[at].ID+","+name)
		} else {
			options = append(options, "--force-remove", "./"+name, "--no-force-remove")
		}
	}
	return options, size <= resetBytes
}

// add records files, and as many of them as possible after git has failed at one that it cannot read, convert or
// store. A file that is being written may succeed next time.
func (r *recording) add(ctx context.Context, resets, files []string) error {
	args := append(Privately(byAllFacts...), "update-index", "--add", "--remove", "--replace")
	if len(files) >= PackedBatch {
		args = append(slices.Clone(intoPack), args...)
	}
	err := r.inQuarantine(func(repo git.Repo) error {
		_, err := repo.Input(ctx, []byte(strings.Join(append(files, ""), "\x00")), append(append(args, resets...), "-z", "--stdin")...)
		return err
	})
	switch {
	case err == nil || ctx.Err() != nil || git.ExitCode(err) < 0:
		return err
	case len(files) == 0:
		return err
	case len(resets) > 0: // before git fails at a file
		if err := r.add(ctx, resets, nil); err != nil {
			return err
		}
		return r.add(ctx, nil, files)
	case len(files) == 1:
		r.notSaved, r.cause = append(r.notSaved, files...), cmp.Or(r.cause, err)
		return nil
	}
	for half := range slices.Chunk(files, (len(files)+1)/2) {
		if err := r.add(ctx, nil, half); err != nil {
			return err
		}
	}
	return nil
}

// inQuarantine calls f with a git whose new objects come into the object store after f has succeeded: a git killed while
// it writes a large file leaves nothing there for weeks. If paw is killed as well, `git prune` removes the folder by its
// name.
func (r *recording) inQuarantine(f func(git.Repo) error) error {
	if r.m.objects.IsReader() {
		return f(r.Repo)
	}
	store := filepath.Join(r.m.Repository.CommonDir, "objects")
	dir, err := os.MkdirTemp(store, "tmp_objdir-paw-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := f(objects.WritingTo(r.Repo, dir, store)); err != nil {
		return err
	}
	made, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	slices.SortStableFunc(made, func(a, b string) int { // the index of a pack follows the pack
		return cmp.Compare(strings.Count(filepath.Ext(a), ".idx"), strings.Count(filepath.Ext(b), ".idx"))
	})
	for _, from := range made {
		to := filepath.Join(store, strings.TrimPrefix(from, dir))
		if info, err := os.Stat(filepath.Dir(from)); err == nil && os.Mkdir(filepath.Dir(to), 0o777) == nil {
			_ = os.Chmod(filepath.Dir(to), info.Mode()) // of a shared repository
		}
		if err := os.Rename(from, to); err != nil && !strings.HasPrefix(filepath.Base(from), "tmp_") {
			return err
		}
	}
	return nil
}

// last describes the last snapshot of a worktree, and the index that it has kept for the next one.
type last struct {
	Kept  string         `json:"kept"`  // name of the file of that index
	Index string         `json:"index"` // PrivateIndex.Content of the worktree's own index
	Names disk.FileNames `json:"names"` // paths at which the kept index differs from that one
	Seen  string         `json:"seen"`  // hash of the stat data of the files there, "" if not all were recorded
	Began time.Time      `json:"began"` // start of the snapshot

	Tree   string `json:"tree"`
	Head   string `json:"head"` // first parent of Commit: HEAD when the snapshot was taken
	Commit string `json:"commit"`
}

// keptPrefix begins the names of kept indexes in the worktree's folder for scratch files.
const keptPrefix = "kept-"

func lastFile(dir string) string { return filepath.Join(dir, "last") }

// readLast reads what the last snapshot has kept, only its commit if settings that affect how content is converted have
// changed since.
func readLast(admin, dir string) (before last) {
	content, err := disk.ReadFile(lastFile(dir))
	if dir == "" || err != nil || json.Unmarshal(content, &before) != nil {
		return last{}
	}
	common := gitdir.Common(admin)
	for _, name := range []string{filepath.Join(common, "config"), filepath.Join(admin, "config.worktree"), filepath.Join(common, "info", "attributes")} {
		if info, err := os.Stat(name); err == nil && recent(info.ModTime(), before.Began) {
			return last{Tree: before.Tree, Head: before.Head, Commit: before.Commit}
		}
	}
	before.Kept = filepath.Join(dir, before.Kept)
	return before
}

// same reports whether the last snapshot has recorded the same files, and none can have changed since.
func (r *recording) same() bool {
	return r.last.Seen != "" && r.last.Seen == r.seen && r.last.Index == r.Real.Content && !r.recent
}

// base returns the kept index if it can go on: the real one has the same entries, the kept one differs from it at no
// other path than the files do, and no file that decides how others are converted has changed.
func (r *recording) base() string {
	convertsOthers := func(name string) bool { return path.Base(name) == ".gitattributes" }
	if r.last.Index != r.Real.Content || slices.ContainsFunc(r.Names, convertsOthers) || len(disk.SortedPaths(r.Names, r.last.Names)) != len(r.Names) {
		return ""
	}
	return r.last.Kept
}

// keep keeps the scratch index for the next snapshot, or goes on with the one that is kept. git reads a file whose
// time is not older than that of an index.
func (r *recording) keep(tree, commit string, same bool) {
	now := last{Kept: filepath.Base(r.last.Kept), Index: r.Real.Content, Names: r.Names, Began: r.Began, Tree: tree, Head: r.Head, Commit: commit}
	if same {
		now.Began = r.last.Began
	} else {
		then := r.Began.Add(-ClockMargin)
		now.Kept = keptPrefix + filepath.Base(r.Scratch)
		if os.Chtimes(r.Scratch, then, then) != nil || os.Rename(r.Scratch, filepath.Join(r.Dir, now.Kept)) != nil {
			return
		}
	}
	if len(r.notSaved) == len(r.special) {
		now.Seen = r.seen
	}
	content, err := json.Marshal(now)
	file := NewScratchIndex(r.Dir)
	if err != nil || os.WriteFile(file, content, 0o600) != nil || os.Rename(file, lastFile(r.Dir)) != nil {
		return
	}
	old, _ := filepath.Glob(filepath.Join(r.Dir, keptPrefix+"*"))
	for _, name := range old {
		if filepath.Base(name) != now.Kept {
			os.Remove(name)
		}
	}
}

// Margins by which a change must be older than the start of a snapshot for the next snapshot to
// trust what is kept. ClockMargin is for file systems that store whole or even seconds,
// tickMargin for slow clock ticks.
const (
	ClockMargin = 2 * time.Second
	tickMargin  = 100 * time.Millisecond
)

// recent reports whether a change, by its file time, may have happened after a snapshot had begun.
func recent(change, began time.Time) bool {
	margin := ClockMargin
	if change.Nanosecond() != 0 {
		margin = tickMargin
	}
	return !change.Before(began.Add(-margin))
}

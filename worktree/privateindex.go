package worktree

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"paw/worktree/git"
)

// privateIndex is a copy of a worktree's index, so that looking at all files changes nothing of the real one and works
// while somebody holds its lock. No entry of the copy hides a change of a file that is there.
type privateIndex struct {
	indexBits
	file   string
	repo   git.Repo     // with the copy as its index
	hidden []string     // what the real index is told to hide, of files that are there
	hash   string       // of the real index, "" when it has none
	listed []indexEntry // of the real index, nil until somebody asks
	before os.FileInfo  // of the file before git used it, nil when the index does not exist
	known  bool         // an earlier look has kept it
}

// indexBits lists the entries of an index that need care in each look. The list is kept beside the copy of the index.
type indexBits struct {
	Assumed    fileNames `json:"assumed,omitempty"`    // assume-unchanged
	Skipped    fileNames `json:"skipped,omitempty"`    // skip-worktree
	Submodules fileNames `json:"submodules,omitempty"` // paths
}

// killPatience is how long a git that is over its budget may take to clean up.
const killPatience = 300 * time.Millisecond

// privately is quietly for an index that nobody else sees: one file that stands for itself, which git compares with files
// by all that it knows of them.
func privately(args ...string) []string {
	return append(quietly("-c", "index.sparse=false", "-c", "index.skipHash=false"), args...)
}

// repoWithIndex is git in the worktree at path, with file as its index.
func repoWithIndex(path, file string) git.Repo {
	return in(path).WithPatience(killPatience).WithEnv("GIT_INDEX_FILE=" + file)
}

// scratchIndexPrefix begins the names of scratch files in a folder that only paw uses.
const scratchIndexPrefix = "scratch-"

// newScratchIndex returns the name of a file in dir that nobody else gets, and that does not exist: git takes an empty file
// for a broken index.
func newScratchIndex(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d-%016x", scratchIndexPrefix, os.Getpid(), rand.Uint64()))
}

func dropIndex(file string) {
	os.Remove(file)
	os.Remove(file + ".lock")
}

// copyOfIndex copies the index of the worktree at path, whose git directory is admin, into a file in dir, from an
// earlier look if that was at the same index. The caller removes it with drop.
func copyOfIndex(ctx context.Context, path, admin, dir string) (*privateIndex, error) {
	x := &privateIndex{file: newScratchIndex(dir)}
	x.repo = repoWithIndex(path, x.file)
	if err := x.fill(ctx, path, filepath.Join(admin, "index"), dir); err != nil {
		x.drop()
		return nil, err
	}
	return x, nil
}

func (x *privateIndex) fill(ctx context.Context, path, real, dir string) error {
	if x.hash = indexHash(real); x.hash != "" {
		x.known = os.Link(keptReal(dir, x.hash), x.file) == nil
	}
	if !x.known {
		if err := copyFile(real, x.file); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		x.hash = indexHash(x.file) // it may be a newer one
	}
	info, err := os.Lstat(x.file)
	if err == nil {
		err = x.readBits(ctx, dir)
	}
	if err == nil {
		err = x.reveal(ctx, path)
	}
	if err != nil {
		return err
	}
	// Git looks into a file whose time is not older than the index, and would miss a change in the same instant with a
	// newer one.
	if err = os.Chtimes(x.file, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	x.before, err = os.Lstat(x.file)
	return err
}

// readBits takes the bits that an earlier look has kept, or has git list the index.
func (x *privateIndex) readBits(ctx context.Context, dir string) error {
	if content, err := os.ReadFile(keptBits(dir, x.hash)); x.hash != "" && err == nil && json.Unmarshal(content, &x.indexBits) == nil {
		return nil
	}
	var err error
	if x.indexBits, err = bitsOf(x.entries(ctx)); err != nil {
		return err
	}
	if content, err := json.Marshal(x.indexBits); err == nil && x.hash != "" && replaceKept(dir, keptBits(dir, x.hash), content) == nil {
		dropOthers(dir, bitsPrefix, x.hash)
	}
	return nil
}

func bitsOf(entries []indexEntry, err error) (bits indexBits, _ error) {
	for _, e := range entries {
		if e.assumed {
			bits.Assumed = append(bits.Assumed, e.name)
		}
		if e.skipped {
			bits.Skipped = append(bits.Skipped, e.name)
		}
		if e.gitlink() {
			bits.Submodules = append(bits.Submodules, e.name)
		}
	}
	return bits, err
}

// entries lists the real index as it was copied, each path once.
func (x *privateIndex) entries(ctx context.Context) ([]indexEntry, error) {
	if x.listed != nil || !exists(x.file) {
		return x.listed, nil
	}
	listed, err := listIndex(ctx, x.repo)
	x.listed = oneEach(listed)
	return x.listed, err
}

// same reports whether the real index still has the same paths with the same content: git may have noted new times of files.
func (x *privateIndex) same(ctx context.Context, real string) (bool, error) {
	if indexHash(real) == x.hash {
		return true, nil
	}
	entries, err := x.entries(ctx)
	if err != nil {
		return false, err
	}
	now, err := listIndex(ctx, x.repo.WithEnv("GIT_INDEX_FILE="+real))
	return err == nil && slices.EqualFunc(oneEach(now), entries, indexEntry.alike), err
}

// reveal clears the bits that hide changes of files that are there. Files that a sparse checkout left out are not there
// and stay hidden: they are not deleted.
func (x *privateIndex) reveal(ctx context.Context, top string) error {
	skipped := slices.DeleteFunc(slices.Clone(x.Skipped), func(name string) bool {
		return !exists(filepath.Join(top, filepath.FromSlash(name)))
	})
	x.hidden = sorted(x.Assumed, skipped)
	return updateBits(ctx, x.repo, "--no-assume-unchanged", x.Assumed, "--no-skip-worktree", skipped)
}

func (x *privateIndex) drop() { dropIndex(x.file) }

// realPrefix begins the name of a copy that is kept, and bitsPrefix that of its bits; the hash of the real index follows.
const (
	realPrefix = "real-"
	bitsPrefix = "bits-"
)

func keptReal(dir, hash string) string { return filepath.Join(dir, realPrefix+hash) }
func keptBits(dir, hash string) string { return filepath.Join(dir, bitsPrefix+hash) }

// keep hands the copy on to the next look, if git has written down in it what it has seen since began. An index in which
// something is hidden depends on which files are there.
func (x *privateIndex) keep(ctx context.Context, top, dir string, began time.Time) {
	after, err := os.Lstat(x.file)
	if err != nil || x.hash == "" || len(x.hidden) > 0 {
		return
	}
	written := !os.SameFile(x.before, after)
	if x.known && !written || written && !x.trust(ctx, top, began.Add(-clockMargin)) {
		return
	}
	link := x.file + ".keep"
	if os.Link(x.file, link) != nil || os.Rename(link, keptReal(dir, x.hash)) != nil {
		os.Remove(link)
		return
	}
	dropOthers(dir, realPrefix, x.hash)
}

// dropOthers removes what was kept of other indexes.
func dropOthers(dir, prefix, hash string) {
	old, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, name := range old {
		if filepath.Base(name) != prefix+hash {
			os.Remove(name)
		}
	}
}

// trust gives the copy a time that makes git look into every file which was changed since then. It fails when that would
// not do: git compares whole seconds, and a file that was just changed and given an old time could be so once more.
func (x *privateIndex) trust(ctx context.Context, top string, then time.Time) bool {
	if x.listed == nil && then.Sub(x.before.ModTime()) < clockMargin {
		return false // the files are young, and the next look is time enough
	}
	entries, err := x.entries(ctx)
	return err == nil && os.Chtimes(x.file, then, then) == nil && !slices.ContainsFunc(entries, func(e indexEntry) bool {
		info, err := os.Lstat(filepath.Join(top, filepath.FromSlash(e.name)))
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return true
		}
		mtime, ctime := statTimes(stat)
		return ctime.Unix() >= then.Unix() && mtime.Unix() < then.Unix()
	})
}

// indexHash returns the end of the checksum that git writes behind an index, "" when git wrote none. 20 bytes tell two indexes
// apart in a repository of either object format.
func indexHash(path string) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := make([]byte, 20)
	if _, err := file.Seek(-int64(len(hash)), io.SeekEnd); err != nil {
		return ""
	}
	if _, err := io.ReadFull(file, hash); err != nil || strings.Trim(string(hash), "\x00") == "" {
		return ""
	}
	return hex.EncodeToString(hash)
}

// copyFile copies a file with its time.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	if err := target.Close(); err != nil {
		return err
	}
	return os.Chtimes(to, info.ModTime(), info.ModTime())
}

func nulTerminated(names []string) []byte { return []byte(strings.Join(names, "\x00") + "\x00") }

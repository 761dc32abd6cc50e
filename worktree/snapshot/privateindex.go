package snapshot

import (
	"context"
	"crypto/sha256"
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
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
)

// PrivateIndex is a copy of a worktree's index. Reading the files through it changes nothing in the
// real index, and works while another process holds the index lock. The copy's entries hide no
// change of an existing file.
type PrivateIndex struct {
	IndexBits
	File   string
	repo   git.Repo     // git with the copy as its index
	hidden []string     // existing files whose changes the real index hides
	hash   string       // hash of the real index, "" when it has no checksum
	listed []IndexEntry // entries of the real index, nil until needed
	before os.FileInfo  // file info from before git used the copy; nil without an index
	known  bool         // whether an earlier look has kept the copy
}

// IndexBits lists the index entries that need care in each look. The list is kept beside the copy
// of the index.
type IndexBits struct {
	Assumed    disk.FileNames `json:"assumed,omitempty"`    // paths with the bit assume-unchanged
	Skipped    disk.FileNames `json:"skipped,omitempty"`    // paths with the bit skip-worktree
	Submodules disk.FileNames `json:"submodules,omitempty"` // paths of submodules
	Content    string         `json:"content"`              // hash of all entries, without their stat data
}

// killPatience limits how long a git that has exceeded its budget may clean up.
const killPatience = 300 * time.Millisecond

// Privately is quietly for a private index: a single file, with every checksum and all stat data in
// use.
func Privately(args ...string) []string {
	return append(git.Quietly("-c", "index.sparse=false", "-c", "index.skipHash=false"), args...)
}

// RepoWithIndex returns git for the worktree at path, with file as its index.
func RepoWithIndex(path, file string) git.Repo {
	return git.In(path).WithPatience(killPatience).WithEnv("GIT_INDEX_FILE=" + file)
}

// scratchIndexPrefix begins the names of scratch files, in a folder that only paw uses.
const scratchIndexPrefix = "scratch-"

// NewScratchIndex returns a unique name in dir for a file that does not exist: git takes an empty
// file for a broken index.
func NewScratchIndex(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d-%016x", scratchIndexPrefix, os.Getpid(), rand.Uint64()))
}

// DropIndex removes a scratch index, and the lock that a killed git has left.
func DropIndex(file string) {
	os.Remove(file)
	os.Remove(file + ".lock")
}

// copyOfIndex copies the index of the worktree at path, with git directory admin, into a file in
// dir, or reuses the copy of an earlier look if the index is unchanged. The caller removes the copy
// with drop.
func copyOfIndex(ctx context.Context, path, admin, dir string) (*PrivateIndex, error) {
	x := &PrivateIndex{File: NewScratchIndex(dir)}
	x.repo = RepoWithIndex(path, x.File)
	if err := x.fill(ctx, path, filepath.Join(admin, "index"), dir); err != nil {
		x.drop()
		return nil, err
	}
	return x, nil
}

func (x *PrivateIndex) fill(ctx context.Context, path, real, dir string) error {
	if x.hash = indexHash(real); x.hash != "" {
		x.known = os.Link(keptReal(dir, x.hash), x.File) == nil
	}
	if !x.known {
		if err := disk.CopyFile(real, x.File); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		x.hash = indexHash(x.File) // The index may have been replaced since.
	}
	info, err := os.Lstat(x.File)
	if err == nil {
		err = x.readBits(ctx, dir)
	}
	if err == nil {
		err = x.reveal(ctx, path)
	}
	if err != nil {
		return err
	}
	// git reads a file whose time is not older than the index. With a newer time for the copy, a
	// change in the same instant would be missed.
	if err = os.Chtimes(x.File, info.ModTime(), info.ModTime()); err != nil {
		return err
	}
	x.before, err = os.Lstat(x.File)
	return err
}

// readBits reads the bits kept by an earlier look, or makes git list the index.
func (x *PrivateIndex) readBits(ctx context.Context, dir string) error {
	if content, err := os.ReadFile(keptBits(dir, x.hash)); x.hash != "" && err == nil && json.Unmarshal(content, &x.IndexBits) == nil && x.Content != "" {
		return nil
	}
	var err error
	if x.IndexBits, err = bitsOf(x.Entries(ctx)); err != nil {
		return err
	}
	if content, err := json.Marshal(x.IndexBits); err == nil && x.hash != "" && replaceKept(dir, keptBits(dir, x.hash), content) == nil {
		dropOthers(dir, bitsPrefix, x.hash)
	}
	return nil
}

// bitsOf returns the bits of listed entries, and passes on the error of the listing.
func bitsOf(entries []IndexEntry, err error) (bits IndexBits, _ error) {
	sum := sha256.New()
	for _, e := range entries {
		fmt.Fprintf(sum, "%s %s %s %t %t %s\x00", e.Mode, e.ID, e.Stage, e.assumed, e.skipped, e.Name)
		if e.assumed {
			bits.Assumed = append(bits.Assumed, e.Name)
		}
		if e.skipped {
			bits.Skipped = append(bits.Skipped, e.Name)
		}
		if e.gitlink() {
			bits.Submodules = append(bits.Submodules, e.Name)
		}
	}
	bits.Content = hex.EncodeToString(sum.Sum(nil))
	return bits, err
}

// Entries lists the real index as it was copied, each path once.
func (x *PrivateIndex) Entries(ctx context.Context) ([]IndexEntry, error) {
	if x.listed != nil || !disk.Exists(x.File) {
		return x.listed, nil
	}
	listed, err := ListIndex(ctx, x.repo, x.File)
	x.listed = oneEach(listed)
	return x.listed, err
}

// Same reports whether the real index still has the same paths with the same content; its stat data
// may differ.
func (x *PrivateIndex) Same(ctx context.Context, real string) (bool, error) {
	if indexHash(real) == x.hash {
		return true, nil
	}
	now, err := bitsOf(ListIndex(ctx, x.repo, real))
	return now.Content == x.Content, err
}

// reveal clears the bits that hide changes of existing files. Files left out by a sparse checkout
// do not exist and stay hidden, so they do not count as deleted.
func (x *PrivateIndex) reveal(ctx context.Context, top string) error {
	skipped := slices.DeleteFunc(slices.Clone(x.Skipped), func(name string) bool {
		return !disk.Exists(filepath.Join(top, filepath.FromSlash(name)))
	})
	x.hidden = disk.SortedPaths(x.Assumed, skipped)
	return UpdateBits(ctx, x.repo, "--no-assume-unchanged", x.Assumed, "--no-skip-worktree", skipped)
}

func (x *PrivateIndex) drop() { DropIndex(x.File) }

// Prefixes of the names of a kept copy, and of its bits; the hash of the real index follows.
const (
	realPrefix = "real-"
	bitsPrefix = "bits-"
)

func keptReal(dir, hash string) string { return filepath.Join(dir, realPrefix+hash) }
func keptBits(dir, hash string) string { return filepath.Join(dir, bitsPrefix+hash) }

// keep keeps the copy for the next look if git has refreshed the copy since began. A copy that
// hides changes depends on which files exist, and is not kept.
func (x *PrivateIndex) keep(ctx context.Context, top, dir string, began time.Time) {
	after, err := os.Lstat(x.File)
	if err != nil || x.hash == "" || len(x.hidden) > 0 {
		return
	}
	written := !os.SameFile(x.before, after)
	if x.known && !written || written && !x.trust(ctx, top, began.Add(-ClockMargin)) {
		return
	}
	link := x.File + ".keep"
	if os.Link(x.File, link) != nil || os.Rename(link, keptReal(dir, x.hash)) != nil {
		os.Remove(link)
		return
	}
	dropOthers(dir, realPrefix, x.hash)
}

// dropOthers removes kept files whose names have the prefix, except the one with this hash.
func dropOthers(dir, prefix, hash string) {
	old, _ := filepath.Glob(filepath.Join(dir, prefix+"*"))
	for _, name := range old {
		if filepath.Base(name) != prefix+hash {
			os.Remove(name)
		}
	}
}

// trust sets the copy's time so that git reads every file changed since then, and returns false if
// that is not enough: git compares whole seconds, and a file that was just changed and set to an
// old time could be changed again unnoticed.
func (x *PrivateIndex) trust(ctx context.Context, top string, then time.Time) bool {
	if x.listed == nil && then.Sub(x.before.ModTime()) < ClockMargin {
		return false // Files are still being written; a later look can set the time.
	}
	entries, err := x.Entries(ctx)
	return err == nil && os.Chtimes(x.File, then, then) == nil && !slices.ContainsFunc(entries, func(e IndexEntry) bool {
		var stat unix.Stat_t
		if unix.Lstat(filepath.Join(top, filepath.FromSlash(e.Name)), &stat) != nil {
			return false
		}
		return stat.Ctim.Sec >= then.Unix() && stat.Mtim.Sec < then.Unix()
	})
}

// indexHash returns the last 20 bytes of the checksum that ends an index, "" if git has written
// none. 20 bytes are enough for both object formats.
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

// UpdateBits sets or clears bits of index entries: assume and skip are options of git update-index.
func UpdateBits(ctx context.Context, repo git.Repo, assume string, assumed []string, skip string, skipped []string) error {
	for _, one := range []struct {
		bit   string
		names []string
	}{{assume, assumed}, {skip, skipped}} {
		if len(one.names) == 0 {
			continue
		}
		if _, err := repo.Input(ctx, git.NulTerminated(one.names), git.Quietly("update-index", one.bit, "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return nil
}

// Refresh refreshes an index: read-tree takes a file that was rewritten with the same content for
// changed. Exit status 1 means that some files do differ.
func Refresh(ctx context.Context, repo git.Repo) error {
	err := git.Unasked(func(options []string) error {
		return repo.Run(ctx, git.Quietly(append(options, "update-index", "-q", "--refresh")...)...)
	})
	if git.ExitCode(err) == 1 {
		return nil
	}
	return err
}

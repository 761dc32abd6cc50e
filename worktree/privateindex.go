package worktree

import (
	"context"
	"encoding/hex"
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

	"paw/worktree/git"
)

// privateIndex is a copy of a worktree's index, so that looking at all files changes nothing of the real one and works
// while somebody holds its lock. No entry of it hides a change of a file that is there.
type privateIndex struct {
	indexFile
	file   string
	idSize int
	hidden []string    // what the real index is told to hide, of files that are there
	hash   string      // of the real index, "" when it has none
	before os.FileInfo // of the file before git used it, nil when the index does not exist
	known  bool        // an earlier look has kept it
}

// killPatience is how long a git that is over its budget may take to clean up.
const killPatience = 300 * time.Millisecond

// repoWithIndex is git in the worktree at path, with file as its index.
func repoWithIndex(path, file string) git.Repo {
	return in(path).WithPatience(killPatience).WithEnv("GIT_INDEX_FILE=" + file)
}

// scratchIndexPrefix begins the names of scratch files in a folder that only paw uses.
const scratchIndexPrefix = "scratch-"

// newScratchIndex is the name of a file in dir that nobody else gets, and that does not exist: git takes an empty file for
// a broken index.
func newScratchIndex(dir string) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d-%016x", scratchIndexPrefix, os.Getpid(), rand.Uint64()))
}

func dropIndex(file string) {
	os.Remove(file)
	os.Remove(file + ".lock")
}

// copyOfIndex copies the index of the worktree at path, whose git directory is admin, into a file in dir, from an
// earlier look if it was at the same index. The caller removes it with drop.
func copyOfIndex(ctx context.Context, path, admin, dir string, idSize int) (*privateIndex, error) {
	x := &privateIndex{idSize: idSize, file: newScratchIndex(dir)}
	if err := x.fill(ctx, path, filepath.Join(admin, "index"), dir); err != nil {
		x.drop()
		return nil, err
	}
	return x, nil
}

func (x *privateIndex) fill(ctx context.Context, path, real, dir string) error {
	if x.hash = indexHash(real, x.idSize); x.hash != "" {
		x.known = os.Link(filepath.Join(dir, realPrefix+x.hash), x.file) == nil
	}
	if !x.known {
		if err := copyFile(real, x.file); errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		x.hash = indexHash(x.file, x.idSize) // it may be a newer one
	}
	info, err := os.Lstat(x.file)
	if err != nil {
		return err
	}
	repo := repoWithIndex(path, x.file)
	x.indexFile, err = readIndex(x.file, x.idSize)
	if errors.Is(err, errForeignIndex) { // split, sparse or of a version to come: git can make it plain
		err = repo.Run(ctx, quietly("-c", "index.sparse=false", "-c", "index.version=2",
			"update-index", "--no-split-index", "--force-write-index")...)
		if err == nil {
			x.indexFile, err = readIndex(x.file, x.idSize)
		}
	}
	if err == nil {
		err = x.reveal(ctx, repo, path)
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

// reveal clears the bits that hide changes of files that are there. Files that a sparse checkout left out are not there
// and stay hidden: they are not deleted.
func (x *privateIndex) reveal(ctx context.Context, repo git.Repo, top string) error {
	var assumed, skipped []string
	for _, e := range x.entries {
		if e.skipped() && exists(filepath.Join(top, filepath.FromSlash(e.name))) {
			skipped = append(skipped, e.name)
		}
		if e.assumed() {
			assumed = append(assumed, e.name)
		}
	}
	x.hidden = sorted(assumed, skipped)
	for bit, names := range map[string][]string{"--no-assume-unchanged": assumed, "--no-skip-worktree": skipped} {
		if len(names) == 0 {
			continue
		}
		if _, err := repo.Input(ctx, nulTerminated(names), quietly("update-index", bit, "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return nil
}

func (x *privateIndex) drop() { dropIndex(x.file) }

// realPrefix begins the name of a copy that is kept; the hash of the real index follows.
const realPrefix = "real-"

// keep hands the copy on to the next look, if git has written down in it what it has seen since began. An index in which
// something is hidden depends on which files are there.
func (x *privateIndex) keep(dir string, began time.Time) {
	after, err := os.Lstat(x.file)
	if err != nil || x.hash == "" || len(x.hidden) > 0 {
		return
	}
	written := !os.SameFile(x.before, after)
	if x.known && !written || written && !x.trust(began.Add(-clockMargin)) {
		return
	}
	kept, link := filepath.Join(dir, realPrefix+x.hash), x.file+".keep"
	old, _ := filepath.Glob(filepath.Join(dir, realPrefix+"*"))
	if os.Link(x.file, link) != nil || os.Rename(link, kept) != nil {
		os.Remove(link)
		return
	}
	for _, name := range old {
		if name != kept {
			os.Remove(name)
		}
	}
}

// trust gives the copy a time that makes git look into every file which was changed since then. It fails when that would
// not do: git compares whole seconds, and a file that was just changed and given an old time could be so once more.
func (x *privateIndex) trust(then time.Time) bool {
	written, err := readIndex(x.file, x.idSize)
	return err == nil && os.Chtimes(x.file, then, then) == nil && !slices.ContainsFunc(written.entries, func(e indexEntry) bool {
		return int64(e.field(ctimeAt)) >= then.Unix() && int64(e.field(mtimeAt)) < then.Unix()
	})
}

// indexHash is what git writes at the end of an index: a hash of all of it, "" when there is none.
func indexHash(path string, idSize int) string {
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer file.Close()
	hash := make([]byte, idSize)
	if _, err := file.Seek(-int64(idSize), io.SeekEnd); err != nil {
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

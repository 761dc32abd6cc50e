package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/objects"
)

// PrivateIndex is a copy of a worktree's index. Reading the files through it changes nothing in the
// real index, and works while another process holds the index lock. The copy's entries hide no
// change of an existing file.
type PrivateIndex struct {
	File       string
	Entries    []IndexEntry // of the real index
	Assumed    []string     // paths with the bit assume-unchanged
	Skipped    []string     // paths with the bit skip-worktree
	Submodules []string     // paths of submodules
	Content    string       // hash of all entries, without their stat data
	hidden     []string     // existing files whose changes the real index hides
	repo       git.Repo     // git with the copy as its index
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
// dir. The caller removes the copy with drop.
func copyOfIndex(ctx context.Context, path, admin, dir string) (*PrivateIndex, error) {
	x := &PrivateIndex{File: NewScratchIndex(dir)}
	x.repo = RepoWithIndex(path, x.File)
	if err := x.fill(ctx, path, filepath.Join(admin, "index")); err != nil {
		x.drop()
		return nil, err
	}
	return x, nil
}

func (x *PrivateIndex) fill(ctx context.Context, path, real string) error {
	if err := disk.CopyFile(real, x.File); errors.Is(err, fs.ErrNotExist) {
		x.Content = contentOf(nil)
		return nil
	} else if err != nil {
		return err
	}
	info, err := os.Lstat(x.File)
	if err != nil {
		return err
	}
	all, err := ListIndex(ctx, x.repo, x.File)
	if err != nil {
		return err
	}
	x.Content, x.Entries = contentOf(all), all
	for _, e := range all {
		if e.assumed {
			x.Assumed = append(x.Assumed, e.Name)
		}
		if e.skipped {
			x.Skipped = append(x.Skipped, e.Name)
		}
		if e.gitlink() {
			x.Submodules = append(x.Submodules, e.Name)
		}
	}
	if err := x.reveal(ctx, path); err != nil {
		return err
	}
	// git reads a file whose time is not older than the index. With a newer time for the copy, a
	// change in the same instant would be missed.
	return os.Chtimes(x.File, info.ModTime(), info.ModTime())
}

// contentOf returns a hash of the entries of an index, without their stat data.
func contentOf(entries []IndexEntry) string {
	sum := sha256.New()
	for _, e := range entries {
		_, _ = io.WriteString(sum, e.Mode+" "+e.ID+" "+e.Stage+strconv.FormatBool(e.assumed)+strconv.FormatBool(e.skipped)+e.Name+"\x00")
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// Same reports whether the real index still has the same paths with the same content; its stat data
// may differ.
func (x *PrivateIndex) Same(ctx context.Context, real string) (bool, error) {
	now, err := ListIndex(ctx, x.repo, real)
	return contentOf(now) == x.Content, err
}

// reveal clears the bits that hide changes of existing files. Files left out by a sparse checkout
// do not exist and stay hidden, so they do not count as deleted.
func (x *PrivateIndex) reveal(ctx context.Context, top string) error {
	skipped := slices.DeleteFunc(slices.Clone(x.Skipped), func(name string) bool {
		return !disk.Exists(filepath.Join(top, filepath.FromSlash(name)))
	})
	x.hidden = disk.SortedPaths(x.Assumed, skipped)
	for bit, names := range map[string][]string{"--no-assume-unchanged": x.Assumed, "--no-skip-worktree": skipped} {
		if len(names) == 0 {
			continue
		}
		if _, err := x.repo.Input(ctx, git.NulTerminated(names), git.Quietly("update-index", bit, "-z", "--stdin")...); err != nil {
			return err
		}
	}
	return nil
}

func (x *PrivateIndex) drop() { DropIndex(x.File) }

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

// IndexEntry is one path of an index, as listed by `git ls-files --stage -v`.
type IndexEntry struct {
	Name, Mode, ID string
	Stage          string // "0", or the side of a conflict: "1" the base, "2" ours, "3" theirs
	assumed        bool   // the bit assume-unchanged is set
	skipped        bool   // the bit skip-worktree is set
}

func (e IndexEntry) gitlink() bool { return e.Mode == objects.ModeGitlink }

func (e IndexEntry) file() bool { return strings.HasPrefix(e.Mode, "100") }

// ListIndex lists the index in a file, by name, then by stage. It starts git, as repo, only if
// readIndex does not understand the file.
func ListIndex(ctx context.Context, repo git.Repo, file string) ([]IndexEntry, error) {
	if entries, ok := readIndex(file); ok {
		return entries, nil
	}
	out, err := repo.WithEnv("GIT_INDEX_FILE="+file).Output(ctx, Privately("ls-files", "--stage", "-v", "-z")...)
	if err != nil {
		return nil, err
	}
	var entries []IndexEntry
	for _, line := range git.NulSeparated(out) { // TAG MODE ID STAGE, a tab, the path
		info, name, found := strings.Cut(line, "\t")
		f := strings.Fields(info)
		if !found || len(f) != 4 || name == "" { // For a truncated index git lists entries without names.
			return nil, fmt.Errorf("git ls-files says %q, which is not understood", line)
		}
		tag := strings.ToUpper(f[0])
		entries = append(entries, IndexEntry{name, f[1], f[2], f[3], tag != f[0], tag == "S"})
	}
	return entries, nil
}

// readIndex reads an index (gitformat-index(5)) as `git ls-files --stage -v` lists it. ok is false if git has to be
// asked: for a file that is not whole, a version that shortens names, an index that other files belong to, and one with
// entries of a sparse checkout, for which git first looks whether the files exist.
func readIndex(file string) (entries []IndexEntry, ok bool) {
	const header, assumed, extended, stages, skipped = 12, 0x8000, 0x4000, 0x3000, 0x4000
	content, err := os.ReadFile(file)
	if err != nil || len(content) < header+sha1.Size || string(content[:4]) != "DIRC" {
		return nil, false
	}
	version, idSize := binary.BigEndian.Uint32(content[4:]), 0
	for _, sum := range []hash.Hash{sha1.New(), sha256.New()} { // the checksum is as long as an id
		if at := len(content) - sum.Size(); idSize == 0 && at >= header {
			if sum.Write(content[:at]); bytes.Equal(sum.Sum(nil), content[at:]) {
				idSize = sum.Size()
			}
		}
	}
	if idSize == 0 || version != 2 && version != 3 {
		return nil, false
	}
	rest := content[header : len(content)-idSize]
	for range binary.BigEndian.Uint32(content[8:]) { // stat data with the mode in it, the id, flags, the name
		const modeAt, idAt = 24, 40
		flagsAt := idAt + idSize
		if len(rest) < flagsAt+8 {
			return nil, false
		}
		flags, nameAt := binary.BigEndian.Uint16(rest[flagsAt:]), flagsAt+2
		if flags&extended != 0 {
			if nameAt += 2; binary.BigEndian.Uint16(rest[flagsAt+2:])&skipped != 0 {
				return nil, false
			}
		}
		length := bytes.IndexByte(rest[nameAt:], 0)
		size := (nameAt + length + 8) &^ 7 // one to eight zeros end it
		if length < 1 || size > len(rest) {
			return nil, false
		}
		entries = append(entries, IndexEntry{
			Name: string(rest[nameAt : nameAt+length]), Mode: strconv.FormatUint(uint64(binary.BigEndian.Uint32(rest[modeAt:])), 8),
			ID: hex.EncodeToString(rest[idAt:flagsAt]), Stage: strconv.Itoa(int(flags & stages >> 12)), assumed: flags&assumed != 0,
		})
		rest = rest[size:]
	}
	for len(rest) >= 8 { // extensions: a name and a size
		size := 8 + uint64(binary.BigEndian.Uint32(rest[4:]))
		if rest[0] < 'A' || rest[0] > 'Z' || size > uint64(len(rest)) { // not to be passed over
			return nil, false
		}
		rest = rest[size:]
	}
	return entries, len(rest) == 0
}

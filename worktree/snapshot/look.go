package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

	tracked map[string]IndexEntry // index entries of changed paths; our side of conflicts
	deleted map[string]bool       // git sees no file, or one behind a symlink
	hides   map[string]bool       // the real index hides changes of the file, which exists
	Names   []string              // changed and untracked paths
	doubted []IndexEntry          // paths that judge decides about

	// Untouched has the files that are as git checks them out, though git lists them as changed, each
	// with its BlobID.
	Untouched map[string]string

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
		tracked: map[string]IndexEntry{}, deleted: map[string]bool{}, hides: map[string]bool{},
		Untouched: map[string]string{},
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
	for _, name := range l.Real.hidden {
		l.hides[name] = true
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
	l.Scratch, l.Repo = file, l.WithIndex(file)
}

// WithIndex returns git for the worktree with a file as its index.
func (l *Look) WithIndex(file string) git.Repo {
	return l.m.objects.Quarantined(RepoWithIndex(l.Top, file))
}

// Hides reports whether the real index hides changes of a file, which exists.
func (l *Look) Hides(name string) bool { return l.hides[name] }

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
		l.tracked[fields[9]] = IndexEntry{Name: fields[9], Mode: fields[3], ID: fields[7]}
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
		l.tracked[name], l.deleted[name] = e, inFile == 'D'
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

// changedSubmodules returns the submodules with changes, or with commits that exist nowhere else.
func (l *Look) changedSubmodules(ctx context.Context) ([]string, error) {
	names := l.Submodules
	for _, name := range l.Real.Submodules {
		if !disk.Exists(filepath.Join(l.Top, name, ".git")) { // not checked out
			continue
		}
		unsaved, err := unsavedSubmodule(ctx, filepath.Join(l.Top, name))
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

// IndexEntry is one path of an index, as listed by `git ls-files --stage -v`.
type IndexEntry struct {
	Name, Mode, ID string
	Stage          string // "0", or the side of a conflict: "1" the base, "2" ours, "3" theirs
	assumed        bool   // the bit assume-unchanged is set
	skipped        bool   // the bit skip-worktree is set
}

func (e IndexEntry) gitlink() bool { return e.Mode == objects.ModeGitlink }

func (e IndexEntry) file() bool { return strings.HasPrefix(e.Mode, "100") }

// cacheinfo returns the entry in the format of git update-index --cacheinfo, "" for none.
func (e IndexEntry) cacheinfo() string {
	if strings.Trim(e.Mode, "0") == "" {
		return ""
	}
	return e.Mode + "," + e.ID
}

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
	entries := make([]IndexEntry, 0, strings.Count(out, "\x00"))
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
		entries = append(entries, IndexEntry{
			Name: name, Mode: f[1], ID: f[2], Stage: f[3], assumed: tag != f[0], skipped: tag == "S",
		})
	}
	return entries, nil
}

// oneEach returns one entry for each path: of a conflict, our side.
func oneEach(all []IndexEntry) []IndexEntry {
	if !slices.ContainsFunc(all, func(e IndexEntry) bool { return e.Stage != "0" }) {
		return all
	}
	var one []IndexEntry
	for _, e := range all {
		switch last := len(one) - 1; {
		case last < 0 || one[last].Name != e.Name:
			one = append(one, e)
		case e.Stage == "2":
			one[last] = e
		}
	}
	return one
}

// Offsets and flags in an index file, see gitformat-index(5): a header, entries, extensions and a
// checksum follow each other.
const (
	indexHeader   = 12 // signature, version, number of entries
	indexModeAt   = 24 // in an entry
	indexIDAt     = 40
	indexAssumed  = 0x8000 // in the flags behind the id
	indexExtended = 0x4000 // other flags follow
	indexStage    = 0x3000
	indexSkipped  = 0x4000 // in these others
)

// readIndex reads an index as `git ls-files --stage -v` lists it. ok is false if git has to be asked:
// for a file that is not whole, a version that shortens names, an index that other files belong to,
// and one with entries of a sparse checkout, for which git first looks whether the files exist.
func readIndex(file string) (entries []IndexEntry, ok bool) {
	content, err := os.ReadFile(file)
	if err != nil || len(content) < indexHeader+sha1.Size || string(content[:4]) != "DIRC" {
		return nil, false
	}
	version := binary.BigEndian.Uint32(content[4:])
	idSize := checksumSize(content)
	if idSize == 0 || version != 2 && version != 3 {
		return nil, false
	}
	rest := content[indexHeader : len(content)-idSize]
	for range binary.BigEndian.Uint32(content[8:]) {
		e, size := nextEntry(rest, idSize)
		if size == 0 || e.skipped {
			return nil, false
		}
		entries, rest = append(entries, e), rest[size:]
	}
	for len(rest) >= 8 { // extensions: a name and a size
		size := uint64(8) + uint64(binary.BigEndian.Uint32(rest[4:]))
		if rest[0] < 'A' || rest[0] > 'Z' || size > uint64(len(rest)) { // not to be passed over
			return nil, false
		}
		rest = rest[size:]
	}
	return entries, len(rest) == 0
}

// checksumSize returns the length of the checksum at the end of an index, which is also that of the
// ids in the index; 0 if the checksum is wrong.
func checksumSize(content []byte) int {
	for _, sum := range []hash.Hash{sha1.New(), sha256.New()} {
		if at := len(content) - sum.Size(); at >= indexHeader {
			sum.Write(content[:at])
			if bytes.Equal(sum.Sum(nil), content[at:]) {
				return sum.Size()
			}
		}
	}
	return 0
}

// nextEntry reads an entry of an index and returns its number of bytes, 0 if the entry is cut off.
func nextEntry(from []byte, idSize int) (e IndexEntry, size int) {
	nameAt := indexIDAt + idSize + 2
	if len(from) < nameAt+2 {
		return e, 0
	}
	flags := binary.BigEndian.Uint16(from[nameAt-2:])
	if flags&indexExtended != 0 {
		e.skipped = binary.BigEndian.Uint16(from[nameAt:])&indexSkipped != 0
		nameAt += 2
	}
	length := bytes.IndexByte(from[nameAt:], 0)
	size = (nameAt + length + 8) &^ 7 // one to eight zeros end it
	if length < 1 || size > len(from) {
		return e, 0
	}
	e.Name = string(from[nameAt : nameAt+length])
	e.Mode = strconv.FormatUint(uint64(binary.BigEndian.Uint32(from[indexModeAt:])), 8)
	e.ID = hex.EncodeToString(from[indexIDAt : indexIDAt+idSize])
	stage := flags & indexStage >> 12
	e.Stage = "0123"[stage : stage+1]
	e.assumed = flags&indexAssumed != 0
	return e, size
}

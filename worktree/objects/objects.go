// Package objects reads and writes the object store of a repository: commits, trees, merges, diffs
// and history. Nothing in it changes a ref of the repository, an index or a file of a worktree.
//
// Begin with Store.
package objects

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Here runs git in the worktree that paw runs in, whose HEAD is meant.
func (o *Store) Here() git.Repo {
	if o.Repository.Worktree != "" {
		return o.withoutRefs(git.In(o.Repository.Worktree))
	}
	return o.Home()
}

// Home runs git in the main worktree, or in the common directory if there is none. Commands that
// change the registry run here, since this directory outlives every linked worktree.
func (o *Store) Home() git.Repo {
	if o.Repository.Path != "" {
		return o.withoutRefs(git.In(o.Repository.Path))
	}
	return o.withoutRefs(git.Repo{Dir: o.Repository.CommonDir})
}

// idOfObject returns the id of an object, given with its header, in a repository's object format.
func idOfObject(common string, whole []byte) (string, error) {
	sum, err := newHash(common)
	if err != nil {
		return "", err
	}
	sum.Write(whole)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// newHash returns the hash function of a repository's object format.
func newHash(common string) (hash.Hash, error) {
	idSize, err := idSizeOf(common)
	if err == nil && idSize == sha256.Size {
		return sha256.New(), nil
	}
	return sha1.New(), err
}

func looseObject(common, oid string) string {
	return filepath.Join(common, "objects", oid[:2], oid[2:])
}

// Stored reports whether the repository's own object store has an object, and does not look into
// alternate object stores.
func Stored(common, oid string) bool {
	idSize, err := idSizeOf(common)
	id, hexErr := hex.DecodeString(oid)
	if err != nil || hexErr != nil || len(id) != idSize {
		return false
	}
	if _, err := os.Lstat(looseObject(common, oid)); err == nil {
		return true
	}
	packs := filepath.Join(common, "objects", "pack")
	content, _ := os.ReadDir(packs)
	return slices.ContainsFunc(content, func(item os.DirEntry) bool {
		name, isIndex := strings.CutSuffix(item.Name(), ".idx")
		return isIndex && inPack(filepath.Join(packs, item.Name()), id) && disk.Exists(filepath.Join(packs, name+".pack"))
	})
}

// inPack looks up an id in the index file of a pack. After 8 bytes the file has a table that
// counts, for each first byte, the ids up to that byte; then the ids follow in order.
func inPack(index string, id []byte) bool {
	const fanout, ids = 8, 8 + 256*4
	file, err := os.Open(index)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [ids]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || string(head[:8]) != "\xfftOc\x00\x00\x00\x02" {
		return false
	}
	upTo := func(first int) int {
		if first < 0 {
			return 0
		}
		return int(binary.BigEndian.Uint32(head[fanout+4*first:]))
	}
	low, high := upTo(int(id[0])-1), upTo(int(id[0]))
	found := false
	sort.Search(max(high-low, 0), func(i int) bool {
		at := make([]byte, len(id))
		if _, err := file.ReadAt(at, ids+int64(low+i)*int64(len(id))); err != nil {
			return true
		}
		c := bytes.Compare(at, id)
		found = found || c == 0
		return c >= 0
	})
	return found
}

// idSizeOf returns the length of a repository's object ids, in bytes.
func idSizeOf(commonDir string) (int, error) {
	cfg, err := gitdir.ReadCore(commonDir)
	if cfg.SHA256 {
		return sha256.Size, err
	}
	return sha1.Size, err
}

// Store reads and writes the object store of a repository. None of its methods changes a ref, an
// index or a file.
type Store struct {
	Repository gitdir.Repository

	scratch quarantine // set for a reader, see withScratch
	known   *known     // cache of facts about objects, see remembering
}

// New returns the object store of a repository.
func New(r gitdir.Repository) *Store { return &Store{Repository: r} }

// WithScratch returns a reader, for commands that only read: all objects that a reader makes,
// snapshots included, go to a folder outside of the repository, which drop removes. git refuses to
// set refs to such objects, as in a quarantine.
func (o *Store) WithScratch() (reader *Store, drop func(), err error) {
	dir, err := os.MkdirTemp("", "paw")
	if err != nil {
		return o, func() {}, err
	}
	reading := *o
	reading.scratch = quarantine{dir: dir, objects: filepath.Join(o.Repository.CommonDir, "objects")}
	return &reading, reading.scratch.Drop, nil
}

// Quarantined returns repo, for a reader (see withScratch) with new objects in the quarantine.
func (o *Store) Quarantined(repo git.Repo) git.Repo {
	if !o.IsReader() {
		return repo
	}
	return o.scratch.Repo(repo)
}

// withoutRefs returns repo like quarantined. For a reader (see withScratch) git also refuses to
// change refs, which would lead to removed objects.
func (o *Store) withoutRefs(repo git.Repo) git.Repo {
	if o.IsReader() {
		repo = repo.WithEnv("GIT_QUARANTINE_PATH=" + o.scratch.dir)
	}
	return o.Quarantined(repo)
}

// IsReader reports whether o is a reader (see withScratch): o leaves no object in the repository.
func (o *Store) IsReader() bool { return o.scratch.dir != "" }

// Repo returns r with new objects in the quarantine.
func (q quarantine) Repo(r git.Repo) git.Repo {
	return r.WithEnv("GIT_OBJECT_DIRECTORY="+q.dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+git.QuotedPath(q.objects))
}

func (q quarantine) Drop() { _ = os.RemoveAll(q.dir) }

// Release moves the objects into the store; the index file of a pack follows its pack.
func (q quarantine) Release() error {
	var last []string
	err := filepath.WalkDir(q.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == q.dir {
			return err
		}
		name, err := filepath.Rel(q.dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return q.makeDir(name, d)
		case strings.HasPrefix(d.Name(), "tmp_"):
			return nil
		case strings.HasSuffix(name, ".idx"):
			last = append(last, name)
			return nil
		}
		return q.move(name)
	})
	for _, name := range last {
		err = errors.Join(err, q.move(name))
	}
	return err
}

func (q quarantine) makeDir(name string, d fs.DirEntry) error {
	target := filepath.Join(q.objects, name)
	if err := os.Mkdir(target, 0o777); err != nil {
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		return err
	}
	info, err := d.Info() // The permissions are those of a shared repository.
	if err != nil {
		return err
	}
	return os.Chmod(target, info.Mode())
}

func (q quarantine) move(name string) error {
	return os.Rename(filepath.Join(q.dir, name), filepath.Join(q.objects, name))
}

// quarantine is a folder for new objects next to the object store.
type quarantine struct{ objects, dir string }

// NewQuarantine makes a quarantine for objects that are moved to the store once complete, as git
// does for a push: a git killed while it writes a large file leaves nothing there for weeks. If paw
// is killed as well, `git prune` removes the folder by its name.
func NewQuarantine(commonDir string) (quarantine, error) {
	objects := filepath.Join(commonDir, "objects")
	dir, err := os.MkdirTemp(objects, "tmp_objdir-paw-")
	return quarantine{objects: objects, dir: dir}, err
}

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
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Grafted returns o for git processes that see the replacements of commits (git-replace(1)) kept by
// the refs below base, in place of those of the user.
func (o *Store) Grafted(base string) *Store {
	grafted := *o
	if grafted.grafts = base; o.known != nil {
		grafted.known = &known{facts: o.known.facts} // what comes before what is another history's
	}
	return &grafted
}

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
	return o.withoutRefs(git.Repo{Dir: o.Repository.CommonDir}.WithEnv("GIT_DIR=" + o.Repository.CommonDir)) // safe.bareRepository may forbid to look for it
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

	scratch string         // folder of a reader for new objects, see WithScratch
	grafts  string         // refs that replace commits, see Grafted
	known   *known         // cache of facts about objects, see remembering
	writer  *git.Answering // makes paw's own commits; nil for a git process for each
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
	reading.scratch, reading.writer = dir, nil
	return &reading, func() { _ = os.RemoveAll(dir) }, nil
}

// Quarantined returns repo, for a reader (see WithScratch) with new objects in the quarantine.
func (o *Store) Quarantined(repo git.Repo) git.Repo {
	if o.grafts != "" {
		repo = repo.WithEnv("GIT_REPLACE_REF_BASE=" + o.grafts)
	}
	if !o.IsReader() {
		return repo
	}
	return WritingTo(repo, o.scratch, filepath.Join(o.Repository.CommonDir, "objects"))
}

// withoutRefs returns repo like quarantined. For a reader (see WithScratch) git also refuses to
// change refs, which would lead to removed objects.
func (o *Store) withoutRefs(repo git.Repo) git.Repo {
	if o.IsReader() {
		repo = repo.WithEnv("GIT_QUARANTINE_PATH=" + o.scratch)
	}
	return o.Quarantined(repo)
}

// IsReader reports whether o is a reader (see WithScratch): o leaves no object in the repository.
func (o *Store) IsReader() bool { return o.scratch != "" }

// WritingTo returns r with new objects in a folder beside an object store.
func WritingTo(r git.Repo, dir, objects string) git.Repo {
	return r.WithEnv("GIT_OBJECT_DIRECTORY="+dir, "GIT_ALTERNATE_OBJECT_DIRECTORIES="+git.QuotedPath(objects))
}

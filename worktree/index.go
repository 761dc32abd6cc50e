package worktree

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// index is an index file with all that a snapshot needs to write another one.
type index struct {
	content []byte // nil when there is no file
	time    time.Time
	idSize  int
	entries []entry // by name and stage
	trees   *cachedTree
}

// entry is one path of an index, with what git knew of the file.
type entry struct {
	indexEntry
	raw []byte // fixed part: times, ids, mode, size, object id, flags
}

// Places in the fixed part of an entry, from gitformat-index(5).
const (
	ctimeAt = 0
	mtimeAt = 8
	inoAt   = 20
	modeAt  = 24
	uidAt   = 28
	gidAt   = 32
	sizeAt  = 36
	idAt    = 40

	stageMask  = 0x3000
	nameMask   = 0x0fff
	flagIntent = 0x2000 // intent-to-add, in the extended flags
)

const maxIndexName = nameMask

// loadIndex reads an index file and the time it was written. A missing file is an
// index without entries.
func loadIndex(path string, idSize int) (index, error) {
	x := index{idSize: idSize}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil
	}
	if err != nil {
		return x, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return x, err
	}
	x.time = info.ModTime()
	x.content = make([]byte, info.Size())
	if n, err := file.ReadAt(x.content, 0); n < len(x.content) {
		return x, errors.Join(errForeignIndex, err)
	}
	trees, err := parseIndex(x.content, idSize, func(e indexEntry, raw []byte) {
		x.entries = append(x.entries, entry{indexEntry: e, raw: raw})
	})
	if err != nil {
		return x, err
	}
	x.trees = parseCachedTrees(trees, idSize)
	return x, nil
}

// idSizeOf is the length of the object ids of a repository in bytes.
func idSizeOf(commonDir string) (int, error) {
	format, err := repositoryExtension(commonDir, "objectformat")
	if format == "sha256" {
		return sha256.Size, err
	}
	return sha1Size, err
}

func (e entry) flags() uint16 { return binary.BigEndian.Uint16(e.raw[len(e.raw)-e.flagBytes():]) }

func (e entry) flagBytes() int {
	if (len(e.raw)-idAt)%4 == 0 { // ids are 20 or 32 bytes long, flags 2 or 4
		return 4
	}
	return 2
}

func (e entry) id() []byte   { return e.raw[idAt : len(e.raw)-e.flagBytes()] }
func (e entry) mode() uint32 { return binary.BigEndian.Uint32(e.raw[modeAt:]) }
func (e entry) stage() int   { return int(e.flags()&stageMask) >> 12 }

func (e entry) field(at int) uint32 { return binary.BigEndian.Uint32(e.raw[at:]) }

// same reports whether both stand for the same content.
func (e entry) same(other entry) bool {
	return e.name == other.name && e.stage() == other.stage() && e.mode() == other.mode() && bytes.Equal(e.id(), other.id())
}

// plain is the entry at stage 0 without bits that hide changes or announce an
// addition.
func (e entry) plain() entry {
	size := len(e.raw) - e.flagBytes()
	raw := make([]byte, size+2)
	copy(raw, e.raw[:size])
	return entry{indexEntry: indexEntry{name: e.name, gitlink: e.gitlink}, raw: raw}
}

// forgotten is the plain entry for a file that git has to look into.
func (e entry) forgotten() entry {
	e = e.plain()
	clear(e.raw[ctimeAt:modeAt])
	clear(e.raw[uidAt:idAt])
	return e
}

// revealed clears the bits that hide changes of files that are there. Files that
// a sparse checkout left out are not there and stay hidden: they are not deleted.
func (x index) revealed(top string) (entries []entry, changed bool) {
	entries = slices.Clone(x.entries)
	for i, e := range entries {
		skipped := e.skipped && exists(filepath.Join(top, filepath.FromSlash(e.name)))
		if !e.assumed && !skipped {
			continue
		}
		changed = true
		raw := bytes.Clone(e.raw)
		at := len(raw) - e.flagBytes()
		binary.BigEndian.PutUint16(raw[at:], e.flags()&^flagAssumeValid)
		if skipped {
			binary.BigEndian.PutUint16(raw[at+2:], binary.BigEndian.Uint16(raw[at+2:])&^flagSkipWorktree)
		}
		entries[i].raw = raw
	}
	return entries, changed
}

// encodeIndex is the file for these entries, with the cached trees that are given.
func encodeIndex(entries []entry, trees *cachedTree, idSize int) []byte {
	version := uint32(2)
	size := 12 + idSize
	for _, e := range entries {
		if e.flagBytes() == 4 {
			version = 3
		}
		size += len(e.raw) + len(e.name) + 8
	}
	out := append(make([]byte, 0, size), "DIRC"...)
	out = binary.BigEndian.AppendUint32(out, version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(entries)))
	for _, e := range entries {
		start := len(out)
		out = append(out, e.raw...)
		flags := e.flags()&^nameMask | uint16(min(len(e.name), maxIndexName))
		binary.BigEndian.PutUint16(out[len(out)-e.flagBytes():], flags)
		out = append(out, e.name...)
		for pad := 8 - (len(out)-start)%8; pad > 0; pad-- {
			out = append(out, 0)
		}
	}
	if trees != nil {
		extension := trees.encode(nil)
		out = append(out, "TREE"...)
		out = binary.BigEndian.AppendUint32(out, uint32(len(extension)))
		out = append(out, extension...)
	}
	if idSize == sha256.Size {
		sum := sha256.Sum256(out)
		return append(out, sum[:]...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}

// byPath orders entries as git does: by the bytes of the name, then by stage.
func byPath(a, b entry) int {
	if c := strings.Compare(a.name, b.name); c != 0 {
		return c
	}
	return a.stage() - b.stage()
}

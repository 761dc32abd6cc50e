package worktree

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// errForeignIndex is an index that readIndex does not understand: git has to write it in another form.
var errForeignIndex = errors.New("index: not understood")

// indexFile is what an index file holds. Reading it here saves a git process for each snapshot and each look.
type indexFile struct {
	entries []indexEntry // by name, then by stage
	time    time.Time    // when it was written
	hash    string       // stands for the whole content; "" when git wrote none, or when there is no file
	tree    string       // id of the tree of all entries, "" when git has not noted it
}

// indexEntry is one path of an index, with what git knew of the file.
type indexEntry struct {
	name  string
	fixed []byte // times, ids, mode, size, object id and flags
}

// Places in the fixed part of an entry and bits of its flags, from gitformat-index(5).
const (
	ctimeAt = 0
	mtimeAt = 8
	inoAt   = 20
	modeAt  = 24
	uidAt   = 28
	gidAt   = 32
	sizeAt  = 36
	idAt    = 40

	flagAssumed  = 0x8000
	flagExtended = 0x4000
	flagSkipped  = 0x4000 // in the extended flags
	flagIntended = 0x2000 // in the extended flags
)

// Modes of entries that are no files.
const (
	modeLink    = 0o120000
	modeGitlink = 0o160000
)

func (e indexEntry) field(at int) uint32 { return binary.BigEndian.Uint32(e.fixed[at:]) }
func (e indexEntry) mode() uint32        { return e.field(modeAt) }
func (e indexEntry) gitlink() bool       { return e.mode() == modeGitlink }

// flags are the ordinary ones and the extended ones, which are 0 where an entry has none.
func (e indexEntry) flags() (flags, extended uint16) {
	at := len(e.fixed) - 2
	if (len(e.fixed)-idAt)%4 == 0 { // ids are 20 or 32 bytes long, flags 2 or 4
		return binary.BigEndian.Uint16(e.fixed[at-2:]), binary.BigEndian.Uint16(e.fixed[at:])
	}
	return binary.BigEndian.Uint16(e.fixed[at:]), 0
}

// id is the object id in hexadecimal digits.
func (e indexEntry) id() string { return hex.EncodeToString(e.rawID()) }

func (e indexEntry) rawID() []byte { return e.fixed[idAt : len(e.fixed)-2-(len(e.fixed)-idAt-2)%4] }

func (e indexEntry) stage() int     { flags, _ := e.flags(); return int(flags>>12) & 3 }
func (e indexEntry) assumed() bool  { flags, _ := e.flags(); return flags&flagAssumed != 0 }
func (e indexEntry) skipped() bool  { _, extended := e.flags(); return extended&flagSkipped != 0 }
func (e indexEntry) intended() bool { _, extended := e.flags(); return extended&flagIntended != 0 }

// same reports whether both stand for the same content.
func (e indexEntry) same(other indexEntry) bool {
	return e.mode() == other.mode() && bytes.Equal(e.rawID(), other.rawID())
}

// alike reports whether both are the same path, side of a conflict and content.
func (e indexEntry) alike(other indexEntry) bool {
	return e.name == other.name && e.stage() == other.stage() && e.same(other)
}

// hasTime compares one of the times of an entry; some builds of git keep whole seconds only.
func (e indexEntry) hasTime(at int, t time.Time) bool {
	nanoseconds := e.field(at + 4)
	return e.field(at) == uint32(t.Unix()) && (nanoseconds == 0 || nanoseconds == uint32(t.Nanosecond()))
}

// idSizeOf is the length of the object ids of a repository in bytes.
func idSizeOf(commonDir string) (int, error) {
	format, err := repositoryExtension(commonDir, "objectformat")
	if format == "sha256" {
		return sha256.Size, err
	}
	return sha1.Size, err
}

// readIndex reads an index of version 2 to 4 that stands for itself: neither split nor sparse. A missing file is an
// index without entries.
func readIndex(path string, idSize int) (indexFile, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return indexFile{}, nil
	}
	if err != nil {
		return indexFile{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return indexFile{}, err
	}
	content := make([]byte, info.Size())
	if n, err := file.ReadAt(content, 0); n < len(content) {
		return indexFile{}, errors.Join(errForeignIndex, err)
	}
	x, err := parseIndex(content, idSize)
	x.time = info.ModTime()
	return x, err
}

// parseIndex tells the hash also of an index that it does not understand.
func parseIndex(content []byte, idSize int) (indexFile, error) {
	const header = 12
	if len(content) < header+idSize || string(content[:4]) != "DIRC" {
		return indexFile{}, errForeignIndex
	}
	var x indexFile
	if hash := content[len(content)-idSize:]; !bytes.Equal(hash, make([]byte, idSize)) {
		x.hash = hex.EncodeToString(hash)
	}
	version := binary.BigEndian.Uint32(content[4:])
	count := binary.BigEndian.Uint32(content[8:])
	if version < 2 || version > 4 {
		return x, errForeignIndex
	}
	r := indexReader{rest: content[header : len(content)-idSize], version: version, idSize: idSize}
	for range count {
		e, ok := r.next()
		if !ok {
			return x, errForeignIndex
		}
		x.entries = append(x.entries, e)
	}
	var understood bool
	if x.tree, understood = r.onlyOptionalExtensions(); !understood {
		return x, errForeignIndex
	}
	return x, nil
}

type indexReader struct {
	rest    []byte
	version uint32
	idSize  int
	name    []byte // of the entry before, which version 4 abbreviates by
}

// next takes one entry: the fixed part and the name, padded to 8 bytes up to version 3.
func (r *indexReader) next() (indexEntry, bool) {
	flagsAt := idAt + r.idSize
	size := flagsAt + 2
	if len(r.rest) < size+2 {
		return indexEntry{}, false
	}
	if binary.BigEndian.Uint16(r.rest[flagsAt:])&flagExtended != 0 {
		size += 2
	}
	e := indexEntry{fixed: r.rest[:size:size]}
	if r.version == 4 {
		ok := r.shortName(&e, size)
		return e, ok
	}
	end := bytes.IndexByte(r.rest[size:], 0)
	if end < 0 {
		return indexEntry{}, false
	}
	e.name = string(r.rest[size : size+end])
	size = (size + end + 8) &^ 7
	if size > len(r.rest) {
		return indexEntry{}, false
	}
	r.rest = r.rest[size:]
	return e, true
}

// shortName reads a name of version 4: how many bytes to drop from the end of the name before, then what to put there.
func (r *indexReader) shortName(e *indexEntry, at int) bool {
	drop := 0
	for first := true; ; first = false {
		if at >= len(r.rest) {
			return false
		}
		b := r.rest[at]
		at++
		if !first {
			drop++
		}
		drop = drop<<7 | int(b&0x7f)
		if b&0x80 == 0 {
			break
		}
	}
	end := bytes.IndexByte(r.rest[at:], 0)
	if end < 0 || drop < 0 || drop > len(r.name) {
		return false
	}
	r.name = append(r.name[:len(r.name)-drop], r.rest[at:at+end]...)
	e.name = string(r.name)
	r.rest = r.rest[at+end+1:]
	return true
}

// onlyOptionalExtensions looks for extensions without which the entries are not all there is; their names begin with a
// small letter. It returns the tree that an optional one has noted.
func (r *indexReader) onlyOptionalExtensions() (tree string, ok bool) {
	for len(r.rest) >= 8 {
		if r.rest[0] < 'A' || r.rest[0] > 'Z' {
			return "", false
		}
		size := binary.BigEndian.Uint32(r.rest[4:])
		if uint64(size) > uint64(len(r.rest)-8) {
			return "", false
		}
		if string(r.rest[:4]) == "TREE" {
			tree = rootTree(r.rest[8:8+size], r.idSize)
		}
		r.rest = r.rest[8+size:]
	}
	return tree, len(r.rest) == 0
}

// rootTree is the id in the first record of the extension TREE, that of the top directory: an empty name, the number of
// entries, which is -1 when the tree is not known, the number of directories below, the id.
func rootTree(data []byte, idSize int) string {
	_, data, _ = bytes.Cut(data, []byte{0})
	line, data, _ := bytes.Cut(data, []byte("\n"))
	if len(line) == 0 || strings.HasPrefix(string(line), "-") || len(data) < idSize {
		return ""
	}
	return hex.EncodeToString(data[:idSize])
}

package worktree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"strings"
)

// errForeignIndex is an index that readIndex does not understand: git has to be
// asked.
var errForeignIndex = errors.New("index: not understood")

// Bits of an index entry, from gitformat-index(5).
const (
	flagAssumeValid  = 0x8000
	flagExtended     = 0x4000
	flagSkipWorktree = 0x4000 // in the extended flags
)

// indexEntry is one path of the index.
type indexEntry struct {
	name    string
	gitlink bool
	assumed bool // assume-unchanged
	skipped bool // skip-worktree
}

// readIndex lists the entries of an index file with SHA-1 ids, versions 2 to 4,
// that stands for itself: neither split nor sparse. It saves a git process for
// each snapshot. A missing file has no entries.
func readIndex(path string) ([]indexEntry, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var entries []indexEntry
	_, err = parseIndex(content, sha1Size, func(e indexEntry, _ []byte) { entries = append(entries, e) })
	if err != nil {
		return nil, err
	}
	return entries, nil
}

// sha1Size is the length of an id in bytes.
const sha1Size = 20

// parseIndex calls f with each entry and its bytes without the name. It returns
// the extension that caches trees, nil when there is none.
func parseIndex(content []byte, idSize int, f func(e indexEntry, raw []byte)) (treeCache []byte, err error) {
	const header = 12
	if len(content) < header+idSize || string(content[:4]) != "DIRC" {
		return nil, errForeignIndex
	}
	version := binary.BigEndian.Uint32(content[4:])
	count := binary.BigEndian.Uint32(content[8:])
	if version < 2 || version > 4 {
		return nil, errForeignIndex
	}
	r := indexReader{rest: content[header : len(content)-idSize], version: version, idSize: idSize}
	for range count {
		e, ok := r.next()
		if !ok {
			return nil, errForeignIndex
		}
		f(e, r.raw)
	}
	if !r.onlyOptionalExtensions() {
		return nil, errForeignIndex
	}
	return r.treeCache, nil
}

type indexReader struct {
	rest    []byte
	version uint32
	idSize  int
	name    []byte // of the entry before, which version 4 abbreviates by
	raw     []byte // of the last entry, without the name

	treeCache []byte
}

// next takes one entry: 40 bytes of which the mode is at 24, the id, the flags,
// and the name, padded to 8 bytes up to version 3.
func (r *indexReader) next() (indexEntry, bool) {
	const modeAt, idAt = 24, 40
	flagsAt := idAt + r.idSize
	size := flagsAt + 2
	if len(r.rest) < size+2 {
		return indexEntry{}, false
	}
	mode := binary.BigEndian.Uint32(r.rest[modeAt:])
	flags := binary.BigEndian.Uint16(r.rest[flagsAt:])
	e := indexEntry{gitlink: strconv.FormatUint(uint64(mode), 8) == modeGitlink, assumed: flags&flagAssumeValid != 0}
	if flags&flagExtended != 0 {
		e.skipped = binary.BigEndian.Uint16(r.rest[size:])&flagSkipWorktree != 0
		size += 2
	}
	r.raw = r.rest[:size:size]
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

// shortName reads a name of version 4: how many bytes to drop from the end of
// the name before, then what to put there.
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

// onlyOptionalExtensions looks for extensions without which the entries are not
// all there is; their names begin with a small letter.
func (r *indexReader) onlyOptionalExtensions() bool {
	for len(r.rest) >= 8 {
		if r.rest[0] < 'A' || r.rest[0] > 'Z' {
			return false
		}
		size := binary.BigEndian.Uint32(r.rest[4:])
		if uint64(size) > uint64(len(r.rest)-8) {
			return false
		}
		if string(r.rest[:4]) == "TREE" {
			r.treeCache = r.rest[8 : 8+size]
		}
		r.rest = r.rest[8+size:]
	}
	return len(r.rest) == 0
}

// parseIndexList reads the output of `ls-files --stage -v -z`, which shows a
// small letter for assume-unchanged and an S for skip-worktree.
func parseIndexList(out string) []indexEntry {
	var entries []indexEntry
	for _, line := range nulSeparated(out) {
		info, name, ok := strings.Cut(line, "\t")
		tag, rest, _ := strings.Cut(info, " ")
		if !ok || tag == "" {
			continue
		}
		entries = append(entries, indexEntry{
			name:    name,
			gitlink: strings.HasPrefix(rest, modeGitlink),
			assumed: tag == strings.ToLower(tag) && tag != "?",
			skipped: strings.EqualFold(tag, "s"),
		})
	}
	return entries
}

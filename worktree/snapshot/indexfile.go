package snapshot

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"os"
)

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
	e.Mode = fmt.Sprintf("%06o", binary.BigEndian.Uint32(from[indexModeAt:]))
	e.ID = hex.EncodeToString(from[indexIDAt : indexIDAt+idSize])
	e.stage = fmt.Sprint(flags & indexStage >> 12)
	e.assumed = flags&indexAssumed != 0
	return e, size
}

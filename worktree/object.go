package worktree

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
)

// idOfObject is the id that an object, with its header, has in a repository.
func idOfObject(common string, whole []byte) (string, error) {
	idSize, err := idSizeOf(common)
	if err != nil {
		return "", err
	}
	sum := sha1.New()
	if idSize == sha256.Size {
		sum = sha256.New()
	}
	sum.Write(whole)
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func looseObject(common, oid string) string {
	return filepath.Join(common, "objects", oid[:2], oid[2:])
}

// hasObject reports whether the repository's own store has an object. It says no rather than look at stores that others
// share with it.
func hasObject(common, oid string) bool {
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
		return isIndex && inPack(filepath.Join(packs, item.Name()), id) && exists(filepath.Join(packs, name+".pack"))
	})
}

// inPack looks an id up in the index of a pack: behind 8 bytes comes for each first byte how many ids have one up to it,
// then the ids in order.
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

// idSizeOf is the length of the object ids of a repository in bytes.
func idSizeOf(commonDir string) (int, error) {
	format, err := repositoryExtension(commonDir, "objectformat")
	if format == "sha256" {
		return sha256.Size, err
	}
	return sha1.Size, err
}

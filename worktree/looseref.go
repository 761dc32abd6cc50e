package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"

	"paw/config/disk"
	"paw/config/poll"
)

// momentForRef is how long is waited for what takes another process less than a millisecond.
const momentForRef = refLockPatience / 4

// createLoose makes a ref that does not exist yet in the files of the ref store, as git would leave it but without starting
// git: a hook makes several while a CLI waits. It reports whether it has made the ref. Where anything is not quite ordinary
// it does not, and git itself has to be asked, which also has the words for what is wrong.
//
// Git changes a ref under a lock file, which would stay when paw is killed. Here none is made: a link to a finished file
// appears at once, or fails where there is a ref. A git that has looked before that holds its lock file until it has put
// its own ref in the place, which is waited for. Other paws are kept out by a lock that ends with its holder.
func (m Manager) createLoose(ctx context.Context, ref, oid string) (made bool) {
	common := m.Repository.CommonDir
	file := filepath.Join(common, filepath.FromSlash(ref))
	if !ordinaryRef(ref) || !plainStore(common) || !hasObject(common, oid) {
		return false
	}
	alone, err := openLock(filepath.Join(common, "paw", "refs.lock"))
	if err != nil {
		return false
	}
	defer alone.Close()
	if locked, err := tryLock(ctx, alone, momentForRef); err != nil || !locked {
		return false
	}
	finished, err := newRefFile(filepath.Join(common, "paw"), oid)
	if err != nil {
		return false
	}
	defer os.Remove(finished)
	unlocked := func() bool { return !exists(file + ".lock") }
	if !unlocked() || exists(file) || os.MkdirAll(filepath.Dir(file), 0o777) != nil || inPackedRefs(common, ref) {
		return false
	}
	return os.Link(finished, file) == nil && poll.Until(ctx, poll.Tick, momentForRef, unlocked) && stays(common, ref, finished)
}

// stays reports whether a ref is still the one that was linked there, which may have been packed since.
func stays(common, ref, finished string) bool {
	ours, err := os.Lstat(finished)
	there, thereErr := os.Lstat(filepath.Join(common, filepath.FromSlash(ref)))
	packed := (&refReader{commonDir: common}).packedID(ref)
	switch {
	case err != nil:
		return false
	case errors.Is(thereErr, fs.ErrNotExist):
		return packed == readLine(finished)
	}
	return thereErr == nil && os.SameFile(ours, there) && (packed == "" || packed == readLine(finished))
}

// newRefFile makes a file with the content of a ref, and removes those that a paw which was killed has left.
func newRefFile(dir, oid string) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	sweepOld(dir, refFilePrefix, scratchAge)
	name := filepath.Join(dir, fmt.Sprintf("%s%d-%x", refFilePrefix, os.Getpid(), rand.Uint64()))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(oid + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		_ = os.Remove(name)
	}
	return name, err
}

const refFilePrefix = "ref-"

// inPackedRefs reports whether packed-refs may have a ref, or one that it cannot exist beside.
func inPackedRefs(common, ref string) bool {
	packed, err := disk.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist)
	}
	for name := ref; name != "refs"; name = path.Dir(name) {
		if packedLine(packed, name) != "" {
			return true
		}
	}
	return bytes.Contains(packed, []byte(" "+ref+"/"))
}

// ordinaryRef reports whether a ref belongs to the whole repository and has a name that needs no second look.
func ordinaryRef(ref string) bool {
	if !strings.HasPrefix(ref, "refs/tags/") && !strings.HasPrefix(ref, "refs/paw/") {
		return false
	}
	for part := range strings.SplitSeq(ref, "/") {
		plain := strings.Trim(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
		if part == "" || !plain || part[0] == '-' {
			return false
		}
	}
	return true
}

// plainStore reports whether the repository keeps refs and objects in files of their own, of which nothing is asked but
// their content: no modes for a group, no logs of every ref, no sync to disk.
func plainStore(common string) bool {
	plain := true
	err := eachSettingIn(filepath.Join(common, "config"), func(key, value string) {
		section, name, _ := strings.Cut(key, ".")
		switch {
		case key == "extensions.refstorage":
			plain = plain && strings.EqualFold(value, "files")
		case key == "core.logallrefupdates":
			plain = plain && !strings.EqualFold(value, "always")
		case key == "core.sharedrepository", section == "core" && strings.HasPrefix(name, "fsync"), strings.HasPrefix(section, "include"):
			plain = false
		}
	})
	return plain && err == nil
}

package worktree

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"

	"paw/config/disk"
)

// TagNames returns the names of the tags that begin with prefix and have no slash, sorted, read from the files of the ref
// store without git and without opening one file per tag. It is not ok for a ref store of another format;
// `git for-each-ref` can read that one.
func TagNames(commonDir, prefix string) (names []string, ok bool, err error) {
	ok, err = refsInFiles(commonDir)
	if err != nil || !ok {
		return nil, false, err
	}
	if err := eachStoredRef(commonDir, "refs/tags/", prefix, func(name string) { names = append(names, name) }); err != nil {
		return nil, false, err
	}
	return sorted(names), true, nil
}

// Tags looks for single tags of a repository in the files of its ref store, without listing the others.
type Tags struct{ refs refReader }

// TagsOf is not ok for a ref store of another format.
func TagsOf(commonDir string) (tags *Tags, ok bool, err error) {
	ok, err = refsInFiles(commonDir)
	return &Tags{refReader{commonDir: commonDir}}, ok, err
}

// ID is what a tag of this name is on, "" where there is none.
func (t *Tags) ID(name string) string { return t.refs.resolve("refs/tags/" + name) }

// refsInFiles reports whether the refs are in the classic files.
func refsInFiles(commonDir string) (bool, error) {
	format, err := repositoryExtension(commonDir, "refstorage")
	return format == "" || format == "files", err
}

// repositoryExtension is the value of extensions.<name> (in lower case), "" when
// it is not set.
func repositoryExtension(commonDir, name string) (string, error) {
	found := ""
	err := eachSettingIn(filepath.Join(commonDir, "config"), func(key, value string) {
		if key == "extensions."+name {
			found = strings.ToLower(value)
		}
	})
	return found, err
}

// eachStoredRef calls f with the name below dir ("refs/tags/") of each ref there
// that begins with prefix, maybe twice. Loose refs come before packed-refs is
// read: a ref that is being packed is in at least one of them then.
func eachStoredRef(commonDir, dir, prefix string, f func(name string)) error {
	loose := looseRefs{commonDir: commonDir, prefixes: []string{dir + prefix}}
	if err := loose.list(strings.TrimSuffix(dir, "/")); err != nil {
		return err
	}
	packed, err := disk.ReadFile(filepath.Join(commonDir, "packed-refs"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	tell := func(ref string) {
		if name := ref[len(dir):]; !strings.Contains(name, "/") {
			f(name)
		}
	}
	for _, ref := range loose.names {
		tell(ref)
	}
	eachPackedRef(packed, dir+prefix, tell)
	return nil
}

// eachPackedRef calls f with each ref of a packed-refs file that begins with
// prefix. A line is "<id> <ref>", and no ref has a space in its name.
func eachPackedRef(packed []byte, prefix string, f func(ref string)) {
	mark := []byte(" " + prefix)
	for at := bytes.Index(packed, mark); at >= 0; at = bytes.Index(packed, mark) {
		line, rest, _ := bytes.Cut(packed[at+1:], []byte("\n"))
		f(string(line))
		packed = rest
	}
}

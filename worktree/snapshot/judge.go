package snapshot

import (
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"paw/config/disk"
	"paw/config/lazyregexp"
	"paw/worktree/git"
	"paw/worktree/gitdir"
	"paw/worktree/objects"
)

// judge decides about paths that git lists as changed though nobody may have changed them: a
// submodule that was not updated when HEAD moved, and a file that is as git checks it out and that
// git converts to something else than HEAD has, such as one committed before the filter of git-lfs
// was set up. Neither counts as changed; the entry of the index stands for both.
func (l *Look) judge(ctx context.Context) error {
	l.Links = l.standForIgnored(ctx)
	l.Untracked = slices.DeleteFunc(l.Untracked, func(name string) bool { return slices.Contains(l.Links, name) })
	if len(l.Untracked) > 0 {
		l.Dirty, l.certain = true, true
	}
	var links []string
	ids := map[string]string{}
	for _, e := range l.doubted {
		if e.gitlink() {
			links = append(links, e.Name)
			continue
		}
		if id := BlobID(ctx, l.path(e.Name), len(e.ID)/2); id == e.ID {
			l.Untouched[e.Name] = id
		} else {
			ids[e.Name] = id
		}
	}
	behind := l.behind(ctx, links)
	err := l.asCheckedOut(ctx, ids)
	for _, e := range l.doubted {
		switch {
		case behind[e.Name]:
			l.Behind = append(l.Behind, e.Name)
		case l.Untouched[e.Name] != "":
		case e.gitlink():
			l.addChanged('.', 'M', "SC..", e)
		default:
			l.addChanged('.', 'M', "N...", e)
		}
	}
	return err
}

// standForIgnored returns the untracked links that stand where the main checkout has, or may have, a folder that
// git ignores: agents link what was installed there. A pattern such as "node_modules/" does not match the link. One
// git process answers for all of them.
func (l *Look) standForIgnored(ctx context.Context) (links []string) {
	main := l.m.objects.Repository.Path
	if main == "" || main == l.Top {
		return nil
	}
	var folders []string
	for _, name := range l.Untracked {
		info, err := os.Lstat(l.path(name))
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			continue
		}
		if target, err := os.Stat(l.path(name)); err == nil && !target.IsDir() {
			continue
		}
		if there, err := os.Lstat(filepath.Join(main, filepath.FromSlash(name))); err == nil && !there.IsDir() { // git would answer for none
			continue
		}
		folders = append(folders, name+"/")
	}
	if len(folders) == 0 {
		return nil
	}
	out, _ := git.In(main).Input(ctx, git.NulTerminated(folders), "check-ignore", "-z", "--stdin") // exit code 1 for none
	for _, folder := range git.NulSeparated(out) {
		links = append(links, strings.TrimSuffix(folder, "/"))
	}
	return links
}

// linked reports whether an embedded repository is a worktree of the same one, as sub-agents make them.
func (l *Look) linked(name string) bool {
	gitDir, ok := gitdir.Of(filepath.Join(l.Top, name))
	return ok && gitdir.Common(gitDir) == gitdir.Common(l.admin)
}

// behind reports which submodules have a commit checked out that HEAD of the worktree named earlier.
// A commit that no HEAD has named is a move that somebody made in the submodule.
func (l *Look) behind(ctx context.Context, names []string) map[string]bool {
	if len(names) == 0 || l.Head == "" {
		return nil
	}
	// After an error, as of a commit that only the reflog has, the submodules count as changed.
	former, _ := objects.EntriesIn(ctx, l.Repo, l.Head, gitdir.FormerHeads(l.admin), names)
	behind := map[string]bool{}
	for _, name := range names {
		store, _ := gitdir.Of(l.path(name))
		_, commit := gitdir.Head(store, &gitdir.Refs{CommonDir: gitdir.Common(store)})
		behind[name] = former[[2]string{name, objects.EntryOf(objects.ModeGitlink, commit)}]
	}
	return behind
}

// hashedAtOnce is the number of bytes after which BlobID looks whether it may go on.
const hashedAtOnce = 8 << 20

// BlobID returns the id that git gives to the content of a regular file, without a conversion; ""
// if the file cannot be read.
func BlobID(ctx context.Context, path string, idSize int) string {
	fd, err := disk.OpenRegular(path)
	if err != nil {
		return ""
	}
	file := os.NewFile(uintptr(fd), path)
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return ""
	}
	sum := sha1.New()
	if idSize == sha256.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", info.Size())
	for err == nil && ctx.Err() == nil {
		_, err = io.CopyN(sum, file, hashedAtOnce)
	}
	if !errors.Is(err, io.EOF) {
		return ""
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// convertedBytes limits the size of the files that asCheckedOut compares.
const convertedBytes = 256 << 20

// asCheckedOut adds those files to Untouched that are what git checks out for their index entries, by
// the ids of their contents. git, which checks them out into a folder, is started only if a setting
// converts such files.
func (l *Look) asCheckedOut(ctx context.Context, ids map[string]string) error {
	var names []string
	size, seen := int64(0), map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(ids)) {
		info, err := os.Lstat(l.path(name))
		if err == nil && size+info.Size() <= convertedBytes && l.converts(name, seen) {
			names, size = append(names, name), size+info.Size()
		}
	}
	if len(names) == 0 {
		return nil
	}
	dir, err := os.MkdirTemp(l.Dir, scratchIndexPrefix)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// git-lfs would otherwise download what a pointer stands for. After an error, as by a filter that
	// refuses a file, files are missing in the folder.
	_, _ = l.Repo.WithEnv("GIT_LFS_SKIP_SMUDGE=1").Input(ctx, git.NulTerminated(names),
		Privately("checkout-index", "--quiet", "-z", "--stdin", "--prefix="+dir+"/")...)
	for _, name := range names {
		if id := ids[name]; id != "" && id == BlobID(ctx, filepath.Join(dir, filepath.FromSlash(name)), len(id)/2) {
			l.Untouched[name] = id
		}
	}
	return ctx.Err()
}

// convertsOutward matches attributes and settings by which git writes other bytes into a file than
// are stored for it.
var convertsOutward = lazyregexp.New(`(?i)\b(filter=|eol\s*=\s*"?crlf|ident\b|working-tree-encoding=|autocrlf\s*=\s*"?(true|yes|on|1)|attributesfile)`)

// converts reports whether git may convert a file when it checks the file out, by the attributes of
// the folders above the file, or the configuration of the repository or the user. seen remembers
// the files that were read.
func (l *Look) converts(name string, seen map[string]bool) bool {
	from := append(ConfigFiles(l.admin), AttributeFiles(l.admin)...)
	for folder := path.Dir(name); ; folder = path.Dir(folder) {
		from = append(from, filepath.Join(l.path(folder), ".gitattributes"))
		if folder == "." {
			break
		}
	}
	return slices.ContainsFunc(from, func(file string) bool {
		matches, known := seen[file]
		if !known {
			content, _ := disk.ReadFile(file)
			matches = convertsOutward().Match(content)
			seen[file] = matches
		}
		return matches
	})
}

// ConfigFiles returns the files with git's settings for a worktree, without those that they include.
func ConfigFiles(admin string) []string {
	common, home := gitdir.Common(admin), os.Getenv("HOME")
	return []string{
		filepath.Join(common, "config"), filepath.Join(admin, "config.worktree"), os.Getenv("GIT_CONFIG_GLOBAL"),
		filepath.Join(userGit(), "config"), filepath.Join(home, ".gitconfig"), "/etc/gitconfig",
	}
}

// AttributeFiles returns the files with attributes outside of a worktree, without one that a setting names.
func AttributeFiles(admin string) []string {
	return []string{filepath.Join(gitdir.Common(admin), "info/attributes"), filepath.Join(userGit(), "attributes"), "/etc/gitattributes"}
}

func userGit() string {
	return filepath.Join(cmp.Or(os.Getenv("XDG_CONFIG_HOME"), filepath.Join(os.Getenv("HOME"), ".config")), "git")
}

// path returns the absolute path of a path in the worktree.
func (l *Look) path(name string) string { return filepath.Join(l.Top, filepath.FromSlash(name)) }

package snapshot

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
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
	for _, e := range l.doubted {
		if e.gitlink() {
			links = append(links, e.Name)
		}
	}
	behind := l.behind(ctx, links)
	untouched, err := l.asCheckedOut(ctx)
	for _, e := range l.doubted {
		switch {
		case behind[e.Name]:
			l.Behind = append(l.Behind, e.Name)
		case untouched[e.Name]:
			l.Untouched = append(l.Untouched, e.Name)
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
	ignored, _ := git.In(main).Ignored(ctx, folders)
	for _, folder := range folders {
		if ignored[folder] {
			links = append(links, strings.TrimSuffix(folder, "/"))
		}
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

// comparedBytes limits the size of the files that asCheckedOut reads.
const comparedBytes = 64 << 20

// asCheckedOut returns which of the doubted files are what git checks out for their index entries. git, which
// checks them out into a folder, is started only if a setting converts such files.
func (l *Look) asCheckedOut(ctx context.Context) (untouched map[string]bool, err error) {
	var names []string
	contents, left := map[string][]byte{}, int64(comparedBytes)
	untouched = map[string]bool{}
	for _, e := range l.doubted {
		info, err := os.Lstat(l.path(e.Name))
		if e.gitlink() || err != nil || info.Size() > left || ctx.Err() != nil {
			continue
		}
		content, err := disk.ReadRegular(l.path(e.Name))
		if left -= info.Size(); err != nil {
			continue
		}
		if untouched[e.Name] = blobID(content, len(e.ID)) == e.ID; !untouched[e.Name] {
			names, contents[e.Name] = append(names, e.Name), content
		}
	}
	if len(names) == 0 || !l.converts(names) {
		return untouched, ctx.Err()
	}
	dir, err := os.MkdirTemp(l.Dir, scratchIndexPrefix)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	// git-lfs would otherwise download what a pointer stands for. After an error, as by a filter that
	// refuses a file, files are missing in the folder.
	_, _ = l.Repo.WithEnv("GIT_LFS_SKIP_SMUDGE=1").Input(ctx, git.NulTerminated(names),
		Privately("checkout-index", "--quiet", "-z", "--stdin", "--prefix="+dir+"/")...)
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		untouched[name] = err == nil && bytes.Equal(content, contents[name])
	}
	return untouched, ctx.Err()
}

// blobID returns the id, of a length in hexadecimal digits, that git gives to a content without a conversion.
func blobID(content []byte, length int) string {
	sum := sha1.New()
	if length > 2*sha1.Size {
		sum = sha256.New()
	}
	fmt.Fprintf(sum, "blob %d\x00", len(content))
	sum.Write(content)
	return hex.EncodeToString(sum.Sum(nil))
}

// convertsOutward matches attributes and settings by which git writes other bytes into a file than
// are stored for it.
var convertsOutward = lazyregexp.New(`(?i)\b(filter=|eol\s*=\s*"?crlf|ident\b|working-tree-encoding=|autocrlf\s*=\s*"?(true|yes|on|1)|attributesfile)`)

// converts reports whether git may convert one of the files when it checks it out, by the attributes of
// the folders above the files, or the configuration of the repository or the user.
func (l *Look) converts(names []string) bool {
	folders := map[string]bool{l.Top: true}
	for _, name := range names {
		for folder := path.Dir(name); folder != "." && !folders[l.path(folder)]; folder = path.Dir(folder) {
			folders[l.path(folder)] = true
		}
	}
	from := append(gitdir.ConfigFiles(l.admin), gitdir.AttributeFiles(l.admin)...)
	for folder := range folders {
		from = append(from, filepath.Join(folder, ".gitattributes"))
	}
	return slices.ContainsFunc(from, func(file string) bool {
		content, _ := disk.ReadFile(file)
		return convertsOutward().Match(content)
	})
}

// path returns the absolute path of a path in the worktree.
func (l *Look) path(name string) string { return filepath.Join(l.Top, filepath.FromSlash(name)) }

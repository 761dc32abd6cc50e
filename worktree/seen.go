package worktree

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"paw/config/disk"
	"paw/worktree/git"
	"paw/worktree/gitdir"
)

// Seen is the result of See, with hashes by which a later call can tell that nothing has changed,
// so that git need not look at all files again.
type Seen struct {
	Dirt
	files  [sha256.Size]byte // imprint of the worktree's directory
	lasts  bool              // Dirt depends on files, gitDir, head and saved only
	saved  string            // commit that has the uncommitted files, "" if none are
	gitDir [sha256.Size]byte // imprint of the worktree's git directory
	head   string
}

// See finds everything that would be lost if the worktree of p were removed. Files that are the
// same in the commit p.Saved would not be lost. The user's settings that make git list less are
// overruled. What cannot be determined is an error.
func (m *Manager) See(ctx context.Context, p Plan) (Seen, error) {
	path := p.Path
	admin, err := gitdir.Linked(path, m.Repository.CommonDir, "")
	if err != nil {
		return Seen{}, err
	}
	s := Seen{head: m.Refs().HeadOf(admin)}
	if s.files, err = imprint(path); err != nil {
		return Seen{}, err
	}
	if s.gitDir, err = imprint(admin); err != nil {
		return Seen{}, err
	}
	i, err := m.inspect(ctx, p)
	if err != nil {
		return Seen{}, err
	}
	if s.Dirt = i.Dirt; i.saved {
		s.saved = p.Saved
	}
	onBranch := strings.HasPrefix(gitdir.Line(filepath.Join(admin, "HEAD")), "ref:")
	s.lasts = s.Clean() && len(s.Aside) == 0 && !i.compared && onBranch && s.head != ""
	return s, nil
}

// Refusal returns the error with which Remove refuses the worktree of p, nil if it is clean.
func (s Seen) Refusal(p Plan) error {
	if s.Clean() {
		return nil
	}
	return git.Conflict("", "", "%s has %s", p.Path, s.Summary())
}

// sameGitDir reports whether index, HEAD and the rest of the git directory of p's worktree are
// unchanged since s, and s depends on nothing else but the files.
func (m *Manager) sameGitDir(p Plan, s Seen) bool {
	admin, err := gitdir.Linked(p.Path, m.Repository.CommonDir, "")
	if err != nil || !s.lasts || s.saved != "" && s.saved != p.Saved || m.Refs().HeadOf(admin) != s.head {
		return false
	}
	now, err := imprint(admin)
	return err == nil && now == s.gitDir
}

// imprint returns a hash of everything below a directory at one moment, without the directory's own
// name. The hash changes when any file or folder inside is written, added, removed or renamed,
// since no program can set an inode's change time. imprint reads only names and times, because
// users wait while it looks at tens of thousands of files.
func imprint(dir string) (of [sha256.Size]byte, err error) {
	sum := sha256.New()
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var s unix.Stat_t
		switch {
		case err != nil:
			return err
		case path == dir && !d.IsDir():
			return &fs.PathError{Op: "readdir", Path: path, Err: syscall.ENOTDIR}
		}
		if err := unix.Lstat(path, &s); err != nil {
			return &fs.PathError{Op: "lstat", Path: path, Err: err}
		}
		facts := []int64{s.Mtim.Nano(), int64(s.Mode), s.Size, s.Ctim.Nano()}
		if path == dir {
			facts = facts[:1] // renaming the directory itself changes the inode
		}
		_, err = sum.Write(disk.AppendFacts(nil, path[len(dir):], facts...))
		return err
	})
	sum.Sum(of[:0])
	return of, err
}

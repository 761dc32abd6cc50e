package worktree

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

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
	var compared bool
	if s.Dirt, compared, err = m.inspect(ctx, path, p.Saved); err != nil {
		return Seen{}, err
	}
	if m.forgive(ctx, p, &s.Dirt) {
		s.saved = p.Saved
	}
	onBranch := strings.HasPrefix(gitdir.Line(filepath.Join(admin, "HEAD")), "ref:")
	s.lasts = s.Clean() && len(s.Aside) == 0 && !compared && onBranch && s.head != ""
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
	folder, err := openDir(unix.AT_FDCWD, dir, dir)
	if err != nil {
		return of, err
	}
	var top unix.Stat_t
	if err := unix.Fstat(int(folder.Fd()), &top); err != nil {
		return of, errors.Join(&os.PathError{Op: "stat", Path: dir, Err: err}, folder.Close())
	}
	w := imprinting{others: make(chan struct{}, runtime.NumCPU()-1)}
	content, err := w.walk(folder)
	if err != nil {
		return of, err
	}
	// Renaming the directory itself changes the inode, so only its modification time counts.
	return sha256.Sum256(disk.AppendFacts(content[:], "", top.Mtim.Nano())), nil
}

// imprinting is one run of imprint, with a goroutine for each processor.
type imprinting struct{ others chan struct{} }

// walk returns a hash of the entries of an open directory, in order of their names, and of its
// subdirectories. walk closes the directory.
func (w imprinting) walk(folder *os.File) (of [sha256.Size]byte, err error) {
	defer folder.Close()
	names, err := folder.Readdirnames(-1)
	if err != nil {
		return of, err
	}
	fd, path := int(folder.Fd()), folder.Name()
	slices.SortFunc(names, strings.Compare)
	stats := make([]unix.Stat_t, len(names))
	inner, errs := make([][sha256.Size]byte, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		if err := unix.Fstatat(fd, name, &stats[i], unix.AT_SYMLINK_NOFOLLOW); err != nil {
			errs[i] = &os.PathError{Op: "lstat", Path: filepath.Join(path, name), Err: err}
		} else if stats[i].Mode&unix.S_IFMT == unix.S_IFDIR {
			w.share(&all, func() {
				var in *os.File
				if in, errs[i] = openDir(fd, name, filepath.Join(path, name)); errs[i] == nil {
					inner[i], errs[i] = w.walk(in)
				}
			})
		}
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return of, err
	}
	var known []byte
	for i, name := range names {
		s := &stats[i]
		known = disk.AppendFacts(known, name, int64(s.Mode), s.Size, s.Mtim.Nano(), s.Ctim.Nano())
		known = append(known, inner[i][:]...)
	}
	return sha256.Sum256(known), nil
}

// share runs do in a goroutine if a processor is free, else at once.
func (w imprinting) share(all *sync.WaitGroup, do func()) {
	select {
	case w.others <- struct{}{}:
		all.Go(func() {
			defer func() { <-w.others }()
			do()
		})
	default:
		do()
	}
}

// openDir opens a directory by its name in an open one.
func openDir(at int, name, path string) (*os.File, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		default:
			return os.NewFile(uintptr(fd), path), nil
		}
	}
}

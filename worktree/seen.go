package worktree

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// Seen is what a look at a worktree has found, and by what a later one can tell that nothing has changed since: git need
// not look at all files a second time then.
type Seen struct {
	Dirt
	files  [sha256.Size]byte // of the directory
	lasts  bool              // Dirt follows from files, gitDir, head and saved alone
	saved  string            // commit that has what is not committed, "" where everything is
	gitDir [sha256.Size]byte // of the worktree's own
	head   string
}

// See looks for everything that would be lost with the worktree of p. Files that are in the commit p.Saved as they are would
// not be. The user's settings that make git list less are overruled. What cannot be determined is an error.
func (m Manager) See(ctx context.Context, p Plan) (Seen, error) {
	path := p.Path
	admin, err := verified(path, m.Repository.CommonDir, "")
	if err != nil {
		return Seen{}, err
	}
	s := Seen{head: m.Refs().headOf(admin)}
	if s.files, err = imprint(path); err != nil {
		return Seen{}, err
	}
	if s.gitDir, err = imprint(admin); err != nil {
		return Seen{}, err
	}
	var compared bool
	if s.Dirt, compared, err = m.inspect(ctx, path); err != nil {
		return Seen{}, err
	}
	if m.forgive(ctx, p, &s.Dirt) {
		s.saved = p.Saved
	}
	onBranch := strings.HasPrefix(readLine(filepath.Join(admin, "HEAD")), "ref:")
	s.lasts = s.Clean() && len(s.Aside) == 0 && !compared && onBranch && s.head != ""
	return s, nil
}

// sameGitDir reports whether index, HEAD and whatever else belongs to the worktree of p alone are as they were seen, and
// whether that is enough to say so.
func (m Manager) sameGitDir(p Plan, s Seen) bool {
	admin, err := verified(p.Path, m.Repository.CommonDir, "")
	if err != nil || !s.lasts || s.saved != "" && s.saved != p.Saved || m.Refs().headOf(admin) != s.head {
		return false
	}
	now, err := imprint(admin)
	return err == nil && now == s.gitDir
}

// imprint stands for everything that lies below a directory at one moment, its own
// name left out. It is another one when any file or folder in it was written,
// added, removed or renamed in between: no program can set the time of the last
// change of an inode. It looks at tens of thousands of files while somebody waits,
// so it asks the kernel for names and times and for nothing else.
func imprint(dir string) (of [sha256.Size]byte, err error) {
	fd, err := openDir(unix.AT_FDCWD, dir)
	if err != nil {
		return of, &os.PathError{Op: "open", Path: dir, Err: err}
	}
	var top unix.Stat_t
	if err := unix.Fstat(fd, &top); err != nil {
		return of, errors.Join(&os.PathError{Op: "stat", Path: dir, Err: err}, unix.Close(fd))
	}
	w := imprinting{others: make(chan struct{}, runtime.NumCPU()-1)}
	content, err := w.walk(fd, dir)
	if err != nil {
		return of, err
	}
	// Its rename is a change of its inode.
	return sha256.Sum256(facts(content[:], "", top.Mtim.Nano())), nil
}

// imprinting is one look at a tree, with a goroutine for each processor.
type imprinting struct{ others chan struct{} }

// walk stands for what is in an open directory, which it closes: what is known of each name, in the order of the names,
// and for a directory what it stands for itself.
func (w imprinting) walk(fd int, path string) (of [sha256.Size]byte, err error) {
	defer func() { _ = unix.Close(fd) }()
	names, err := disk.Names(fd)
	if err != nil {
		return of, &os.PathError{Op: "read", Path: path, Err: err}
	}
	slices.SortFunc(names, strings.Compare)
	stats := make([]unix.Stat_t, len(names))
	inner, errs := make([][sha256.Size]byte, len(names)), make([]error, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		if err := unix.Fstatat(fd, name, &stats[i], unix.AT_SYMLINK_NOFOLLOW); err != nil {
			errs[i] = &os.PathError{Op: "lstat", Path: filepath.Join(path, name), Err: err}
		} else if stats[i].Mode&unix.S_IFMT == unix.S_IFDIR {
			w.share(&all, func() { inner[i], errs[i] = w.into(fd, name, filepath.Join(path, name)) })
		}
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return of, err
	}
	var known []byte
	for i, name := range names {
		s := &stats[i]
		known = facts(known, name, int64(s.Mode), s.Size, s.Mtim.Nano(), s.Ctim.Nano())
		known = append(known, inner[i][:]...)
	}
	return sha256.Sum256(known), nil
}

// into is walk for a directory in an open one.
func (w imprinting) into(fd int, name, path string) (of [sha256.Size]byte, err error) {
	inner, err := openDir(fd, name)
	if err != nil {
		return of, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return w.walk(inner, path)
}

// share does something beside the rest where a processor is free, else at once.
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

// facts adds what is known of one name.
func facts(to []byte, name string, known ...int64) []byte {
	to = append(append(to, name...), 0)
	for _, fact := range known {
		to = binary.LittleEndian.AppendUint64(to, uint64(fact))
	}
	return to
}

func openDir(at int, name string) (int, error) {
	for {
		fd, err := unix.Openat(at, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

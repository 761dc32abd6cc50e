package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"paw/config/disk"
)

// recording turns an existing index into one with the files as they are: the index kept by an
// earlier snapshot, so that git reads only files touched since, or a copy of the real index. A path
// that equals the real index gets the real index's entry.
type recording struct {
	*Look
	base *keptState // state of the earlier snapshot

	seen   string            // hash of the stat data of all files
	same   bool              // the earlier snapshot has recorded the same files, and none can have changed since
	linked map[string]bool   // folder -> whether it is a symlink, or inside one
	own    map[string]bool   // paths that differ from the real index -> whether a file is there
	resets map[string]string // index entries to set, by path; "" removes the entry
	files  []file            // what git must look at
	size   int64             // bytes of content that is new to the repository

	replaced []string // paths without a file for git: a folder, a pipe, or a file behind a symlinked folder
	special  []string // those that are neither file, symlink nor folder
	notSaved []string // paths that could not be recorded
	cause    error    // git's error about the first unreadable file
}

// file describes a changed path for git to record.
type file struct {
	name    string
	size    int64
	changed time.Time // change time of the inode
	gone    bool      // the file does not exist
	known   bool      // most likely the index has this content
}

const (
	// BatchFiles and batchBytes limit what one git process records, so that little work is lost
	// when the time budget ends.
	BatchFiles = 2000
	batchBytes = 32 << 20
	// PackedBatch is the number of files from which a batch is written as one pack instead of loose
	// objects; creating thousands of files takes seconds on some disks.
	PackedBatch = 500
	// resetBytes limits the entries that are reset on the command line, which saves a process.
	resetBytes = 32 << 10
	// fewFiles is the number of files for which a second processor is not worth its start.
	fewFiles = 200
)

// intoPack lists settings under which git writes new objects directly into a pack.
var intoPack = []string{"-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"}

// byAllFacts lists settings under which git takes a file for unchanged only if all its stat data is
// unchanged.
var byAllFacts = []string{"-c", "core.trustctime=true", "-c", "core.checkStat=default"}

// NotSavedError says that a file cannot be saved. Cause is git's error, nil if git did not try to
// read it.
type NotSavedError struct {
	Path  string // directory of the worktree
	Name  string
	Cause error
}

func (e *NotSavedError) Error() string {
	said := fmt.Sprintf("%s: %s cannot be saved", e.Path, strings.ReplaceAll(e.Name, "\n", `\n`))
	if e.Cause != nil {
		said += ": " + e.Cause.Error()
	}
	return said
}

func (e *NotSavedError) Unwrap() error { return e.Cause }

// Record updates the scratch index to the files as they are, and returns the paths that it could
// not save, and git's error about the first of them.
func (l *Look) Record(ctx context.Context) (notSaved []string, cause, err error) {
	r, err := l.planAnew()
	if err != nil {
		return nil, nil, err
	}
	err = r.run(ctx)
	return r.notSaved, r.cause, err
}

// plan decides, without reading a file, what to change in the index kept by an earlier snapshot or,
// where that cannot go on, in a copy of the real index.
func (l *Look) plan(ctx context.Context, admin string) (*recording, error) {
	scratch := NewScratchIndex(l.Dir)
	base := l.m.keptBy(admin, l.Dir, scratch)
	if base == nil {
		return l.planAnew()
	}
	l.use(scratch)
	r, err := l.newRecording(base)
	if err != nil {
		return nil, err
	}
	if !r.settled() {
		DropIndex(scratch)
		return l.planAnew()
	}
	if r.same = base.Seen != "" && base.Seen == r.seen && !slices.ContainsFunc(r.files, r.isRecent); !r.same {
		r.decide()
	}
	return r, nil
}

// settled reports whether the kept index can go on: the real one has the same entries, all paths in which the two differ still
// do, and no file that decides how others are converted has changed.
func (r *recording) settled() bool {
	left := maps.Clone(r.base.own)
	for _, name := range r.Names {
		delete(left, name)
	}
	return len(left) == 0 && r.base.Real == r.Real.Content && !slices.ContainsFunc(r.Names, convertsOthers)
}

// planAnew is plan without an earlier snapshot.
func (l *Look) planAnew() (*recording, error) {
	scratch := NewScratchIndex(l.Dir)
	if err := disk.CopyFile(l.Real.File, scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l.use(scratch)
	r, err := l.newRecording(&keptState{Real: l.Real.Content})
	if err != nil {
		return nil, err
	}
	r.decide()
	return r, nil
}

// convertsOthers reports whether a file decides how the content of others is converted.
func convertsOthers(name string) bool { return path.Base(name) == ".gitattributes" }

// newRecording looks at every file that differs from the real index.
func (l *Look) newRecording(base *keptState) (*recording, error) {
	stats, err := l.stat()
	if err != nil {
		return nil, err
	}
	r := &recording{Look: l, base: base, linked: map[string]bool{}, own: map[string]bool{}, resets: map[string]string{}}
	r.files = make([]file, 0, len(l.Names))
	var facts []byte
	for i, name := range l.Names {
		at := &stats[i]
		if r.isReplaced(name, at) {
			r.replaced, r.own[name] = append(r.replaced, name), false
			*at = fileStat{}
		} else {
			f := file{name: name, size: at.Size, changed: time.Unix(at.Ctim.Unix()), gone: at.isGone()}
			if at.err != nil {
				f.changed = r.Began
			}
			r.files = append(r.files, f)
		}
		facts = disk.AppendFacts(facts, name, int64(at.Ino), int64(at.Mode), at.Size, at.Mtim.Nano(), at.Ctim.Nano())
	}
	sum := sha256.Sum256(facts)
	r.seen = hex.EncodeToString(sum[:])
	return r, nil
}

// fileStat is the result of lstat(2) for a path.
type fileStat struct {
	unix.Stat_t // zero after an error
	err         error
}

func (s *fileStat) isGone() bool {
	return errors.Is(s.err, unix.ENOENT) || errors.Is(s.err, unix.ENOTDIR)
}

// stat returns what lstat(2) says of each path of the look. Each processor looks at its share, since
// there may be thousands.
func (l *Look) stat() ([]fileStat, error) {
	top, err := os.Open(l.Top)
	if err != nil {
		return nil, err
	}
	defer top.Close()
	at := int(top.Fd())
	all := make([]fileStat, len(l.Names))
	var looks sync.WaitGroup
	share := max(len(all)/runtime.GOMAXPROCS(0), fewFiles)
	for first := 0; first < len(all); first += share {
		looks.Go(func() {
			for i := first; i < min(first+share, len(all)); i++ {
				for all[i].err = unix.EINTR; errors.Is(all[i].err, unix.EINTR); {
					all[i].err = unix.Fstatat(at, l.Names[i], &all[i].Stat_t, unix.AT_SYMLINK_NOFOLLOW)
				}
			}
		})
	}
	looks.Wait()
	return all, nil
}

// isReplaced reports whether something without a file for git is at a path that differs from the
// real index. A file that lstat(2) cannot look at is left to git, which reports why.
func (r *recording) isReplaced(name string, at *fileStat) bool {
	mode := at.Mode & unix.S_IFMT
	switch {
	case r.deleted[name] && r.behindLink(path.Dir(name)): // git does not look behind a symlink
		return true
	case at.isGone():
		return false
	case r.deleted[name] || mode == unix.S_IFDIR && !r.tracked[name].gitlink(): // a symlink or a folder is there instead, whose files are listed
		return true
	case at.err != nil || mode == unix.S_IFDIR || mode == unix.S_IFREG || mode == unix.S_IFLNK:
		return false
	}
	r.special = append(r.special, name)
	return true
}

// isRecent reports whether a file may have changed since the earlier snapshot has read it, even if
// the times look equal.
func (r *recording) isRecent(f file) bool { return !f.gone && recent(f.changed, r.base.Began) }

// decide plans what to do in the scratch index.
func (r *recording) decide() {
	for _, name := range r.replaced {
		if before, had := r.base.own[name]; before || !had {
			r.resets[name] = ""
		}
	}
	for i := range r.files {
		f := &r.files[i]
		if f.gone {
			continue
		}
		before, had := r.base.own[f.name]
		f.known = before && !r.isRecent(*f)
		// git must read a file that it may not have read as it is; and the old index entry affects how
		// git converts content.
		if entry := r.tracked[f.name].cacheinfo(); !f.known && (had || r.base.Index != "" && entry != "" || r.hides[f.name]) {
			r.resets[f.name] = entry
		}
		if !before || !f.changed.Before(r.base.Began) {
			r.size += f.size
		}
	}
}

// behindLink reports whether a folder is a symlink, or inside one.
func (r *recording) behindLink(folder string) bool {
	if folder == "." {
		return false
	}
	linked, known := r.linked[folder]
	if !known {
		info, err := os.Lstat(filepath.Join(r.Top, filepath.FromSlash(folder)))
		linked = r.behindLink(path.Dir(folder)) || err == nil && info.Mode()&fs.ModeSymlink != 0
		r.linked[folder] = linked
	}
	return linked
}

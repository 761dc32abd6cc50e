package snapshot

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"paw/config/disk"
)

// recording turns an existing index into one with the files as they are: the index kept by an
// earlier snapshot, so that git reads only files touched since, or a copy of the real index. A path
// that equals the real index gets the real index's entry.
type recording struct {
	*Look
	base *keptState // state of the earlier snapshot

	linked  map[string]bool   // folder -> whether it is a symlink, or inside one
	own     map[string]bool   // paths that differ from the real index -> whether a file is there
	facts   []string          // stat data of each of these files
	imprint string            // hash of facts, "" until needed
	resets  map[string]string // index entries to set, by path; "" removes the entry
	files   []file            // files that git must read
	size    int64             // bytes of content that is new to the repository

	special  []string // paths that are neither file, symlink nor folder
	notSaved []string // paths that could not be recorded
	cause    error    // git's error about the first unreadable file
}

// file describes a changed path for git to record.
type file struct {
	name  string
	size  int64
	gone  bool // the file does not exist
	known bool // most likely the index has this content
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
// without one, in a copy of the real index. The kept one is not used if a file has changed that
// decides how content is converted (.gitattributes).
func (l *Look) plan(ctx context.Context, admin, dir string) (*recording, error) {
	scratch := NewScratchIndex(dir)
	base := l.m.keptBy(admin, dir, scratch)
	if base == nil {
		return l.planAnew()
	}
	l.use(scratch)
	r := l.newRecording(base)
	if err := r.settle(ctx); err != nil {
		return nil, err
	}
	if r.convertsOtherwise() {
		DropIndex(scratch)
		return l.planAnew()
	}
	return r, nil
}

// planAnew is plan without an earlier snapshot.
func (l *Look) planAnew() (*recording, error) {
	scratch := NewScratchIndex(filepath.Dir(l.Real.File))
	if err := disk.CopyFile(l.Real.File, scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l.use(scratch)
	return l.newRecording(&keptState{Real: l.Real.hash}), nil
}

// newRecording plans every file that differs from the real index.
func (l *Look) newRecording(base *keptState) *recording {
	r := &recording{
		Look: l, base: base, linked: map[string]bool{}, own: make(map[string]bool, len(l.Names)), resets: map[string]string{},
		facts: make([]string, 0, len(l.Names)), files: make([]file, 0, len(l.Names)),
	}
	for i, at := range l.stat() {
		r.see(l.Names[i], at.info, at.err)
	}
	return r
}

// fileStat is the result of lstat(2) for a path.
type fileStat struct {
	info fs.FileInfo
	err  error
}

// stat returns what lstat(2) says of each path of the look. Each processor looks at its share, since
// there may be thousands.
func (l *Look) stat() []fileStat {
	all := make([]fileStat, len(l.Names))
	var looks sync.WaitGroup
	share := max(len(all)/runtime.GOMAXPROCS(0), fewFiles)
	for first := 0; first < len(all); first += share {
		looks.Go(func() {
			for i := first; i < min(first+share, len(all)); i++ {
				all[i].info, all[i].err = os.Lstat(filepath.Join(l.Top, filepath.FromSlash(l.Names[i])))
			}
		})
	}
	looks.Wait()
	return all
}

// see plans a path that differs from the real index, and of which lstat(2) has said info or err.
func (r *recording) see(name string, info fs.FileInfo, err error) {
	before, had := r.base.has(name)
	var mode fs.FileMode // that of a regular file for one that cannot be read, so that git reports why
	if err == nil {
		mode = info.Mode()
	}
	switch {
	case r.deleted[name] && r.behindLink(path.Dir(name)): // git does not look behind a symlink
		r.replaced(name)
		return
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		r.facts = append(r.facts, name)
		r.files = append(r.files, file{name: name, gone: true})
		return
	case r.deleted[name] || mode.IsDir() && !r.tracked[name].gitlink(): // a symlink or a folder is there instead, whose files are listed
		r.replaced(name)
		return
	case !mode.IsDir() && !mode.IsRegular() && mode&fs.ModeSymlink == 0:
		r.special = append(r.special, name)
		r.replaced(name)
		return
	}
	f, changed := file{name: name}, time.Now()
	if err == nil {
		f.size = info.Size()
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			_, changed = disk.StatTimes(stat)
			r.facts = append(r.facts, factsOf(name, stat, info))
		}
	}
	// git must read a file that may have changed since the earlier snapshot has read it, even if
	// the times look equal; and the old index entry affects how git converts content.
	entry := r.tracked[name].cacheinfo()
	f.known = before && !recent(changed, r.base.Began)
	if !f.known && (had || r.base.Index != "" && entry != "" || r.hides[name]) {
		r.resets[name] = entry
	}
	if !before || !changed.Before(r.base.Began) {
		r.size += f.size
	}
	r.files = append(r.files, f)
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

// replaced plans an index path without a file for git: a folder, a pipe, or a file behind a
// symlinked folder.
func (r *recording) replaced(name string) {
	r.facts = append(r.facts, name)
	if before, had := r.base.has(name); before || !had || r.base.Real != r.Real.hash {
		r.resets[name] = ""
	}
	r.own[name] = false
}

// has reports whether the kept index has its own entry for a path, and whether a file is there.
func (s *keptState) has(name string) (file, own bool) {
	if _, own = s.Files[name]; own {
		return true, true
	}
	_, own = s.Gone[name]
	return false, own
}

// factsOf returns a file's stat data as a text.
func factsOf(name string, stat *syscall.Stat_t, info fs.FileInfo) string {
	mtime, ctime := disk.StatTimes(stat)
	return string(disk.AppendFacts(nil, name, int64(stat.Ino), int64(info.Mode()), info.Size(), mtime.UnixNano(), ctime.UnixNano()))
}

// seen returns a hash of the stat data of all files.
func (r *recording) seen() string {
	if r.imprint == "" {
		sum := sha256.Sum256([]byte(strings.Join(r.facts, "\n")))
		r.imprint = hex.EncodeToString(sum[:])
	}
	return r.imprint
}

// unchanged reports whether the earlier snapshot has recorded the same files, and none can have
// changed since.
func (r *recording) unchanged() bool {
	return len(r.resets) == 0 && r.base.Seen != "" && r.base.Seen == r.seen()
}

// settle resets entries of the kept index to those of the real index: at paths that no longer
// differ from the real index and, if that has changed since the earlier snapshot, at all other
// paths.
func (r *recording) settle(ctx context.Context) error {
	now := make(map[string]bool, len(r.Names))
	for _, name := range r.Names {
		now[name] = true
	}
	if r.base.Real == r.Real.hash {
		for _, own := range []map[string]string{r.base.Files, r.base.Gone} {
			for name, entry := range own {
				if !now[name] {
					r.resets[name] = entry
				}
			}
		}
		return nil
	}
	real, err := r.Real.Entries(ctx)
	if err != nil {
		return err
	}
	listed, err := ListIndex(ctx, r.Repo, r.Scratch)
	if err != nil {
		return err
	}
	have := oneEach(listed)
	differ := func(name string, have, real IndexEntry) {
		if file, _ := r.base.has(name); now[name] && file && r.tracked[name].cacheinfo() == "" {
			return // The path was not in the real index, and still is not.
		}
		if _, replaced := r.own[name]; replaced {
			return // The path is in neither index.
		}
		if have.Name != real.Name || have.Stage != real.Stage || !have.same(real) || have.assumed != real.assumed || have.skipped != real.skipped {
			r.resets[name] = real.cacheinfo()
		}
	}
	for len(have) > 0 || len(real) > 0 {
		switch {
		case len(real) == 0 || len(have) > 0 && have[0].Name < real[0].Name:
			differ(have[0].Name, have[0], IndexEntry{})
			have = have[1:]
		case len(have) == 0 || have[0].Name > real[0].Name:
			differ(real[0].Name, IndexEntry{}, real[0])
			real = real[1:]
		default:
			differ(real[0].Name, have[0], real[0])
			have, real = have[1:], real[1:]
		}
	}
	return nil
}

// convertsOtherwise reports whether a file may have changed that decides how content is converted
// (.gitattributes).
func (r *recording) convertsOtherwise() bool {
	decides := func(name string) bool { return path.Base(name) == ".gitattributes" }
	for name := range r.resets {
		if decides(name) {
			return true
		}
	}
	return slices.ContainsFunc(r.Names, decides)
}

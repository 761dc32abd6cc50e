package worktree

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
	"slices"
	"strings"
	"syscall"
	"time"
)

// recording makes an index that holds the files as they are out of one that exists already: that of an earlier snapshot,
// so that git reads only what somebody has touched since then, or else a copy of the real one. A path that does not differ
// from the real index gets the entry which that has.
type recording struct {
	*look
	base *keptState // of the earlier snapshot

	linked map[string]bool   // folders that were looked at: whether they are links, or in one
	own    map[string]bool   // paths that the index has otherwise than the real one: whether it has a file there
	facts  []string          // what is known of each of these files
	resets map[string]string // entries by path, "" for none
	files  []file            // git has to read them
	size   int64             // of content that is new to the repository

	special  []string // neither file, link nor folder
	notSaved []string // what could not be recorded
	cause    error    // what git said of the first file of them that it read
}

// file is one for git to read.
type file struct {
	name  string
	size  int64
	gone  bool // there is none
	known bool // most likely the index has it already
}

const (
	// batchFiles and batchBytes bound what one git process records, so that little is lost of what was done when the time
	// is over.
	batchFiles = 2000
	batchBytes = 32 << 20
	// packedBatch is how many files a batch must have to be worth one pack rather than as many loose objects; making
	// thousands of files takes seconds on some disks.
	packedBatch = 500
	// resetBytes is how much can be reset on the command line, which saves a process.
	resetBytes = 32 << 10
)

// intoPack are settings under which git streams new objects into a pack.
var intoPack = []string{"-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"}

// byAllFacts are settings under which git takes a file for unchanged only where nothing that the kernel tells of it has
// changed.
var byAllFacts = []string{"-c", "core.trustctime=true", "-c", "core.checkStat=default"}

// NotSavedError is a file that cannot be saved. Cause is what git said of it, nil where git did not get to read it.
type NotSavedError struct {
	Path  string // of the worktree
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

// record brings the scratch index to what the files are and returns the paths that it could not save, with what git said of the
// first one that it read.
func (l *look) record(ctx context.Context) (notSaved []string, cause, err error) {
	r, err := l.planAnew()
	if err != nil {
		return nil, nil, err
	}
	err = r.run(ctx)
	return r.notSaved, r.cause, err
}

// plan finds out what has to be done to the index of an earlier snapshot, or where there is none to a copy of the real one,
// without reading a file. That of an earlier snapshot does not count where a file has changed that decides how content is
// converted.
func (l *look) plan(ctx context.Context, admin, dir string) (*recording, error) {
	scratch := newScratchIndex(dir)
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
		dropIndex(scratch)
		return l.planAnew()
	}
	return r, nil
}

// planAnew is plan without an earlier snapshot.
func (l *look) planAnew() (*recording, error) {
	scratch := newScratchIndex(filepath.Dir(l.real.file))
	if err := copyFile(l.real.file, scratch); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l.use(scratch)
	return l.newRecording(&keptState{Real: l.real.hash}), nil
}

// newRecording looks at all files that differ from the real index.
func (l *look) newRecording(base *keptState) *recording {
	r := &recording{look: l, base: base, linked: map[string]bool{}, own: map[string]bool{}, resets: map[string]string{}}
	for _, name := range l.names {
		r.see(name)
	}
	return r
}

// see plans what to do about a path that differs from the real index.
func (r *recording) see(name string) {
	before, had := r.base.has(name)
	info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(name)))
	mode := modeOf(info, err)
	switch {
	case r.deleted[name] && r.behindLink(path.Dir(name)): // git refuses to look there
		r.replaced(name)
		return
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		r.facts = append(r.facts, name)
		r.files = append(r.files, file{name: name, gone: true})
		return
	case r.deleted[name] || mode.IsDir() && !r.tracked[name].gitlink(): // a link or a folder is there instead, whose files are listed
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
			_, changed = statTimes(stat)
			r.facts = append(r.facts, factsOf(name, stat, info))
		}
	}
	// Git has to read a file that may have changed since the earlier snapshot read it, also where the times of the two look
	// the same; how it converts content depends on what the index had.
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

// behindLink reports whether a folder of the worktree is a link, or in one.
func (r *recording) behindLink(folder string) bool {
	if folder == "." {
		return false
	}
	linked, known := r.linked[folder]
	if !known {
		info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(folder)))
		linked = r.behindLink(path.Dir(folder)) || err == nil && info.Mode()&fs.ModeSymlink != 0
		r.linked[folder] = linked
	}
	return linked
}

// replaced handles a path of the index where git finds no file: a folder, a pipe, or a file behind a link to a folder.
func (r *recording) replaced(name string) {
	r.facts = append(r.facts, name)
	if before, had := r.base.has(name); before || !had || r.base.Real != r.real.hash {
		r.resets[name] = ""
	}
	r.own[name] = false
}

// has reports whether the kept index has a path otherwise than the real one, and whether it has a file there.
func (s *keptState) has(name string) (file, own bool) {
	if _, own = s.Files[name]; own {
		return true, true
	}
	_, own = s.Gone[name]
	return false, own
}

// modeOf returns the mode of a file, and of a file that cannot be looked at the mode of a regular one: git says why.
func modeOf(info fs.FileInfo, err error) fs.FileMode {
	if err != nil {
		return 0
	}
	return info.Mode()
}

// factsOf is all that the kernel tells of a file.
func factsOf(name string, stat *syscall.Stat_t, info fs.FileInfo) string {
	mtime, ctime := statTimes(stat)
	return string(facts(nil, name, int64(stat.Ino), int64(info.Mode()), info.Size(), mtime.UnixNano(), ctime.UnixNano()))
}

// seen stands for what was known of all files when they were looked at.
func (r *recording) seen() string {
	sum := sha256.Sum256([]byte(strings.Join(r.facts, "\n")))
	return hex.EncodeToString(sum[:])
}

// unchanged reports whether the earlier snapshot has recorded the same files, and none can have changed since.
func (r *recording) unchanged() bool {
	return len(r.resets) == 0 && r.base.Seen != "" && r.base.Seen == r.seen()
}

// settle gives paths of the kept index that do not differ from the real one any more the entries of that, and all others where
// the real index is another one than the last time.
func (r *recording) settle(ctx context.Context) error {
	now := map[string]bool{}
	for _, name := range r.names {
		now[name] = true
	}
	if r.base.Real == r.real.hash {
		for _, own := range []map[string]string{r.base.Files, r.base.Gone} {
			for name, entry := range own {
				if !now[name] {
					r.resets[name] = entry
				}
			}
		}
		return nil
	}
	real, err := r.real.entries(ctx)
	if err != nil {
		return err
	}
	listed, err := listIndex(ctx, r.repo)
	if err != nil {
		return err
	}
	have := oneEach(listed)
	differ := func(name string, have, real indexEntry) {
		if file, _ := r.base.has(name); now[name] && file && r.tracked[name].cacheinfo() == "" {
			return // it was not in the real index before, nor is it now
		}
		if _, replaced := r.own[name]; replaced {
			return // it is in none
		}
		if have.name != real.name || have.stage != real.stage || !have.same(real) || have.assumed != real.assumed || have.skipped != real.skipped {
			r.resets[name] = real.cacheinfo()
		}
	}
	for len(have) > 0 || len(real) > 0 {
		switch {
		case len(real) == 0 || len(have) > 0 && have[0].name < real[0].name:
			differ(have[0].name, have[0], indexEntry{})
			have = have[1:]
		case len(have) == 0 || have[0].name > real[0].name:
			differ(real[0].name, indexEntry{}, real[0])
			real = real[1:]
		default:
			differ(real[0].name, have[0], real[0])
			have, real = have[1:], real[1:]
		}
	}
	return nil
}

// convertsOtherwise reports whether a file may have changed that decides how content is converted.
func (r *recording) convertsOtherwise() bool {
	decides := func(name string) bool { return path.Base(name) == ".gitattributes" }
	for name := range r.resets {
		if decides(name) {
			return true
		}
	}
	return slices.ContainsFunc(r.names, decides)
}

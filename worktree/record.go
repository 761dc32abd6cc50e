package worktree

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/worktree/git"
)

// recording makes an index that holds the files as they are out of one that exists already: that of an earlier snapshot,
// so that git reads only what somebody has touched since then, or else a copy of the real one. A path that does not differ
// from the real index gets the entry which that has.
type recording struct {
	*look
	base     indexFile
	baseFile string

	own     map[string]bool // paths that differ from the real index
	looked  int64           // bytes of files that were read here
	resets  []reset
	missing []file   // git has to read them
	special []string // neither file, link nor folder

	notSaved []string // what could not be recorded
	cause    error    // what git said of the first file of them that it read
}

// reset gives a path the entry of the real index, or none.
type reset struct {
	name  string
	entry *indexEntry
}

// file is one for git to read.
type file struct {
	name  string
	size  int64
	saved bool // most likely, by an earlier snapshot at the same instant
}

const (
	// batchFiles and batchBytes bound what one git process records, so that little is lost of what was done when the time
	// is over.
	batchFiles = 2000
	batchBytes = 32 << 20
	// packedBatch is how many files a batch must have to be worth one pack rather than as many loose objects; making
	// thousands of files takes seconds on some disks.
	packedBatch = 500
	// lookedBytes is how much is read here of files that were changed just before the last snapshot, which saves three
	// processes when they have not changed again.
	lookedBytes = 4 << 20
	// resetBytes is how much can be reset on the command line, which saves a process.
	resetBytes = 32 << 10
)

// intoPack are settings under which git streams new objects into a pack.
var intoPack = []string{"-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"}

// record brings the scratch index to what the files are and returns the paths that it could not save.
func (l *look) record(ctx context.Context) (notSaved []string, err error) {
	r, err := l.plan("")
	if err != nil {
		return nil, err
	}
	err = r.run(ctx)
	return r.notSaved, err
}

// plan finds out what has to be done to the index of an earlier snapshot, "" for none, without reading a file. That index
// does not count when files that decide how content is converted have changed since.
func (l *look) plan(kept string) (*recording, error) {
	idSize, err := idSizeOf(l.m.Repository.CommonDir)
	if err != nil {
		return nil, err
	}
	if kept != "" {
		base, err := readIndex(kept, idSize)
		if r := l.planFrom(base, kept); err == nil && len(base.entries) > 0 && !r.convertsOtherwise() {
			return r, nil
		}
	}
	return l.planFrom(l.real.indexFile, l.real.file), nil
}

func (l *look) planFrom(base indexFile, file string) *recording {
	r := &recording{look: l, base: base, baseFile: file, own: map[string]bool{}}
	have, real := oneEach(base.entries), recordable(oneEach(l.real.entries))
	for _, name := range slices.Concat(l.changed, l.untracked) {
		if !r.own[name] {
			r.own[name] = true
			r.see(name, find(have, name), find(real, name))
		}
	}
	for i, k := 0, 0; i < len(have) || k < len(real); {
		switch {
		case k == len(real) || i < len(have) && have[i].name < real[k].name:
			r.settle(have[i].name, &have[i], nil)
			i++
		case i == len(have) || have[i].name > real[k].name:
			r.settle(real[k].name, nil, &real[k])
			k++
		default:
			r.settle(have[i].name, &have[i], &real[k])
			i, k = i+1, k+1
		}
	}
	return r
}

// oneEach are the entries without the sides of conflicts, of which ours stands for all.
func oneEach(all []indexEntry) []indexEntry {
	if !slices.ContainsFunc(all, func(e indexEntry) bool { return e.stage() != 0 }) {
		return all
	}
	var one []indexEntry
	for _, e := range all {
		switch last := len(one) - 1; {
		case last < 0 || one[last].name != e.name:
			one = append(one, e)
		case e.stage() == 2:
			one[last] = e
		}
	}
	return one
}

// recordable leaves out what is only announced to be added: git writes no content of that into a tree.
func recordable(all []indexEntry) []indexEntry {
	if !slices.ContainsFunc(all, indexEntry.intended) {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), indexEntry.intended)
}

func find(all []indexEntry, name string) *indexEntry {
	i, found := slices.BinarySearchFunc(all, name, func(e indexEntry, name string) int { return strings.Compare(e.name, name) })
	if !found {
		return nil
	}
	return &all[i]
}

// settle takes a path that does not differ from the real index.
func (r *recording) settle(name string, have, real *indexEntry) {
	if r.own[name] || have != nil && real != nil && have.stage() == 0 && !have.intended() && have.same(*real) {
		return
	}
	r.resets = append(r.resets, reset{name, real})
}

// see takes a path that differs from the real index. What git has to read it reads in any case: the entry is given the
// place of the real one, of whose file git knows nothing.
func (r *recording) see(name string, have, real *indexEntry) {
	gone := func() {
		if have != nil {
			r.resets = append(r.resets, reset{name: name})
		}
	}
	info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		gone()
		return
	}
	one := file{name: name}
	switch mode := mode(info, err); {
	case mode.IsDir() && (real == nil || !real.gitlink()):
		gone() // it gave way to a folder, whose files are listed
		return
	case mode.IsRegular() || mode&fs.ModeSymlink != 0:
		var sure bool
		if one.saved, sure = r.knows(have, info); sure || one.saved && r.holds(have, name, info) {
			return
		}
	case !mode.IsDir():
		r.special = append(r.special, name)
		gone()
		return
	}
	if info != nil {
		one.size = info.Size()
	}
	if have != nil {
		r.resets = append(r.resets, reset{name, real})
	}
	r.missing = append(r.missing, one)
}

// mode is that of a regular file for one that cannot be looked at: git says why.
func mode(info fs.FileInfo, err error) fs.FileMode {
	if err != nil {
		return 0
	}
	return info.Mode()
}

// knows reports whether an entry was made of the same file: no part of what git records of a file differs. It is sure
// when the file was last changed well before that, so that a change in the same instant cannot hide.
func (r *recording) knows(e *indexEntry, info fs.FileInfo) (known, sure bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || e == nil || r.baseFile == r.real.file || e.stage() != 0 || e.gitlink() || e.intended() {
		return false, false
	}
	isLink := info.Mode()&fs.ModeSymlink != 0
	if isLink != (e.mode() == modeLink) || uint32(stat.Ino) != e.field(inoAt) || stat.Uid != e.field(uidAt) ||
		stat.Gid != e.field(gidAt) || uint32(stat.Size) != e.field(sizeAt) {
		return false, false
	}
	mtime, ctime := statTimes(stat)
	if !e.hasTime(mtimeAt, mtime) || !e.hasTime(ctimeAt, ctime) {
		return false, false
	}
	return true, mtime.Before(r.base.time) && ctime.Before(r.base.time)
}

// holds reports whether an entry is the content of a small file as it is, byte by byte.
func (r *recording) holds(e *indexEntry, name string, info fs.FileInfo) bool {
	if r.looked += info.Size(); !info.Mode().IsRegular() || r.looked > lookedBytes {
		return false
	}
	content, err := os.ReadFile(filepath.Join(r.top, filepath.FromSlash(name)))
	if err != nil {
		return false
	}
	blob := append(fmt.Appendf(nil, "blob %d\x00", len(content)), content...)
	if len(e.rawID()) == sha256.Size {
		sum := sha256.Sum256(blob)
		return bytes.Equal(sum[:], e.rawID())
	}
	sum := sha1.Sum(blob)
	return bytes.Equal(sum[:], e.rawID())
}

// convertsOtherwise reports whether a file changes that decides how content is converted.
func (r *recording) convertsOtherwise() bool {
	decides := func(name string) bool { return path.Base(name) == ".gitattributes" }
	return slices.ContainsFunc(r.missing, func(f file) bool { return decides(f.name) }) ||
		slices.ContainsFunc(r.resets, func(reset reset) bool { return decides(reset.name) })
}

// size is how much content is new to the repository.
func (r *recording) size() int64 {
	size := int64(0)
	for _, f := range r.missing {
		if !f.saved {
			size += f.size
		}
	}
	return size
}

// done reports whether the index is as it has to be.
func (r *recording) done() bool { return len(r.resets) == 0 && len(r.missing) == 0 }

// run carries the plan out on a scratch index.
func (r *recording) run(ctx context.Context) error {
	if err := r.begin(); err != nil {
		return err
	}
	r.notSaved = slices.Clone(r.special)
	arguments, err := r.resetArguments(ctx)
	if err != nil {
		return err
	}
	for rest := r.missing; len(arguments) > 0 || len(rest) > 0; arguments = nil {
		var batch []string
		batch, rest = nextBatch(rest)
		err := r.update(ctx, arguments, batch)
		if refused(ctx, err) {
			if err = r.update(ctx, arguments, nil); err == nil {
				err = r.addSome(ctx, batch)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin makes a scratch index out of the one to begin with. Git replaces the file when it writes, hence a link will do
// for one that is nobody's copy of the real one.
func (r *recording) begin() error {
	file := newScratchIndex(filepath.Dir(r.real.file))
	var err error
	if r.baseFile == r.real.file || os.Link(r.baseFile, file) != nil {
		err = copyFile(r.baseFile, file)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	r.use(file)
	return nil
}

// resetArguments are those of `git update-index` that carry out the resets. So many that they do not fit are carried out
// at once.
func (r *recording) resetArguments(ctx context.Context) ([]string, error) {
	var removed, replaced []string
	var lines strings.Builder
	size := 0
	for _, reset := range r.resets {
		size += len(reset.name) + 100
		if reset.entry == nil {
			removed = append(removed, "./"+reset.name)
			fmt.Fprintf(&lines, "0 %s\t%s\x00", strings.Repeat("0", 40), reset.name)
		}
	}
	for _, reset := range r.resets {
		if e := reset.entry; e != nil {
			replaced = append(replaced, "--cacheinfo", fmt.Sprintf("%o,%s,%s", e.mode(), e.id(), reset.name))
			fmt.Fprintf(&lines, "%o %s\t%s\x00", e.mode(), e.id(), reset.name)
		}
	}
	if size > resetBytes {
		_, err := r.repo.Input(ctx, []byte(lines.String()), quietly("update-index", "-z", "--index-info")...)
		return nil, err
	}
	if len(removed) > 0 {
		removed = append(append([]string{"--force-remove"}, removed...), "--no-force-remove")
	}
	return append(removed, replaced...), nil
}

func nextBatch(all []file) (batch []string, rest []file) {
	size := int64(0)
	for len(batch) < min(len(all), batchFiles) && (len(batch) == 0 || size+all[len(batch)].size <= batchBytes) {
		size += all[len(batch)].size
		batch = append(batch, all[len(batch)].name)
	}
	return batch, all[len(batch):]
}

// update lets git carry out resets and read files, or nothing of all that.
func (r *recording) update(ctx context.Context, resets, names []string) error {
	args := append(quietly("update-index", "--add", "--remove", "--replace"), resets...)
	if len(names) >= packedBatch {
		args = append(slices.Clone(intoPack), args...)
	}
	args = append(args, "-z", "--stdin")
	if r.m.reads() {
		_, err := r.repo.Input(ctx, nulTerminated(names), args...)
		return err
	}
	q, err := newQuarantine(r.m.Repository.CommonDir)
	if err != nil {
		return err
	}
	defer q.drop()
	if _, err := q.repo(r.repo).Input(ctx, nulTerminated(names), args...); err != nil {
		return err
	}
	return q.release()
}

// refused reports whether git gave up because of one of its files.
func refused(ctx context.Context, err error) bool { return ctx.Err() == nil && git.ExitCode(err) > 0 }

// addSome records what can be where git gives up at a file that it cannot read, convert or keep. A file that is being
// written may be read the next time.
func (r *recording) addSome(ctx context.Context, names []string) error {
	if len(names) == 1 {
		err := r.update(ctx, nil, names)
		if !refused(ctx, err) {
			return err
		}
		r.notSaved, r.cause = append(r.notSaved, names...), cmp.Or(r.cause, err)
		return nil
	}
	for half := range slices.Chunk(names, (len(names)+1)/2) {
		err := r.update(ctx, nil, half)
		if refused(ctx, err) {
			err = r.addSome(ctx, half)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

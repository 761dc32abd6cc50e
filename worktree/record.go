package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"paw/worktree/git"
)

// recording puts the files as they are into the scratch index. What an earlier
// snapshot has recorded and nobody has touched since is taken from there.
type recording struct {
	*look
	kept index // scratch index of an earlier snapshot, empty when there is none

	entries map[string]*entry // by name: what replaces the entries of the real index, nil for nothing
	missing []file            // git has to read them
	special []string          // neither file, link nor folder
}

// file is one for git to read.
type file struct {
	name  string
	size  int64
	saved bool // most likely, by an earlier snapshot at the same instant
}

// batchFiles and batchBytes bound what one git process records, so that little is
// lost of what was done when the time is over.
const (
	batchFiles = 2000
	batchBytes = 32 << 20
	// packedBatch is how many files a batch must have to be worth one pack rather
	// than as many loose objects; making thousands of files takes seconds on some
	// disks.
	packedBatch = 500
)

// intoPack are settings under which git streams new objects into a pack.
var intoPack = []string{"-c", "core.bigFileThreshold=1", "-c", "pack.compression=1"}

// record brings the scratch index to what the files are and returns the paths
// that it could not save.
func (l *look) record(ctx context.Context, kept index, limit int64) (notSaved []string, err error) {
	r := &recording{look: l, kept: kept}
	r.sort()
	if len(kept.entries) > 0 && r.attributesChanged() {
		r.kept = index{}
		r.sort()
	}
	if size := r.size(); limit > 0 && size > limit {
		return nil, fmt.Errorf("%s: %w: %d MiB to save", l.top, ErrOverBudget, size>>20+1)
	}
	if err := r.write(); err != nil {
		return nil, err
	}
	for len(r.missing) > 0 {
		batch := r.nextBatch()
		if err := r.add(ctx, batch); err != nil {
			if ctx.Err() != nil || git.ExitCode(err) <= 0 {
				return nil, err
			}
			return r.addPatiently(ctx)
		}
	}
	return r.special, nil
}

// sort decides for every path that differs where its new entry comes from.
func (r *recording) sort() {
	r.entries, r.missing, r.special = map[string]*entry{}, nil, nil
	for _, name := range r.changed {
		r.see(name)
	}
	for _, name := range r.untracked {
		r.see(name)
	}
}

func (r *recording) see(name string) {
	r.entries[name] = nil
	info, err := os.Lstat(filepath.Join(r.top, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	old := r.tracked(name)
	var known *entry
	switch mode := mode(info, err); {
	case mode.IsDir() && !exists(filepath.Join(r.top, name, ".git")) && (old == nil || !old.gitlink):
		return // the file gave way to a folder, whose files are listed
	case mode.IsRegular() || mode&fs.ModeSymlink != 0:
		var sure bool
		if known, sure = r.known(name, info); sure {
			r.entries[name] = known
			return
		}
	case !mode.IsDir():
		r.special = append(r.special, name)
		return
	}
	if old != nil {
		old := old.forgotten()
		r.entries[name] = &old
	}
	size := int64(0)
	if info != nil {
		size = info.Size()
	}
	r.missing = append(r.missing, file{name, size, known != nil})
}

// mode is that of a regular file for one that cannot be looked at: git says why.
func mode(info fs.FileInfo, err error) fs.FileMode {
	if err != nil {
		return 0
	}
	return info.Mode()
}

// tracked is the entry of the real index, of a conflict our side if there is one.
func (r *recording) tracked(name string) *entry {
	var found *entry
	i, _ := slices.BinarySearchFunc(r.look.entries, name, func(e entry, name string) int { return strings.Compare(e.name, name) })
	for ; i < len(r.look.entries) && r.look.entries[i].name == name; i++ {
		if e := &r.look.entries[i]; found == nil || e.stage() == 2 {
			found = e
		}
	}
	return found
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

// merged are the entries of the real index with the replacements.
func (r *recording) merged() []entry {
	all := make([]entry, 0, len(r.look.entries)+len(r.entries))
	for _, e := range r.look.entries {
		if _, replaced := r.entries[e.name]; !replaced {
			all = append(all, e)
		}
	}
	for _, e := range r.entries {
		if e != nil {
			all = append(all, *e)
		}
	}
	slices.SortFunc(all, byPath)
	return all
}

// write makes the scratch index of what is known without reading a file.
func (r *recording) write() error {
	entries := r.merged()
	base := r.kept
	if base.trees == nil {
		base = r.real
	}
	return os.WriteFile(r.scratch, encodeIndex(entries, base.treesFor(entries), r.real.idSize), 0o600)
}

func (r *recording) nextBatch() []file {
	size := int64(0)
	n := 0
	for n < len(r.missing) && n < batchFiles && (n == 0 || size+r.missing[n].size <= batchBytes) {
		size += r.missing[n].size
		n++
	}
	batch := r.missing[:n]
	r.missing = r.missing[n:]
	return batch
}

func (r *recording) add(ctx context.Context, batch []file) error {
	q, err := newQuarantine(r.common)
	if err != nil {
		return err
	}
	defer q.drop()
	var input strings.Builder
	for _, f := range batch {
		input.WriteString(f.name)
		input.WriteByte(0)
	}
	args := quietly("update-index", "--add", "--remove", "--replace", "-z", "--stdin")
	if len(batch) >= packedBatch {
		args = append(slices.Clone(intoPack), args...)
	}
	if _, err := q.repo(r.repo).Input(ctx, []byte(input.String()), args...); err != nil {
		return err
	}
	return q.release()
}

// addPatiently records what can be where git gives up at a file that it cannot
// read or convert.
func (r *recording) addPatiently(ctx context.Context) ([]string, error) {
	q, err := newQuarantine(r.common)
	if err != nil {
		return nil, err
	}
	defer q.drop()
	s := &scratch{repo: q.repo(r.repo), path: r.scratch}
	for _, e := range r.look.entries {
		s.entries = append(s.entries, e.indexEntry)
	}
	notSaved, err := s.addAll(ctx)
	if err != nil {
		return nil, err
	}
	_, embedded, err := s.compare(ctx, r.head)
	if err != nil {
		return nil, err
	}
	return sorted(notSaved, embedded, r.special), q.release()
}
